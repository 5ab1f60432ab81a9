/* SPDX-License-Identifier: Apache-2.0
 *
 * How a system is simulated: the numeric part of an ensemble spec. Made by daemon/spec/spec.c; immutable after that.
 * Units: nm, ps, K, bar, kJ/mol.
 */
#ifndef SHOAL_ENGINE_SYSTEM_SETTINGS_H
#define SHOAL_ENGINE_SYSTEM_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/math/terms.h"
#include "engine/system/integrators.h"
#include "engine/system/water_moves.h"

enum dispersion_correction { DISPERSION_NONE, DISPERSION_ENERGY, DISPERSION_ENERGY_PRESSURE, DISPERSION_ALL };
enum coulomb_method { COULOMB_PME, COULOMB_REACTION_FIELD };
enum coulomb_modifier { COULOMB_CUTOFF, COULOMB_POTENTIAL_SHIFT };

/* How a replica's timesteps go to a GPU: with those of others in one launch (a gang), or by a graph of its own. Bits
 * differ, so FORM_AUTO depends on system, settings (the number of replicas among them) and device model alone
 * (engine/cuda/tiny/tiny.h). */
enum step_form { FORM_AUTO, FORM_GANG, FORM_GRAPH };

/* How a GPU does the mesh: in one block, over the card, or now the one and now the other, as suits what else runs. The
 * same bits. */
enum pme_form { PME_AUTO, PME_BLOCK, PME_CARD };

struct nonbonded_settings {
    double vdw_cutoff, coulomb_cutoff; /* nm */
    enum vdw_modifier vdw_modifier;
    double vdw_switch; /* nm, for the two switches */
    enum dispersion_correction dispersion;
    enum coulomb_method coulomb_method;
    double epsilon_r;  /* relative dielectric constant that all charges act in; 0: 1 */
    double epsilon_rf; /* dielectric constant beyond the cut-off, of a reaction field; 0: infinite */
    enum coulomb_modifier coulomb_modifier; /* what follows is of PME */
    double ewald_tolerance;                 /* beta from erfc(beta rc) = tolerance */
    int pme_order;                          /* 4 to 6 */
    double pme_spacing;                     /* nm, largest */
    int pme_grid[3];                        /* 0: from spacing and box (fixed for the run) */
    enum pme_form pme_form;
    double list_buffer; /* nm; 0: chosen by the engine */
};

/* What Coulomb energies are multiplied by. */
static inline double coulomb_screening(const struct nonbonded_settings *nb)
{
    return nb->epsilon_r > 0 ? 1 / nb->epsilon_r : 1;
}

/* [ settles ] and [ constraints ] of the topology are kept by every choice */
enum constrain { CONSTRAIN_NONE, CONSTRAIN_H_BONDS, CONSTRAIN_ALL_BONDS };

/* What a component is called in specs and results ("coulomb") and in dhdl.xvg ("coul-lambda"). */
struct lambda_name {
    const char *ours, *gromacs;
};
extern const struct lambda_name lambda_names[LAMBDA_FILE_COUNT];
/* The components in the order in which GROMACS writes them. */
extern const enum lambda lambda_file_order[LAMBDA_FILE_COUNT];

enum alchemy { ALCHEMY_NONE, ALCHEMY_DECOUPLE, ALCHEMY_B_STATES };

struct soft_core {
    double alpha; /* 0: no soft core; Gapsys: where LJ goes on as a straight line (math/potentials/softcore.h) */
    int power;    /* Beutler: 1 or 2, of lambda */
    double sigma; /* nm; Beutler: also the smallest sigma used */
    bool coulomb; /* soften Coulomb too (sc-coul) */
    enum soft_function function;
    double alpha_coulomb; /* Gapsys: the same of Coulomb, nm; 0: not softened */
};

/* What of a molecule acts on others: bits. */
enum { COUPLED_VDW = 1, COUPLED_CHARGE = 2, COUPLED_ALL = 3, DECOUPLED_MOST = 16 };

/* A moleculetype, every molecule of it. */
struct decoupled {
    char molecule[64];
    unsigned on[2];               /* COUPLED_: at lambda 0 and at lambda 1 (couple-lambda0, couple-lambda1) */
    bool intramolecular_decouple; /* couple-intramol = yes; false: inner pairs kept at full strength */
};

/* Moleculetypes whose B states are made (derive/solute_tempering.h), every molecule of them. */
struct tempered {
    char molecule[DECOUPLED_MOST][64];
    int nmolecules; /* 0: B states are those of the topology */
    double to;      /* K */
};

struct alchemy_settings {
    enum alchemy kind;
    struct decoupled decouple[DECOUPLED_MOST]; /* for ALCHEMY_DECOUPLE */
    int ndecouple;
    struct tempered temper; /* for ALCHEMY_B_STATES */
    struct soft_core soft_core;
    double dielectric; /* of the solvent, for what the net charge lacks (derive/finite_size.h); 0: not asked for */
    int nwindows;      /* 1 when there is no alchemy */
    double (*lambda)[LAMBDA_COUNT]; /* [nwindows] */
    bool given[LAMBDA_COUNT];       /* ladders the spec names: the dhdl.xvg components */
    bool allow_no_change;           /* a free energy that is 0 by construction is meant */
};

/* The ladder that moves a component: of restraints, that of bonded terms if the settings have none of restraints. */
static inline enum lambda alchemy_ladder(const struct alchemy_settings *set, enum lambda component)
{
    return component == LAMBDA_RESTRAINT && !set->given[LAMBDA_RESTRAINT] ? LAMBDA_BONDED : component;
}

struct integrator_settings {
    enum integrator kind;
    double timestep;    /* ps */
    double temperature; /* K */
    double friction;    /* 1/ps */
    uint64_t seed;
    int com_every;  /* steps between center-of-mass motion removals, 0: never */
    int mesh_every; /* timesteps from one with the mesh to the next (mesh_cycle); 0: 1; with friction only */
};

/* A cycle: one timestep with the mesh, whose force counts for all of the cycle, and those after it without. */
static inline uint32_t mesh_cycle(const struct integrator_settings *in)
{
    return in->mesh_every > 1 ? (uint32_t)in->mesh_every : 1;
}

struct barostat_settings {
    bool on;
    double pressure; /* bar */
    int every;       /* steps */
    enum volume_coupling coupling;
};

struct mass_settings {
    double repartition; /* the lightest atoms get so many times their mass from the atoms they are bonded to; 1: none */
    bool keep_waters;   /* those of [ settles ] stay as they are */
};

/* Which windows replicas exchange at a time. */
enum exchange_scheme { EXCHANGE_NONE, EXCHANGE_NEIGHBOURS, EXCHANGE_GIBBS };

/* Non-equilibrium switches between the first and the last window (engine/run/sim.h). On the way lambda passes the rows
 * of all windows in their order, and changes evenly from one row to the next. A switch may be longer by some doublings:
 * with each of these every change becomes two of half the size. */
struct switch_settings {
    int changes;    /* of lambda from end to end; 0: no switches; else one or more for each interval between windows */
    int every;      /* timesteps from one change to the next: a multiple of mesh_cycle(), at least two of them */
    double *shares; /* [nwindows - 1] of the changes, in any unit, for each interval; owner: the spec. NULL: equal */
    int doublings;  /* the most of a switch */
};

/* From the first window to the last, and back. */
enum switch_way { SWITCH_FORWARD, SWITCH_BACKWARD, SWITCH_WAYS };

/* Timesteps of one switch, and of one that is longer by some doublings. */
static inline uint64_t switch_steps(const struct switch_settings *set)
{
    return (uint64_t)set->changes * (uint64_t)set->every;
}
static inline uint64_t switch_steps_longer(const struct switch_settings *set, int doublings)
{
    return switch_steps(set) << doublings;
}

struct settings {
    struct nonbonded_settings nonbonded;
    struct mass_settings masses; /* what the reader of the system went by (derive/masses.h) */
    enum constrain constrain;
    struct alchemy_settings alchemy;
    struct integrator_settings integrator;
    struct barostat_settings barostat;
    struct switch_settings switching;
    struct water_settings waters;
    enum exchange_scheme exchange;
    enum step_form form;
    uint64_t check_every; /* steps between graph re-captures */
    uint64_t stride;      /* steps; samples, volume moves and the like of production come after multiples of it */
    int replicas;         /* of the ensemble, all windows: for what suits their number */
};

enum stage_kind { STAGE_MINIMIZE, STAGE_EQUILIBRATE, STAGE_PRODUCE };

/* One entry of the protocol. Times are whole numbers of steps after validation. */
struct stage {
    enum stage_kind kind;
    int phase;               /* whose defines and settings hold (daemon/spec/spec.h); 0: those of the ensemble */
    double timestep;         /* ps */
    uint64_t steps;          /* minimize: the most steps */
    double force_tolerance;  /* minimize: stop when the largest force is below, kJ/mol/nm */
    bool npt;                /* barostat on */
    uint64_t sample_every;   /* steps, 0: none */
    uint64_t frames_every;   /* steps between .xtc frames, 0: none */
    uint64_t exchange_every; /* steps between exchanges of windows, 0: none */
    uint64_t switch_every;   /* steps between switches, 0: none */
};

#endif
