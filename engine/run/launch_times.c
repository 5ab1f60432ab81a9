/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/sim_parts.h"

#include "engine/base/clock.h"

static int wait_for_lane(struct sim *s, struct err *e)
{
    struct dev *dev = s->model->dev;
    struct mark mark;
    int rc = dev->ops->mark(dev, s->lane, &mark, e);
    return rc ? rc : dev_wait(dev, s->lane, &mark, e);
}

/* One launch of a tape so often, without company; the first time does not count. */
static int time_launch(struct sim *s, const struct tape *all, uint32_t number, uint32_t repeats, double *seconds,
                       struct err *e)
{
    struct dev *dev = s->model->dev;
    struct launch launch = all->launches[number];
    struct tape one = {0};
    double begun = 0;
    launch.after = 0;
    tape_append(&one, &launch, tape_args(all, &all->launches[number]));
    int rc = 0;
    for (uint32_t i = 0; i <= repeats && !rc; i++) {
        if (i == 1) {
            rc = wait_for_lane(s, e);
            begun = clock_now();
        }
        if (!rc)
            rc = dev->ops->run(dev, s->lane, &one, e);
    }
    if (!rc)
        rc = wait_for_lane(s, e);
    *seconds = (clock_now() - begun) / repeats;
    tape_free(&one);
    return rc;
}

int sim_launch_times(struct sim *s, enum sim_work work, uint32_t repeats,
                     void (*each)(void *ctx, const char *kernel, double seconds), void *ctx, struct err *e)
{
    struct tape t = {0};
    int rc = sim_wait(s, e);
    if (rc == 0)
        rc = sim_send_ctl(s, e);
    s->model->program->emit[work](s, &t);
    for (uint32_t i = 0; i < t.count && !rc; i++) {
        double seconds;
        rc = time_launch(s, &t, i, repeats, &seconds, e);
        if (!rc)
            each(ctx, s->model->program->kernels->kernels[t.launches[i].kernel].name, seconds);
    }
    tape_free(&t);
    return rc;
}
