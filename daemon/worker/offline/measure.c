/* SPDX-License-Identifier: Apache-2.0
 *
 * A few steps of minimization, then of dynamics. Where dynamics fails that early, which more minimization would have
 * prevented, the steps of minimization are what is known: one costs half as much again.
 */
#include "daemon/worker/offline/measure.h"

#include "engine/base/clock.h"
#include "engine/run/sim.h"

/* Seconds, at most and at least; steps at least, and those after which the least time is enough: some make lists anew.
 */
#define MINIMIZING 0.2
#define STEPPING 0.4
#define MEASURED 0.05
#define STEPS_MIN 3
#define STEPS_ENOUGH 60
#define POLL_MS 1000

/* Processor time of all threads: who else uses this machine now does not matter. */
static double processor_time(void)
{
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

int work_through(struct dev *dev, struct sim *sim, enum sim_work kind, uint32_t n, struct err *e)
{
    int rc;
    do { /* again after a list has outgrown its buffer */
        if ((rc = sim_submit(sim, kind, n, e)))
            return rc;
        while (!sim_done(sim)) {
            engine_flush(dev);
            if ((rc = dev->ops->poll(dev, POLL_MS, e)))
                return rc;
        }
        rc = sim_outcome(sim, e);
        n -= rc == SIM_GROW ? sim_steps_done(sim) : 0;
    } while (rc == SIM_GROW);
    return rc;
}

static bool goes_on(double passed, double seconds, uint32_t n)
{
    return n < STEPS_MIN || passed < (n < STEPS_ENOUGH ? seconds : MEASURED);
}

/* The first two build lists and graphs: they do not count. unit: steps that go together. */
static int time_steps(struct dev *dev, struct sim *sim, enum sim_work kind, uint32_t unit, double seconds,
                      struct measured_cost *out, struct err *e)
{
    int rc = work_through(dev, sim, kind, 2 * unit, e);
    double begun = processor_time(), passed = 0;
    uint32_t n = 0;
    while (!rc && goes_on(passed, seconds, n)) {
        uint32_t more = n && passed < MEASURED / 2 ? n : unit;
        rc = work_through(dev, sim, kind, more, e);
        n += more;
        passed = processor_time() - begun;
    }
    if (!rc)
        *out = (struct measured_cost){.seconds = passed / n, .bytes = (double)sim_device_bytes(sim)};
    return rc;
}

static int time_it(struct dev *dev, struct sim *sim, uint32_t cycle, struct measured_cost *out, struct err *e)
{
    struct err no_matter = {0};
    sim_minimize_setup(sim, 1);
    int rc = time_steps(dev, sim, SIM_MINIMIZE, 1, MINIMIZING, out, e);
    if (!rc && !sim_thermalize(sim, &no_matter))
        time_steps(dev, sim, SIM_STEP, cycle, STEPPING, out, &no_matter);
    return rc;
}

int measure_cost(const struct spec *s, const struct system *sys, struct measured_cost *out, struct err *e)
{
    struct dev *dev;
    struct model *model = NULL;
    struct sim *sim = NULL;
    int rc = engine_open(&dev, "cpu:1", e);
    if (rc)
        return rc;
    rc = model_new(&model, dev, sys, &s->settings, e);
    if (!rc)
        rc = sim_new(&sim, model, s->settings.alchemy.nwindows / 2, 0, e);
    if (!rc && time_it(dev, sim, mesh_cycle(&s->settings.integrator), out, e))
        rc = MEASURE_FAILED;
    sim_free(sim);
    model_free(model);
    dev_close(dev);
    return rc;
}
