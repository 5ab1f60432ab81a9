/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/pair_sums.h"

#include <math.h>

#include "engine/base/units.h"
#include "tests/lib/pair_definitions.h"

struct sum {
    const struct system *sys;
    const struct settings *set;
    double beta, l_coulomb, l_vdw;
};

double pair_beta(const struct nonbonded_settings *nb)
{
    double low = 0, high = 50;
    for (int k = 0; k < 100; k++) {
        double middle = 0.5 * (low + high);
        *(erfc(middle * nb->coulomb_cutoff) > nb->ewald_tolerance ? &low : &high) = middle;
    }
    return low;
}

/* ---- atoms ---- */

/* The two chains are decoupled, by the first entry and by the last. */
static const struct decoupled *decoupled(const struct sum *s, int i)
{
    const struct alchemy_settings *al = &s->set->alchemy;
    int molecule = s->sys->atoms[i].molecule;
    return al->kind == ALCHEMY_DECOUPLE && molecule < 2 ? &al->decouple[molecule ? al->ndecouple - 1 : 0] : NULL;
}

static double charge(const struct sum *s, int i, int state)
{
    const struct decoupled *d = decoupled(s, i);
    if (d)
        return d->on[state] & COUPLED_CHARGE ? s->sys->atoms[i].charge[0] : 0;
    return s->sys->atoms[i].charge[s->set->alchemy.kind == ALCHEMY_B_STATES ? state : 0];
}

static double charge_now(const struct sum *s, int i)
{
    return (1 - s->l_coulomb) * charge(s, i, 0) + s->l_coulomb * charge(s, i, 1);
}

static bool perturbed(const struct sum *s, int i)
{
    const struct atom *a = &s->sys->atoms[i];
    if (s->set->alchemy.kind == ALCHEMY_B_STATES)
        return a->charge[0] != a->charge[1] || a->type[0] != a->type[1];
    return decoupled(s, i) != NULL;
}

/* ---- pairs ---- */

static struct lj inner_parameters(const struct sum *s, int i, int j, int b)
{
    return s->sys->lj[s->sys->atoms[i].type[b] * s->sys->ntypes + s->sys->atoms[j].type[b]];
}

static struct lj parameters(const struct sum *s, int i, int j, int state)
{
    const struct decoupled *d[2] = {decoupled(s, i), decoupled(s, j)};
    for (int k = 0; k < 2; k++)
        if (d[k] && !(d[k]->on[state] & COUPLED_VDW))
            return (struct lj){0, 0};
    return inner_parameters(s, i, j, state && s->set->alchemy.kind == ALCHEMY_B_STATES);
}

static struct pair_defined pair_of(const struct sum *s, int i, int j)
{
    struct pair_defined p = {.nb = &s->set->nonbonded,
                             .core = &s->set->alchemy.soft_core,
                             .beta = s->beta,
                             .perturbed = perturbed(s, i) || perturbed(s, j)};
    for (int k = 0; k < 2; k++) {
        p.c[k] = parameters(s, i, j, k);
        p.q[k] = charge(s, i, k);
        p.p[k] = charge(s, j, k);
    }
    return p;
}

static bool is_excluded(const struct system *sys, int i, int j)
{
    for (int k = sys->exclusion_start[i]; k < sys->exclusion_start[i + 1]; k++)
        if (sys->exclusion[k] == j)
            return true;
    return false;
}

/* Of a molecule that is decoupled without what holds it together. */
static bool is_kept(const struct sum *s, int i, int j)
{
    const struct decoupled *gone = decoupled(s, i);
    return gone && !gone->intramolecular_decouple && s->sys->atoms[i].molecule == s->sys->atoms[j].molecule;
}

/* Of the nearest images; whole: of the atoms as they are, as molecules of the mixture are in one piece. */
static double distance(const struct sum *s, int i, int j, bool whole)
{
    double r2 = 0;
    for (int d = 0; d < 3; d++) {
        const double dx = s->sys->x[i][d] - s->sys->x[j][d];
        r2 += pow(whole ? dx : dx - s->sys->box[d] * round(dx / s->sys->box[d]), 2);
    }
    return sqrt(r2);
}

/* Without the Coulomb energy that the mesh or the field has of it. */
static void add_inner(const struct sum *s, int i, int j, double r, struct pair_sums *e)
{
    const struct lj c = inner_parameters(s, i, j, 0);
    e->lj += c.c12 / pow(r, 12) - c.c6 / pow(r, 6);
    e->coulomb += UNIT_COULOMB * s->sys->atoms[i].charge[0] * s->sys->atoms[j].charge[0] / r;
}

/* The correction takes off what the mesh has of pairs that it should not have; a reaction field is pair by pair. */
static void add_pair(const struct sum *s, int i, int j, struct pair_sums *e)
{
    const struct pair_defined p = pair_of(s, i, j);
    const bool kept = is_kept(s, i, j), excluded = is_excluded(s->sys, i, j), left_out = pair_of_other_ends(&p);
    const bool field = s->set->nonbonded.coulomb_method == COULOMB_REACTION_FIELD;
    const double r = distance(s, i, j, kept || excluded);
    if ((kept || excluded || left_out) && !(left_out && field))
        e->coulomb += UNIT_COULOMB * charge_now(s, i) * charge_now(s, j) * (double)pair_besides(&p, r, true);
    if (excluded)
        return;
    if (kept) {
        add_inner(s, i, j, r, e);
    } else {
        e->lj += (double)pair_lj(&p, r, s->l_vdw);
        e->coulomb += (double)pair_coulomb(&p, r, s->l_coulomb);
    }
}

struct pair_sums pair_sums_of(const struct system *sys, const struct settings *set, int window)
{
    const double *lambda = set->alchemy.lambda[window];
    const struct nonbonded_settings *nb = &set->nonbonded;
    const struct sum s = {sys, set, pair_beta(nb), lambda[LAMBDA_COULOMB], lambda[LAMBDA_VDW]};
    const bool field = nb->coulomb_method == COULOMB_REACTION_FIELD;
    const double self = field ? 0.5 * (double)pair_field_c(nb) : s.beta / sqrt(M_PI);
    struct pair_sums e = {0, 0};
    for (int i = 0; i < sys->natoms; i++) {
        e.coulomb -= UNIT_COULOMB * self * pow(charge_now(&s, i), 2);
        for (int j = 0; j < i; j++)
            add_pair(&s, i, j, &e);
    }
    return e;
}
