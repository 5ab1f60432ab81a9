/* SPDX-License-Identifier: Apache-2.0
 *
 * Read-only tables of a model in device memory, shared by its replicas: bonded terms, constraints, masses, molecules.
 * A kernel gets the address of a table; the addresses inside it are device addresses too. Built by run/model.c.
 */
#ifndef SHOAL_ENGINE_PREPARE_DEVICE_TABLES_H
#define SHOAL_ENGINE_PREPARE_DEVICE_TABLES_H

#include "engine/math/potentials/softcore.h"
#include "engine/math/bodies/settle.h"
#include "engine/math/bodies/star.h"
#include "engine/system/settings.h"
#include "engine/system/system.h"

/* Terms of one kind; those from `perturbed` on differ between A and B. */
struct term_list {
    uint32_t count, perturbed;
};

struct bonded_table {
    const struct bond *bonds;
    const struct angle *angles;
    const struct dihedral *dihedrals;
    const struct rb_dihedral *rb_dihedrals;
    const struct improper *impropers;
    const struct pair14 *pairs14;
    const struct position_restraint *position_restraints;
    const struct rare_term *rare;
    const struct center_restraint *centers;
    const struct center_atom *center_atoms;
    const struct cmap *cmaps;
    const double (*cmap_points)[CMAP_NUMBERS];
    struct term_list nbonds, nangles, ndihedrals, nrb_dihedrals, nimpropers, npairs14, nposition_restraints, nrare,
        ncmaps, ncenters;
    const double (*lambda)[LAMBDA_COUNT]; /* [nwindows] */
    uint32_t nwindows;
    const struct soft_pair
        *soft14; /* [npairs14.count - npairs14.perturbed], of the perturbed 1-4 pairs in their order */
    struct soft_rule soft;
};

/* An excluded pair, or a pair outside lists and cut-offs. */
struct nb_excluded {
    int32_t atom[2];
    int32_t whole; /* distance between the whole molecule's atoms, not the nearest images */
    int32_t pad_;
};

/* LJ and 1/r at any distance, at every lambda: [ pairs_nb ] and the inner pairs of a molecule kept whole. */
struct nb_always {
    int32_t atom[2];
    int32_t whole;
    int32_t pad_;
    double c6, c12, qq; /* qq: kJ nm/mol */
};

/* Tail of the dispersion beyond (and switched off before) the cut-off, per state: E = energy[s][0]/V + energy[s][1],
 * and virial trace/3 = virial[s]/V, kJ/mol with V in nm^3. */
struct nb_dispersion {
    double energy[2][2], virial[2];
};

/* Of the energies that depend on no distance. */
struct uniform_table {
    double self[3]; /* -f beta/sqrt(pi) sum of q0^2, 2 q0 dq, dq^2 over atoms: self energy in powers of lambda; or that
                       of a reaction field */
    double net[2];  /* net charge and its change, e */
    double beta;    /* Ewald splitting, 1/nm; infinite in a reaction field, so that there is no background */
    struct nb_dispersion dispersion;
};

/* A distance held fixed; r0 goes from A to B with the bonded lambda. */
struct fixed_distance {
    int32_t atom[2];
    double r0[2];
};

/* Constraints that share atoms, solved together: distances[first .. first + count), on the atoms
 * cluster_atoms[first_atom .. first_atom + natoms). A star, 1, has up to STAR_ARMS distances, all from its first atom
 * to the others in their order. */
struct cluster {
    uint32_t first, count;
    uint32_t first_atom, natoms;
    uint32_t star;
};

struct rigid_water {
    int32_t atom[3]; /* O, H, H */
    uint32_t shape;  /* of motion_table.shapes */
    double r_oh, r_hh;
};

/* Virtual sites, none of which places another. */
struct site_table {
    const struct virtual_site *sites;
    const int32_t *from;
    const double *weight;
    uint32_t nsites;
};

/* What a Monte Carlo volume move keeps rigid: atoms joined by bonded terms. atoms: list[first .. first + count). */
struct unit {
    uint32_t first, count;
};

/* The rows that lambda takes in a switch, both ways. */
struct switch_schedule {
    const double (*lambda)[LAMBDA_COUNT]; /* [(changes << doublings) + 1], first window to last */
    uint32_t changes, every;              /* struct switch_settings */
    uint32_t change_at;                   /* which of these timesteps has the change */
    uint32_t doublings;                   /* the most of a switch: one that has fewer leaves rows out */
};

struct motion_table {
    const double (*mass)[2]; /* [natoms], A and B */
    const struct rigid_water *waters;
    const struct water_shape *shapes; /* one for all waters that are alike; NULL where masses of some depend on lambda,
                                         or some have a side of WATER_SIDE_MOST or more */
    const struct cluster *clusters;
    const int32_t *cluster_atoms;
    const struct fixed_distance *distances;
    const int32_t *lone; /* [nlone], atoms in no water and no cluster */
    const struct unit *units;
    const int32_t *unit_atoms;
    uint32_t natoms, nwaters, nclusters, ndistances, nlone, nunits;
    const double (*lambda)[LAMBDA_COUNT]; /* [nwindows] */
    uint32_t nwindows;
    struct switch_schedule schedule; /* without rows where settings have no switches */
};

#endif
