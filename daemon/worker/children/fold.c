/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/children/fold.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/number.h"

enum { QUARTERS = 4, FEWEST = 8 /* frames of which quarters are looked at */, NAMED = 8 /* windows in a warning */ };
#define RISE (1.0 / 3) /* of the limit, from the second quarter to the last */

static const char *const names[] = {[FOLD_BACKBONE] = "backbone", [FOLD_LIGAND] = "ligand"};

void folds_open(struct folds *f, const struct spec *spec, struct source *src, const struct system *sys)
{
    struct err e = {0};
    *f = (struct folds){.spec = spec};
    if (fold_atoms_find(&f->atoms, spec, src, sys, &e) || !f->atoms.n[FOLD_BACKBONE])
        return;
    f->fold = fold_new(sys, (const int *const *)f->atoms.atom, f->atoms.n);
}

void folds_close(struct folds *f)
{
    fold_atoms_close(&f->atoms);
    fold_free(f->fold);
    for (int i = 0; i < f->nseries; i++) {
        free(f->series[i].time);
        free(f->series[i].rmsd);
    }
    free(f->series);
}

void folds_begin(struct folds *f, int repeat, int window)
{
    f->series = xrealloc(f->series, (size_t)f->nseries + 1, sizeof *f->series);
    f->series[f->nseries++] = (struct fold_series){.repeat = repeat, .window = window};
}

void folds_frame(struct folds *f, const struct trajectory_frame *frame)
{
    struct fold_series *s = &f->series[f->nseries - 1];
    if (!f->fold || !(frame->time >= 0)) /* before production */
        return;
    if (!(s->n & (s->n - 1))) { /* room for twice as many */
        s->time = xrealloc(s->time, 2 * (size_t)s->n + 1, sizeof *s->time);
        s->rmsd = xrealloc(s->rmsd, 2 * (size_t)s->n + 1, sizeof *s->rmsd);
    }
    s->time[s->n] = frame->time;
    fold_deviations(f->fold, (const double(*)[3])frame->x, frame->box, s->rmsd[s->n]);
    s->n++;
}

/* ---- what they come to ---- */

/* Of frames from .. to, without the last. */
static double mean_of(const struct fold_series *s, enum fold_group g, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += s->rmsd[i][g];
    return sum / (to - from);
}

static double quarter_of(const struct fold_series *s, enum fold_group g, int quarter)
{
    return mean_of(s, g, s->n * quarter / QUARTERS, s->n * (quarter + 1) / QUARTERS);
}

/* A ligand that does not act on what surrounds it need not stay. */
static bool is_held(const struct folds *f, const struct fold_series *s, enum fold_group g)
{
    const struct alchemy_settings *a = &f->spec->settings.alchemy;
    bool there = true;
    for (int k = 0; k < a->ndecouple && g == FOLD_LIGAND; k++) {
        const struct decoupled *d = &a->decouple[k];
        const double lambda = a->lambda[s->window][LAMBDA_VDW];
        there &= (1 - lambda) * !!(d->on[0] & COUPLED_VDW) + lambda * !!(d->on[1] & COUPLED_VDW) == 1;
    }
    return there;
}

enum drift { STEADY, FAR, RISING };

static enum drift drift_of(const struct folds *f, const struct fold_series *s, enum fold_group g)
{
    const double limit = f->spec->fold.limit;
    if (s->n < FEWEST || !f->atoms.n[g] || !is_held(f, s, g))
        return STEADY;
    const double last = quarter_of(s, g, QUARTERS - 1);
    return last > limit ? FAR : last - quarter_of(s, g, 1) > limit * RISE ? RISING : STEADY;
}

/* ---- in results ---- */

static void group_json(const struct folds *f, const struct fold_series *s, enum fold_group g, struct writer *w)
{
    static const char *const words[] = {[STEADY] = "steady", [FAR] = "far", [RISING] = "rising"};
    double most = 0;
    for (int i = 0; i < s->n; i++)
        most = fmax(most, s->rmsd[i][g]);
    jw_begin(w, names[g], '{');
    jw_real(w, "mean_nm", mean_of(s, g, 0, s->n));
    jw_real(w, "last_quarter_nm", s->n < FEWEST ? NAN : quarter_of(s, g, QUARTERS - 1));
    jw_real(w, "most_nm", most);
    jw_text(w, "drift", words[drift_of(f, s, g)]);
    jw_end(w, '}');
}

/* Means of equal parts of the frames, FOLD_POINTS at most. */
static void points_json(const struct folds *f, const struct fold_series *s, struct writer *w)
{
    const int points = s->n < FOLD_POINTS ? s->n : FOLD_POINTS;
    jw_begin(w, "points", '[');
    for (int p = 0; p < points; p++) {
        const int from = (int)((int64_t)s->n * p / points), to = (int)((int64_t)s->n * (p + 1) / points);
        double time = 0;
        for (int i = from; i < to; i++)
            time += s->time[i] / (to - from);
        jw_begin(w, NULL, '{');
        jw_real(w, "time_ps", time);
        for (int g = 0; g < FOLD_GROUPS; g++)
            if (f->atoms.n[g])
                jw_real(w, g == FOLD_BACKBONE ? "backbone_nm" : "ligand_nm", mean_of(s, g, from, to));
        jw_end(w, '}');
    }
    jw_end(w, ']');
}

void folds_json(const struct folds *f, struct writer *w)
{
    struct buf warning = {0};
    folds_warn(f, &warning);
    for (int g = 0; g < FOLD_GROUPS; g++) {
        if (!f->atoms.n[g])
            continue;
        jw_begin(w, names[g], '{');
        jw_text(w, "text", f->atoms.label[g].data);
        jw_integer(w, "atoms", (size_t)f->atoms.n[g]);
        jw_end(w, '}');
    }
    jw_real(w, "limit_nm", f->spec->fold.limit);
    if (warning.len)
        jw_text(w, "warning", warning.data);
    else
        jw_null(w, "warning");
    buf_free(&warning);
    jw_begin(w, "windows", '[');
    for (int i = 0; i < f->nseries; i++) {
        const struct fold_series *s = &f->series[i];
        if (!s->n)
            continue;
        jw_begin(w, NULL, '{');
        jw_integer(w, "window", (size_t)s->window);
        jw_integer(w, "repeat", (size_t)s->repeat);
        jw_integer(w, "frames", (size_t)s->n);
        for (int g = 0; g < FOLD_GROUPS; g++)
            if (f->atoms.n[g])
                group_json(f, s, g, w);
        points_json(f, s, w);
        jw_end(w, '}');
    }
    jw_end(w, ']');
}

/* ---- warnings ---- */

/* " windows 3, 4 and 7" of those that drift so; how many. most: the largest mean of their last quarters. */
static int name_windows(const struct folds *f, enum fold_group g, enum drift drift, struct buf *out, double *most)
{
    const bool repeats = f->spec->repeats > 1;
    int n = 0, named = 0;
    *most = 0;
    for (int i = 0; i < f->nseries; i++)
        n += drift_of(f, &f->series[i], g) == drift;
    buf_printf(out, " %s ", number_word(n, "window", "windows"));
    for (int i = 0; i < f->nseries; i++) {
        const struct fold_series *s = &f->series[i];
        if (drift_of(f, s, g) != drift)
            continue;
        *most = fmax(*most, quarter_of(s, g, QUARTERS - 1));
        if (named++ >= NAMED)
            continue;
        buf_printf(out, "%s", named == 1 ? "" : named == n ? " and " : ", ");
        if (repeats)
            buf_printf(out, "%d.", s->repeat);
        buf_printf(out, "%d", s->window);
    }
    if (n > NAMED)
        buf_printf(out, " and %d more", n - NAMED);
    return n;
}

static void warn_of(const struct folds *f, enum fold_group g, enum drift drift, struct buf *out)
{
    struct buf windows = {0};
    double most;
    if (name_windows(f, g, drift, &windows, &most)) {
        buf_printf(out, "%sthe %s (%s) %s in%s", out->len ? "; " : "", names[g], f->atoms.label[g].data,
                   drift == FAR ? "is far from the start structure" : "still moves away from the start structure",
                   windows.data);
        buf_printf(out, " (RMSD up to %.2g nm in the last quarter of production", most);
        if (drift == FAR)
            buf_printf(out, ", beyond the limit of %.3g nm", f->spec->fold.limit);
        else
            buf_printf(out, ", more than %.2g nm above the second quarter", f->spec->fold.limit * RISE);
        buf_printf(out, ")");
    }
    buf_free(&windows);
}

void folds_warn(const struct folds *f, struct buf *out)
{
    for (int g = 0; g < FOLD_GROUPS; g++)
        for (enum drift drift = FAR; drift <= RISING; drift++)
            warn_of(f, (enum fold_group)g, drift, out);
    if (out->len)
        buf_printf(out,
                   ": look at frames of these windows before you believe the free energy; a longer equilibration "
                   "with position restraints let go in steps, or another start structure, may help");
}
