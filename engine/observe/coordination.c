/* SPDX-License-Identifier: Apache-2.0
 *
 * Coordinations (engine/math/potentials/coordination.h): their mean, and how often which value is found.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/number.h"
#include "engine/observe/kinds.h"

static uint32_t coordination_bins(const struct observable *o)
{
    return (uint32_t)lrint(o->coordination.max / o->coordination.bin);
}

static struct observe_size coordination_size(const struct observable *o)
{
    return (struct observe_size){.counts = coordination_bins(o) + 1, .reals = 2, .state = sizeof(struct fixed_sum)};
}

static const void *coordination_put(const struct observable *o, const struct system *sys, const void *plan,
                                    struct arena *a)
{
    const struct atom_group *g = o->group;
    struct system one = {0};
    system_add_coordination(&one, o->coordination.of, (const int *const[2]){g[0].atom, g[1].atom},
                            (const int[2]){g[0].n, g[1].n});
    const struct coordination_table t = {
        .of = {.coordinations = arena_put_named(a, "a coordination", one.coordinations, sizeof *one.coordinations),
               .atoms = arena_put_named(a, "atoms of a coordination", one.coordination_atoms,
                                        (size_t)one.ncoordination_atoms * sizeof *one.coordination_atoms),
               .ncoordinations = 1,
               .natoms = (uint32_t)one.ncoordination_atoms},
        .bin = o->coordination.bin,
        .bins = coordination_bins(o)};
    system_close(&one);
    return arena_put_named(a, "a distribution of coordinations", &t, sizeof t);
}

/* ---- results ---- */

struct coordination_moments {
    double mean, error, deviation;
};

static struct coordination_moments moments_of(const struct observe_result *r)
{
    const int blocks = observe_full_blocks(r);
    const double n = (double)r->seen->frames;
    double *sums = observe_total_reals(r), *mean = xcalloc((size_t)blocks + 1, sizeof *mean);
    for (int b = 0; b < blocks; b++)
        mean[b] = observe_reals(r, b)[0] / (double)r->seen->per_block;
    struct coordination_moments m = {.mean = sums[0] / n, .error = observe_error(mean, blocks, 1)};
    m.deviation = sqrt(fmax(0, sums[1] / n - m.mean * m.mean));
    free(sums);
    free(mean);
    return m;
}

/* What a count of frames is as a density. */
static double density(const struct observe_result *r, int64_t count, int64_t frames)
{
    return (double)count / ((double)frames * r->o->coordination.bin);
}

static double density_error(const struct observe_result *r, uint32_t bin)
{
    const int blocks = observe_full_blocks(r);
    double *of_block = xcalloc((size_t)blocks + 1, sizeof *of_block);
    for (int b = 0; b < blocks; b++)
        of_block[b] = density(r, observe_counts(r, b)[bin], r->seen->per_block);
    const double error = observe_error(of_block, blocks, 1);
    free(of_block);
    return error;
}

static void coordination_file(const struct observe_result *r, struct buf *out)
{
    static const char *const legends[] = {"p(C)", "error of p(C)", "frames"};
    const struct observable *o = r->o;
    const struct coordination_moments m = moments_of(r);
    int64_t *counts = observe_total_counts(r);
    buf_printf(out, "# mean %.10g +- %.3g, standard deviation %.6g; %lld of %lld frames beyond %.10g\n", m.mean,
               m.error, m.deviation, (long long)counts[coordination_bins(o)], (long long)r->seen->frames,
               o->coordination.max);
    observe_header(out, "Distribution of a coordination", "C", "p(C)", legends, 3);
    for (uint32_t k = 0; k < coordination_bins(o); k++)
        buf_printf(out, "%.6g %.8g %.3g %lld\n", (k + 0.5) * o->coordination.bin,
                   density(r, counts[k], r->seen->frames), density_error(r, k), (long long)counts[k]);
    free(counts);
}

static void coordination_json(const struct observe_result *r, bool curves, struct writer *w)
{
    const struct coordination_moments m = moments_of(r);
    int64_t *counts = observe_total_counts(r);
    jw_begin(w, "value", '{');
    jw_real(w, "mean", m.mean);
    jw_real(w, "error", m.error);
    jw_real(w, "deviation", m.deviation);
    jw_end(w, '}');
    jw_real(w, "max", r->o->coordination.max);
    jw_real(w, "bin", r->o->coordination.bin);
    if (curves) {
        jw_begin(w, "frames_in_bins", '[');
        for (uint32_t k = 0; k <= coordination_bins(r->o); k++)
            jw_integer(w, NULL, (size_t)counts[k]);
        jw_end(w, ']');
    }
    free(counts);
}

static void coordination_summary(const struct observe_result *r, struct buf *out)
{
    const struct coordination_moments m = moments_of(r);
    buf_printf(out, "C ");
    number_with_error(out, m.mean, m.error);
    buf_printf(out, " on average, standard deviation %.3g", m.deviation);
}

static int coordination_of_blocks(const struct observe_result *r, double *value)
{
    const int n = observe_full_blocks(r);
    for (int b = 0; b < n; b++)
        value[b] = observe_reals(r, b)[0] / (double)r->seen->per_block;
    return n;
}

const struct observe_kind coordination_kind = {.size = coordination_size,
                                               .series_title = "A coordination, frame by frame",
                                               .series_column = "C",
                                               .put = coordination_put,
                                               .file = coordination_file,
                                               .json = coordination_json,
                                               .summary = coordination_summary,
                                               .of_blocks = coordination_of_blocks};
