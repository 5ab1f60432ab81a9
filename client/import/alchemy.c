/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "client/import/internal.h"
#include "client/specs/spec_file.h"
#include "engine/base/number.h"

enum { WINDOWS_MAX = 1000 };

enum ladder { FEP, COULOMB, VDW, BONDED, RESTRAINT, MASS, TEMPERATURE, LADDERS };
static const char *const theirs[LADDERS] = {"fep-lambdas",       "coul-lambdas", "vdw-lambdas",        "bonded-lambdas",
                                            "restraint-lambdas", "mass-lambdas", "temperature-lambdas"};
static const char *const ours[LADDERS] = {NULL, "coulomb", "vdw", "bonded", "restraint", "mass", NULL};

struct ladders {
    double lambda[LADDERS][WINDOWS_MAX];
    bool given[LADDERS];
    int n;
};

static void check_range(struct mdp *m, const char *name, const double *lambda, int n)
{
    for (int w = 0; w < n; w++)
        if (!(lambda[w] >= 0 && lambda[w] <= 1))
            mdp_say(m, name, MDP_REFUSED, "%.10g: expected lambdas of 0 to 1", lambda[w]);
}

/* One temperature is none that changes. */
static void check_temperatures(struct mdp *m, const double *lambda, int n)
{
    bool alike = true;
    for (int w = 1; w < n; w++)
        alike &= lambda[w] == lambda[0];
    mdp_say(m, theirs[TEMPERATURE], alike ? MDP_IDLE : MDP_REFUSED,
            alike ? "one temperature" : "expected one value throughout: windows have one temperature");
}

static void read_ladders(struct mdp *m, struct ladders *l)
{
    const char *first = NULL;
    for (int k = 0; k < LADDERS; k++) {
        l->given[k] = mdp_value(m, theirs[k]) != NULL;
        if (!l->given[k])
            continue;
        int n = mdp_numbers(m, theirs[k], 0, l->lambda[k], WINDOWS_MAX);
        first = first ? first : theirs[k];
        if (l->n && n != l->n)
            mdp_say(m, theirs[k], MDP_REFUSED, "%d %s, %s has %d", n, number_word(n, "value", "values"), first, l->n);
        if (k == TEMPERATURE) {
            check_temperatures(m, l->lambda[k], n);
            continue;
        }
        l->n = l->n ? l->n : n;
        check_range(m, theirs[k], l->lambda[k], n);
    }
}

/* Which window a file without ladders, or with one, is of. */
static void read_lambda(struct mdp *m, struct ladders *l)
{
    double lambda = mdp_number(m, "init-lambda", -1);
    int window = 0;
    if (mdp_number(m, "delta-lambda", 0) != 0)
        mdp_say(m, "delta-lambda", MDP_REFUSED, "lambda would change within a window (slow growth); expected 0");
    if (mdp_number(m, "init-lambda-state", -1) >= 0)
        mdp_say(m, "init-lambda-state", MDP_CHANGED, "all windows run; this file is that of window %s",
                mdp_value(m, "init-lambda-state"));
    if (lambda < 0)
        return;
    check_range(m, "init-lambda", &lambda, 1);
    if (!l->n) {
        l->given[FEP] = true;
        l->lambda[FEP][0] = lambda;
        l->n = 1;
        mdp_say(m, "init-lambda", MDP_KEPT, "one window; a free energy takes several, in ladders");
        return;
    }
    while (window < l->n && l->given[FEP] && l->lambda[FEP][window] != lambda)
        window++;
    if (l->given[FEP] && window < l->n)
        mdp_say(m, "init-lambda", MDP_CHANGED, "all windows run; this file is that of window %d", window);
    else
        mdp_say(m, "init-lambda", MDP_REFUSED, "expected one of fep-lambdas, or init-lambda-state in its place");
}

/* Ladders that are not given follow fep-lambdas. */
static void follow(struct mdp *m, struct ladders *l)
{
    for (int k = COULOMB; k < TEMPERATURE; k++)
        if (!l->given[k] && l->given[FEP])
            memcpy(l->lambda[k], l->lambda[FEP], sizeof l->lambda[k]);
    if (!l->n)
        mdp_say(m, "fep-lambdas", MDP_REFUSED, "expected ladders of lambdas, one value for each window");
}

/* The word for what of the molecule acts at one end; NULL: it is refused. */
static const char *end_of(struct mdp *m, const char *name)
{
    static const char *const words[] = {"vdw-q", "vdw", "q", "none"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (mdp_is(m, name, "vdw-q", words[i]))
            return words[i];
    mdp_say(m, name, MDP_REFUSED, "expected vdw-q, vdw, q or none");
    return NULL;
}

/* Whether what holds the molecule changes along the way. */
static bool holds(const struct ladders *l)
{
    return l->given[FEP] || l->given[BONDED] || l->given[RESTRAINT];
}

/* From A to B: all ladders that are not given follow fep-lambdas, but that of masses, of which no free energy depends.
 */
static void perturb(struct mdp *m, struct ladders *l, struct buf *out)
{
    for (int k = COULOMB; k < MASS; k++)
        l->given[k] |= l->given[FEP];
    if (l->given[FEP] && !l->given[MASS])
        mdp_say(m, theirs[FEP], MDP_CHANGED,
                "masses stay those of state A in every window: free energies are without the kinetic part of masses "
                "that change, which cancels between legs");
    buf_printf(out, "  perturb: b-states\n");
}

/* What does not change at the molecule has its ladder all the same: bonded terms that hold it follow fep-lambdas, too.
 */
static void decouple(struct mdp *m, struct ladders *l, struct buf *out)
{
    const char *name = mdp_value(m, "couple-moltype"), *from = end_of(m, "couple-lambda0"),
               *to = end_of(m, "couple-lambda1"),
               *inner = mdp_is(m, "couple-intramol", "no", "no|false") ? "keep" : "decouple";
    const bool still = from && from == to, whole = from && !strcmp(from, "vdw-q");
    if (mdp_is(m, "couple-moltype", "", "system"))
        mdp_say(m, "couple-moltype", MDP_REFUSED, "all molecules: expected the name of one molecule type");
    if (still && !holds(l))
        mdp_say(
            m, "couple-lambda1", MDP_REFUSED,
            "as at lambda 0: nothing changes; expected other words, or a ladder bonded-lambdas or restraint-lambdas");
    if (still && whole && !strcmp(inner, "decouple")) {
        mdp_say(m, "couple-lambda1", MDP_KEPT, "as at lambda 0: only what has a state B in the topology changes");
        perturb(m, l, out);
        return;
    }
    for (int k = COULOMB; k < MASS; k++)
        l->given[k] |= l->given[FEP];
    bool usual = whole && to && !strcmp(to, "none");
    buf_printf(out, usual ? "  decouple: " : "  decouple: [{molecule: ");
    spec_text(out, name);
    if (usual)
        buf_printf(out, "\n  intramolecular: %s\n", inner);
    else
        buf_printf(out, ", from: %s, to: %s, intramolecular: %s}]\n", from ? from : "?", to ? to : "?", inner);
}

static void beutler(struct mdp *m, const struct ladders *l, struct buf *out)
{
    double alpha = mdp_number(m, "sc-alpha", 0), power = mdp_number(m, "sc-power", 1);
    bool only_fep = l->given[FEP], coulomb = mdp_is(m, "sc-coul", "no", "yes|true");
    for (int k = COULOMB; k < LADDERS; k++)
        only_fep &= mdp_value(m, theirs[k]) == NULL;
    if (mdp_number(m, "sc-r-power", 6) != 6)
        mdp_say(m, "sc-r-power", MDP_REFUSED, "expected 6");
    if (power != 1 && power != 2)
        mdp_say(m, "sc-power", MDP_REFUSED, "expected 1 or 2");
    if (only_fep && alpha > 0 && !coulomb) {
        coulomb = true;
        mdp_say(m, "sc-coul", MDP_CHANGED, "yes, as grompp has it where fep-lambdas are the only ladder");
    }
    buf_printf(out, "  soft-core: {alpha: %.10g, power: %g, sigma: %.10g nm, coulomb: %s}\n", alpha, power,
               mdp_number(m, "sc-sigma", 0.3), coulomb ? "yes" : "no");
}

static void gapsys(struct mdp *m, struct buf *out)
{
    buf_printf(out,
               "  soft-core: {function: gapsys, scale-linpoint-lj: %.10g, scale-linpoint-coulomb: %.10g nm, sigma: "
               "%.10g nm}\n",
               mdp_number(m, "sc-gapsys-scale-linpoint-lj", 0.85), mdp_number(m, "sc-gapsys-scale-linpoint-q", 0.3),
               mdp_number(m, "sc-gapsys-sigma-lj", 0.3));
}

static void soft_core(struct mdp *m, const struct ladders *l, struct buf *out)
{
    static const char *const own[2][5] = {
        {"sc-alpha", "sc-power", "sc-r-power", "sc-sigma", "sc-coul"},
        {"sc-gapsys-scale-linpoint-lj", "sc-gapsys-scale-linpoint-q", "sc-gapsys-sigma-lj"}};
    bool other = mdp_is(m, "sc-function", "beutler", "gapsys");
    for (int k = 0; k < 5; k++)
        if (own[!other][k] && mdp_value(m, own[!other][k]))
            mdp_say(m, own[!other][k], MDP_IDLE, "of another sc-function");
    if (other)
        gapsys(m, out);
    else if (mdp_is(m, "sc-function", "beutler", "beutler"))
        beutler(m, l, out);
    else
        mdp_say(m, "sc-function", MDP_REFUSED, "expected beutler or gapsys");
}

static void write_ladders(const struct ladders *l, struct buf *out)
{
    buf_printf(out, "  windows:\n");
    for (int k = COULOMB; k < TEMPERATURE; k++) {
        if (!l->given[k])
            continue;
        buf_printf(out, "    %s: [", ours[k]);
        for (int w = 0; w < l->n; w++)
            buf_printf(out, "%s%.10g", w ? ", " : "", l->lambda[k][w]);
        buf_printf(out, "]\n");
    }
}

/* A ladder of zeros, as tutorials have it, changes none. */
static void say_masses(struct mdp *m, struct ladders *l)
{
    bool change = false;
    for (int w = 0; w < l->n && l->given[MASS]; w++)
        change |= l->lambda[MASS][w] != 0;
    if (l->given[MASS] && !change)
        mdp_say(m, theirs[MASS], MDP_IDLE, "masses are those of state A");
    l->given[MASS] = change;
    if (change)
        mdp_say(m, theirs[MASS], MDP_CHANGED,
                "masses change along the ladder, but free energies are without their kinetic part, which cancels "
                "between legs");
}

static void write_all(struct mdp *m, struct ladders *l, struct buf *out)
{
    read_ladders(m, l);
    read_lambda(m, l);
    follow(m, l);
    say_masses(m, l);
    buf_printf(out, "alchemy:\n");
    if (mdp_value(m, "couple-moltype"))
        decouple(m, l, out);
    else
        perturb(m, l, out);
    /* where it is absent, ours follows that of bonded terms */
    l->given[RESTRAINT] |= l->given[BONDED];
    soft_core(m, l, out);
    write_ladders(l, out);
}

bool import_perturbs(const struct mdp *m)
{
    return mdp_is(m, "free-energy", "no", "yes|true|expanded");
}

void import_alchemy(struct mdp *m, struct buf *out)
{
    if (import_perturbs(m)) {
        struct ladders *l = xcalloc(1, sizeof *l);
        write_all(m, l, out);
        free(l);
    } else if (!mdp_is(m, "free-energy", "no", "no|false")) {
        mdp_say(m, "free-energy", MDP_REFUSED, "expected yes, no or expanded");
    }
}
