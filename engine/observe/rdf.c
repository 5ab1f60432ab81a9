/* SPDX-License-Identifier: Apache-2.0
 *
 * Radial distribution functions. Accumulated are pairs per bin and the sum of 1 / volume: so many pairs are expected in
 * a bin of volume w where all P pairs of the groups are spread evenly over the box of each frame, P w sum(1 / V); g(r)
 * is what was found over that. (Where the volume varies that is neither the mean density nor the density of the mean
 * volume; they agree to the relative variance of V. gmx rdf does the same.) The coordination number counts and needs no
 * volume.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/number.h"
#include "engine/observe/kinds.h"

static uint32_t rdf_bins(const struct observable *o)
{
    return (uint32_t)lrint(o->rdf.max / o->rdf.bin);
}

static struct observe_size rdf_size(const struct observable *o)
{
    return (struct observe_size){.counts = rdf_bins(o), .reals = 1};
}

/* Boxes of files are single precision. */
static double rdf_least_width(const struct observable *o)
{
    return 2 * o->rdf.max * (1 - 1e-6);
}

/* ---- pairs ---- */

/* Atoms of both groups. */
static int shared(const struct observable *o)
{
    const struct atom_group *a = &o->group[0], *b = &o->group[1];
    int n = 0;
    for (int i = 0, k = 0; i < a->n && k < b->n;) {
        n += a->atom[i] == b->atom[k];
        if (a->atom[i] < b->atom[k])
            i++;
        else
            k++;
    }
    return n;
}

static bool same(const struct observable *o)
{
    return o->group[0].n == o->group[1].n && shared(o) == o->group[0].n;
}

/* For each molecule how many of its atoms are in the group. */
static int *members(const struct atom_group *g, const struct system *sys)
{
    int *n = xcalloc((size_t)sys->nmolecules, sizeof *n);
    for (int i = 0; i < g->n; i++)
        n[sys->atoms[g->atom[i]].molecule]++;
    return n;
}

/* Ordered pairs, without those of an atom with itself, and without those within molecules where they do not count. */
static double ordered_pairs(const struct observable *o, const struct system *sys)
{
    double n = (double)o->group[0].n * o->group[1].n;
    if (o->rdf.within)
        return n - shared(o);
    int *a = members(&o->group[0], sys), *b = members(&o->group[1], sys);
    for (int m = 0; m < sys->nmolecules; m++)
        n -= (double)a[m] * b[m];
    free(a);
    free(b);
    return n;
}

static int rdf_check(const struct observable *o, const struct system *sys, struct err *e)
{
    if (ordered_pairs(o, sys) > 0)
        return 0;
    return err_set(e, ERR_SPEC, "%s: %s, %s: not one pair%s; expected other groups%s", o->name, o->group[0].label,
                   o->group[1].label, o->rdf.within ? "" : " of different molecules",
                   o->rdf.within ? "" : ", or within-molecules: yes");
}

static const int32_t *put_molecules(const struct atom_group *g, const struct system *sys, struct arena *a)
{
    int32_t *molecule = xcalloc((size_t)g->n, sizeof *molecule);
    for (int i = 0; i < g->n; i++)
        molecule[i] = sys->atoms[g->atom[i]].molecule;
    const int32_t *at = arena_put(a, molecule, (size_t)g->n * sizeof *molecule);
    free(molecule);
    return at;
}

static const void *rdf_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a)
{
    struct rdf_table t = {.max = o->rdf.max,
                          .bin = o->rdf.bin,
                          .bins = rdf_bins(o),
                          .same = same(o),
                          .within = o->rdf.within,
                          .overlapping = !same(o) && shared(o)};
    for (int g = 0; g < 2; g++)
        t.molecule[g] = put_molecules(&o->group[g], sys, a);
    return arena_put_named(a, "an rdf", &t, sizeof t);
}

/* ---- results ---- */

struct curve {
    uint32_t bins;
    int64_t *pairs;
    double *g, *g_error, *n, *n_error; /* n: within the bin's upper edge */
};

/* g(r) and n(r) of some frames. */
static void evaluate(const struct observe_result *r, double pairs, const int64_t *counts, double inverse_volume,
                     double frames, double *g, double *n)
{
    const struct observable *o = r->o;
    const double w = 4 * M_PI / 3 * o->rdf.bin * o->rdf.bin * o->rdf.bin * pairs * inverse_volume;
    double sum = 0;
    for (uint32_t k = 0; k < rdf_bins(o); k++) {
        const double inner = k, outer = k + 1.0;
        sum += (double)counts[k];
        g[k] = (double)counts[k] / (w * (outer * outer * outer - inner * inner * inner));
        n[k] = (same(o) ? 2 : 1) * sum / (o->group[0].n * frames);
    }
}

static struct curve curve_of(const struct observe_result *r)
{
    const struct observed *s = r->seen;
    const uint32_t bins = rdf_bins(r->o);
    const int blocks = observe_full_blocks(r);
    const double pairs = ordered_pairs(r->o, r->sys) / (same(r->o) ? 2 : 1);
    struct curve c = {.bins = bins, .pairs = observe_total_counts(r)};
    double *volume = observe_total_reals(r), **column[] = {&c.g, &c.g_error, &c.n, &c.n_error};
    double *g = xcalloc((size_t)blocks + 1, bins * sizeof *g), *n = xcalloc((size_t)blocks + 1, bins * sizeof *n);
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        *column[i] = xcalloc(bins, sizeof **column[i]);
    evaluate(r, pairs, c.pairs, volume[0], (double)s->frames, c.g, c.n);
    for (int b = 0; b < blocks; b++)
        evaluate(r, pairs, observe_counts(r, b), observe_reals(r, b)[0], (double)s->per_block, g + (size_t)b * bins,
                 n + (size_t)b * bins);
    for (uint32_t k = 0; k < bins; k++) {
        c.g_error[k] = observe_error(g + k, blocks, bins);
        c.n_error[k] = observe_error(n + k, blocks, bins);
    }
    free(volume);
    free(g);
    free(n);
    return c;
}

static void curve_close(struct curve *c)
{
    free(c->pairs);
    free(c->g);
    free(c->g_error);
    free(c->n);
    free(c->n_error);
}

static void rdf_file(const struct observe_result *r, struct buf *out)
{
    static const char *const legends[] = {"g(r)", "error of g(r)", "coordination number within r + bin/2",
                                          "error of the coordination number", "pairs"};
    struct buf title = {0};
    struct curve c = curve_of(r);
    buf_printf(out, "# errors are standard errors of the mean of %d blocks of %lld frames\n", observe_full_blocks(r),
               (long long)r->seen->per_block);
    buf_printf(&title, "g(r) of %s around %s", r->o->group[1].label, r->o->group[0].label);
    observe_header(out, title.data, "r (nm)", "g(r)", legends, 5);
    for (uint32_t k = 0; k < c.bins; k++)
        buf_printf(out, "%.6g %.8g %.3g %.8g %.3g %lld\n", (k + 0.5) * r->o->rdf.bin, c.g[k], c.g_error[k], c.n[k],
                   c.n_error[k], (long long)c.pairs[k]);
    curve_close(&c);
    buf_free(&title);
}

/* The bin. */
static uint32_t highest(const struct curve *c)
{
    uint32_t best = 0;
    for (uint32_t k = 0; k < c->bins; k++)
        if (c->g[k] > c->g[best])
            best = k;
    return best;
}

static void rdf_curves(const struct curve *c, struct writer *w)
{
    jw_begin(w, "pairs", '[');
    for (uint32_t k = 0; k < c->bins; k++)
        jw_integer(w, NULL, (size_t)c->pairs[k]);
    jw_end(w, ']');
    observe_list(w, "g", c->g, c->bins);
    observe_list(w, "g_error", c->g_error, c->bins);
    observe_list(w, "coordination", c->n, c->bins);
    observe_list(w, "coordination_error", c->n_error, c->bins);
}

static void rdf_json(const struct observe_result *r, bool curves, struct writer *w)
{
    struct curve c = curve_of(r);
    double *volume = observe_total_reals(r);
    jw_real(w, "max_nm", r->o->rdf.max);
    jw_real(w, "bin_nm", r->o->rdf.bin);
    jw_real(w, "mean_inverse_volume_per_nm3", volume[0] / (double)r->seen->frames);
    const uint32_t best = highest(&c);
    jw_begin(w, "highest", '{');
    jw_real(w, "g", c.g[best]);
    jw_real(w, "error", c.g_error[best]);
    jw_real(w, "r_nm", (best + 0.5) * r->o->rdf.bin);
    jw_end(w, '}');
    free(volume);
    if (curves)
        rdf_curves(&c, w);
    curve_close(&c);
}

static void rdf_summary(const struct observe_result *r, struct buf *out)
{
    struct curve c = curve_of(r);
    const uint32_t best = highest(&c);
    buf_printf(out, "highest g(r) ");
    number_with_error(out, c.g[best], c.g_error[best]);
    buf_printf(out, " at %.4g nm", (best + 0.5) * r->o->rdf.bin);
    curve_close(&c);
}

/* Of the highest bin. */
static int rdf_of_blocks(const struct observe_result *r, double *value)
{
    struct curve c = curve_of(r);
    const int n = observe_full_blocks(r);
    for (int b = 0; b < n; b++)
        value[b] = (double)observe_counts(r, b)[highest(&c)] / observe_reals(r, b)[0];
    curve_close(&c);
    return n;
}

const struct observe_kind rdf_kind = {.size = rdf_size,
                                      .least_width = rdf_least_width,
                                      .check = rdf_check,
                                      .put = rdf_put,
                                      .file = rdf_file,
                                      .json = rdf_json,
                                      .summary = rdf_summary,
                                      .of_blocks = rdf_of_blocks};
