/* SPDX-License-Identifier: Apache-2.0
 *
 * The standard state of binding: what it is worth to let a molecule that no longer feels another, but is held to it by
 * restraints, go to a volume of its own.
 *
 * Restraints are the terms between two molecules on a distance a-A, the angles b-a-A and a-A-B and the dihedrals
 * c-b-a-A, b-a-A-B and a-A-B-C (Boresch, Tettinger, Leitgeb and Karplus, J. Phys. Chem. B 107, 9535 (2003),
 * doi 10.1021/jp0217839), or on some of these; of any form that has a distance or an angle as its only coordinate. With
 * those six coordinates the configurations that a rigid molecule has factorize, Z = int r^2 e^(-u(r)/RT) dr  prod_2 int
 * sin(t) e^(-u(t)/RT) dt  prod_3 int e^(-u(p)/RT) dp and of 8 pi^2 V at V = 1 l/mol it has G = -RT ln(8 pi^2 V / Z).
 * The integrals are done numerically; for stiff harmonic restraints G is eq. 32 of the paper.
 *
 * A distance of the centers of mass of two groups is a coordinate, too, and then the only one: whatever the molecules'
 * shapes, Z / (8 pi^2) = int 4 pi r^2 e^(-u(r)/RT) dr
 *
 * Signs: G is of letting go, below 0 wherever the molecule is held more closely than 1 mol/l. A complex leg that runs
 * from the bound complex to the ligand that is held and acts on nothing lacks it: leg + G takes the ligand out of its
 * site to 1 mol/l, and binding = solvent leg - (complex leg + G) where the solvent leg takes the ligand out of water. A
 * leg that runs the other way lacks -G.
 */
#ifndef SHOAL_ENGINE_DERIVE_STANDARD_STATE_H
#define SHOAL_ENGINE_DERIVE_STANDARD_STATE_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

#define STANDARD_VOLUME 1.66053906717 /* nm^3 of a molecule at 1 mol/l */

struct standard_state {
    int molecule[2];   /* the two that are held together, by their first atoms' order */
    int nterms;        /* between them */
    int window;        /* of which this is */
    bool both;         /* of a ladder: its other end is held too */
    double volume;     /* Z / (8 pi^2), nm^3 */
    double release;    /* G, kJ/mol */
    double correction; /* of a ladder, kJ/mol: to be added to G(last window) - G(first window) */
};

/* With the restraints as they are in a window, at the settings' temperature. 1: found; 0: nothing acts between
 * molecules. ERR_UNSUPPORTED: terms that hold in another way, and how. */
int standard_state_of(const struct system *sys, const struct settings *set, int window, struct standard_state *out,
                      struct err *e);
/* The same of the end of a ladder that is held and where nothing else acts between the two. Where the settings do not
 * say what acts (B states), of an end that is held, the last one first. 0: there is none. */
int standard_state_of_ladder(const struct system *sys, const struct settings *set, struct standard_state *out,
                             struct err *e);

#endif
