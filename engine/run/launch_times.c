/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/sim_parts.h"

/* Adds up over the repetitions; the first one does not count. */
struct launch_sums {
    struct dev_clock clock;
    bool begun;
    double seconds[TAPE_LAUNCHES_MAX];
};

static void ran(struct dev_clock *clock, const struct dev *d, const struct tape *t, const struct launch_time *times)
{
    struct launch_sums *of = (struct launch_sums *)clock;
    for (uint32_t i = 0; of->begun && i < t->count; i++)
        of->seconds[i] += times[i].seconds;
    of->begun = true;
}

int sim_launch_times(struct sim *s, enum sim_work work, uint32_t repeats,
                     void (*each)(void *ctx, const char *kernel, double seconds), void *ctx, struct err *e)
{
    struct dev *dev = s->model->dev;
    struct launch_sums sums = {.clock.ran = ran};
    struct tape t = {0};
    int rc = sim_wait(s, e);
    if (rc == 0)
        rc = sim_send_ctl(s, e);
    s->model->program->emit[work](s, &t);
    dev->clock = &sums.clock;
    for (uint32_t i = 0; i <= repeats && !rc; i++)
        rc = dev->ops->run(dev, s->lane, &t, e);
    dev->clock = NULL;
    for (uint32_t i = 0; i < t.count && !rc; i++)
        each(ctx, s->model->program->kernels->kernels[t.launches[i].kernel].name, sums.seconds[i] / repeats);
    tape_free(&t);
    return rc;
}
