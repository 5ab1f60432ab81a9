/* SPDX-License-Identifier: Apache-2.0
 *
 * One molecular system: topology expanded over all molecules, with A and B states, plus start coordinates. Made by
 * engine/io (top_read, gro_read); immutable after that. Units: nm, ps, kJ/mol, e, u, radians. Atom indices are 0-based.
 *
 * A bonded entry's parameters are [state]: 0 = A, 1 = B. Entries whose states differ are perturbed (driven by the
 * bonded lambda). Force constants have the factor convention of GROMACS (harmonic: V = k/2 (x - x0)^2).
 */
#ifndef SHOAL_ENGINE_SYSTEM_SYSTEM_H
#define SHOAL_ENGINE_SYSTEM_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/math/potentials/cmap.h"
#include "engine/math/terms.h"
#include "engine/system/biases.h"
#include "engine/system/observables.h"

struct lj {
    double c6, c12; /* V = c12/r^12 - c6/r^6 */
};

struct atom {
    int type[2]; /* atom type in A and B */
    double charge[2];
    double mass[2];
    int molecule; /* index into system.molecules */
    int residue;  /* residue number as in the topology */
    char name[16], resname[16];
};

/* GROMACS takes an atom for a hydrogen when its name begins with H or h. */
static inline bool is_hydrogen(const struct atom *a)
{
    return a->name[0] == 'H' || a->name[0] == 'h';
}

struct molecule {
    int first, count; /* atoms */
    int kind;         /* index into system.kinds */
};

/* A line of the topology (engine/system/lines.h). */
struct kind_line {
    int atom[3]; /* of the molecule, -1 behind the last; of a term the lower end first */
    int file;    /* index into system.files */
    int line;
};

struct molecule_kind {
    char name[64];           /* moleculetype, as in the topology */
    int file, line;          /* where it begins */
    struct kind_line *lines; /* owned; of its atoms, and of its bonds, constraints, angles and SETTLEs, sorted */
    int nlines;
};

/* harmonic; constraints = none keeps it */
struct bond {
    int atom[2];
    double r0[2], k[2];
};

/* bond funct 5: a chemical bond without a force */
struct connection {
    int atom[2];
};

struct angle {
    int atom[3];
    double theta0[2], k[2], ub_r0[2], ub_k[2];
    bool urey_bradley;
};

/* k (1 + cos(n phi - phi0)); improper: periodic improper (funct 4); multiplicity is the same in both states; turn0:
 * cosine and sine of phi0 where that is, too; zeros but in struct topology's list */
struct dihedral {
    int atom[4];
    double phi0[2], k[2];
    int multiplicity;
    bool improper;
    double turn0[2];
};

/* sum c_n cos^n(psi), psi = phi - 180 degrees */
struct rb_dihedral {
    int atom[4];
    double c[2][6];
};

/* harmonic improper (funct 2) */
struct improper {
    int atom[4];
    double xi0[2], k[2];
};

/* LJ-14 and Coulomb-14, fudge factors applied; qq in e^2. fixed (funct 2): own charges and LJ, all states alike,
 * whatever its atoms do */
struct pair14 {
    int atom[2];
    struct lj lj[2];
    double qq[2];
    bool fixed;
};

/* [ pairs_nb ]: plain LJ + 1/r, never cut */
struct pair_nb {
    int atom[2];
    struct lj lj;
    double qq;
};

/* funct 1 (makes an exclusion bond) or 2 */
struct constraint {
    int atom[2];
    double r0[2];
    bool bonded;
};

struct settle {
    int oxygen, hydrogen[2];
    double r_oh, r_hh;
};

/* A potential of enum rare_kind (math/terms.h); parameters c as its formula names them (engine/math/potentials/rare.h).
 * Restraints follow the restraint lambda, the others the bonded one. A distance restraint of several pairs is as many
 * RARE_DISTANCE_RESTRAINT behind one another, of one c but for c[4], which of them it is, from 0; c[5]: how many they
 * are. Both are 0 where it has one pair */
struct rare_term {
    int kind;
    int atom[4]; /* as many as the kind has */
    int pad_;
    double c[2][6];
};

/* Between the centers of mass of two groups of atoms, center_atoms[first .. first + count) of the system: zero from low
 * to up1, harmonic outside, linear beyond up2. c: low, up1, up2, k, as of RARE_DISTANCE_RESTRAINT; follows the
 * restraint lambda */
struct center_restraint {
    uint32_t first[2], count[2];
    double c[2][6];
};

/* An atom of a group; the weights of a group add up to 1. Others are where they are nearest to the group's first atom.
 */
struct center_atom {
    int atom;
    int pad_;
    double weight;
};

/* cmap (funct 1): points first .. first + side^2 of system.cmap_points, phi by psi, times `share` of each state.
 * Topologies have one map for both; it is a tempered solute that has less of it in B. */
struct cmap {
    int atom[5];
    int first, side;
    int pad_;
    double share[2];
};

/* An atom without mass that others place: count of them from system.site_atoms[first] on, by weights (which add up to
 * 1) or, where the kind is not linear, by parameters c (engine/math/bodies/sites.h) */
struct virtual_site {
    int atom;
    int kind;
    uint32_t first, count;
    double c[3];
};

/* V = sum k_d/2 (x_d - x0_d)^2 */
struct position_restraint {
    int atom;
    double x0[3];
    double k[2][3];
};

/* Where a replica begins. */
struct start {
    double (*x)[3];       /* [natoms], as read; molecules may be broken across the box */
    double (*v)[3];       /* [natoms], NULL if the coordinate file had none; nm/ps */
    double box[BOX_SIZE]; /* nm; engine/math/box.h */
};

enum { SYSTEM_TYPES_MAX = 4096 }; /* whose square is the size of a table */

struct system {
    char name[128];
    int natoms;
    struct atom *atoms;
    int nmolecules;
    struct molecule *molecules;
    int nkinds;
    struct molecule_kind *kinds;
    int nfiles; /* of the topology; 0: it was read from none */
    char **files;

    int ntypes;
    struct lj *lj; /* [ntypes * ntypes], combined by the topology's rule and [ nonbond_params ]; only types in use */
    char (*type_names)[32];
    int *type_numbers; /* [ntypes] atomic numbers; 0 or less: not given */
    double *weights;   /* [natoms] masses in state A before any were repartitioned; NULL: none were */

    int nbonds;
    struct bond *bonds;
    int nharmonics;
    struct bond *harmonics; /* funct 6: no chemical bonds, so never constraints */
    int nconnections;
    struct connection *connections;
    int nangles;
    struct angle *angles;
    int ndihedrals;
    struct dihedral *dihedrals;
    int nrb_dihedrals;
    struct rb_dihedral *rb_dihedrals;
    int nimpropers;
    struct improper *impropers;
    int npairs14;
    struct pair14 *pairs14;
    int npairs_nb;
    struct pair_nb *pairs_nb;
    int nconstraints;
    struct constraint *constraints;
    int nsettles;
    struct settle *settles;
    int nposition_restraints;
    struct position_restraint *position_restraints; /* x0 from the reference coordinates */
    int nsites;
    struct virtual_site *sites;
    int nsite_atoms;
    int *site_atoms;
    double *site_weights; /* [nsite_atoms] */
    int nrare;
    struct rare_term *rare;
    int ncenters;
    struct center_restraint *centers;
    int ncenter_atoms;
    struct center_atom *center_atoms;
    int ncoordinations;
    struct coordination *coordinations;
    int ncoordination_atoms;
    int32_t *coordination_atoms;
    int nbiases;
    struct bias *biases;
    int nknots;
    struct bias_knot *knots;
    int ncmaps;
    struct cmap *cmaps;
    int ncmap_points;
    double (*cmap_points)[CMAP_NUMBERS]; /* of all grids in use (engine/math/potentials/cmap.h) */

    /* exclusions of atom i: exclusion[exclusion_start[i] .. exclusion_start[i + 1]) */
    int *exclusion_start; /* [natoms + 1] */
    int *exclusion;       /* sorted, symmetric, without the atom itself */

    double (*x)[3];       /* [natoms], as read; molecules may be broken across the box */
    double (*v)[3];       /* [natoms], NULL if the coordinate file had none; nm/ps */
    double box[BOX_SIZE]; /* nm; engine/math/box.h */
    int nobservables;
    struct observable *observables;
    int naround;
    int *around; /* [naround] atoms that waters are exchanged about */
    int nstarts;
    struct start *starts; /* of each window; none: all begin at x, v and box */
    int nnotes;
    char **notes; /* of its files, what a reader of them took and who wrote them should know; "file:line: ..." */
    bool fitted_to_h_bonds; /* the force field says that its fit had constraints on bonds of hydrogens alone */
};

/* One more note. */
void system_note(struct system *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Where a window begins; what it points to is the system's. */
static inline struct start system_start(const struct system *s, int window)
{
    struct start all = {.x = s->x, .v = s->v};
    for (int d = 0; d < BOX_SIZE; d++)
        all.box[d] = s->box[d];
    return s->nstarts ? s->starts[window] : all;
}

/* Whether an atom has neither charge nor Lennard-Jones of its own in a state (0: A, 1: B). */
bool system_is_dummy(const struct system *s, int atom, int state);
/* Whether a term depends on where atoms are in space, and not on where they are to each other alone: at some lambda, so
 * that all windows of a ladder are alike. */
bool system_held_in_space(const struct system *s);
/* Multiplies the force constants of position restraints, flat-bottomed ones too, in both states. False: there are none.
 */
bool system_scale_position_restraints(struct system *s, double factor);
/* Frees everything a system owns; zeroed is fine. */
void system_close(struct system *s);

#endif
