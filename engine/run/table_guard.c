/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the tables that all replicas of a model read are still what was uploaded. A replica asks every so many steps,
 * and with every state that it fetches: launches in its lane write digests of the tables to mapped memory. Only a
 * caller that is about to save a state waits for the answer. Others read it when the work submitted next has finished;
 * by then it has arrived.
 */
#include "engine/run/sim_parts.h"

int tables_open(struct sim *s, uint64_t *device, const uint64_t *host, struct err *e)
{
    s->tables.digests = host;
    model_emit_digests(s->model, device, &s->tables.ask);
    return check_pointers(&s->model->dev->kernels, &s->tables.ask, s->spans, SPAN_COUNT, e);
}

void tables_close(struct sim *s)
{
    tape_free(&s->tables.ask);
}

int tables_ask(struct sim *s, struct err *e)
{
    struct dev *dev = s->model->dev;
    struct tables_check *t = &s->tables;
    int rc = dev->ops->run(dev, s->lane, &t->ask, e);
    if (rc == 0)
        rc = dev->ops->mark(dev, s->lane, &t->answered, e);
    t->asked = rc == 0;
    t->asked_at = s->clock.steps;
    return rc;
}

int tables_ask_if_due(struct sim *s, struct err *e)
{
    const struct recorder_clock *c = &s->clock;
    const bool due = c->check_every && c->steps - s->tables.asked_at >= c->check_every;
    return due && !s->tables.asked ? tables_ask(s, e) : 0;
}

int tables_listen(struct sim *s, struct err *e)
{
    struct tables_check *t = &s->tables;
    const bool answered = t->asked && mark_passed(&t->answered);
    if (!answered && !model_damaged(s->model))
        return 0;
    t->asked &= !answered;
    return model_check(s->model, t->digests, s->lane, e);
}

int tables_check(struct sim *s, struct err *e)
{
    struct dev *dev = s->model->dev;
    int rc = s->tables.asked ? 0 : tables_ask(s, e);
    if (rc == 0)
        rc = dev_wait(dev, s->lane, &s->tables.answered, e);
    return rc ? rc : tables_listen(s, e);
}
