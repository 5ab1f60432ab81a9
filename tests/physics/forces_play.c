/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/physics/forces_play.h"

#include <string.h>

double forces_lambda[64][LAMBDA_COUNT];

struct settings forces_settings(enum vdw_modifier modifier, enum alchemy kind)
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
    set.alchemy = mixture_alchemy(kind, 1, forces_lambda);
    memset(forces_lambda, 0, sizeof forces_lambda);
    return set;
}

struct soft_core forces_gapsys(int variant)
{
    return (struct soft_core){.function = SOFT_GAPSYS,
                              .alpha = (const double[]){0.85, 1.3, 3}[variant % 3],
                              .alpha_coulomb = (const double[]){0.3, 0.6, 0.99}[variant % 3],
                              .sigma = 0.3};
}

struct settings forces_short_coulomb(int variant)
{
    struct settings set = forces_settings(variant % 4, variant % 3 ? ALCHEMY_DECOUPLE : ALCHEMY_B_STATES);
    set.nonbonded.coulomb_cutoff = FORCES_SHORT_COULOMB;
    set.nonbonded.coulomb_modifier = variant % 5 == 1 ? COULOMB_CUTOFF : COULOMB_POTENTIAL_SHIFT;
    set.nonbonded.dispersion = DISPERSION_ALL;
    set.alchemy.decouple[0].intramolecular_decouple = variant % 3 == 1;
    set.alchemy.soft_core.coulomb = variant % 2;
    set.alchemy.soft_core.power = variant % 4 < 2 ? 1 : 2;
    if (variant >= 8)
        set.alchemy.soft_core = forces_gapsys(variant);
    return set;
}

void forces_windows(struct settings *set)
{
    set->alchemy.nwindows = 4;
    for (int w = 0; w < 4; w++) {
        forces_lambda[w][LAMBDA_COULOMB] = (const double[]){0, 0.4, 1, 0.8}[w];
        forces_lambda[w][LAMBDA_VDW] = (const double[]){0, 0.3, 0.7, 1}[w];
    }
}

struct settings forces_field(int variant)
{
    struct settings set = forces_settings(variant % 4, variant % 3 ? ALCHEMY_DECOUPLE : ALCHEMY_B_STATES);
    set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
    set.nonbonded.epsilon_rf = (const double[]){0, 78, 1}[variant % 3];
    set.alchemy.decouple[0].intramolecular_decouple = variant % 3 == 1;
    set.alchemy.soft_core.coulomb = variant % 2;
    set.alchemy.soft_core.power = variant % 4 ? 1 : 2;
    if (variant >= 8)
        set.alchemy.soft_core = forces_gapsys(variant);
    return set;
}

struct system *forces_two_kinds(void)
{
    struct system *sys = mixture(2);
    sys->kinds = xrealloc(sys->kinds, (size_t)sys->nkinds + 1, sizeof *sys->kinds);
    sys->kinds[sys->nkinds] = (struct molecule_kind){.name = "OTHER"};
    sys->molecules[1].kind = sys->nkinds++;
    return sys;
}

void forces_ways(struct alchemy_settings *al, int variant)
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

struct settings forces_inside(enum vdw_modifier modifier, bool soft_coulomb)
{
    struct settings set = forces_settings(modifier, ALCHEMY_B_STATES);
    set.alchemy.soft_core.coulomb = soft_coulomb;
    forces_lambda[0][LAMBDA_COULOMB] = 0.4;
    forces_lambda[0][LAMBDA_VDW] = 0.6;
    return set;
}

struct sample forces_sample(struct toy t)
{
    double du[64];
    struct sample a = toy_sample(t.sim, du);
    toy_close(&t);
    a.delta_u = NULL;
    return a;
}

double forces_exact(const struct system *sys, const struct settings *set)
{
    return forces_sample(toy_open_reference(sys, set, 0)).potential;
}

double forces_room(double u)
{
    return toy_allowed(0, 2e-6 * fabs(u));
}

double forces_window_room(double du)
{
    return toy_allowed(0, 1e-3 + 1e-5 * fabs(du));
}
