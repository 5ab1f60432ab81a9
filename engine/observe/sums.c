/* SPDX-License-Identifier: Apache-2.0
 *
 * What all kinds of observables need: their particles, sums of blocks, errors of means, lists and headers of files.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/observe/kinds.h"

uint32_t observe_particles(const struct observable *o, const struct system *sys, bool molecules, int32_t **first)
{
    const struct atom_group *g = &o->group[0];
    uint32_t n = 0;
    *first = xcalloc((size_t)g->n + 1, sizeof **first);
    for (int i = 0; i < g->n; i++)
        if (!i || !molecules || sys->atoms[g->atom[i]].molecule != sys->atoms[g->atom[i - 1]].molecule)
            (*first)[n++] = i;
    (*first)[n] = g->n;
    return n;
}

bool observe_begun(const struct observe_result *r)
{
    return r->seen->frames || r->seen->narrow;
}

int observe_full_blocks(const struct observe_result *r)
{
    const struct observed *s = r->seen;
    return (int)(s->blocks - (s->in_block < s->per_block));
}

static struct observe_table shape_of(const struct observe_result *r)
{
    return (struct observe_table){.counts = r->size.counts, .reals = r->size.reals};
}

const int64_t *observe_counts(const struct observe_result *r, int block)
{
    const struct observe_table t = shape_of(r);
    return observed_counts(&t, r->seen, block);
}

const double *observe_reals(const struct observe_result *r, int block)
{
    const struct observe_table t = shape_of(r);
    return observed_reals(&t, r->seen, block);
}

int64_t *observe_total_counts(const struct observe_result *r)
{
    int64_t *sum = xcalloc(r->size.counts + 1, sizeof *sum);
    for (int b = 0; b < r->seen->blocks; b++)
        for (uint64_t i = 0; i < r->size.counts; i++)
            sum[i] += observe_counts(r, b)[i];
    return sum;
}

double *observe_total_reals(const struct observe_result *r)
{
    double *sum = xcalloc(r->size.reals + 1, sizeof *sum);
    for (int b = 0; b < r->seen->blocks; b++)
        for (uint64_t i = 0; i < r->size.reals; i++)
            sum[i] += observe_reals(r, b)[i];
    return sum;
}

double observe_error(const double *value, int n, size_t stride)
{
    double mean = 0, square = 0;
    if (n < 2)
        return NAN;
    for (int i = 0; i < n; i++)
        mean += value[(size_t)i * stride] / n;
    for (int i = 0; i < n; i++)
        square += (value[(size_t)i * stride] - mean) * (value[(size_t)i * stride] - mean);
    return sqrt(square / (n - 1) / n);
}

void observe_list(struct writer *w, const char *key, const double *value, size_t n)
{
    jw_begin(w, key, '[');
    for (size_t i = 0; i < n; i++)
        jw_real(w, NULL, value[i]);
    jw_end(w, ']');
}

void observe_header(struct buf *out, const char *title, const char *x, const char *y, const char *const *legends, int n)
{
    buf_printf(out, "@    title \"%s\"\n@    xaxis  label \"%s\"\n@    yaxis  label \"%s\"\n@TYPE xy\n", title, x, y);
    buf_printf(out,
               "@ view 0.15, 0.15, 0.75, 0.85\n@ legend on\n@ legend box on\n@ legend loctype view\n"
               "@ legend 0.78, 0.8\n@ legend length 2\n");
    for (int i = 0; i < n; i++)
        buf_printf(out, "@ s%d legend \"%s\"\n", i, legends[i]);
}
