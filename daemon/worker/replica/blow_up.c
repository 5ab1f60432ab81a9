/* SPDX-License-Identifier: Apache-2.0
 *
 * A replica that blew up: where and when, the coordinates of that moment for those who look for the cause, and the
 * usual causes.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/series/work_table.h"

#define BLOWN_UP_FILE "blowup.gro"
#define REACH 999.0          /* nm: columns of .gro files hold no more */
#define FORCE_OF_NOTHING 1e5 /* kJ/mol/nm; atoms of a system that is well feel a tenth of it at most */

static const char *stage_word(const struct stage *stage)
{
    static const char *const words[] = {
        [STAGE_MINIMIZE] = "minimize", [STAGE_EQUILIBRATE] = "equilibrate", [STAGE_PRODUCE] = "produce"};
    return words[stage->kind];
}

/* "in stage 4 (produce), after step 12 of it (0.024 ps; 4.024 ps of dynamics in all)". Of a minimization whole batches
 * of steps are counted. */
static void put_moment(struct buf *out, const struct replica *r)
{
    const struct stage *stage = &r->spec->stages[r->stage];
    const uint64_t before = timeline_timesteps(r->spec, r->stage, 0), now = sim_step_number(r->sim);
    const bool known = stage->kind == STAGE_MINIMIZE || sim_switch(r->sim).under_way;
    const uint64_t step = known ? r->stage_step : now > before ? now - before : 0;
    const struct sim_switch way = sim_switch(r->sim);
    if (way.under_way)
        buf_printf(out, "in %s switch %u, after step %u of it; it began from the snapshot ", switch_way_words[way.way],
                   way.number, way.steps);
    if (stage->kind == STAGE_MINIMIZE)
        buf_printf(out, "in stage %" PRIu64 " (minimize), after step %" PRIu64 " of it", r->stage + 1, step);
    else
        buf_printf(out, "in stage %" PRIu64 " (%s), after step %" PRIu64 " of it (%.6g ps; %.6g ps of dynamics in all)",
                   r->stage + 1, stage_word(stage), step, (double)step * stage->timestep,
                   timeline_elapsed(r->spec, r->stage, step));
}

/* What the engine says, without the step that it begins with. */
static const char *cause_of(const char *message)
{
    const char *behind = strstr(message, ": ");
    return behind && !strncmp(message, "step ", strlen("step ")) ? behind + strlen(": ") : message;
}

/* Whichever atom feels most, where that is more than any should. */
static void put_force(struct buf *out, const struct replica *r, double (*f)[3])
{
    const struct system *sys = &r->shared->system;
    int most = -1;
    double force = FORCE_OF_NOTHING;
    for (int i = 0; i < sys->natoms; i++) {
        const double here = sqrt(f[i][0] * f[i][0] + f[i][1] * f[i][1] + f[i][2] * f[i][2]);
        if (here > force) {
            most = i;
            force = here;
        }
    }
    if (most >= 0)
        buf_printf(out, "; the largest force, %.2g kJ/mol/nm or more, is on atom %d (%s %s%d)", force, most + 1,
                   sys->atoms[most].name, sys->atoms[most].resname, sys->atoms[most].residue);
}

static void put_causes(struct buf *out, const struct spec *s)
{
    bool minimized = false;
    for (int i = 0; i < s->nstages; i++)
        minimized |= s->stages[i].kind == STAGE_MINIMIZE;
    buf_printf(out, ". Usual causes: ");
    if (!minimized)
        buf_printf(out, "no minimize stage in the protocol; ");
    buf_printf(
        out,
        "a timestep too long for the fastest bonds (`shoal validate` warns of it), atoms that overlap in the start "
        "coordinates, a box that is too small for what is in it");
}

/* What no column holds ends at its border. */
static void keep_in_reach(double (*x)[3], int natoms)
{
    for (int i = 0; i < natoms; i++)
        for (int d = 0; d < 3; d++)
            x[i][d] = isnan(x[i][d]) ? REACH : fmin(fmax(x[i][d], -REACH), REACH);
}

/* Where the coordinates are, below the ensemble's folder; or nothing. */
static void keep_coordinates(struct buf *out, struct replica *r)
{
    double box[BOX_SIZE];
    struct err unwritten = {0};
    int rc = replica_finish_frame(r, &unwritten);
    if (!rc)
        rc = sim_get(r->sim, r->x, NULL, box, &unwritten);
    if (rc)
        return;
    keep_in_reach(r->x, r->shared->system.natoms);
    if (replica_write_gro(r, BLOWN_UP_FILE, false, box, &unwritten) == 0)
        buf_printf(out, "; the coordinates of that moment are in %s/%s", r->folder + strlen(r->directory) + 1,
                   BLOWN_UP_FILE);
}

bool replica_blew_up(const struct err *e)
{
    return e->code == ERR_NONFINITE || e->code == ERR_CONSTRAINT || e->code == ERR_OVERFLOW;
}

void CO_FN replica_blown_up(struct replica *r, struct err *e)
{
    struct err unknown = {0}, was = *e;
    struct buf text = {0};
    if (!replica_blew_up(e) || !r->sim || !r->spec || r->stage >= (uint64_t)r->spec->nstages)
        return;
    buf_printf(&text, "the system blew up ");
    put_moment(&text, r);
    buf_printf(&text, ": %s", cause_of(was.msg));
    if (was.code == ERR_OVERFLOW && sim_forces(r->sim, r->v, &unknown) == 0) /* velocities are of no use any more */
        put_force(&text, r, r->v);
    keep_coordinates(&text, r);
    put_causes(&text, r->spec);
    err_set(e, was.code, "%s", text.data);
    buf_free(&text);
}
