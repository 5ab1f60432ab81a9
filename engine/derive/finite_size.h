/* SPDX-License-Identifier: Apache-2.0
 *
 * What a change of the net charge lacks because the box is periodic, as far as formulas go: Rocklin, Mobley, Dill and
 * Hunenberger, J. Chem. Phys. 139, 184103 (2013), doi 10.1063/1.4826261. With xi the constant of a cubic lattice, L the
 * edge, e the solvent's dielectric constant and Q the net charge of all that acts in the box: NET = -xi / (8 pi eps0 L)
 * (Q_last^2 - Q_first^2)              no interaction with the box's images and the background USV = xi / (8 pi eps0 L)
 * (1 - 1/e) (Q_last^2 - Q_first^2)     solvent that would be there, were there no images They are added to a free
 * energy from the first window to the last. Not here, each in need of more than the box: the residual integrated
 * potentials RIP and the empirical term EMP (a Poisson-Boltzmann calculation of the solutes' shape), and that of
 * discrete solvent, DSC (the quadrupole of the solvent's molecules and how many there are).
 *
 * Of a complex of a receptor with charge Q_P, and no other ions, these are the paper's terms with (Q_P + Q_L)^2 -
 * Q_P^2. Ions in the box are charge like any other.
 */
#ifndef SHOAL_ENGINE_DERIVE_FINITE_SIZE_H
#define SHOAL_ENGINE_DERIVE_FINITE_SIZE_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

struct finite_size {
    double charge[2];  /* Q in the first and the last window, e */
    double edge;       /* of the start coordinates' box, nm */
    double dielectric; /* constant of the solvent */
    double net, usv;   /* kJ/mol */
};

/* Of all that acts in a window, e. */
double net_charge(const struct system *sys, const struct alchemy_settings *al, int window);
/* With the settings' dielectric constant; the box is a cube. */
struct finite_size finite_size_of(const struct system *sys, const struct settings *set);

#endif
