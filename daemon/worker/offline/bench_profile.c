/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/offline/bench_profile.h"

#include <stdio.h>

/* ---- measurements ---- */

struct profiler {
    struct dev_clock clock;
    struct bench_profile *out;
};

/* The last place is for all that there is no other for. */
static struct profile_kernel *place_of(struct profile_family *f, const char *kernel)
{
    int k = 0;
    while (k < f->n && f->kernels[k].kernel != kernel)
        k++;
    k = k < PROFILE_KERNELS ? k : PROFILE_KERNELS - 1;
    f->n += k == f->n;
    f->kernels[k].kernel = kernel;
    return &f->kernels[k];
}

static void ran(struct dev_clock *clock, const struct dev *d, const struct tape *t, const struct launch_time *times)
{
    struct profiler *p = (struct profiler *)clock;
    if (t->work == sim_work_label(SIM_STEP) || t->work == sim_work_label(SIM_INNER))
        p->out->steps += t->pieces;
    for (uint32_t i = 0; i < t->count; i++) {
        const char *kernel = d->kernels.kernels[t->launches[i].kernel].name;
        struct profile_kernel *of = place_of(&p->out->families[family_of(t->work, kernel)], kernel);
        of->launches++;
        of->seconds += times[i].seconds;
        of->device_seconds += times[i].seconds * times[i].part;
    }
}

int bench_profile(const struct bench_task *task, struct bench_profile *out, struct err *e)
{
    struct profiler p = {.clock.ran = ran, .out = out};
    struct bench_task one = *task;
    *out = (struct bench_profile){0};
    one.single = true;
    one.clock = &p.clock;
    int rc = bench_run(&one, &out->timed, e);
    one.clock = NULL;
    if (!rc)
        rc = bench_run(&one, &out->alone, e);
    return rc ? rc : bench_run(task, &out->together, e);
}

/* ---- what came of them ---- */

static double step_us(const struct bench_result *r)
{
    return r->wall / (double)r->share[0].steps * 1e6;
}

/* Of a family, or of all: a step of a replica, microseconds. */
struct profile_sum {
    double launches, us_alone, us_of_device;
};

static void add(struct profile_sum *to, const struct bench_profile *p, const struct profile_kernel *k)
{
    to->launches += (double)k->launches / (double)p->steps;
    to->us_alone += k->seconds / (double)p->steps * 1e6;
    to->us_of_device += k->device_seconds / (double)p->steps * 1e6;
}

static struct profile_sum sum_of(const struct bench_profile *p, int family)
{
    struct profile_sum sum = {0};
    for (int k = 0; k < p->families[family].n; k++)
        add(&sum, p, &p->families[family].kernels[k]);
    return sum;
}

static struct profile_sum sum_of_all(const struct bench_profile *p)
{
    struct profile_sum sum = {0};
    for (int family = 0; family < FAMILY_COUNT; family++)
        for (int k = 0; k < p->families[family].n; k++)
            add(&sum, p, &p->families[family].kernels[k]);
    return sum;
}

static json_t *sum_json(const char *key, const char *name, const struct profile_sum *sum)
{
    return json_pack("{s:s, s:f, s:f, s:f}", key, name, "launches_per_step", sum->launches, "us_alone", sum->us_alone,
                     "us_of_device", sum->us_of_device);
}

static json_t *family_json(const struct bench_profile *p, int family)
{
    const struct profile_sum sum = sum_of(p, family);
    json_t *out = sum_json("family", family_names[family], &sum), *kernels = json_array();
    for (int k = 0; k < p->families[family].n; k++) {
        struct profile_sum one = {0};
        add(&one, p, &p->families[family].kernels[k]);
        json_array_append_new(kernels, sum_json("kernel", p->families[family].kernels[k].kernel, &one));
    }
    json_object_set_new(out, "kernels", kernels);
    return out;
}

json_t *bench_profile_json(const struct bench_profile *p)
{
    const struct profile_sum all = sum_of_all(p);
    json_t *families = json_array();
    for (int family = 0; family < FAMILY_COUNT; family++)
        if (p->families[family].n)
            json_array_append_new(families, family_json(p, family));
    return json_pack("{s:s, s:I, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "model", p->alone.model, "steps",
                     (json_int_t)p->steps, "families", families, "us_alone", all.us_alone, "us_of_device",
                     all.us_of_device, "us_per_step_timed", p->timed.wall / (double)p->steps * 1e6,
                     "cpu_s_per_wall_s_timed", p->timed.cpu / p->timed.wall, "us_per_step_alone", step_us(&p->alone),
                     "us_rest_alone", step_us(&p->alone) - all.us_alone, "us_rest",
                     step_us(&p->together) - all.us_of_device);
}

static void print_row(const char *name, const struct profile_sum *sum, double us)
{
    printf("%-20s %10.2f %12.2f %14.3f %8.1f\n", name, sum->launches, sum->us_alone, sum->us_of_device,
           100 * sum->us_of_device / us);
}

void bench_profile_print(const struct bench_task *task, const struct bench_profile *p)
{
    const struct profile_sum all = sum_of_all(p);
    const double alone = step_us(&p->alone), together = step_us(&p->together);
    printf("\n%s, %u at once, microseconds a step of a replica\n", p->alone.model, task->replicas);
    printf("%-20s %10s %12s %14s %8s\n", "family", "launches", "us alone", "us of device", "%");
    for (int family = 0; family < FAMILY_COUNT; family++) {
        const struct profile_sum sum = sum_of(p, family);
        if (p->families[family].n)
            print_row(family_names[family], &sum, together);
    }
    printf("%-20s %10s %12.2f %14.3f %8.1f\n", "rest", "", alone - all.us_alone, together - all.us_of_device,
           100 * (together - all.us_of_device) / together);
    printf("%-20s %10s %12.2f %14.3f %8.1f\n", "step, by graphs", "", alone, together, 100.0);
    fflush(stdout);
}
