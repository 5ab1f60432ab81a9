/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean square displacements, and diffusion by Einstein's relation: D = slope / 6 of a line through them between two
 * lags, by least squares. Positions are followed from frame to frame by their nearest images.
 *
 * Errors are those of blocks longer than the longest lag of the fit: what a block adds has its end there and its
 * origin up to that lag before.
 */
#include <math.h>

#include "engine/base/number.h"
#include "engine/base/units.h"
#include "engine/observe/kinds.h"
#include "engine/observe/lags.h"

#define XI                                                                                                             \
    2.837297 /* of a cubic lattice: Yeh and Hummer, J. Phys. Chem. B 108, 15873 (2004), doi 10.1021/jp0477147          \
              */
#define MPA_S (1e4 / UNIT_BAR) /* in kJ/mol ps/nm^3 */

static bool msd_needs_cube(const struct observable *o)
{
    return o->msd.viscosity > 0;
}

/* ---- results ---- */

struct line {
    double slope, intercept;
};

struct diffusion {
    struct lag_curve c; /* nm^2 */
    double from, to;    /* ps, of the fit */
    struct line line;
    double d, d_error; /* nm^2/ps */
    double d_of_block[OBSERVE_BLOCKS];
};

/* Least squares of values at lags k interval, those between two times. NAN where fewer than two have one. */
static struct line fit(const struct diffusion *f, double interval, const double *msd)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (uint32_t k = 0; k < f->c.lags; k++) {
        const double t = k * interval;
        if (t < f->from - 1e-3 * interval || t > f->to + 1e-3 * interval)
            continue;
        n++;
        x += t;
        y += msd[k];
        xx += t * t;
        xy += t * msd[k];
    }
    const double slope = n > 1 ? (n * xy - x * y) / (n * xx - x * x) : NAN;
    return (struct line){slope, (y - slope * x) / n};
}

static struct diffusion diffusion_of(const struct observe_result *r)
{
    const struct msd_choice *m = &r->o->msd;
    const double interval = r->o->interval;
    struct diffusion f = {.c = lags_curve(r), .from = m->fit[0]};
    f.to = fmin(m->fit[1], (f.c.lags - 1) * interval);
    lags_errors(r, f.to, &f.c);
    f.line = fit(&f, interval, f.c.mean);
    f.d = f.line.slope / 6;
    for (int b = 0; b < f.c.blocks; b++)
        f.d_of_block[b] = fit(&f, interval, f.c.of_block + (size_t)b * f.c.lags).slope / 6;
    f.d_error = observe_error(f.d_of_block, f.c.blocks, 1);
    return f;
}

/* A line has two points or more. Else says so. */
static bool is_fitted(const struct observe_result *r, const struct diffusion *f, const char *before, const char *after,
                      struct buf *out)
{
    const double *fit = r->o->msd.fit;
    if (!isfinite(f->d))
        buf_printf(out, "%sno D: fewer than two lags from %.6g to %.6g ps, the longest so far is %.6g ps%s", before,
                   fit[0], fit[1], (f->c.lags - 1) * r->o->interval, after);
    return isfinite(f->d);
}

/* What an infinite box adds, nm^2/ps. */
static double finite_size(const struct observe_result *r, const struct diffusion *f)
{
    const struct msd_choice *m = &r->o->msd;
    return UNIT_R * m->temperature * XI / (6 * M_PI * m->viscosity * MPA_S * f->c.edge);
}

static void msd_file(const struct observe_result *r, struct buf *out)
{
    static const char *const legends[] = {"MSD", "error of the MSD", "origins of time"};
    struct buf title = {0};
    struct diffusion f = diffusion_of(r);
    const bool fitted = is_fitted(r, &f, "# ", "\n", out);
    if (fitted)
        buf_printf(out,
                   "# D = %.6g +- %.2g 1e-5 cm^2/s, from %.6g to %.6g ps; errors are from %d blocks longer than that\n",
                   f.d * CM2_S * 1e5, f.d_error * CM2_S * 1e5, f.from, f.to, f.c.blocks);
    if (fitted && r->o->msd.viscosity > 0)
        buf_printf(out,
                   "# %.6g 1e-5 cm^2/s more in an infinite box (Yeh and Hummer, doi 10.1021/jp0477147), at %g mPa s\n",
                   finite_size(r, &f) * CM2_S * 1e5, r->o->msd.viscosity);
    buf_printf(&title, "mean square displacement of %s", r->o->group[0].label);
    observe_header(out, title.data, "tau (ps)", "MSD (nm\\S2\\N)", legends, 3);
    for (uint32_t k = 0; k < f.c.lags; k++)
        buf_printf(out, "%.10g %.10g %.3g %lld\n", k * r->o->interval, f.c.mean[k], f.c.error[k],
                   (long long)f.c.origins[k]);
    lags_close(&f.c);
    buf_free(&title);
}

static void add_diffusion(const struct observe_result *r, const struct diffusion *f, struct writer *w)
{
    jw_begin(w, "diffusion", '{');
    jw_real(w, "from_ps", f->from);
    jw_real(w, "to_ps", f->to);
    jw_real(w, "slope_nm2_per_ps", f->line.slope);
    jw_real(w, "intercept_nm2", f->line.intercept);
    jw_real(w, "value_cm2_per_s", f->d * CM2_S);
    jw_real(w, "error_cm2_per_s", f->d_error * CM2_S);
    jw_integer(w, "blocks", (size_t)f->c.blocks);
    if (r->o->msd.viscosity > 0) {
        jw_begin(w, "infinite_box", '{');
        jw_text(w, "correction", "Yeh and Hummer, doi 10.1021/jp0477147");
        jw_real(w, "viscosity_mpa_s", r->o->msd.viscosity);
        jw_real(w, "mean_edge_nm", f->c.edge);
        jw_real(w, "added_cm2_per_s", finite_size(r, f) * CM2_S);
        jw_real(w, "value_cm2_per_s", (f->d + finite_size(r, f)) * CM2_S);
        jw_end(w, '}');
    }
    jw_end(w, '}');
}

static void msd_json(const struct observe_result *r, bool curves, struct writer *w)
{
    struct diffusion f = diffusion_of(r);
    jw_real(w, "interval_ps", r->o->interval);
    add_diffusion(r, &f, w);
    if (curves) {
        lags_origins(&f.c, w);
        observe_list(w, "msd_nm2", f.c.mean, f.c.lags);
        observe_list(w, "msd_error_nm2", f.c.error, f.c.lags);
    }
    lags_close(&f.c);
}

static void msd_summary(const struct observe_result *r, struct buf *out)
{
    struct diffusion f = diffusion_of(r);
    const bool fitted = is_fitted(r, &f, "", "", out);
    if (fitted) {
        buf_printf(out, "D ");
        number_with_error(out, f.d * CM2_S * 1e5, f.d_error * CM2_S * 1e5);
        buf_printf(out, " 1e-5 cm^2/s, from %.4g to %.4g ps", f.from, f.to);
    }
    if (fitted && r->o->msd.viscosity > 0)
        buf_printf(out, ", %.4g in an infinite box", (f.d + finite_size(r, &f)) * CM2_S * 1e5);
    lags_close(&f.c);
}

static int msd_of_blocks(const struct observe_result *r, double *value)
{
    struct diffusion f = diffusion_of(r);
    const int n = isfinite(f.d) ? f.c.blocks : -1;
    for (int b = 0; b < n; b++)
        value[b] = f.d_of_block[b];
    lags_close(&f.c);
    return n;
}

const struct observe_kind msd_kind = {.size = lags_size,
                                      .equal_times = true,
                                      .at_constant_volume = "diffusion",
                                      .needs_cube = msd_needs_cube,
                                      .check = lags_check,
                                      .put = lags_put,
                                      .file = msd_file,
                                      .json = msd_json,
                                      .summary = msd_summary,
                                      .of_blocks = msd_of_blocks};
