/* SPDX-License-Identifier: Apache-2.0
 *
 * Legends of columns of dhdl.xvg and energy.xvg that the writers of this room write and its readers look for.
 */
#ifndef SHOAL_ENGINE_SERIES_LEGENDS_H
#define SHOAL_ENGINE_SERIES_LEGENDS_H

/* dhdl.xvg, as GROMACS has them; behind the first the name of a lambda component, behind the second lambda vectors. */
#define DHDL_DERIVATIVE "dH/d\\xl\\f{} "
#define DHDL_DIFFERENCE "\\xD\\f{}H \\xl\\f{} to "

/* Of a run in which the state changes: that of the row. */
#define DHDL_STATE "Thermodynamic state"

/* energy.xvg, as gmx energy has them, so that columns can be compared by eye. */
#define ENERGY_POTENTIAL "Potential"
#define ENERGY_KINETIC "Kinetic En."
#define ENERGY_TOTAL "Total Energy"
#define ENERGY_TEMPERATURE "Temperature"
#define ENERGY_PRESSURE "Pressure"
#define ENERGY_VOLUME "Volume"
#define ENERGY_DENSITY "Density"
#define ENERGY_BIAS "Bias"
#define ENERGY_COORDINATION "Coordination " /* and its number, from 1 */
/* Where replicas exchange windows: which of them is here, by the window that it began in; how many exchanges came
 * before. */
#define ENERGY_REPLICA "Replica"
#define ENERGY_EXCHANGES "Exchanges"

#endif
