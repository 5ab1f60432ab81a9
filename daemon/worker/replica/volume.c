/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a replica's volume moves have the room they need: a box that is kept from shrinking by what its forces reach
 * has not the density of its pressure, and nothing else would say so.
 */
#include <inttypes.h>

#include "daemon/worker/replica/internal.h"

static bool too_narrow(const struct replica *r)
{
    const struct volume_moves m = sim_volume_moves(r->sim);
    return volume_refused_share(&m) >= VOLUME_REFUSED_SOME;
}

static void tell_moves(const struct replica *r, const char *when)
{
    const struct volume_moves m = sim_volume_moves(r->sim);
    const struct box_room room = sim_box_room(r->sim);
    struct err what = {0};
    err_set(&what, ERR_NONE,
            "the box is too narrow for its pressure: %s, %" PRIu64 " of %" PRIu64
            " volume moves (%.3g %%) were refused, for it is %.4g nm wide now and would have become narrower than the "
            "%.4g nm "
            "that its cut-off needs; its density stays too low then: expected a larger box or a shorter cut-off",
            when, m.refused, m.tried, 100 * volume_refused_share(&m), room.width, room.least);
    replica_report_event(r, "narrow", &what);
}

void replica_begin_moves(struct replica *r, const struct stage *stage)
{
    sim_tune_volume(r->sim, stage->kind != STAGE_PRODUCE);
    if (!r->stage_step)
        sim_count_moves(r->sim);
    r->narrow_told = too_narrow(r); /* before it was interrupted */
}

void replica_moved(struct replica *r)
{
    if (r->narrow_told || !too_narrow(r))
        return;
    r->narrow_told = true;
    tell_moves(r, "in this stage so far");
}

void replica_end_moves(struct replica *r)
{
    if (too_narrow(r))
        tell_moves(r, "in all of this stage");
}
