/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that formulas and settings share: the parts that energies and their derivatives with respect to lambda are
 * split into, what is done to Lennard-Jones at the cut-off, the numbers of a box.
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
    TERM_CMAP,
    TERM_BIAS,
    TERM_COUNT
};

/* Only files of GROMACS have the last one. */
enum lambda {
    LAMBDA_COULOMB,
    LAMBDA_VDW,
    LAMBDA_BONDED,
    LAMBDA_MASS,
    LAMBDA_RESTRAINT, /* where settings have no ladder of it: as LAMBDA_BONDED, and counted to it */
    LAMBDA_COUNT,
    LAMBDA_FEP = LAMBDA_COUNT,
    LAMBDA_FILE_COUNT
};

/* Along which axes one volume move scales lengths: all alike; x and y alike, or z; one of them. */
enum volume_coupling { VOLUME_ISOTROPIC, VOLUME_SEMI_ISOTROPIC, VOLUME_ANISOTROPIC };

/* Potentials that few force fields use, and restraints, in one list (struct rare_term, formulas in potentials/rare.h).
 */
enum rare_kind {
#define RARE(name, ...) RARE_##name,
#include "engine/math/bonded_kinds.def"
    RARE_KINDS
};

/* Where a RARE_FLAT_POSITION leaves an atom alone, by GROMACS's numbers; the second is the last by its older name. */
enum flat_geometry {
    FLAT_SPHERE = 1,
    FLAT_CYLINDER,
    FLAT_X,
    FLAT_Y,
    FLAT_Z,
    FLAT_CYLINDER_X,
    FLAT_CYLINDER_Y,
    FLAT_CYLINDER_Z
};

/* Where contributions to sums were clamped: a bit per enum term, and these. */
enum clamped { CLAMPED_DVDL = TERM_COUNT, CLAMPED_VIRIAL, CLAMPED_FORCE, CLAMPED_COUNT };

/* Ways in which pairs lose their repulsion (potentials/softcore.h). The third is not chosen: it is Beutler's in a
 * reaction field. */
enum soft_function { SOFT_BEUTLER, SOFT_GAPSYS, SOFT_BEUTLER_FIELD };

enum vdw_modifier {
#define VDW(name, ...) VDW_##name,
#include "engine/math/vdw_modifiers.def"
};

/* Indices of the numbers of a box (box.h). */
enum { BOX_XX, BOX_YY, BOX_ZZ, BOX_YX, BOX_ZX, BOX_ZY, BOX_SIZE };

#endif
