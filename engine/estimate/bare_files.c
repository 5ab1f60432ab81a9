/* SPDX-License-Identifier: Apache-2.0
 *
 * Free energies from files alone: their headers say of which state of which ladder they are, or of a run in which the
 * state changes their rows do.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/number.h"
#include "engine/estimate/analysis.h"
#include "engine/estimate/estimate.h"
#include "engine/estimate/output/output.h"
#include "engine/estimate/rows/rows.h"

struct file {
    const char *path;
    struct dhdl d;
};

/* In order of states, and of time within a state: parts of one run. */
static int compare(const void *a, const void *b)
{
    const struct dhdl *x = &((const struct file *)a)->d, *y = &((const struct file *)b)->d;
    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    if (!x->n || !y->n)
        return (x->n > 0) - (y->n > 0);
    return (x->time[0] > y->time[0]) - (x->time[0] < y->time[0]);
}

/* A file must hold the energy differences to every state, in order, its own among them (rows of a run in which the
 * state changes have been looked at one by one). */
static int check(const struct file *f, struct err *e)
{
    const struct dhdl *d = &f->d;
    size_t nc = (size_t)d->ncomponents;
    if (!(d->temperature > 0))
        return err_set(e, ERR_UNSUPPORTED, "%s: the subtitle says no temperature, expected \"T = ... (K)\"", f->path);
    bool own = d->at || (d->state >= 0 && d->state < d->nstates);
    for (size_t c = 0; own && !d->at && c < nc; c++)
        own = d->states[(size_t)d->state * nc + c] == d->lambda[c];
    if (d->nstates < 2 || !own)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: energy differences to %d %s, of which number %d is not its own; expected those to all "
                       "states of the ladder (calc-lambda-neighbors = -1)",
                       f->path, d->nstates, number_word(d->nstates, "state", "states"), d->state);
    return 0;
}

/* Energy differences mean the same in both: to the same states, at one temperature. */
static bool alike(const struct dhdl *a, const struct dhdl *b)
{
    if (a->nstates != b->nstates || a->ncomponents != b->ncomponents || a->temperature != b->temperature)
        return false;
    for (int c = 0; c < a->ncomponents; c++)
        if (a->component[c] != b->component[c])
            return false;
    for (int i = 0; i < a->nstates * a->ncomponents; i++)
        if (a->states[i] != b->states[i])
            return false;
    return true;
}

/* The rows of d that come after those of `to`, a part before it of the same state. */
static int append(struct dhdl *to, const struct file *before, const struct file *f, struct err *e)
{
    const struct dhdl *d = &f->d;
    size_t ns = (size_t)d->nstates, nc = (size_t)d->ncomponents, first = 0;
    char which[64] = "all states";
    if (!d->at)
        snprintf(which, sizeof which, "state %d", d->state);
    if (!alike(d, to) || !d->at != !to->at)
        return err_set(e, ERR_UNSUPPORTED, "%s: not of the same ladder and temperature as %s", f->path, before->path);
    while (first < d->n && to->n && d->time[first] <= to->time[to->n - 1])
        first++;
    if (first > 1)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s and %s: both of %s and of the same time; parts of one run must follow each other, and "
                       "repeats are estimated one by one",
                       before->path, f->path, which);
    size_t n = d->n - first;
    if (d->at) {
        to->at = xrealloc(to->at, to->n + n, sizeof *to->at);
        memcpy(to->at + to->n, d->at + first, n * sizeof *to->at);
        for (size_t k = 0; k < ns; k++)
            to->dropped[k] += d->dropped[k];
    }
    to->time = xrealloc(to->time, to->n + n, sizeof *to->time);
    to->dhdl = xrealloc(to->dhdl, (to->n + n) * nc, sizeof *to->dhdl);
    to->dh = xrealloc(to->dh, (to->n + n) * ns, sizeof *to->dh);
    memcpy(to->time + to->n, d->time + first, n * sizeof *to->time);
    memcpy(to->dhdl + to->n * nc, d->dhdl + first * nc, n * nc * sizeof *to->dhdl);
    memcpy(to->dh + to->n * ns, d->dh + first * ns, n * ns * sizeof *to->dh);
    to->n += n;
    to->seen += d->seen - first;
    to->nonfinite += d->nonfinite;
    to->slopeless += d->slopeless;
    to->cut_short = to->cut_short || d->cut_short;
    to->derivatives = to->derivatives && d->derivatives;
    if (d->stride > to->stride)
        to->stride = d->stride;
    return 0;
}

/* Parts of one state become the first of them; *n files are left. */
static int join(struct file *files, int *n, struct err *e)
{
    int kept = 0, rc = 0;
    for (int i = 1; i < *n; i++) {
        if (files[i].d.state != files[kept].d.state) {
            files[++kept] = files[i];
        } else {
            if (!rc)
                rc = append(&files[kept].d, files + kept, files + i, e);
            dhdl_close(&files[i].d);
        }
        if (kept != i)
            files[i].d = (struct dhdl){0};
    }
    *n = kept + 1;
    return rc;
}

static void take_windows(struct result *r, const struct file *files, int n, struct sampling *s)
{
    for (int k = 0, i = 0; k < r->ladder->nstates; k++) {
        struct window_result *w = r->windows + k;
        s->start[k + 1] = s->start[k];
        if (i < n && files[i].d.state == k) {
            window_take(r, files[i].path, &files[i].d, k, s);
            i++;
        } else {
            w->status = ESTIMATE_FAILED;
            snprintf(w->reason, sizeof w->reason, "no file of this window was given");
        }
    }
}

/* A window without rows whose lambdas another has. */
static void take_twins(struct result *r)
{
    for (int k = 0; k < r->ladder->nstates; k++)
        for (int j = 0; j < r->ladder->nstates && !r->windows[k].used; j++)
            if (r->windows[j].used && states_equal(r->ladder->lambda, r->ladder->ncomponents, j, k)) {
                r->windows[k].status = ESTIMATE_DONE;
                snprintf(r->windows[k].reason, sizeof r->windows[k].reason, "it has the lambdas of window %d", j);
            }
}

static bool analyse(const struct file *files, int n, const struct buf *empty, struct buf *json)
{
    struct ladder l;
    struct result one;
    struct sampling s;
    struct estimate_about about = {0};
    struct report r = {.about = &about, .pressure = NAN, .ladder = &l, .nrepeats = 1, .repeats = &one};
    ladder_of_file(&l, &files[0].d);
    result_init(&one, &l);
    if (empty->len)
        result_warn(&one, "%s: empty, as of windows that have not begun", empty->data);
    sampling_init(&s, &l);
    if (files[0].d.at)
        run_take(&one, files[0].path, &files[0].d, &s);
    else
        take_windows(&one, files, n, &s);
    take_twins(&one);
    result_analyse(&one, &s);
    report_write(&r, json);
    bool answered = one.estimators[report_headline(&r)].total.ok;
    sampling_close(&s);
    result_close(&one);
    ladder_close(&l);
    return answered;
}

/* Leaves out rows before a time, in ps. */
static void begin_at(struct dhdl *d, double begin)
{
    const size_t ns = (size_t)d->nstates, nc = (size_t)d->ncomponents;
    size_t first = 0;
    while (first < d->n && d->time[first] < begin)
        first++;
    d->n -= first;
    d->seen -= first * d->stride < d->seen ? first * d->stride : d->seen;
    memmove(d->time, d->time + first, d->n * sizeof *d->time);
    memmove(d->dhdl, d->dhdl + first * nc, d->n * nc * sizeof *d->dhdl);
    memmove(d->dh, d->dh + first * ns, d->n * ns * sizeof *d->dh);
    if (d->at)
        memmove(d->at, d->at + first, d->n * sizeof *d->at);
}

/* *last becomes the time of the last row, if that is later. */
static int read_one(struct file *f, int n, double begin, double *last, struct err *e)
{
    int rc = dhdl_read_file(&f->d, f->path, f->path, XVG_ALL, ESTIMATE_NUMBERS / (size_t)n, e);
    if (rc)
        e->code = ERR_UNSUPPORTED; /* it is there, but is no such file */
    if (!rc && f->d.n)
        *last = fmax(*last, f->d.time[f->d.n - 1]);
    if (!rc && begin > -INFINITY)
        begin_at(&f->d, begin);
    return rc ? -(int)e->code : check(f, e);
}

/* Those that have something in them, into `files`; the names of the others. */
static int choose_files(struct file *files, char *const *paths, int n, int *chosen, struct buf *empty, struct err *e)
{
    for (int i = 0; i < n; i++) {
        struct stat about;
        if (access(paths[i], R_OK) || stat(paths[i], &about))
            return err_set(e, ERR_MISSING_FILE, "%s: %s", paths[i], strerror(errno));
        if (S_ISREG(about.st_mode) && !about.st_size)
            buf_printf(empty, "%s%s", empty->len ? ", " : "", paths[i]);
        else
            files[(*chosen)++].path = paths[i];
    }
    return *chosen ? 0 : err_set(e, ERR_UNSUPPORTED, "%s: empty, expected samples in one file or more", empty->data);
}

/* Rows that are left, of which `last` was the time of the last in ps. */
static int check_rows_left(const struct file *files, int n, double begin, double last, struct err *e)
{
    size_t rows = 0;
    for (int i = 0; i < n; i++)
        rows += files[i].d.n;
    if (rows || !(last > -INFINITY))
        return 0;
    return err_set(e, ERR_UNSUPPORTED, "--begin '%.15g ps': the last row is at %.15g ps, so none is left", begin, last);
}

/* A run in which the state changes is alone. */
static int check_kinds(const struct file *files, int n, struct err *e)
{
    for (int i = 1; i < n; i++)
        if (!files[i].d.at != !files[0].d.at)
            return err_set(e, ERR_UNSUPPORTED,
                           "%s: samples of one state, but %s is of a run in which the state changes; expected files of "
                           "one kind",
                           files[files[0].d.at ? i : 0].path, files[files[0].d.at ? 0 : i].path);
    return 0;
}

int estimate_files(char *const *paths, int n, double begin, struct buf *json, bool *answered, struct err *e)
{
    struct file *files = xcalloc((size_t)n, sizeof *files);
    struct buf empty = {0};
    double last = -INFINITY;
    int chosen = 0, rc = choose_files(files, paths, n, &chosen, &empty, e);
    for (int i = 0; !rc && i < chosen; i++)
        rc = read_one(files + i, chosen, begin, &last, e);
    if (!rc)
        rc = check_rows_left(files, chosen, begin, last, e);
    if (!rc)
        rc = check_kinds(files, chosen, e);
    if (!rc) {
        qsort(files, (size_t)chosen, sizeof *files, compare);
        rc = join(files, &chosen, e);
    }
    if (!rc)
        *answered = analyse(files, chosen, &empty, json);
    for (int i = 0; i < n; i++)
        dhdl_close(&files[i].d);
    free(files);
    buf_free(&empty);
    return rc;
}
