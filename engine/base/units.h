/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical constants, as GROMACS 2022 uses them, in nm, ps, kJ/mol, K, bar, e, u.
 */
#ifndef SHOAL_ENGINE_BASE_UNITS_H
#define SHOAL_ENGINE_BASE_UNITS_H

#define UNIT_R 0.00831446261815324      /* gas constant, kJ/(mol K) */
#define UNIT_COULOMB 138.93545764438198 /* e^2 N_A / (4 pi eps0), kJ nm/(mol e^2): CODATA 2018, as GROMACS 2022 */
#define UNIT_BAR 16.6053906717          /* bar per kJ/(mol nm^3) */
#define UNIT_DENSITY 1.66053906660      /* kg/m^3 per u/nm^3: the atomic mass constant (CODATA 2018) over 1e-27 */
#define UNIT_KCAL 4.184                 /* kJ per kcal */

#endif
