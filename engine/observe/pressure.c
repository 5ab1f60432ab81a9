/* SPDX-License-Identifier: Apache-2.0
 *
 * The mean pressure tensor (engine/kernels/pressure.h), and a third of its trace.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/number.h"
#include "engine/observe/kinds.h"

static const char *const names[PRESSURE_REALS] = {"xx", "yy", "zz", "xy", "xz", "yz"};

static struct observe_size pressure_size(const struct observable *o)
{
    return (struct observe_size){.reals = PRESSURE_REALS};
}

static const void *pressure_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a)
{
    return NULL;
}

/* bar; the last is a third of the trace. */
enum { MEAN = PRESSURE_REALS, VALUES };
struct tensor {
    double value[VALUES];
};

static struct tensor tensor_of(const double *sums, double frames)
{
    struct tensor t;
    for (int k = 0; k < PRESSURE_REALS; k++)
        t.value[k] = sums[k] / frames;
    t.value[MEAN] = (t.value[PRESSURE_XX] + t.value[PRESSURE_YY] + t.value[PRESSURE_ZZ]) / 3;
    return t;
}

static struct tensor mean_tensor(const struct observe_result *r)
{
    double *sums = observe_total_reals(r);
    const struct tensor t = tensor_of(sums, (double)r->seen->frames);
    free(sums);
    return t;
}

static struct tensor errors_of(const struct observe_result *r)
{
    const int n = observe_full_blocks(r);
    struct tensor *of_block = xcalloc((size_t)n + 1, sizeof *of_block), error;
    for (int b = 0; b < n; b++)
        of_block[b] = tensor_of(observe_reals(r, b), (double)r->seen->per_block);
    for (int k = 0; k < VALUES; k++)
        error.value[k] = observe_error(&of_block->value[k], n, VALUES);
    free(of_block);
    return error;
}

/* A row a block: its own means. */
static void pressure_file(const struct observe_result *r, struct buf *out)
{
    static const char *const legends[] = {"Pres-XX", "Pres-YY", "Pres-ZZ", "Pres-XY", "Pres-XZ", "Pres-YZ", "Pressure"};
    const struct observed *s = r->seen;
    const struct tensor mean = mean_tensor(r), error = errors_of(r);
    for (int k = 0; k < VALUES; k++)
        buf_printf(out, "# %s %.8g +- %.3g bar\n", legends[k], mean.value[k], error.value[k]);
    observe_header(out, "Pressure tensor, means of blocks", "frames", "(bar)", legends, VALUES);
    for (int b = 0; b < s->blocks; b++) {
        const bool last = b == s->blocks - 1;
        const struct tensor t = tensor_of(observe_reals(r, b), (double)(last ? s->in_block : s->per_block));
        buf_printf(out, "%lld", (long long)(b * s->per_block + (last ? s->in_block : s->per_block)));
        for (int k = 0; k < VALUES; k++)
            buf_printf(out, " %.8g", t.value[k]);
        buf_printf(out, "\n");
    }
}

static void add_value(struct writer *w, const char *key, double value, double error)
{
    jw_begin(w, key, '{');
    jw_real(w, "value", value);
    jw_real(w, "error", error);
    jw_end(w, '}');
}

static void pressure_json(const struct observe_result *r, bool curves, struct writer *w)
{
    const struct tensor mean = mean_tensor(r), error = errors_of(r);
    jw_begin(w, "pressure_bar", '{');
    add_value(w, "mean", mean.value[MEAN], error.value[MEAN]);
    for (int k = 0; k < PRESSURE_REALS; k++)
        add_value(w, names[k], mean.value[k], error.value[k]);
    jw_end(w, '}');
}

static void pressure_summary(const struct observe_result *r, struct buf *out)
{
    const struct tensor mean = mean_tensor(r), error = errors_of(r);
    buf_printf(out, "P ");
    number_with_error(out, mean.value[MEAN], error.value[MEAN]);
    buf_printf(out, " bar; xx %.4g, yy %.4g, zz %.4g", mean.value[PRESSURE_XX], mean.value[PRESSURE_YY],
               mean.value[PRESSURE_ZZ]);
}

static int pressure_of_blocks(const struct observe_result *r, double *value)
{
    const int n = observe_full_blocks(r);
    for (int b = 0; b < n; b++)
        value[b] = tensor_of(observe_reals(r, b), (double)r->seen->per_block).value[MEAN];
    return n;
}

const struct observe_kind pressure_kind = {.size = pressure_size,
                                           .needs_sample = true,
                                           .put = pressure_put,
                                           .file = pressure_file,
                                           .json = pressure_json,
                                           .summary = pressure_summary,
                                           .of_blocks = pressure_of_blocks};
