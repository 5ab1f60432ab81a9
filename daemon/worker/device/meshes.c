/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device/meshes.h"

#include <string.h>

#include "engine/base/log.h"

static struct mesh_view view_of(const struct meshes_view *v, const struct shared_model *s, enum pme_form guess)
{
    return (struct mesh_view){v->running, v->company, v->rate > 0 ? 1e6 * s->system.natoms / v->rate : 0, guess};
}

static void tell(const struct shared_model *s)
{
    static const char *const names[] = {[PME_BLOCK] = "by one block", [PME_CARD] = "over the card"};
    const enum pme_form form = s->mesh.form, other = form == PME_BLOCK ? PME_CARD : PME_BLOCK;
    const char *slash = strrchr(s->directory, '/');
    log_line(LOG_INFO, "mesh ensemble=%.32s: %s, %.5g us a step of a replica; %s, %.5g; with %u in flight",
             slash ? slash + 1 : s->directory, names[form], s->mesh.us[form], names[other], s->mesh.us[other],
             s->mesh.running);
}

/* True: it is being measured, and no other is to be meanwhile. */
static bool look(struct shared_model *s, const struct meshes_view *v, bool may_measure)
{
    enum pme_form guess;
    if (s->state != MODEL_READY || !s->holders || !model_pme_guess(s->model, (int)v->running, &guess))
        return false;
    const struct mesh_view view = view_of(v, s, guess);
    if (!v->steady) {
        mesh_choice_disturb(&s->mesh, v->company);
    } else {
        mesh_choice_heed(&s->mesh, &view);
        if (may_measure && mesh_choice_look(&s->mesh, &view))
            tell(s);
    }
    if (s->mesh.running)
        model_set_pme(s->model, s->mesh.form);
    return mesh_choice_open(&s->mesh);
}

bool meshes_look(struct models *m, const struct meshes_view *v)
{
    bool may_measure = v->at_rest;
    for (struct shared_model *s = m->first; s; s = s->next)
        may_measure = !look(s, v, may_measure) && may_measure;
    return may_measure;
}
