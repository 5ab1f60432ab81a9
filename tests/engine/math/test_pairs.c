/* SPDX-License-Identifier: Apache-2.0
 *
 * Potentials of pairs: Lennard-Jones as each cut-off leaves it, the real-space half of the Ewald sum, soft cores.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/base/units.h"
#include "engine/prepare/alchemy.h"
#include "engine/prepare/dispersion.h"
#include "engine/prepare/ewald.h"
#include "tests/lib/formulas.h"
#include "tests/lib/pair_definitions.h"

/* One pair, and what the engine makes of it. */
struct made {
    struct pair_defined pair; /* what the definition takes, first */
    struct lj_rule rule;
    struct soft_rule soft;
    struct soft_pair states;
    struct ewald_fit fit;
    double shift;
};

static struct made make(const struct settings *set, const struct lj c[2], const double q[2], const double p[2])
{
    const struct nonbonded_settings *nb = &set->nonbonded;
    const double c6[2] = {c[0].c6, c[1].c6}, c12[2] = {c[0].c12, c[1].c12};
    struct made m = {.soft = soft_rule_of(set, true), .shift = coulomb_shift_of(nb)};
    m.pair = (struct pair_defined){nb,
                                   &set->alchemy.soft_core,
                                   ewald_beta(nb->coulomb_cutoff, nb->ewald_tolerance),
                                   true,
                                   {c[0], c[1]},
                                   {q[0], q[1]},
                                   {p[0], p[1]}};
    lj_rule_make(&m.rule, nb);
    m.states = soft_pair_make(&m.soft, c6, c12, q, p, UNIT_COULOMB);
    coulomb_fit_make(&m.fit, nb);
    return m;
}

/* Distances below 0.17 nm, where there is no soft core, are energies beyond all that is summed. */
static const double nearest = 0.17, nearest_soft = 0.01;

static struct settings settings_of(enum vdw_modifier modifier)
{
    return (struct settings){.nonbonded = {.vdw_cutoff = 0.9,
                                           .coulomb_cutoff = 1.0,
                                           .vdw_modifier = modifier,
                                           .vdw_switch = 0.7,
                                           .coulomb_modifier = COULOMB_POTENTIAL_SHIFT,
                                           .ewald_tolerance = 1e-5}};
}

/* ---- Lennard-Jones: the pair in state A ---- */

static struct bonded_value lj(const void *of, double r, double l)
{
    const struct made *m = of;
    const struct lj *c = &m->pair.c[0];
    struct bonded_value v = {0, 0, 0};
    v.du_dq = -r * lj_pair(m->pair.nb->vdw_modifier, &m->rule, c->c6, c->c12, r * r, 1 / r, &v.u);
    return v;
}

static long double lj_definition(const void *of, long double r, long double l)
{
    return pair_lj(of, r, 0);
}

static void test_lj(void **state)
{
    static const char *const names[] = {"LJ, cut", "LJ, shifted", "LJ, switched", "LJ, force-switched"};
    const struct lj c[2] = {{2.6e-3, 2.6e-6}, {2.6e-3, 2.6e-6}};
    for (enum vdw_modifier k = VDW_CUTOFF; k <= VDW_FORCE_SWITCH; k++) {
        const struct settings set = settings_of(k);
        const struct made m = make(&set, c, (const double[2]){0, 0}, (const double[2]){0, 0});
        formula_check(&(struct formula){names[k], 0.2, 0.9, &m, lj, lj_definition, 0});
    }
}

/* ---- the mesh's share of 1/r, which is taken off it and off excluded pairs ---- */

static struct bonded_value share(const void *of, double r, double l)
{
    const struct ewald_fit *fit = &((const struct made *)of)->fit;
    return (struct bonded_value){ewald_long_v(fit, EWALD_TERMS, r * r), -r * ewald_long_f(fit, EWALD_TERMS, r * r), 0};
}

static struct bonded_value share_anywhere(const void *of, double r, double l)
{
    double v, f;
    ewald_long_any(&((const struct made *)of)->fit, r * r, &v, &f);
    return (struct bonded_value){v, -r * f, 0};
}

/* Without the constant c of a reaction field, which the engine keeps apart. */
static long double share_definition(const void *of, long double r, long double l)
{
    const struct pair_defined *p = of;
    const bool field = p->nb->coulomb_method == COULOMB_REACTION_FIELD;
    return -pair_besides(p, r, true) - (field ? pair_field_c(p->nb) : 0);
}

static void test_share(void **state)
{
    static const struct lj none[2];
    static const double tolerances[] = {1e-3, 1e-5, 1e-8, 1e-12};
    struct settings set = settings_of(VDW_CUTOFF);
    for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; i++) {
        set.nonbonded.ewald_tolerance = tolerances[i];
        const struct made m = make(&set, none, (const double[2]){0, 0}, (const double[2]){0, 0});
        formula_check(&(struct formula){"erf(beta r)/r", 0.01, 1, &m, share, share_definition, 1e-10});
        formula_check(&(struct formula){"erf(beta r)/r, far", 0.01, 4, &m, share_anywhere, share_definition, 1e-10});
    }
    set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
    set.nonbonded.epsilon_rf = 78;
    const struct made m = make(&set, none, (const double[2]){0, 0}, (const double[2]){0, 0});
    formula_check(&(struct formula){"-k r^2", 0.01, 4, &m, share_anywhere, share_definition, 0});
}

/* ---- pairs between two states ---- */

static struct bonded_value of_result(struct soft_result s, double r)
{
    return (struct bonded_value){s.v, -s.fr * r, s.dv};
}

static struct bonded_value soft_lj_at(const void *of, double r, double l)
{
    const struct made *m = of;
    return of_result(soft_lj(m->soft.function, m->pair.nb->vdw_modifier, &m->rule, m->soft.power, &m->states, l, r * r),
                     r);
}

static struct bonded_value soft_coulomb_at(const void *of, double r, double l)
{
    const struct made *m = of;
    double v, f;
    ewald_long_any(&m->fit, r * r, &v, &f);
    return of_result(soft_coulomb(m->soft.function, &m->soft, &m->states, m->shift, l, r * r, v, f), r);
}

static const struct soft_core cores[] = {
    {.alpha = 0.5, .power = 1, .sigma = 0.3},
    {.alpha = 0.5, .power = 2, .sigma = 0.3, .coulomb = true},
    {.alpha = 1, .power = 1, .sigma = 0.8, .coulomb = true}, /* softened distances reach beyond the cut-off */
    {.function = SOFT_GAPSYS, .alpha = 0.85, .sigma = 0.3, .alpha_coulomb = 0.3},
    {.function = SOFT_GAPSYS, .alpha = 3, .sigma = 0.3, .alpha_coulomb = 0.99}, /* cut-off and switch are in the way */
};
/* Both atoms there in both states; gone in B; another one in B; no repulsion in A; one atom charged in A,
 * the other in B. */
static const struct {
    struct lj c[2];
    double q[2], p[2];
} pairs[] = {
    {{{2.6e-3, 2.6e-6}, {1e-3, 1e-6}}, {0.4, -0.3}, {-0.8, -0.8}},
    {{{2.6e-3, 2.6e-6}, {0, 0}}, {0.4, 0}, {-0.8, -0.8}},
    {{{1e-3, 3e-6}, {0, 0}}, {0.4, -0.3}, {-0.8, 0.5}},
    {{{0, 0}, {1e-4, 1e-8}}, {0.4, 0.4}, {0.1, 0.3}},
    {{{2.6e-3, 2.6e-6}, {0, 0}}, {0.4, 0}, {0, -0.8}},
    {{{2.6e-3, 2.6e-6}, {0, 0}}, {0, 0.4}, {-0.8, 0}},
};
enum { CORES = sizeof cores / sizeof *cores, PAIRS = sizeof pairs / sizeof *pairs };

static void check_soft(const struct settings *set, int core, int pair)
{
    const struct made m = make(set, pairs[pair].c, pairs[pair].q, pairs[pair].p);
    const bool hard = pairs[pair].c[0].c12 > 0 && pairs[pair].c[1].c12 > 0;
    const double from = hard ? nearest : nearest_soft;
    char name[100];
    snprintf(name, sizeof name, "LJ, core %d, pair %d, modifier %d", core, pair, (int)set->nonbonded.vdw_modifier);
    formula_check(&(struct formula){name, from, 1, &m, soft_lj_at, pair_lj, 0});
    snprintf(name, sizeof name, "Coulomb, core %d, pair %d, method %d", core, pair, (int)set->nonbonded.coulomb_method);
    formula_check(&(struct formula){name, 0.05, 1, &m, soft_coulomb_at, pair_coulomb, 1e-10});
}

static void test_soft_cores(void **state)
{
    for (int variant = 0; variant < 4 * CORES * PAIRS; variant++) {
        struct settings set = settings_of(variant % 4);
        const int core = variant / 4 % CORES;
        set.alchemy.soft_core = cores[core];
        set.nonbonded.coulomb_modifier = variant % 4 ? COULOMB_POTENTIAL_SHIFT : COULOMB_CUTOFF;
        set.nonbonded.coulomb_method = variant % 4 == 3 ? COULOMB_REACTION_FIELD : COULOMB_PME;
        check_soft(&set, core, variant / 4 / CORES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lj),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_soft_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
