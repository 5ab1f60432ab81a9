/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/children/newest.h"

#include "engine/estimate/estimate.h"
#include "engine/run/sim.h"

/* The newest good one in a folder; zeroed where there is none. */
static void newest_checkpoint(const char *directory, const char *folder, struct checkpoint *c)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", directory, folder);
    for (int which = 0, rc = 1; which < CHECKPOINT_FILES && rc; which++) {
        struct err e = {0};
        rc = checkpoint_read(path.data, which, c, &e);
        if (rc)
            checkpoint_close(c);
    }
    buf_free(&path);
}

void newest_folder(const struct estimate_ensemble *x, int replica, struct buf *folder)
{
    const int windows = estimate_windows(x);
    if (x->repeats > 1)
        buf_printf(folder, "repeat_%02d/", replica / windows);
    buf_printf(folder, "lambda_%02d", replica % windows);
}

void newest_own(const struct estimate_ensemble *x, int replica, struct checkpoint *c)
{
    struct buf folder = {0};
    newest_folder(x, replica, &folder);
    newest_checkpoint(x->directory, folder.data, c);
    buf_free(&folder);
}

static const struct stage *stage_of(const struct spec *s, const struct checkpoint *c)
{
    const uint64_t last = (uint64_t)s->nstages - 1;
    return &s->stages[c->stage < last ? c->stage : last];
}

/* Of production: of the stage that it is in, or was when all was done. */
static struct volume_moves moves_of(const struct spec *s, const struct checkpoint *c)
{
    const struct stage *stage = stage_of(s, c);
    if (stage->kind != STAGE_PRODUCE || !stage->npt)
        return (struct volume_moves){0};
    return sim_saved_moves(c->state.data, c->state.len);
}

/* The same of waters. */
static struct water_moves waters_of(const struct spec *s, const struct checkpoint *c)
{
    if (stage_of(s, c)->kind != STAGE_PRODUCE || !s->settings.waters.on)
        return (struct water_moves){0};
    return sim_saved_water_moves(c->state.data, c->state.len);
}

void newest_counts(struct estimate_request *q)
{
    const struct estimate_ensemble *x = &q->ensemble;
    for (int i = 0; i < x->repeats * estimate_windows(x); i++) {
        struct estimate_replica *r = &q->replicas[i];
        struct checkpoint own = {0}, before = {0};
        r->vouched = r->kind == ESTIMATE_RUNNING;
        if (r->vouched || ((x->npt || x->set->waters.on) && r->kind != ESTIMATE_FAILED))
            newest_own(x, i, &own);
        if (r->vouched) {
            r->dhdl_bytes = own.offset[OUTPUT_DHDL];
            r->energy_bytes = own.offset[OUTPUT_ENERGY];
            r->work_bytes = own.offset[OUTPUT_WORK];
        }
        if (r->origin)
            newest_checkpoint(x->directory, r->origin, &before);
        r->origin_bytes = before.offset[OUTPUT_DHDL];
        r->moves = moves_of(q->spec, &own);
        r->waters = waters_of(q->spec, &own);
        checkpoint_close(&own);
        checkpoint_close(&before);
    }
}
