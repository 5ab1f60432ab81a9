/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean square displacements, and diffusion by Einstein's relation: D = slope / 6 of a line through them between two lags, by least
 * squares. Positions are followed from frame to frame by their nearest images.
 *
 * Errors are those of blocks at least as long as the longest lag of the fit: what a block adds has its end there and its
 * origin up to that lag before.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/observe/kinds.h"

#define PI 3.14159265358979323846
#define XI 2.837297 /* of a cubic lattice: Yeh and Hummer, J. Phys. Chem. B 108, 15873 (2004), doi 10.1021/jp0477147 */
#define MPA_S (1e4 / UNIT_BAR) /* in kJ/mol ps/nm^3 */
#define CM2_S 1e-2             /* nm^2/ps in cm^2/s */
#define STATE_MOST 2e9         /* bytes */

static double in_frames(const struct observable *o, double time)
{
    return time / o->interval;
}

static uint32_t lags_of(const struct observable *o)
{
    return (uint32_t)floor(in_frames(o, o->msd.max) + 1e-3) + 1;
}

static uint32_t restart_of(const struct observable *o)
{
    return o->msd.restart > 0 ? (uint32_t)lrint(in_frames(o, o->msd.restart)) : 1;
}

/* Kept at a time. */
static uint32_t origins_of(const struct observable *o)
{
    return (lags_of(o) - 1) / restart_of(o) + 1;
}

static double state_bytes(const struct observable *o)
{
    /* as many particles as atoms: what fewer need is less */
    return 3.0 * sizeof(double) * o->group[0].n * (3.0 + origins_of(o));
}

struct observe_size msd_size(const struct observable *o)
{
    return (struct observe_size){.counts = lags_of(o), .reals = lags_of(o) + 1, .state = (uint64_t)state_bytes(o)};
}

static int check_restart(const struct observable *o, struct err *e)
{
    const double frames = in_frames(o, o->msd.restart);
    if (o->msd.restart <= 0 || (frames > 0.5 && fabs(frames - rint(frames)) < 1e-3 * frames))
        return 0;
    return err_set(e, ERR_SPEC, "%s: restart %.10g ps: expected a whole multiple of the time between frames, %.10g ps",
                   o->name, o->msd.restart, o->interval);
}

bool msd_needs_cube(const struct observable *o)
{
    return o->msd.viscosity > 0;
}

int msd_check(const struct observable *o, const struct system *sys, struct err *e)
{
    if (!(o->interval > 0))
        return err_set(e, ERR_SPEC, "%s: expected two frames or more with known times, later ones behind earlier ones",
                       o->name);
    if (lags_of(o) < 2)
        return err_set(e, ERR_SPEC, "%s: max %.10g ps: expected at least the time between frames, %.10g ps", o->name,
                       o->msd.max, o->interval);
    int rc = check_restart(o, e);
    if (!rc && state_bytes(o) > STATE_MOST)
        rc = err_set(
            e, ERR_SPEC,
            "%s: %.3g GB for the origins of %.10g ps of %d atoms: expected a shorter max, or origins less often "
            "(restart), %.3g GB at most",
            o->name, 1e-9 * state_bytes(o), o->msd.max, o->group[0].n, 1e-9 * STATE_MOST);
    return rc;
}

/* Masses, or 1 each where none of them has one. */
static void put_weights(const struct system *sys, const int *atom, int n, double *weight)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += sys->atoms[atom[i]].mass[0];
    for (int i = 0; i < n; i++)
        weight[i] = sum > 0 ? sys->atoms[atom[i]].mass[0] / sum : 1.0 / n;
}

const void *msd_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a)
{
    const struct atom_group *g = &o->group[0];
    int32_t *first;
    struct msd_table t = {.lags = lags_of(o),
                          .restart = restart_of(o),
                          .origins = origins_of(o),
                          .particles = observe_particles(o, sys, o->msd.molecules, &first)};
    double *weight = xcalloc((size_t)g->n, sizeof *weight), *all = xcalloc((size_t)g->n, sizeof *all);
    double *share = xcalloc(t.particles, sizeof *share);
    put_weights(sys, g->atom, g->n, all);
    for (uint32_t p = 0; p < t.particles; p++) {
        put_weights(sys, g->atom + first[p], first[p + 1] - first[p], weight + first[p]);
        for (int i = first[p]; i < first[p + 1]; i++)
            share[p] += all[i];
    }
    t.first = arena_put(a, first, (t.particles + 1) * sizeof *first);
    t.weight = arena_put(a, weight, (size_t)g->n * sizeof *weight);
    if (o->msd.center)
        t.share = arena_put(a, share, t.particles * sizeof *share);
    free(first);
    free(weight);
    free(all);
    free(share);
    return arena_put_named(a, "an msd", &t, sizeof t);
}

/* ---- results ---- */

struct line {
    double slope, intercept;
};

struct curve {
    uint32_t lags;           /* up to the first without an origin */
    int64_t *origins;        /* [lags] */
    double *msd, *msd_error; /* nm^2 */
    double from, to;         /* ps, of the fit */
    struct line line;
    double d, d_error; /* nm^2/ps */
    double edge;       /* nm, mean */
    int blocks;        /* that errors are from */
};

/* Least squares of values at lags k interval, those between two times. NAN where fewer than two have one. */
static struct line fit(const struct curve *c, double interval, const double *msd)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (uint32_t k = 0; k < c->lags; k++) {
        const double t = k * interval;
        if (t < c->from - 1e-3 * interval || t > c->to + 1e-3 * interval)
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

/* Of blocks `from` and `width - 1` behind it: mean square displacements, NAN where there is no origin. */
static void block_msd(const struct observe_result *r, int from, int width, uint32_t lags, double *msd)
{
    for (uint32_t k = 0; k < lags; k++) {
        double sum = 0, n = 0;
        for (int b = from; b < from + width; b++) {
            sum += observe_reals(r, b)[k];
            n += (double)observe_counts(r, b)[k];
        }
        msd[k] = sum / n;
    }
}

/* Blocks are joined until they are as long as the longest lag of the fit. */
static void add_errors(const struct observe_result *r, struct curve *c)
{
    const double longest = fmax(c->to / r->o->interval, 1);
    const int width = (int)ceil(longest / (double)r->seen->per_block), n = observe_full_blocks(r) / width;
    double *msd = xcalloc((size_t)n + 1, c->lags * sizeof *msd), *d = xcalloc((size_t)n + 1, sizeof *d);
    c->blocks = n;
    for (int b = 0; b < n; b++) {
        block_msd(r, b * width, width, c->lags, msd + (size_t)b * c->lags);
        d[b] = fit(c, r->o->interval, msd + (size_t)b * c->lags).slope / 6;
    }
    for (uint32_t k = 0; k < c->lags; k++)
        c->msd_error[k] = observe_error(msd + k, n, c->lags);
    c->d_error = observe_error(d, n, 1);
    free(msd);
    free(d);
}

static struct curve curve_of(const struct observe_result *r)
{
    const struct msd_choice *m = &r->o->msd;
    struct curve c = {.origins = observe_total_counts(r), .from = m->fit[0], .to = m->fit[1]};
    double *sum = observe_total_reals(r);
    while (c.lags < lags_of(r->o) && c.origins[c.lags])
        c.lags++;
    c.msd = xcalloc(c.lags, sizeof *c.msd);
    c.msd_error = xcalloc(c.lags, sizeof *c.msd_error);
    for (uint32_t k = 0; k < c.lags; k++)
        c.msd[k] = sum[k] / (double)c.origins[k];
    c.to = fmin(c.to, (c.lags - 1) * r->o->interval);
    c.line = fit(&c, r->o->interval, c.msd);
    c.d = c.line.slope / 6;
    c.edge = sum[lags_of(r->o)] / (double)r->seen->frames;
    add_errors(r, &c);
    free(sum);
    return c;
}

static void curve_close(struct curve *c)
{
    free(c->origins);
    free(c->msd);
    free(c->msd_error);
}

/* What an infinite box adds, nm^2/ps. */
static double finite_size(const struct observe_result *r, const struct curve *c)
{
    const struct msd_choice *m = &r->o->msd;
    return UNIT_R * m->temperature * XI / (6 * PI * m->viscosity * MPA_S * c->edge);
}

void msd_file(const struct observe_result *r, struct buf *out)
{
    static const char *const legends[] = {"MSD", "error of the MSD", "origins of time"};
    struct buf title = {0};
    struct curve c = curve_of(r);
    buf_printf(out,
               "# D = %.6g +- %.2g 1e-5 cm^2/s, from %.6g to %.6g ps; errors are from %d blocks no shorter than that\n",
               c.d * CM2_S * 1e5, c.d_error * CM2_S * 1e5, c.from, c.to, c.blocks);
    if (r->o->msd.viscosity > 0)
        buf_printf(out,
                   "# %.6g 1e-5 cm^2/s more in an infinite box (Yeh and Hummer, doi 10.1021/jp0477147), at %g mPa s\n",
                   finite_size(r, &c) * CM2_S * 1e5, r->o->msd.viscosity);
    buf_printf(&title, "mean square displacement of %s", r->o->group[0].label);
    observe_header(out, title.data, "tau (ps)", "MSD (nm\\S2\\N)", legends, 3);
    for (uint32_t k = 0; k < c.lags; k++)
        buf_printf(out, "%.10g %.10g %.3g %lld\n", k * r->o->interval, c.msd[k], c.msd_error[k],
                   (long long)c.origins[k]);
    curve_close(&c);
    buf_free(&title);
}

static void add_diffusion(const struct observe_result *r, const struct curve *c, struct writer *w)
{
    jw_begin(w, "diffusion", '{');
    jw_real(w, "from_ps", c->from);
    jw_real(w, "to_ps", c->to);
    jw_real(w, "slope_nm2_per_ps", c->line.slope);
    jw_real(w, "intercept_nm2", c->line.intercept);
    jw_real(w, "value_cm2_per_s", c->d * CM2_S);
    jw_real(w, "error_cm2_per_s", c->d_error * CM2_S);
    jw_integer(w, "blocks", (size_t)c->blocks);
    if (r->o->msd.viscosity > 0) {
        jw_begin(w, "infinite_box", '{');
        jw_text(w, "correction", "Yeh and Hummer, doi 10.1021/jp0477147");
        jw_real(w, "viscosity_mpa_s", r->o->msd.viscosity);
        jw_real(w, "mean_edge_nm", c->edge);
        jw_real(w, "added_cm2_per_s", finite_size(r, c) * CM2_S);
        jw_real(w, "value_cm2_per_s", (c->d + finite_size(r, c)) * CM2_S);
        jw_end(w, '}');
    }
    jw_end(w, '}');
}

static void add_curves(const struct curve *c, struct writer *w)
{
    jw_begin(w, "origins", '[');
    for (uint32_t k = 0; k < c->lags; k++)
        jw_integer(w, NULL, (size_t)c->origins[k]);
    jw_end(w, ']');
    observe_list(w, "msd_nm2", c->msd, c->lags);
    observe_list(w, "msd_error_nm2", c->msd_error, c->lags);
}

void msd_json(const struct observe_result *r, bool curves, struct writer *w)
{
    struct curve c = curve_of(r);
    jw_real(w, "interval_ps", r->o->interval);
    add_diffusion(r, &c, w);
    if (curves)
        add_curves(&c, w);
    curve_close(&c);
}

void msd_line(const struct observe_result *r, struct buf *out)
{
    struct curve c = curve_of(r);
    buf_printf(out, "; D %.4g +- %.2g 1e-5 cm^2/s from %.4g to %.4g ps", c.d * CM2_S * 1e5, c.d_error * CM2_S * 1e5,
               c.from, c.to);
    if (r->o->msd.viscosity > 0)
        buf_printf(out, ", %.4g in an infinite box", (c.d + finite_size(r, &c)) * CM2_S * 1e5);
    curve_close(&c);
}
