/* SPDX-License-Identifier: Apache-2.0
 *
 * MBAR, BAR and TI on GROMACS's own dhdl files (alchemtest, benzene, Coulomb leg) against the reference numbers kept
 * beside them. Argument: the source root. Exit code 77 (skipped) where the data is not there.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "engine/base/units.h"
#include "engine/estimate/estimators/bar.h"
#include "engine/estimate/estimators/mbar.h"
#include "engine/estimate/estimators/ti.h"
#include "engine/series/dhdl.h"
#include "tests/lib/oscillators.h"

#define STATES 5

static void near(const char *what, double value, double expected, double tolerance)
{
    printf("%-20s %.12g, reference %.12g\n", what, value, expected);
    if (!(fabs(value - expected) <= tolerance)) {
        fprintf(stderr, "%s: off by %g, tolerance %g\n", what, value - expected, tolerance);
        exit(1);
    }
}

static void unzip(struct buf *out, const char *folder, const char *file)
{
    struct buf command = {0};
    char chunk[65536];
    size_t n;
    buf_printf(&command, "gzip -dc '%s/%s'", folder, file);
    FILE *f = popen(command.data, "r");
    assert(f);
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_add(out, chunk, n);
    assert(pclose(f) == 0);
    buf_free(&command);
}

/* All samples of all windows: the reference takes them as uncorrelated. */
static void load(struct sampling *s, const char *folder, double *lambda)
{
    static const char *const files[STATES] = {"dhdl.0000.xvg.gz", "dhdl.0250.xvg.gz", "dhdl.0500.xvg.gz",
                                              "dhdl.0750.xvg.gz", "dhdl.1000.xvg.gz"};
    *s = (struct sampling){.nstates = STATES, .ncomponents = 1, .lambda = lambda};
    s->start = xcalloc(STATES + 1, sizeof *s->start);
    for (int k = 0; k < STATES; k++) {
        struct buf text = {0};
        struct dhdl d = {0};
        struct err e;
        unzip(&text, folder, files[k]);
        if (dhdl_read(&d, files[k], text.data, text.len, &e)) {
            fprintf(stderr, "%s\n", e.msg);
            exit(1);
        }
        assert(d.state == k && d.temperature == 300 && d.ncomponents == 1 && d.nstates == STATES && d.derivatives);
        double beta = 1 / (UNIT_R * d.temperature);
        size_t first = s->start[k];
        lambda[k] = d.lambda[0];
        s->start[k + 1] = first + d.n;
        s->u = xrealloc(s->u, s->start[k + 1] * STATES, sizeof *s->u);
        s->dhdl = xrealloc(s->dhdl, s->start[k + 1], sizeof *s->dhdl);
        for (size_t i = 0; i < d.n * STATES; i++)
            s->u[first * STATES + i] = beta * d.dh[i];
        for (size_t i = 0; i < d.n; i++)
            s->dhdl[first + i] = beta * d.dhdl[i];
        dhdl_close(&d);
        buf_free(&text);
    }
}

static void swap(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

static void shuffle(struct sampling *s, uint64_t *seed)
{
    for (int k = 0; k < STATES; k++)
        for (size_t i = s->start[k + 1] - 1; i > s->start[k]; i--) {
            size_t j = s->start[k] + (size_t)(random_uniform(seed) * (double)(i + 1 - s->start[k]));
            swap(s->u + i * STATES, s->u + j * STATES, STATES);
            swap(s->dhdl + i, s->dhdl + j, 1);
        }
}

/* In another order the rows of a window are independent, as the reference's errors take them to be: ours must become
 * these. They are worked out from the rows, so they scatter from order to order; the mean of several is held. */
static void errors_of_independent_rows(struct sampling *s, json_t *ref)
{
    enum { ORDERS = 20 };
    double mbar = 0, bar[STATES - 1] = {0};
    uint64_t seed = 1;
    for (int i = 0; i < ORDERS; i++) {
        struct mbar m = {0};
        struct bar b = {0};
        struct err e;
        struct range r = {.to = STATES - 1};
        shuffle(s, &seed);
        assert(!mbar_solve(&m, s, NULL, &e) && !bar_solve(&b, s, &e));
        solution_range(&m.solution, &r);
        mbar += r.error / ORDERS;
        for (int p = 0; p < STATES - 1; p++) {
            r = (struct range){.from = p, .to = p + 1};
            solution_range(&b.solution, &r);
            bar[p] += r.error / ORDERS;
        }
        mbar_close(&m);
        bar_close(&b);
    }
    /* Ours are 5 to 10 % larger than those of independent rows: the largest over lengths of parts counts, the
     * variance is taken for as uncertain as it is, and what may be slow is in it (docs/theory.md, Errors). */
    double error = 1.07 * json_number_value(json_object_get(ref, "mbar_total_err_kT"));
    near("MBAR error", mbar, error, 0.08 * error);
    for (int p = 0; p < STATES - 1; p++) {
        error = 1.07 * json_number_value(json_array_get(json_object_get(ref, "bar_steps_err_kT"), (size_t)p));
        near("BAR error", bar[p], error, 0.12 * error);
    }
}

int main(int argc, char **argv)
{
    struct buf folder = {0}, path = {0};
    struct err e;
    buf_printf(&folder, "%s/../shared/data/estimators/benzene_coulomb", argc > 1 ? argv[1] : ".");
    buf_printf(&path, "%s/reference.json", folder.data);
    json_t *ref = json_load_file(path.data, 0, NULL);
    if (!ref) {
        printf("skipped: no %s\n", path.data);
        return 77;
    }
    double lambda[STATES], kt = json_number_value(json_object_get(ref, "kJ_mol_per_kT"));
    struct sampling s;
    struct mbar m = {0};
    struct bar b = {0};
    struct ti t = {0};
    struct range r = {.to = STATES - 1};
    load(&s, folder.data, lambda);
    if (mbar_solve(&m, &s, NULL, &e) || bar_solve(&b, &s, &e) || ti_solve(&t, &s, &e)) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    for (int k = 0; k < STATES; k++)
        near("MBAR", m.solution.g[k], json_number_value(json_array_get(json_object_get(ref, "mbar_kT"), (size_t)k)),
             1e-6);
    for (int p = 0; p < STATES - 1; p++)
        near("BAR", b.df[p], json_number_value(json_array_get(json_object_get(ref, "bar_steps_kT"), (size_t)p)), 1e-6);
    for (int k = 0; k < STATES; k++) {
        json_t *mean = json_array_get(json_object_get(ref, "dHdl_mean_kJ_mol"), (size_t)k);
        near("mean dH/dlambda", t.mean[k] * kt, json_number_value(json_array_get(mean, 0)), 1e-9 * 20);
    }
    solution_range(&t.solution, &r);
    near("TI", r.value, json_number_value(json_object_get(ref, "ti_trapezoid_total_kT")), 1e-9);
    mbar_close(&m);
    bar_close(&b);
    ti_close(&t);
    errors_of_independent_rows(&s, ref);
    sampling_close(&s);
    json_decref(ref);
    buf_free(&path);
    buf_free(&folder);
    return 0;
}
