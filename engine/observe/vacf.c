/* SPDX-License-Identifier: Apache-2.0
 *
 * The autocorrelation of velocities C(t) = <v(0) v(t)>, and diffusion by the relation of Green and Kubo: D is a third
 * of its integral, here by the trapezoidal rule up to the longest lag. Errors are those of blocks longer than that, as
 * those of mean square displacements.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/number.h"
#include "engine/observe/kinds.h"
#include "engine/observe/lags.h"

/* Atoms of particle `first` to `end` have no mass in all, and what they have for velocities is not theirs. */
static bool massless(const struct observable *o, const struct system *sys, int32_t first, int32_t end)
{
    for (int32_t i = first; i < end; i++)
        if (sys->atoms[o->group[0].atom[i]].mass[0] > 0)
            return false;
    return true;
}

static int vacf_check(const struct observable *o, const struct system *sys, struct err *e)
{
    int32_t *first;
    int rc = lags_check(o, sys, e);
    const uint32_t n = observe_particles(o, sys, o->lags.molecules, &first);
    for (uint32_t p = 0; p < n && !rc; p++) {
        const int atom = o->group[0].atom[first[p]];
        if (massless(o, sys, first[p], first[p + 1]))
            rc = err_set(
                e, ERR_SPEC,
                "%s: %s: atom %d (%s %s%d) has no mass, and so no velocity of its own; expected a group without "
                "such atoms, or one by molecule",
                o->name, o->group[0].label, atom + 1, sys->atoms[atom].name, sys->atoms[atom].resname,
                sys->atoms[atom].residue);
    }
    free(first);
    return rc;
}

/* ---- results ---- */

struct green_kubo {
    struct lag_curve c; /* nm^2/ps^2 */
    double to;          /* ps */
    double *d, *error;  /* [lags], nm^2/ps: of integrals up to each lag */
};

/* From 0 up to each lag. */
static void integrate(const double *c, uint32_t lags, double interval, double *d)
{
    d[0] = 0;
    for (uint32_t k = 1; k < lags; k++)
        d[k] = d[k - 1] + interval * (c[k - 1] + c[k]) / 6;
}

static struct green_kubo green_kubo_of(const struct observe_result *r)
{
    struct green_kubo g = {.c = lags_curve(r)};
    const uint32_t lags = g.c.lags;
    g.to = (lags - 1) * r->o->interval;
    lags_errors(r, g.to, &g.c);
    g.d = xcalloc(lags, sizeof *g.d);
    g.error = xcalloc(lags, sizeof *g.error);
    double *of_block = xcalloc((size_t)g.c.blocks + 1, lags * sizeof *of_block);
    integrate(g.c.mean, lags, r->o->interval, g.d);
    for (int b = 0; b < g.c.blocks; b++)
        integrate(g.c.of_block + (size_t)b * lags, lags, r->o->interval, of_block + (size_t)b * lags);
    for (uint32_t k = 0; k < lags; k++)
        g.error[k] = observe_error(of_block + k, g.c.blocks, lags);
    free(of_block);
    return g;
}

static void green_kubo_close(struct green_kubo *g)
{
    lags_close(&g->c);
    free(g->d);
    free(g->error);
}

static double total(const struct green_kubo *g)
{
    return 1e5 * CM2_S * g->d[g->c.lags - 1];
}

static double total_error(const struct green_kubo *g)
{
    return 1e5 * CM2_S * g->error[g->c.lags - 1];
}

static void vacf_file(const struct observe_result *r, struct buf *out)
{
    static const char *const legends[] = {"C",          "error of C",     "C / C(0)", "D up to there (1e-5 cm^2/s)",
                                          "error of D", "origins of time"};
    struct buf title = {0};
    struct green_kubo g = green_kubo_of(r);
    buf_printf(out, "# D = %.6g +- %.2g 1e-5 cm^2/s, up to %.6g ps; errors are from %d blocks longer than that\n",
               total(&g), total_error(&g), g.to, g.c.blocks);
    buf_printf(&title, "autocorrelation of velocities of %s", r->o->group[0].label);
    observe_header(out, title.data, "tau (ps)", "C (nm\\S2\\N/ps\\S2\\N)", legends, 6);
    for (uint32_t k = 0; k < g.c.lags; k++)
        buf_printf(out, "%.10g %.10g %.3g %.8g %.8g %.3g %lld\n", k * r->o->interval, g.c.mean[k], g.c.error[k],
                   g.c.mean[k] / g.c.mean[0], 1e5 * CM2_S * g.d[k], 1e5 * CM2_S * g.error[k],
                   (long long)g.c.origins[k]);
    green_kubo_close(&g);
    buf_free(&title);
}

static void vacf_curves(const struct green_kubo *g, struct writer *w)
{
    lags_origins(&g->c, w);
    observe_list(w, "vacf_nm2_per_ps2", g->c.mean, g->c.lags);
    observe_list(w, "vacf_error_nm2_per_ps2", g->c.error, g->c.lags);
    observe_list(w, "integral_nm2_per_ps", g->d, g->c.lags);
    observe_list(w, "integral_error_nm2_per_ps", g->error, g->c.lags);
}

static void vacf_json(const struct observe_result *r, bool curves, struct writer *w)
{
    struct green_kubo g = green_kubo_of(r);
    jw_real(w, "interval_ps", r->o->interval);
    jw_begin(w, "green_kubo", '{');
    jw_real(w, "to_ps", g.to);
    jw_real(w, "mean_square_velocity_nm2_per_ps2", g.c.mean[0]);
    jw_real(w, "value_cm2_per_s", 1e-5 * total(&g));
    jw_real(w, "error_cm2_per_s", 1e-5 * total_error(&g));
    jw_integer(w, "blocks", (size_t)g.c.blocks);
    jw_end(w, '}');
    if (curves)
        vacf_curves(&g, w);
    green_kubo_close(&g);
}

static void vacf_summary(const struct observe_result *r, struct buf *out)
{
    struct green_kubo g = green_kubo_of(r);
    buf_printf(out, "D ");
    number_with_error(out, total(&g), total_error(&g));
    buf_printf(out, " 1e-5 cm^2/s, up to %.4g ps", g.to);
    green_kubo_close(&g);
}

/* Integrals up to the longest lag. */
static int vacf_of_blocks(const struct observe_result *r, double *value)
{
    struct green_kubo g = green_kubo_of(r);
    const uint32_t lags = g.c.lags;
    const int n = g.c.blocks;
    double *d = xcalloc(lags, sizeof *d);
    for (int b = 0; b < n; b++) {
        integrate(g.c.of_block + (size_t)b * lags, lags, r->o->interval, d);
        value[b] = d[lags - 1];
    }
    free(d);
    green_kubo_close(&g);
    return n;
}

const struct observe_kind vacf_kind = {.size = lags_size,
                                       .equal_times = true,
                                       .needs_velocities = true,
                                       .check = vacf_check,
                                       .put = lags_put,
                                       .file = vacf_file,
                                       .json = vacf_json,
                                       .summary = vacf_summary,
                                       .of_blocks = vacf_of_blocks};
