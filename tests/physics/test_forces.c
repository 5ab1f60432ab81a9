/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-bonded forces of a small box against double loops over all atoms written from the definitions, against finite
 * differences of themselves, and against what must not change them.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/units.h"
#include "tests/lib/mixture.h"
#include "tests/lib/toy.h"

#define NEAR(a, b, tolerance)                                                                                          \
    do {                                                                                                               \
        double a_ = (a), b_ = (b);                                                                                     \
        if (!(fabs(a_ - b_) <= (tolerance)))                                                                           \
            fail_msg("%s = %.12g, %s = %.12g, off by %.3g", #a, a_, #b, b_, a_ - b_);                                  \
    } while (0)

static double lambda_table[64][LAMBDA_COUNT];

static struct settings settings_of(enum vdw_modifier modifier, enum alchemy kind)
{
    struct settings set = toy_settings();
    set.nonbonded = (struct nonbonded_settings){.vdw_cutoff = 0.9,
                                                .coulomb_cutoff = 1.0,
                                                .vdw_modifier = modifier,
                                                .vdw_switch = 0.7,
                                                .coulomb_modifier = COULOMB_POTENTIAL_SHIFT,
                                                .ewald_tolerance = 1e-5,
                                                .pme_order = 5,
                                                .pme_spacing = 0.12};
    set.alchemy = mixture_alchemy(kind, 1, lambda_table);
    memset(lambda_table, 0, sizeof lambda_table);
    return set;
}

/* ---- the definitions ---- */

struct state {
    double lj, coulomb;
};

struct sum {
    const struct system *sys;
    const struct settings *set;
    double beta, l_coulomb, l_vdw;
};

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

static bool perturbed(const struct sum *s, int i)
{
    const struct atom *a = &s->sys->atoms[i];
    if (s->set->alchemy.kind == ALCHEMY_B_STATES)
        return a->charge[0] != a->charge[1] || a->type[0] != a->type[1];
    return decoupled(s, i) != NULL;
}

/* Force-switched r^-p: its force p r^-(p+1) + a d^2 + b d^3, d = r - r1 > 0, integrated from the cut-off inwards; Simpson's
 * rule is exact for the cubic part. */
static double force_switched(double p, double r, double r1, double rc)
{
    double a = -p * ((p + 4) * rc - (p + 1) * r1) / (pow(rc, p + 2) * pow(rc - r1, 2));
    double b = p * ((p + 3) * rc - (p + 1) * r1) / (pow(rc, p + 2) * pow(rc - r1, 3));
    double from = fmax(r, r1) - r1, to = rc - r1, sum = 0;
    for (int k = 0; k < 3; k++) {
        double d = from + 0.5 * k * (to - from);
        sum += (to - from) / 6 * (k == 1 ? 4 : 1) * (a * d * d + b * d * d * d);
    }
    return pow(r, -p) - pow(rc, -p) + sum;
}

static double lj_energy(const struct nonbonded_settings *nb, struct lj c, double r)
{
    double rc = nb->vdw_cutoff, r1 = nb->vdw_switch, x = fmax(0, (r - r1) / (rc - r1));
    if (r >= rc)
        return 0;
    switch (nb->vdw_modifier) {
    case VDW_CUTOFF:
        return c.c12 / pow(r, 12) - c.c6 / pow(r, 6);
    case VDW_POTENTIAL_SHIFT:
        return c.c12 * (pow(r, -12) - pow(rc, -12)) - c.c6 * (pow(r, -6) - pow(rc, -6));
    case VDW_POTENTIAL_SWITCH:
        return (c.c12 / pow(r, 12) - c.c6 / pow(r, 6)) * (1 - 10 * pow(x, 3) + 15 * pow(x, 4) - 6 * pow(x, 5));
    case VDW_FORCE_SWITCH:
        return c.c12 * force_switched(12, r, r1, rc) - c.c6 * force_switched(6, r, r1, rc);
    }
    return NAN;
}

static double soft_radius(const struct sum *s, const struct lj c[2], int state, double lambda, double r)
{
    const struct soft_core *sc = &s->set->alchemy.soft_core;
    double sigma = c[state].c6 > 0 && c[state].c12 > 0 ? pow(c[state].c12 / c[state].c6, 1.0 / 6) : sc->sigma;
    if (c[0].c12 > 0 && c[1].c12 > 0)
        return r;
    if (sc->coulomb)
        sigma = fmax(sigma, sc->sigma);
    return pow(sc->alpha * pow(sigma, 6) * pow(state ? 1 - lambda : lambda, sc->power) + pow(r, 6), 1.0 / 6);
}

/* k and c of a reaction field. */
static double field_k(const struct nonbonded_settings *nb)
{
    double eps = nb->epsilon_rf > 0 ? nb->epsilon_rf : 1e15;
    return (eps - 1) / (2 * eps + 1) / pow(nb->coulomb_cutoff, 3);
}

static double field_c(const struct nonbonded_settings *nb)
{
    return 1 / nb->coulomb_cutoff + field_k(nb) * pow(nb->coulomb_cutoff, 2);
}

/* What goes with 1/r within the cut-off; between excluded atoms (apart) it is all. */
static double besides(const struct sum *s, double r, bool apart)
{
    const struct nonbonded_settings *nb = &s->set->nonbonded;
    if (nb->coulomb_method == COULOMB_REACTION_FIELD)
        return field_k(nb) * r * r - field_c(nb);
    double shift = nb->coulomb_modifier == COULOMB_POTENTIAL_SHIFT && !apart
                       ? erfc(s->beta * nb->coulomb_cutoff) / nb->coulomb_cutoff
                       : 0;
    return -shift - erf(s->beta * r) / r;
}

/* Gapsys: the series to second order about `point`, for a pair that is closer. */
static double continued(double r, double point, double v, double dv, double ddv)
{
    double d = r - point;
    return v + dv * d + 0.5 * ddv * d * d;
}

/* LJ of one state and Coulomb for charges of one. */
static struct state gapsys(const struct sum *s, const struct lj c[2], int state, double r, double qq)
{
    const struct soft_core *sc = &s->set->alchemy.soft_core;
    const struct nonbonded_settings *nb = &s->set->nonbonded;
    const struct lj *k = &c[state];
    bool both = c[0].c12 > 0 && c[1].c12 > 0;
    bool switched = nb->vdw_modifier == VDW_POTENTIAL_SWITCH || nb->vdw_modifier == VDW_FORCE_SWITCH;
    double sigma6 = k->c6 > 0 && k->c12 > 0 ? k->c12 / k->c6 : pow(sc->sigma, 6);
    double lv = state ? 1 - s->l_vdw : s->l_vdw, lc = state ? 1 - s->l_coulomb : s->l_coulomb;
    double p = sc->alpha * pow(26.0 / 7 * sigma6 * lv, 1.0 / 6);
    double q = sc->alpha_coulomb * (1 + fabs(qq)) * pow(lc, 1.0 / 6);
    struct state e = {lj_energy(nb, *k, r), 1 / r};
    p = fmin(p, switched ? nb->vdw_switch : nextafter(nb->vdw_cutoff, 0));
    q = fmin(q, nb->coulomb_cutoff);
    if (r < p && !both)
        e.lj = continued(r, p, lj_energy(nb, *k, p), -12 * k->c12 / pow(p, 13) + 6 * k->c6 / pow(p, 7),
                         156 * k->c12 / pow(p, 14) - 42 * k->c6 / pow(p, 8));
    if (r < q && !both)
        e.coulomb = continued(r, q, 1 / q, -1 / pow(q, 2), 2 / pow(q, 3));
    e.coulomb += besides(s, r, false);
    return e;
}

static struct state beutler(const struct sum *s, const struct lj c[2], int state, double r)
{
    double rv = soft_radius(s, c, state, s->l_vdw, r);
    double rc = s->set->alchemy.soft_core.coulomb ? soft_radius(s, c, state, s->l_coulomb, r) : r;
    double coulomb = 1 / rc + besides(s, r, false);
    if (s->set->nonbonded.coulomb_method == COULOMB_REACTION_FIELD)
        coulomb = rc < s->set->nonbonded.coulomb_cutoff ? 1 / rc + besides(s, rc, false) : 0;
    return (struct state){lj_energy(&s->set->nonbonded, c[state], rv), coulomb};
}

/* Charged in A alone, and in B alone. */
static bool of_other_ends(const struct sum *s, int i, int j)
{
    return charge(s, i, 0) * charge(s, j, 0) == 0 && charge(s, i, 1) * charge(s, j, 1) == 0;
}

static void add_listed(const struct sum *s, int i, int j, double r, struct state *e)
{
    const struct nonbonded_settings *nb = &s->set->nonbonded;
    bool alchemical = perturbed(s, i) || perturbed(s, j);
    struct lj c[2] = {parameters(s, i, j, 0), parameters(s, i, j, 1)};
    double l = s->l_coulomb, q[2][2], dq[2];
    for (int k = 0; k < 2; k++) {
        int atom = k ? j : i;
        q[k][0] = charge(s, atom, 0);
        q[k][1] = charge(s, atom, 1);
        dq[k] = fabs(q[k][1] - q[k][0]);
    }
    double w = dq[0] + dq[1] > 0 ? dq[0] / (dq[0] + dq[1]) : 0.5;
    double part[2] = {(1 - l) * (1 - l) * q[0][0] * q[1][0] +
                          l * (1 - l) * (w * q[0][0] * q[1][1] + (1 - w) * q[0][1] * q[1][0]),
                      l * l * q[0][1] * q[1][1] + l * (1 - l) * (w * q[0][1] * q[1][0] + (1 - w) * q[0][0] * q[1][1])};
    for (int k = 0; k < 2; k++) {
        double weight = k ? s->l_vdw : 1 - s->l_vdw;
        struct state soft = {lj_energy(nb, c[k], r), 1 / r + besides(s, r, false)};
        if (alchemical)
            soft = s->set->alchemy.soft_core.function == SOFT_GAPSYS ? gapsys(s, c, k, r, q[0][k] * q[1][k])
                                                                     : beutler(s, c, k, r);
        if (r < nb->vdw_cutoff)
            e->lj += weight * soft.lj;
        if (r < nb->coulomb_cutoff && !of_other_ends(s, i, j))
            e->coulomb += UNIT_COULOMB * part[k] * soft.coulomb;
    }
}

static bool is_excluded(const struct system *sys, int i, int j)
{
    for (int k = sys->exclusion_start[i]; k < sys->exclusion_start[i + 1]; k++)
        if (sys->exclusion[k] == j)
            return true;
    return false;
}

static struct state definitions(const struct sum *s)
{
    struct state e = {0};
    double self = s->set->nonbonded.coulomb_method == COULOMB_REACTION_FIELD ? 0.5 * field_c(&s->set->nonbonded)
                                                                             : s->beta / sqrt(M_PI);
    for (int i = 0; i < s->sys->natoms; i++) {
        const struct decoupled *gone = decoupled(s, i);
        double q = (1 - s->l_coulomb) * charge(s, i, 0) + s->l_coulomb * charge(s, i, 1);
        e.coulomb -= UNIT_COULOMB * self * q * q;
        for (int j = 0; j < i; j++) {
            double r2 = 0, whole2 = 0, o = (1 - s->l_coulomb) * charge(s, j, 0) + s->l_coulomb * charge(s, j, 1);
            for (int d = 0; d < 3; d++) {
                double dx = s->sys->x[i][d] - s->sys->x[j][d];
                whole2 += dx * dx;
                r2 += pow(dx - s->sys->box[d] * round(dx / s->sys->box[d]), 2);
            }
            bool kept =
                gone && !gone->intramolecular_decouple && s->sys->atoms[i].molecule == s->sys->atoms[j].molecule;
            bool apart = kept || is_excluded(s->sys, i, j); /* molecules of the mixture are in one piece */
            bool left_out = of_other_ends(s, i, j);         /* of the mesh, too; a reaction field is pair by pair */
            double r = sqrt(apart ? whole2 : r2), correction = UNIT_COULOMB * q * o * besides(s, r, true);
            if (left_out && s->set->nonbonded.coulomb_method == COULOMB_REACTION_FIELD)
                correction = 0;
            if (left_out && !apart)
                e.coulomb += correction;
            if (is_excluded(s->sys, i, j)) {
                e.coulomb += correction;
            } else if (kept) {
                struct lj c = inner_parameters(s, i, j, 0);
                e.lj += c.c12 / pow(r, 12) - c.c6 / pow(r, 6);
                e.coulomb += correction + UNIT_COULOMB * s->sys->atoms[i].charge[0] * s->sys->atoms[j].charge[0] / r;
            } else {
                add_listed(s, i, j, r, &e);
            }
        }
    }
    return e;
}

static double beta_of(const struct nonbonded_settings *nb)
{
    double low = 0, high = 50;
    for (int k = 0; k < 100; k++) {
        double middle = 0.5 * (low + high);
        *(erfc(middle * nb->coulomb_cutoff) > nb->ewald_tolerance ? &low : &high) = middle;
    }
    return low;
}

/* What mixed precision may add: to an energy, and to dU/dlambda or a difference between windows. */
static double of_energy(double u)
{
    return toy_allowed(0, 2e-6 * fabs(u));
}

static double of_window(double du)
{
    return toy_allowed(0, 1e-3 + 1e-5 * fabs(du));
}

/* ---- tests ---- */

static void compare(const struct system *sys, const struct settings *set)
{
    double du[64];
    for (int w = 0; w < set->alchemy.nwindows; w++) {
        struct toy t = toy_open(sys, set, w);
        struct sample a = toy_sample(t.sim, du);
        struct sum s = {sys, set, beta_of(&set->nonbonded), lambda_table[w][LAMBDA_COULOMB],
                        lambda_table[w][LAMBDA_VDW]};
        struct state e = definitions(&s);
        NEAR(a.energy[TERM_LJ], e.lj, 1e-8 * fabs(e.lj) + 1e-7 + of_energy(e.lj));
        NEAR(a.energy[TERM_COULOMB], e.coulomb, 1e-9 * fabs(e.coulomb) + of_energy(e.coulomb));
        toy_close(&t);
    }
}

static void test_modifiers(void **state)
{
    static const enum vdw_modifier modifiers[] = {VDW_CUTOFF, VDW_POTENTIAL_SHIFT, VDW_POTENTIAL_SWITCH,
                                                  VDW_FORCE_SWITCH};
    for (int rule = 2; rule <= 3; rule++) {
        struct system *sys = mixture(rule);
        for (int k = 0; k < 4; k++) {
            struct settings set = settings_of(modifiers[k], ALCHEMY_NONE);
            set.nonbonded.coulomb_modifier = k % 2 ? COULOMB_CUTOFF : COULOMB_POTENTIAL_SHIFT;
            compare(sys, &set);
        }
        toy_system_free(sys);
    }
}

/* As usual, or so far out that many pairs are closer, or so far that cut-offs and switches are in the way. */
static struct soft_core gapsys_core(int variant)
{
    return (struct soft_core){.function = SOFT_GAPSYS,
                              .alpha = (const double[]){0.85, 1.3, 3}[variant % 3],
                              .alpha_coulomb = (const double[]){0.3, 0.6, 0.99}[variant % 3],
                              .sigma = 0.3};
}

/* Four of them, in which charges and Lennard-Jones do not go together. */
static void set_windows(struct settings *set)
{
    set->alchemy.nwindows = 4;
    for (int w = 0; w < 4; w++) {
        lambda_table[w][LAMBDA_COULOMB] = (const double[]){0, 0.4, 1, 0.8}[w];
        lambda_table[w][LAMBDA_VDW] = (const double[]){0, 0.3, 0.7, 1}[w];
    }
}

/* Every kind of change with soft core of LJ alone and of both, and the other one, at the ends and inside. */
static void test_alchemy(void **state)
{
    struct system *sys = mixture(2);
    mixture_of_both_ends(sys);
    for (int variant = 0; variant < 36; variant++) {
        struct settings set = settings_of(variant % 4, variant / 4 % 3 ? ALCHEMY_DECOUPLE : ALCHEMY_B_STATES);
        set.alchemy.decouple[0].intramolecular_decouple = variant / 4 % 3 == 1;
        set.alchemy.soft_core.coulomb = variant >= 12;
        set.alchemy.soft_core.power = variant % 2 ? 2 : 1;
        if (variant >= 24)
            set.alchemy.soft_core = gapsys_core(variant);
        set_windows(&set);
        compare(sys, &set);
    }
    toy_system_free(sys);
}

static struct settings field_settings(int variant)
{
    struct settings set = settings_of(variant % 4, variant % 3 ? ALCHEMY_DECOUPLE : ALCHEMY_B_STATES);
    set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
    set.nonbonded.epsilon_rf = (const double[]){0, 78, 1}[variant % 3];
    set.alchemy.decouple[0].intramolecular_decouple = variant % 3 == 1;
    set.alchemy.soft_core.coulomb = variant % 2;
    set.alchemy.soft_core.power = variant % 4 ? 1 : 2;
    if (variant >= 8)
        set.alchemy.soft_core = gapsys_core(variant);
    return set;
}

/* In a reaction field: listed and excluded pairs, atoms with themselves, soft cores; nothing goes through the mesh. */
static void test_field(void **state)
{
    struct system *sys = mixture(2);
    mixture_of_both_ends(sys);
    sys->atoms[50].charge[0] += 1; /* a net charge has no background */
    sys->atoms[50].charge[1] += 1;
    for (int variant = 0; variant < 12; variant++) {
        struct settings set = field_settings(variant);
        set_windows(&set);
        compare(sys, &set);
    }
    struct settings plain = settings_of(VDW_CUTOFF, ALCHEMY_NONE);
    plain.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
    compare(sys, &plain);
    double du;
    struct toy t = toy_open(sys, &plain, 0);
    assert_true(toy_sample(t.sim, &du).energy[TERM_COULOMB_RECIPROCAL] == 0);
    toy_close(&t);
    toy_system_free(sys);
}

/* The second chain is of a type of its own, and each goes its own way. */
static struct system *two_kinds(void)
{
    struct system *sys = mixture(2);
    sys->kinds = xrealloc(sys->kinds, (size_t)sys->nkinds + 1, sizeof *sys->kinds);
    sys->kinds[sys->nkinds] = (struct molecule_kind){.name = "OTHER"};
    sys->molecules[1].kind = sys->nkinds++;
    return sys;
}

static void go_ways(struct alchemy_settings *al, int variant)
{
    static const unsigned ways[][2][2] = {{{COUPLED_ALL, 0}, {0, COUPLED_ALL}},
                                          {{COUPLED_CHARGE, COUPLED_ALL}, {COUPLED_ALL, COUPLED_VDW}},
                                          {{COUPLED_VDW, 0}, {COUPLED_VDW, COUPLED_CHARGE}}};
    al->ndecouple = 2;
    for (int k = 0; k < 2; k++) {
        const unsigned *on = ways[variant % 3][k];
        al->decouple[k] = (struct decoupled){.on = {on[0], on[1]}, .intramolecular_decouple = variant % 2 == k};
        strcpy(al->decouple[k].molecule, k ? "OTHER" : "CHAIN");
    }
}

static void test_several(void **state)
{
    struct system *sys = two_kinds();
    for (int variant = 0; variant < 12; variant++) {
        struct settings set = settings_of(variant % 4, ALCHEMY_DECOUPLE);
        go_ways(&set.alchemy, variant);
        set.alchemy.soft_core.coulomb = variant >= 6;
        if (variant >= 9)
            set.alchemy.soft_core = gapsys_core(variant);
        set_windows(&set);
        compare(sys, &set);
    }
    toy_system_free(sys);
}

/* U at a window is U there; dU/dlambda is its slope. */
static void test_windows(void **state)
{
    const double h = 1e-4;
    struct system *sys = two_kinds();
    for (int variant = 0; variant < 18; variant++) {
        bool b_states = variant % 3 == 0 && variant < 12;
        struct settings set = settings_of(VDW_POTENTIAL_SWITCH, b_states ? ALCHEMY_B_STATES : ALCHEMY_DECOUPLE);
        double du[5], unused[5];
        set.alchemy.decouple[0].intramolecular_decouple = variant % 3 == 1;
        set.alchemy.soft_core.coulomb = variant >= 3;
        if (variant >= 6)
            set.alchemy.soft_core = gapsys_core(variant / 3 - 1);
        if (variant >= 12)
            go_ways(&set.alchemy, variant);
        if (variant >= 15) {
            struct settings field = field_settings(variant % 3 ? variant - 12 : 8);
            set.nonbonded = field.nonbonded;
            set.alchemy.soft_core = field.alchemy.soft_core;
        }
        set.nonbonded.dispersion = DISPERSION_ALL;
        set.alchemy.nwindows = 5;
        for (int w = 0; w < 5; w++) {
            lambda_table[w][LAMBDA_COULOMB] = 0.35 + (w == 1 ? h : w == 2 ? -h : 0);
            lambda_table[w][LAMBDA_VDW] = 0.55 + (w == 3 ? h : w == 4 ? -h : 0);
        }
        struct toy exact = toy_open_reference(sys, &set, 0), t = toy_open(sys, &set, 0);
        toy_sample(exact.sim, du);
        double coulomb = (du[1] - du[2]) / (2 * h), vdw = (du[3] - du[4]) / (2 * h);
        toy_close(&exact);
        struct sample a = toy_sample(t.sim, du);
        NEAR(a.dvdl[LAMBDA_COULOMB], coulomb, 1e-5 * fabs(a.dvdl[LAMBDA_COULOMB]) + 1e-4 + of_window(coulomb));
        NEAR(a.dvdl[LAMBDA_VDW], vdw, 1e-5 * fabs(a.dvdl[LAMBDA_VDW]) + 1e-4 + of_window(vdw));
        assert_true(du[0] == 0);
        for (int w = 1; w < 5; w++) {
            struct sim *other = toy_replica(&t, w, 1);
            NEAR(toy_sample(other, unused).potential - a.potential, du[w], 1e-7 + of_window(du[w]));
            sim_free(other);
        }
        toy_close(&t);
    }
    toy_system_free(sys);
}

static struct sample sample_of(struct toy t)
{
    double du[64];
    struct sample a = toy_sample(t.sim, du);
    toy_close(&t);
    a.delta_u = NULL;
    return a;
}

/* In double precision, whatever device is tested: for differences of energies. */
static double exact_potential(const struct system *sys, const struct settings *set)
{
    return sample_of(toy_open_reference(sys, set, 0)).potential;
}

static struct settings inside(enum vdw_modifier modifier, bool soft_coulomb)
{
    struct settings set = settings_of(modifier, ALCHEMY_B_STATES);
    set.alchemy.soft_core.coulomb = soft_coulomb;
    lambda_table[0][LAMBDA_COULOMB] = 0.4;
    lambda_table[0][LAMBDA_VDW] = 0.6;
    return set;
}

/* Forces are minus the gradient of the energy, for perturbed and plain atoms. */
static void test_gradient(void **state)
{
    const double h = 1e-5;
    struct system *sys = mixture(2);
    for (int variant = 0; variant < 10; variant++) {
        struct settings set = inside(variant < 2 ? VDW_POTENTIAL_SWITCH : VDW_FORCE_SWITCH, variant % 2);
        if (variant >= 4 && variant < 8)
            set.alchemy.soft_core = gapsys_core(variant);
        if (variant >= 7)
            set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
        double(*f)[3] = xcalloc((size_t)sys->natoms, sizeof *f), du;
        struct err e = {0};
        struct toy t = toy_open(sys, &set, 0);
        toy_sample(t.sim, &du);
        assert_int_equal(sim_forces(t.sim, f, &e), 0);
        toy_close(&t);
        double sum = 0;
        for (int i = 0; i < sys->natoms; i++)
            sum += f[i][0] * f[i][0] + f[i][1] * f[i][1] + f[i][2] * f[i][2];
        double mixed = 1e-4 * sqrt(sum / (3 * sys->natoms));
        for (int i = 0; i < 40; i += 3) {
            double at = sys->x[i][i % 3];
            sys->x[i][i % 3] = at + h;
            double up = exact_potential(sys, &set);
            sys->x[i][i % 3] = at - h;
            double down = exact_potential(sys, &set);
            sys->x[i][i % 3] = at;
            NEAR(f[i][i % 3], (down - up) / (2 * h), 1e-6 * fabs(f[i][i % 3]) + 1e-3 + toy_allowed(0, mixed));
        }
        free(f);
    }
    toy_system_free(sys);
}

/* The potential where x[row] has gone on by h x[column], the box too; row <= column: the box stays a lower triangle. */
static double strained(const struct system *sys, const struct settings *set, int row, int column, double h)
{
    static const int place[3][3] = {{BOX_XX, -1, -1}, {BOX_YX, BOX_YY, -1}, {BOX_ZX, BOX_ZY, BOX_ZZ}};
    struct system *to = mixture(2);
    to->atoms[50] = sys->atoms[50];
    for (int edge = column; edge < 3; edge++)
        to->box[place[edge][row]] += h * sys->box[place[edge][column]];
    for (int i = 0; i < sys->natoms; i++)
        to->x[i][row] += h * sys->x[i][column];
    const double u = exact_potential(to, set);
    toy_system_free(to);
    return u;
}

/* Each element of the virial is half the response to a strain, background of a net charge included; so is the other one of a shear, by
 * symmetry. */
static void virial_in(enum coulomb_method method)
{
    const double h = 1e-5;
    struct system *sys = mixture(2);
    sys->atoms[50].charge[0] += 1;
    sys->atoms[50].charge[1] += 1;
    struct settings set = inside(VDW_POTENTIAL_SWITCH, method == COULOMB_REACTION_FIELD);
    set.nonbonded.coulomb_method = method;
    for (int d = 0; d < 3; d++) /* the same mesh in all */
        set.nonbonded.pme_grid[d] = 24;
    struct sample a = sample_of(toy_open(sys, &set, 0));
    double largest = 0;
    for (int k = 0; k < 9; k++)
        largest = fmax(largest, fabs(a.virial[k]));
    for (int row = 0; row < 3; row++)
        for (int column = row; column < 3; column++) {
            const double slope = (strained(sys, &set, row, column, h) - strained(sys, &set, row, column, -h)) / (2 * h);
            const double xi = a.virial[3 * row + column], other = a.virial[3 * column + row];
            NEAR(2 * xi, slope, 1e-6 * fabs(slope) + 0.01 + toy_allowed(0, 1e-4 * largest));
            NEAR(2 * other, slope, 1e-6 * fabs(slope) + 0.01 + toy_allowed(0, 1e-4 * largest));
        }
    toy_system_free(sys);
}

static void test_virial(void **state)
{
    virial_in(COULOMB_PME);
    virial_in(COULOMB_REACTION_FIELD);
}

/* Exact reciprocal sum over waves. */
static double direct_sum(const struct system *sys, double beta)
{
    const int most = 16;
    double volume = sys->box[0] * sys->box[1] * sys->box[2], sum = 0;
    for (int kx = 0; kx <= most; kx++)
        for (int ky = -most; ky <= most; ky++)
            for (int kz = -most; kz <= most; kz++) {
                double m[3] = {kx / sys->box[0], ky / sys->box[1], kz / sys->box[2]}, re = 0, im = 0;
                double m2 = m[0] * m[0] + m[1] * m[1] + m[2] * m[2],
                       weight = exp(-M_PI * M_PI * m2 / (beta * beta)) / m2;
                if (m2 == 0 || weight < 1e-14)
                    continue;
                for (int i = 0; i < sys->natoms; i++) {
                    double phase = 2 * M_PI * (m[0] * sys->x[i][0] + m[1] * sys->x[i][1] + m[2] * sys->x[i][2]);
                    re += sys->atoms[i].charge[0] * cos(phase);
                    im += sys->atoms[i].charge[0] * sin(phase);
                }
                sum += (kx ? 2 : 1) * weight * (re * re + im * im);
            }
    return UNIT_COULOMB / (2 * M_PI * volume) * sum;
}

static void test_mesh(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_NONE);
    struct sample a;
    double exact = direct_sum(sys, beta_of(&set.nonbonded)), allowed[] = {3e-4, 3e-5, 4e-6};
    for (int order = 4; order <= 6; order++) {
        set.nonbonded.pme_order = order;
        set.nonbonded.pme_spacing = 0.06;
        a = sample_of(toy_open(sys, &set, 0));
        NEAR(a.energy[TERM_COULOMB_RECIPROCAL], exact, allowed[order - 4] * exact);
    }
    set.nonbonded.pme_grid[0] = 45; /* odd sizes, and sizes with other factors */
    set.nonbonded.pme_grid[1] = 49;
    set.nonbonded.pme_grid[2] = 33;
    a = sample_of(toy_open(sys, &set, 0));
    NEAR(a.energy[TERM_COULOMB_RECIPROCAL], exact, 4e-5 * exact);
    toy_system_free(sys);
}

/* Whole molecules and single atoms given in any periodic image: the same up to the rounding of the moved coordinates. */
static void test_images(void **state)
{
    struct system *sys = mixture(2), *moved = mixture(2);
    struct settings set = inside(VDW_POTENTIAL_SWITCH, true);
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            moved->x[i][d] += sys->box[d] * ((i * 7 + d * 3) % 5 - 2);
    struct sample a = sample_of(toy_open(sys, &set, 0)), b = sample_of(toy_open(moved, &set, 0));
    double largest = 0;
    for (int k = 0; k < 9; k++)
        largest = fmax(largest, fabs(a.virial[k]));
    for (int t = 0; t < TERM_COUNT; t++)
        NEAR(a.energy[t], b.energy[t], 1e-7 + of_energy(a.energy[t]));
    for (int k = 0; k < 9; k++)
        NEAR(a.virial[k], b.virial[k], 1e-6 + toy_allowed(0, 1e-4 * largest));
    toy_system_free(sys);
    toy_system_free(moved);
}

/* The same bits whatever the buffer, and however long ago the lists were built. */
static void test_lists(void **state)
{
    static const double buffers[] = {0.01, 0.05, 0.09, 0.3};
    struct system *sys = mixture(2);
    const int n = sys->natoms;
    for (int i = 0; i < n; i++) /* charges without repulsion would fall into each other */
        for (int k = 0; k < 2; k++)
            if (sys->atoms[i].type[0] >= 3 || sys->atoms[i].type[1] >= 3)
                sys->atoms[i].charge[k] = 0;
    double(*x)[3] = xcalloc((size_t)n, sizeof *x), (*f)[3] = xcalloc((size_t)n, sizeof *f);
    double(*x0)[3] = xcalloc((size_t)n, sizeof *x), (*f0)[3] = xcalloc((size_t)n, sizeof *f);
    for (int k = 0; k < 4; k++) {
        struct settings set = inside(VDW_POTENTIAL_SHIFT, false);
        struct err e = {0};
        double du;
        set.nonbonded.list_buffer = buffers[k];
        struct toy t = toy_open(sys, &set, 0);
        assert_int_equal(sim_thermalize(t.sim, &e), 0);
        toy_run(t.sim, SIM_MINIMIZE, 40);
        for (int i = 0; i < 4; i++) {
            toy_run(t.sim, SIM_STEP, 10);
            struct sample a = toy_sample(t.sim, &du);
            assert_int_equal(sim_forces(t.sim, f, &e), 0);
            assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
            assert_true(isfinite(a.potential));
        }
        if (k == 0) {
            memcpy(x0, x, (size_t)n * sizeof *x);
            memcpy(f0, f, (size_t)n * sizeof *f);
        }
        assert_memory_equal(x, x0, (size_t)n * sizeof *x);
        assert_memory_equal(f, f0, (size_t)n * sizeof *f);
        toy_close(&t);
    }
    free(x);
    free(f);
    free(x0);
    free(f0);
    toy_system_free(sys);
}

/* Everything in one corner of a large box: lists sized from the mean density are far too short, and grow. */
static void test_growth(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = inside(VDW_POTENTIAL_SHIFT, false);
    for (int d = 0; d < 3; d++) {
        sys->box[d] = 12;
        set.nonbonded.pme_grid[d] = 30;
    }
    compare(sys, &set);
    double du;
    struct toy t = toy_open(sys, &set, 0);
    size_t before = sim_device_bytes(t.sim);
    toy_sample(t.sim, &du);
    assert_true(sim_device_bytes(t.sim) > before);
    toy_close(&t);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modifiers), cmocka_unit_test(test_alchemy), cmocka_unit_test(test_several),
        cmocka_unit_test(test_field),     cmocka_unit_test(test_windows), cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_virial),    cmocka_unit_test(test_mesh),    cmocka_unit_test(test_images),
        cmocka_unit_test(test_lists),     cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
