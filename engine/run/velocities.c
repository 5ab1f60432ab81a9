/* SPDX-License-Identifier: Apache-2.0
 *
 * Velocities of a replica: new ones, and those at the time of its positions.
 */
#include "engine/run/sim_parts.h"

int sim_thermalize(struct sim *s, struct err *e)
{
    struct tape t = {0};
    s->model->program->emit_new_velocities(s, &t);
    sim_memory_unready(s);
    int rc = check_pointers(&s->model->dev->kernels, &t, s->spans, SPAN_COUNT, e);
    if (rc == 0)
        rc = sim_send_ctl(s, e);
    if (rc == 0)
        rc = s->model->dev->ops->run(s->model->dev, s->lane, &t, e);
    tape_free(&t);
    if (rc)
        return rc;
    sim_await(s);
    rc = sim_wait(s, e);
    return rc ? rc : sim_outcome(s, e);
}

int sim_sample_now(struct sim *s, struct err *e)
{
    int rc;
    do {
        rc = sim_submit(s, SIM_SAMPLE, 1, e);
        if (rc == 0)
            rc = sim_wait(s, e);
        if (rc == 0)
            rc = sim_outcome(s, e);
    } while (rc == SIM_GROW);
    return rc;
}

int sim_part(struct sim *s, struct err *e)
{
    const struct dev_ops *ops = s->model->dev->ops;
    int rc = sim_wait(s, e);
    const bool lacks = rc == 0 && sim_heard(s)->ctl.pending == PENDING_SECOND;
    if (rc == 0 && lacks)
        rc = sim_sample_now(s, e);
    if (rc == 0 && lacks)
        rc = ops->copy(s->model->dev, s->lane, s->d.v, s->d.v_out, sim_array_bytes(s), e);
    if (rc)
        return rc;
    struct ctl *c = sim_edit_ctl(s);
    c->pending = lacks ? PENDING_USUAL : c->pending;
    c->min_steps = 0;
    return 0;
}
