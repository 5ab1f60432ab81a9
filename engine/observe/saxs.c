/* SPDX-License-Identifier: Apache-2.0
 *
 * X-ray scattering. Accumulated are, for each bin of |q|, sums over frames and wave vectors of I(q) and of |q|, and how
 * many there were; I is their mean, at the mean |q|. What scatters without the sample, of its own box, is taken off by
 * volume: I(q) = I_sample(q) - scale (V / V_b) I_b(q) with the mean volumes of the two; I_b(q) is linear between the
 * rows of its file.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/number.h"
#include "engine/observe/kinds.h"
#include "engine/observe/saxs_plan.h"

#define Q_DIGITS 1e-7 /* to which a file has q */

static struct observe_size saxs_size(const struct observable *o)
{
    return (struct observe_size){.reals = 3 * (uint64_t)saxs_bins(&o->saxs) + 1};
}

static int saxs_plan(void **plan, const struct observable *o, const struct system *sys, const struct settings *set,
                     struct err *e)
{
    struct saxs_plan *p = xcalloc(1, sizeof *p);
    int rc = saxs_plan_make(p, o, sys, e);
    if (rc)
        free(p);
    else
        *plan = p;
    return rc;
}

static int saxs_check(const struct observable *o, const struct system *sys, struct err *e)
{
    struct saxs_plan p;
    int rc = saxs_plan_make(&p, o, sys, e);
    if (rc)
        return err_prefix(e, "%s", o->name);
    saxs_plan_close(&p);
    return 0;
}

static void saxs_plan_free(void *plan)
{
    saxs_plan_close(plan);
    free(plan);
}

static const void *saxs_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a)
{
    return saxs_plan_put(plan, a);
}

/* ---- results ---- */

struct profile {
    uint32_t n;                 /* bins that have wave vectors */
    double *q, *i, *error;      /* 1/nm; electrons^2, without the background */
    double *sample, *uncertain; /* with it, and its error */
    double volume;              /* nm^3 */
};

static double mean_of_bin(const double *reals, uint32_t nbins, uint32_t k)
{
    return reals[SAXS_INTENSITY * nbins + k] / reals[SAXS_COUNT * nbins + k];
}

/* The error of bin k, from blocks. NAN: too few. */
static double error_of(const struct observe_result *r, uint32_t nbins, uint32_t k)
{
    double mean[OBSERVE_BLOCKS];
    int n = 0;
    for (int b = 0; b < observe_full_blocks(r); b++)
        if (observe_reals(r, b)[SAXS_COUNT * nbins + k] > 0)
            mean[n++] = mean_of_bin(observe_reals(r, b), nbins, k);
    return observe_error(mean, n, 1);
}

/* The background at q, and its error. */
static double background_at(const struct saxs_background *b, double q, double *error)
{
    int k = 1;
    while (k < b->n - 1 && b->q[k] < q)
        k++;
    const double part = (q - b->q[k - 1]) / (b->q[k] - b->q[k - 1]);
    *error = hypot((1 - part) * b->error[k - 1], part * b->error[k]);
    return (1 - part) * b->i[k - 1] + part * b->i[k];
}

static void subtract(const struct saxs_background *b, struct profile *p)
{
    const double scale = b->scale * p->volume / b->volume;
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->n; k++) {
        double error;
        if (p->q[k] < (1 - Q_DIGITS) * b->q[0] || p->q[k] > (1 + Q_DIGITS) * b->q[b->n - 1])
            continue;
        const double i = scale * background_at(b, p->q[k], &error);
        p->q[n] = p->q[k];
        p->sample[n] = p->sample[k];
        p->uncertain[n] = p->uncertain[k];
        p->i[n] = p->sample[n] - i;
        p->error[n] = hypot(p->uncertain[n], scale * error);
        n++;
    }
    p->n = n;
}

static struct profile profile_of(const struct observe_result *r)
{
    const uint32_t nbins = saxs_bins(&r->o->saxs);
    struct profile p = {0};
    double *reals = observe_total_reals(r), **column[] = {&p.q, &p.i, &p.error, &p.sample, &p.uncertain};
    for (size_t c = 0; c < sizeof column / sizeof *column; c++)
        *column[c] = xcalloc(nbins, sizeof **column[c]);
    for (uint32_t k = 0; k < nbins; k++) {
        if (reals[SAXS_COUNT * nbins + k] == 0)
            continue;
        p.q[p.n] = reals[SAXS_Q * nbins + k] / reals[SAXS_COUNT * nbins + k];
        p.i[p.n] = p.sample[p.n] = mean_of_bin(reals, nbins, k);
        p.error[p.n] = p.uncertain[p.n] = error_of(r, nbins, k);
        p.n++;
    }
    p.volume = reals[SAXS_VOLUME * nbins] / (double)r->seen->frames;
    free(reals);
    if (r->o->saxs.background.n)
        subtract(&r->o->saxs.background, &p);
    return p;
}

static void profile_close(struct profile *p)
{
    free(p->q);
    free(p->i);
    free(p->error);
    free(p->sample);
    free(p->uncertain);
}

static void saxs_file(const struct observe_result *r, struct buf *out)
{
    static const char *const legends[] = {"I(q)", "error of I(q)", "I(q) with the background", "error of that"};
    const struct saxs_background *b = &r->o->saxs.background;
    struct profile p = profile_of(r);
    struct buf title = {0};
    buf_printf(out, "# q in 1/nm, I in electrons^2 of all of the box\n# " SAXS_VOLUME_KEY " %.10g nm^3\n", p.volume);
    if (b->n)
        buf_printf(out, "# without %.6g times %s, of %.10g nm^3, by volume\n", b->scale, b->name, b->volume);
    buf_printf(&title, "X-ray scattering of %s", r->o->group[0].label);
    observe_header(out, title.data, "q (1/nm)", "I (electrons\\S2\\N)", legends, b->n ? 4 : 2);
    for (uint32_t k = 0; k < p.n; k++) {
        buf_printf(out, "%.8g %.9g %.3g", p.q[k], p.i[k], p.error[k]);
        if (b->n)
            buf_printf(out, " %.9g %.3g", p.sample[k], p.uncertain[k]);
        buf_printf(out, "\n");
    }
    buf_free(&title);
    profile_close(&p);
}

static void saxs_json(const struct observe_result *r, bool curves, struct writer *w)
{
    struct profile p = profile_of(r);
    jw_real(w, "mean_volume_nm3", p.volume);
    if (p.n) {
        jw_begin(w, "lowest", '{');
        jw_real(w, "q_per_nm", p.q[0]);
        jw_real(w, "intensity", p.i[0]);
        jw_real(w, "error", p.error[0]);
        jw_end(w, '}');
    }
    if (curves) {
        observe_list(w, "q_per_nm", p.q, p.n);
        observe_list(w, "intensity", p.i, p.n);
        observe_list(w, "intensity_error", p.error, p.n);
    }
    if (curves && r->o->saxs.background.n) {
        observe_list(w, "intensity_with_background", p.sample, p.n);
        observe_list(w, "intensity_with_background_error", p.uncertain, p.n);
    }
    profile_close(&p);
}

static void saxs_summary(const struct observe_result *r, struct buf *out)
{
    struct profile p = profile_of(r);
    if (p.n) {
        buf_printf(out, "I(%.4g /nm) ", p.q[0]);
        number_with_error(out, p.i[0], p.error[0]);
        buf_printf(out, " electrons^2");
    } else
        buf_printf(out, "no wave vectors up to max%s",
                   r->o->saxs.background.n ? " within the background's" : ": the box is too small");
    profile_close(&p);
}

/* Of the lowest bin, with what the background takes away. */
static int saxs_of_blocks(const struct observe_result *r, double *value)
{
    const uint32_t nbins = saxs_bins(&r->o->saxs);
    double *reals = observe_total_reals(r);
    uint32_t lowest = 0;
    int n = 0;
    while (lowest < nbins && reals[SAXS_COUNT * nbins + lowest] == 0)
        lowest++;
    free(reals);
    if (lowest == nbins)
        return -1;
    for (int b = 0; b < observe_full_blocks(r); b++)
        if (observe_reals(r, b)[SAXS_COUNT * nbins + lowest] > 0)
            value[n++] = mean_of_bin(observe_reals(r, b), nbins, lowest);
    return n;
}

const struct observe_kind saxs_kind = {.size = saxs_size,
                                       .plan = saxs_plan,
                                       .plan_free = saxs_plan_free,
                                       .check = saxs_check,
                                       .most_edges = saxs_most_edges,
                                       .put = saxs_put,
                                       .file = saxs_file,
                                       .json = saxs_json,
                                       .summary = saxs_summary,
                                       .of_blocks = saxs_of_blocks};
