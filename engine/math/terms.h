/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that formulas and settings share: the parts that energies and their derivatives with respect to lambda are split
 * into, what is done to Lennard-Jones at the cut-off, the numbers of a box.
 */
#ifndef SHOAL_ENGINE_MATH_TERMS_H
#define SHOAL_ENGINE_MATH_TERMS_H

/* As gmx energy splits them. */
enum term {
    TERM_BOND,
    TERM_ANGLE,
    TERM_UREY_BRADLEY,
    TERM_PROPER_DIHEDRAL,
    TERM_IMPROPER_DIHEDRAL,
    TERM_LJ_14,
    TERM_COULOMB_14,
    TERM_LJ,
    TERM_DISPERSION_CORRECTION,
    TERM_COULOMB,
    TERM_COULOMB_RECIPROCAL,
    TERM_RESTRAINT,
    TERM_COUNT
};

/* The last two stand in files of GROMACS alone. */
enum lambda {
    LAMBDA_COULOMB,
    LAMBDA_VDW,
    LAMBDA_BONDED,
    LAMBDA_MASS,
    LAMBDA_COUNT,
    LAMBDA_FEP = LAMBDA_COUNT,
    LAMBDA_RESTRAINT,
    LAMBDA_FILE_COUNT
};

/* Where contributions to sums were clamped: a bit per enum term, and these. */
enum clamped { CLAMPED_DVDL = TERM_COUNT, CLAMPED_VIRIAL, CLAMPED_FORCE, CLAMPED_COUNT };

enum vdw_modifier { VDW_CUTOFF, VDW_POTENTIAL_SHIFT, VDW_POTENTIAL_SWITCH, VDW_FORCE_SWITCH };

/* Where the numbers of a box stand (box.h). */
enum { BOX_XX, BOX_YY, BOX_ZZ, BOX_YX, BOX_ZX, BOX_ZY, BOX_SIZE };

#endif
