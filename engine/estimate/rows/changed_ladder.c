/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows whose ensemble had other windows before: the first rows of their dhdl.xvg are frames of their trajectory,
 * evaluated at the windows that there are now. The rows that they had made themselves, without the new windows, are in
 * another file.
 *
 * 1. Frames are further apart than rows. Rows that come after them are taken as far apart as they are: a series whose
 * members are sometimes close in time and sometimes not has no one correlation, and the state's distribution needs them
 * evenly.
 * 2. Frames have coordinates rounded to 0.001 nm. How far off their energies are is seen at the windows of before,
 * which the row of the same time has exactly: at the neighbours, and where the energy there is not so high that the row
 * has no weight there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/json/json_writer.h"
#include "engine/estimate/rows/rows.h"

#define SAME_TIME 0.51e-4 /* ps: dhdl.xvg has 4 decimals */
#define WEIGHTLESS 20     /* kT: a row that is so much higher in energy in a window has a weight of e^-20 there */

/* ---- spacing ---- */

static void keep_row(struct dhdl *d, size_t to, size_t from)
{
    size_t ns = (size_t)d->nstates, nc = (size_t)d->ncomponents;
    d->time[to] = d->time[from];
    memmove(d->dh + to * ns, d->dh + from * ns, ns * sizeof *d->dh);
    memmove(d->dhdl + to * nc, d->dhdl + from * nc, nc * sizeof *d->dhdl);
}

/* Takes out rows after the first `n` that come sooner behind another than those do. */
static size_t thin(struct dhdl *d, size_t n)
{
    size_t kept = n, before = d->n;
    if (n < 2)
        return 0;
    double apart = (d->time[n - 1] - d->time[0]) / (double)(n - 1) - SAME_TIME;
    for (size_t i = n; i < d->n; i++)
        if (d->time[i] - d->time[kept - 1] >= apart)
            keep_row(d, kept++, i);
    d->n = kept;
    return before - kept;
}

/* How many of the first rows are as far apart as the first two, where the last two are not: frames, where nothing else
 * tells. */
static size_t sparse_rows(const struct dhdl *d)
{
    size_t i = 1;
    if (d->n < 3)
        return 0;
    double sparse = d->time[1] - d->time[0] - 2 * SAME_TIME, dense = d->time[d->n - 1] - d->time[d->n - 2];
    while (i + 1 < d->n && d->time[i + 1] - d->time[i] > sparse)
        i++;
    return sparse > dense ? i + 1 : 0;
}

/* ---- rounding ---- */

/* Which state of d is state j of the one before; -1: none. */
static int state_now(const struct dhdl *d, const struct dhdl *before, int j)
{
    size_t nc = (size_t)d->ncomponents;
    for (int k = 0; k < d->nstates; k++) {
        bool same = true;
        for (size_t c = 0; c < nc; c++)
            same &= fabs(d->states[(size_t)k * nc + c] - before->states[(size_t)j * nc + c]) < SAME_TIME;
        if (same)
            return k;
    }
    return -1;
}

/* Of row i and the row of before, at a neighbour j of then. */
static void compare(struct frame_rows *f, const struct dhdl *d, size_t i, const struct dhdl *before, size_t row, int j,
                    double weightless)
{
    int k = j >= 0 && j < before->nstates ? state_now(d, before, j) : -1;
    if (k < 0)
        return;
    double exact = before->dh[row * (size_t)before->nstates + (size_t)j],
           difference = d->dh[i * (size_t)d->nstates + (size_t)k] - exact;
    if (exact > weightless || difference == 0) /* 0: that row was of the same frame */
        return;
    f->compared++;
    f->sum += difference;
    f->square += difference * difference;
}

static void compare_rows(struct frame_rows *f, const struct ladder *l, const struct dhdl *d, const struct dhdl *before)
{
    size_t row = 0;
    if (before->ncomponents != d->ncomponents)
        return;
    for (size_t i = 0; i < f->rows; i++) {
        while (row < before->n && before->time[row] < d->time[i] - SAME_TIME)
            row++;
        if (row == before->n || before->time[row] > d->time[i] + SAME_TIME)
            continue;
        compare(f, d, i, before, row, before->state - 1, WEIGHTLESS / l->beta);
        compare(f, d, i, before, row, before->state + 1, WEIGHTLESS / l->beta);
    }
}

/* ---- both ---- */

int frames_take(struct frame_rows *f, const struct ladder *l, struct dhdl *d, const char *directory,
                const struct estimate_replica *replica, struct err *e)
{
    struct dhdl before = {0};
    struct buf path = {0};
    char name[128];
    if (!replica->origin_bytes) {
        size_t n = sparse_rows(d);
        *f = (struct frame_rows){.given = n > 0, .rows = n, .thinned = thin(d, n)};
        return 0;
    }
    snprintf(name, sizeof name, "%s/dhdl.xvg", replica->origin);
    buf_printf(&path, "%s/%s", directory, name);
    *f = (struct frame_rows){.given = true};
    int rc = dhdl_read_file(&before, name, path.data, replica->origin_bytes, window_most(l->nstates), e);
    if (!rc) {
        while (before.n && f->rows < d->n && d->time[f->rows] <= before.time[before.n - 1] + SAME_TIME)
            f->rows++;
        f->of = before.seen;
        compare_rows(f, l, d, &before);
        f->thinned = thin(d, f->rows);
    }
    dhdl_close(&before);
    buf_free(&path);
    return rc;
}

void frames_write(struct writer *w, const struct frame_rows *f)
{
    if (!f->given) {
        jw_null(w, "frames");
        return;
    }
    double n = (double)f->compared;
    jw_begin(w, "frames", '{');
    jw_integer(w, "rows", f->rows);
    jw_integer(w, "of", f->of);
    jw_integer(w, "thinned", f->thinned);
    jw_integer(w, "compared", f->compared);
    if (f->compared) {
        jw_quantity(w, "difference", sqrt(f->square / n), "kilojoule_per_mole");
        jw_quantity(w, "bias", f->sum / n, "kilojoule_per_mole");
    } else {
        jw_null(w, "difference");
        jw_null(w, "bias");
    }
    jw_end(w, '}');
}
