/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/observe/stage_times.h"

enum { REPEATS = 20, KERNELS = 32 };

struct stages {
    struct {
        const char *kernel;
        uint32_t launches;
        double seconds;
    } of[KERNELS];
    int n;
};

static void add(void *ctx, const char *kernel, double seconds)
{
    struct stages *s = ctx;
    int k = 0;
    while (k < s->n && s->of[k].kernel != kernel)
        k++;
    if (k == KERNELS)
        return;
    s->n += k == s->n;
    s->of[k].kernel = kernel;
    s->of[k].launches++;
    s->of[k].seconds += seconds;
}

int stage_times(struct sim *s, struct writer *w, struct err *e)
{
    struct stages stages = {0};
    int rc = sim_launch_times(s, SIM_OBSERVE, REPEATS, add, &stages, e);
    jw_begin(w, "stages", '[');
    for (int k = 0; k < stages.n && !rc; k++) {
        jw_begin(w, NULL, '{');
        jw_text(w, "kernel", stages.of[k].kernel);
        jw_integer(w, "launches", stages.of[k].launches);
        jw_real(w, "microseconds", 1e6 * stages.of[k].seconds);
        jw_end(w, '}');
    }
    jw_end(w, ']');
    return rc;
}
