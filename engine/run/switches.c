/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-equilibrium switches of a replica: the state that it held is production's, and no kernel knows of it. What a
 * switch does from timestep to timestep is in the control block (switches.h).
 */
#include "engine/run/switches.h"

#include "engine/run/sim_parts.h"

static int may_begin(const struct sim *s, enum switch_way way, int doublings, struct err *e)
{
    const struct ctl *c = &sim_heard(s)->ctl;
    const uint32_t end = way == SWITCH_FORWARD ? 0 : (uint32_t)s->model->windows.n - 1;
    if (!s->model->schedule.n)
        return err_set(e, ERR_INTERNAL, "a switch: the settings have none");
    if (doublings < 0 || doublings > s->model->set->switching.doublings)
        return err_set(e, ERR_INTERNAL, "a switch of %d doublings: expected 0 to %d", doublings,
                       s->model->set->switching.doublings);
    if (s->held.data)
        return err_set(e, ERR_INTERNAL, "a switch begins within another");
    if (c->window != end)
        return err_set(e, ERR_INTERNAL, "a switch from window %u: expected window %u", c->window, end);
    if (c->step % mesh_cycle(&s->model->set->integrator))
        return err_set(e, ERR_INTERNAL, "a switch begins at step %llu, between two with the mesh",
                       (unsigned long long)c->step);
    return 0;
}

int sim_switch_begin(struct sim *s, enum switch_way way, int doublings, uint32_t number, struct err *e)
{
    struct buf now = {0};
    int rc = sim_wait(s, e);
    if (rc == 0)
        rc = may_begin(s, way, doublings, e);
    if (rc == 0)
        rc = sim_copy_state(s, &now, e);
    if (rc) {
        buf_free(&now);
        return rc;
    }
    s->held = now;
    const struct switch_course course = {
        .under_way = 1, .way = way, .number = number, .doublings = (uint32_t)doublings};
    sim_enter_switch(s, sim_edit_ctl(s), &course);
    return 0;
}

int sim_switch_end(struct sim *s, struct err *e)
{
    if (!s->held.data)
        return err_set(e, ERR_INTERNAL, "the end of a switch: none is under way");
    int rc = sim_load_state(s, s->held.data, s->held.len, e);
    if (rc == 0)
        buf_free(&s->held);
    return rc;
}

struct buf sim_switch_rescue(struct sim *s)
{
    struct buf held = s->held;
    s->held = (struct buf){0};
    return held;
}

struct sim_switch sim_switch(const struct sim *s)
{
    const struct switch_course *at = &sim_heard(s)->ctl.switching;
    const uint64_t all = switch_steps_longer(&s->model->set->switching, (int)at->doublings);
    return (struct sim_switch){.under_way = at->under_way,
                               .way = (enum switch_way)at->way,
                               .number = at->number,
                               .steps = at->steps,
                               .steps_left = at->steps < all ? (uint32_t)(all - at->steps) : 0,
                               .work = fixed_total(at->work)};
}
