/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/sim_parts.h"

/* Adds up over the repetitions; the first one does not count. */
struct watch {
    struct dev_clock clock;
    bool begun;
    double seconds[TAPE_LAUNCHES_MAX];
};

static void ran(struct dev_clock *clock, const struct dev *d, const struct tape *t, const struct launch_time *times)
{
    struct watch *w = (struct watch *)clock;
    for (uint32_t i = 0; w->begun && i < t->count; i++)
        w->seconds[i] += times[i].seconds;
    w->begun = true;
}

int sim_launch_times(struct sim *s, enum sim_work work, uint32_t repeats,
                     void (*each)(void *ctx, const char *kernel, double seconds), void *ctx, struct err *e)
{
    struct dev *dev = s->model->dev;
    struct watch watch = {.clock.ran = ran};
    struct tape t = {0};
    int rc = sim_wait(s, e);
    if (rc == 0)
        rc = sim_send_ctl(s, e);
    s->model->program->emit[work](s, &t);
    dev->clock = &watch.clock;
    for (uint32_t i = 0; i <= repeats && !rc; i++)
        rc = dev->ops->run(dev, s->lane, &t, e);
    dev->clock = NULL;
    for (uint32_t i = 0; i < t.count && !rc; i++)
        each(ctx, s->model->program->kernels->kernels[t.launches[i].kernel].name, watch.seconds[i] / repeats);
    tape_free(&t);
    return rc;
}
