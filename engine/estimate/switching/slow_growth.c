/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of one switch from dhdl.xvg of a run with delta-lambda (slow growth). GROMACS 2022 writes neither lambda nor
 * its rate there, and with one lambda no legend: the label of the y axis says that the column is dH/dlambda. Lambda is
 * taken to go evenly from one end to the other over all rows, and the integral is the trapezoid's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/estimate/switching/switching.h"
#include "engine/series/legends.h"
#include "engine/series/xvg.h"

/* The only column of dH/dlambda. */
static int derivative_column(const struct xvg *x, const char *path, int *column, struct err *e)
{
    *column = 0;
    for (int c = 0; c < x->nlegends; c++) {
        if (strncmp(x->legend[c], DHDL_DERIVATIVE, strlen(DHDL_DERIVATIVE)) != 0)
            continue;
        if (*column)
            return err_set(
                e, ERR_UNSUPPORTED,
                "%s: dH/dlambda of several components; expected that of one, because the file does not say at "
                "what rate each changes",
                path);
        *column = c + 1;
    }
    if (!*column)
        return err_set(e, ERR_UNSUPPORTED, "%s: no column of dH/dlambda, expected that of one switch along time", path);
    return 0;
}

/* Windows have files with the same columns. */
static int check_moves(const struct xvg *x, const char *path, struct err *e)
{
    if (x->subtitle && strstr(x->subtitle, "state "))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s:%d: subtitle \"%s\" names one state: lambda stays there; expected a switch, a run with "
                       "delta-lambda",
                       path, x->subtitle_line, x->subtitle);
    return 0;
}

/* Where a file says at which lambda it begins, that must be the end from which the way begins. */
static int check_start(const struct xvg *x, const char *path, int column, enum switch_way way, struct err *e)
{
    const char *legend = x->legend[column - 1], *last = strrchr(legend, ' ');
    const double expected = way == SWITCH_BACKWARD;
    char *after;
    double lambda = last ? strtod(last, &after) : NAN;
    if (last && after != last && !*after && fabs(lambda - expected) > 1e-4)
        return err_set(e, ERR_UNSUPPORTED, "%s: lambda begins at %g, expected %g of a %s switch", path, lambda,
                       expected, switch_way_words[way]);
    return 0;
}

/* Of every `every`-th row and the last, over time that goes from 0 to 1. */
static double trapezoid(const struct xvg *x, int column, size_t every)
{
    const size_t width = 1 + (size_t)x->nlegends, last = x->nrows - 1;
    const double begin = x->v[0], length = x->v[last * width] - begin;
    double sum = 0;
    for (size_t i = 0, next; i < last; i = next) {
        next = i + every < last ? i + every : last;
        const double *a = x->v + i * width, *b = x->v + next * width;
        sum += 0.5 * (a[column] + b[column]) * (b[0] - a[0]) / length;
    }
    return sum;
}

static double told_temperature(const struct xvg *x)
{
    const char *at = x->subtitle ? strstr(x->subtitle, "T = ") : NULL;
    double temperature = at ? strtod(at + 4, NULL) : 0;
    return isfinite(temperature) && temperature > 0 ? temperature : 0;
}

static int integrate(struct slow_growth *s, const struct xvg *x, const char *path, enum switch_way way, struct err *e)
{
    int column = 0, rc = check_moves(x, path, e);
    if (!rc)
        rc = derivative_column(x, path, &column, e);
    if (!rc)
        rc = check_start(x, path, column, way, e);
    if (rc)
        return rc;
    if (x->nrows < 3)
        return SLOW_GROWTH_BEGUN;
    const double sign = way == SWITCH_FORWARD ? 1 : -1;
    s->work = sign * trapezoid(x, column, 1);
    s->coarse = sign * trapezoid(x, column, 2) - s->work;
    s->begin = x->v[0];
    s->length = x->v[(x->nrows - 1) * (1 + (size_t)x->nlegends)] - x->v[0];
    s->temperature = told_temperature(x);
    return 0;
}

int slow_growth_read(struct slow_growth *s, const char *path, enum switch_way way, struct err *e)
{
    struct xvg x = {0};
    int rc = xvg_read_file(&x, path, path, XVG_ALL, 0, e);
    if (rc && e->code == ERR_IO)
        e->code = ERR_UNSUPPORTED; /* it is there, but is no such file */
    if (rc)
        rc = -(int)e->code;
    else
        rc = x.nlegends || x.nrows ? integrate(s, &x, path, way, e) : SLOW_GROWTH_BEGUN;
    xvg_close(&x);
    return rc;
}
