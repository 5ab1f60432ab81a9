/* SPDX-License-Identifier: Apache-2.0
 *
 * dhdl.xvg as GROMACS writes it (gromacs/gromacs: src/gromacs/mdlib/energyoutput.cpp, open_dhdl): the subtitle names
 * temperature, state and lambda vector, the legends say what each column is.
 */
#include "engine/series/dhdl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"

/* What the columns of one file are. */
struct columns {
    const struct xvg *x;
    const char *name;                  /* of the file */
    int derivative[LAMBDA_FILE_COUNT]; /* column of dH/dlambda, 0: absent */
    int *difference;                   /* [nstates] */
    size_t state;                      /* column of the state of each row, 0: absent */
};

/* "(0.5000, 1.0000)" or "0.5000" into out. Returns the number of values, -1 when it is neither. */
static int vector(const char *s, double *out, int most)
{
    bool brackets = *s == '(';
    int n = 0;
    s += brackets;
    for (;;) {
        char *after;
        if (n == most)
            return -1;
        out[n++] = strtod(s, &after);
        if (after == s || !isfinite(out[n - 1]))
            return -1;
        s = after + strspn(after, " ");
        if (!brackets || *s != ',')
            break;
        s++;
    }
    if (brackets && *s++ != ')')
        return -1;
    return s[strspn(s, " \r")] ? -1 : n;
}

static int component_named(const char *s, size_t len)
{
    for (int c = 0; c < LAMBDA_FILE_COUNT; c++)
        if (strlen(lambda_names[c].gromacs) == len && !strncmp(s, lambda_names[c].gromacs, len))
            return c;
    return -1;
}

/* The names before the last " = ": "(coul-lambda, vdw-lambda)" or "fep-lambda". */
static int names(struct dhdl *d, const char *s, const char *end)
{
    for (;;) {
        s += strspn(s, " (,");
        if (s >= end)
            return 0;
        size_t len = strcspn(s, " ,)");
        int c = component_named(s, len);
        if (c < 0 || d->ncomponents == LAMBDA_FILE_COUNT)
            return -1;
        d->component[d->ncomponents++] = (enum lambda)c;
        s += len + strspn(s + len, ")");
    }
}

static void read_temperature(struct dhdl *d, const char *subtitle, const char *state)
{
    const char *t = strstr(subtitle, "T = ");
    if (t && t < (state ? state : t + 1))
        d->temperature = strtod(t + 4, NULL);
}

/* Of a run in which the state changes the subtitle says the temperature only, and the legends of dH/dlambda say what
 * the numbers of lambda vectors are. */
static int changing_state(struct dhdl *d, const char *name, const struct xvg *x, struct err *e)
{
    d->state = -1;
    if (x->subtitle)
        read_temperature(d, x->subtitle, NULL);
    for (int i = 0; i < x->nlegends; i++) {
        const char *s = x->legend[i] + strlen(DHDL_DERIVATIVE);
        if (strncmp(x->legend[i], DHDL_DERIVATIVE, strlen(DHDL_DERIVATIVE)) != 0)
            continue;
        const int c = component_named(s, strcspn(s, " "));
        if (c >= 0 && d->ncomponents < LAMBDA_FILE_COUNT)
            d->component[d->ncomponents++] = (enum lambda)c;
    }
    return d->ncomponents ? 0
                          : err_set(e, ERR_UNSUPPORTED,
                                    "%s: no column of dH/dlambda, which would name the components of lambda; expected "
                                    "dhdl-derivatives = yes of a run in which the state changes",
                                    name);
}

/* GROMACS names no state in the subtitle of slow growth either. */
static int slow_growth(const char *name, const struct xvg *x, struct err *e)
{
    if (x->subtitle && !strncmp(x->subtitle, "T = ", 4) && !strstr(x->subtitle, "state "))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s:%d: subtitle \"%s\" names no state and no column is called \"" DHDL_STATE
                       "\", as in files of slow growth; "
                       "expected a file for each state, an expanded ensemble or AWH along lambda, or slow growth with "
                       "--forward or --backward",
                       name, x->subtitle_line, x->subtitle);
    return 0;
}

static int subtitle(struct dhdl *d, const char *name, const struct xvg *x, struct err *e)
{
    if (xvg_column(x, DHDL_STATE))
        return changing_state(d, name, x, e);
    if (slow_growth(name, x, e))
        return -(int)e->code;
    if (!x->subtitle)
        return err_set(e, ERR_IO, "%s: no subtitle, expected one with \"T = ... (K)\" and \"state N: ... = ...\"",
                       name);
    const char *state = strstr(x->subtitle, "state ");
    const char *equals = NULL;
    for (const char *s = state; s && (s = strstr(s, " = ")); s += 3)
        equals = s;
    const char *colon = state ? strchr(state, ':') : NULL;
    read_temperature(d, x->subtitle, state);
    if (!colon || !equals || colon > equals || names(d, colon + 1, equals) || !d->ncomponents ||
        vector(equals + 3, d->lambda, LAMBDA_FILE_COUNT) != d->ncomponents)
        return err_set(e, ERR_IO,
                       "%s:%d: subtitle \"%s\": expected \"state N: (NAMES) = (VALUES)\" with the names of lambda "
                       "components (fep, mass, coul, vdw, bonded, restraint) and as many values",
                       name, x->subtitle_line, x->subtitle);
    d->state = (int)strtol(state + 6, NULL, 10);
    return 0;
}

static int legend(struct dhdl *d, struct columns *c, int column, struct err *e)
{
    const char *s = c->x->legend[column - 1];
    int line = c->x->legend_line[column - 1];
    if (!strncmp(s, DHDL_DERIVATIVE, strlen(DHDL_DERIVATIVE))) {
        s += strlen(DHDL_DERIVATIVE);
        int which = component_named(s, strcspn(s, " "));
        if (which < 0)
            return err_set(e, ERR_IO, "%s:%d: derivative by \"%s\", which is no known lambda component", c->name, line,
                           s);
        c->derivative[which] = column;
    } else if (!strncmp(s, DHDL_DIFFERENCE, strlen(DHDL_DIFFERENCE))) {
        size_t n = (size_t)d->nstates, width = (size_t)d->ncomponents;
        double value[LAMBDA_FILE_COUNT];
        s += strlen(DHDL_DIFFERENCE);
        if (vector(s, value, LAMBDA_FILE_COUNT) != d->ncomponents)
            return err_set(e, ERR_IO, "%s:%d: foreign state \"%s\": expected %d lambda %s", c->name, line, s,
                           d->ncomponents, number_word(d->ncomponents, "value", "values"));
        d->states = xrealloc(d->states, (n + 1) * width, sizeof *d->states);
        memcpy(d->states + n * width, value, width * sizeof *value);
        c->difference = xrealloc(c->difference, n + 1, sizeof *c->difference);
        c->difference[n] = column;
        d->nstates++;
    }
    return 0;
}

/* Without the kinetic energy of masses that change: it cancels between legs, and what of it is sampled depends on how
 * often the motion of the center of mass is removed. GROMACS has it in dH/dlambda and not in the energy differences. */
static double derivative(enum lambda component, double sampled)
{
    return component == LAMBDA_MASS ? 0 : sampled;
}

/* An energy that another state cannot have is known: it has no weight there. */
static bool known(double energy, bool own)
{
    return isfinite(energy) || (energy == INFINITY && !own);
}

/* The state of a row. In it the energy is the row's own, so that the difference is 0 to the last digit. */
static int state_of(const struct dhdl *d, const struct columns *c, const double *v, int *state, struct err *e)
{
    *state = d->state;
    if (!c->state)
        return 0;
    const double told = v[c->state];
    if (!(told >= 0 && told < d->nstates) || told != floor(told))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: state %g at %g ps, expected 0 to %d: one with a column of energy differences", c->name,
                       told, v[0], d->nstates - 1);
    *state = (int)told;
    const double own = v[c->difference[*state]];
    if (isfinite(own) && fabs(own) > 1e-6)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: energy difference %g kJ/mol to state %d at %g ps, the row's own, expected 0", c->name, own,
                       *state, v[0]);
    return 0;
}

/* Copies row by row what has known energies. Without a finite dH/dlambda in one of them there are no derivatives. */
static int take_rows(struct dhdl *d, const struct columns *c, struct err *e)
{
    const struct xvg *x = c->x;
    size_t width = (size_t)x->nlegends + 1, nc = (size_t)d->ncomponents, ns = (size_t)d->nstates;
    d->time = xcalloc(x->nrows, sizeof *d->time);
    d->dhdl = xcalloc(x->nrows * nc, sizeof *d->dhdl);
    d->dh = xcalloc(x->nrows * ns, sizeof *d->dh);
    if (c->state) {
        d->at = xcalloc(x->nrows, sizeof *d->at);
        d->dropped = xcalloc(ns, sizeof *d->dropped);
    }
    bool derivatives = d->derivatives;
    int state;
    for (size_t row = 0; row < x->nrows; row++) {
        const double *v = x->v + row * width;
        bool complete = true, slopes = true;
        if (state_of(d, c, v, &state, e))
            return -(int)e->code;
        for (size_t i = 0; i < nc && derivatives; i++) {
            d->dhdl[d->n * nc + i] = derivative(d->component[i], v[c->derivative[d->component[i]]]);
            slopes = slopes && isfinite(d->dhdl[d->n * nc + i]);
        }
        for (size_t k = 0; k < ns; k++) {
            d->dh[d->n * ns + k] = v[c->difference[k]];
            complete = complete && known(d->dh[d->n * ns + k], (int)k == state);
        }
        d->time[d->n] = v[0];
        if (d->at) {
            d->at[d->n] = state;
            d->dropped[state] += !complete;
        }
        d->n += complete;
        d->nonfinite += !complete;
        d->slopeless += complete && !slopes;
    }
    d->derivatives = derivatives && !d->slopeless;
    return 0;
}

static int columns(struct dhdl *d, struct columns *c, struct err *e)
{
    int rc = subtitle(d, c->name, c->x, e);
    c->state = xvg_column(c->x, DHDL_STATE);
    for (int column = 1; !rc && column <= c->x->nlegends; column++)
        rc = legend(d, c, column, e);
    if (rc)
        return rc;
    d->derivatives = true;
    for (int i = 0; i < d->ncomponents; i++)
        d->derivatives = d->derivatives && c->derivative[d->component[i]];
    d->cut_short = c->x->cut_short;
    d->seen = c->x->seen;
    d->stride = c->x->stride;
    d->stretched = c->x->stretched ? xstrdup(c->x->stretched) : NULL;
    return 0;
}

/* `rc`: of the reading of the table. Closes it. */
static int understand(struct dhdl *d, const char *name, struct xvg *x, int rc, struct err *e)
{
    struct columns c = {.x = x, .name = name};
    if (!rc)
        rc = columns(d, &c, e);
    if (!rc)
        rc = take_rows(d, &c, e);
    free(c.difference);
    xvg_close(x);
    return rc;
}

int dhdl_read(struct dhdl *d, const char *name, const char *text, size_t len, struct err *e)
{
    struct xvg x = {0};
    return understand(d, name, &x, xvg_read(&x, name, text, len, e), e);
}

int dhdl_read_file(struct dhdl *d, const char *name, const char *path, uint64_t bytes, size_t most, struct err *e)
{
    struct xvg x = {0};
    return understand(d, name, &x, xvg_read_file(&x, name, path, bytes, most, e), e);
}

void dhdl_close(struct dhdl *d)
{
    free(d->states);
    free(d->at);
    free(d->dropped);
    free(d->time);
    free(d->dhdl);
    free(d->dh);
    free(d->stretched);
    *d = (struct dhdl){0};
}
