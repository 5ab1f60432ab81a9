/* SPDX-License-Identifier: Apache-2.0
 *
 * Output formats, appended to buffers; the caller writes whole lines and whole frames to files. Units: nm, ps, kJ/mol.
 */
#ifndef SHOAL_ENGINE_IO_OUTPUT_H
#define SHOAL_ENGINE_IO_OUTPUT_H

#include "engine/base/buf.h"
#include "engine/system/settings.h"
#include "engine/system/sample.h"
#include "engine/system/system.h"

/* One frame of compressed trajectory (XTC, magic 1995, precision 1000). x: [natoms]; molecules whole. */
void xtc_frame(struct buf *out, int natoms, const double (*x)[3], const double box[BOX_SIZE], uint64_t step,
               double time);

/* A .gro file: 3 decimals for positions, 4 for velocities (v may be NULL). */
void gro_write(struct buf *out, const struct system *s, const double (*x)[3], const double (*v)[3],
               const double box[BOX_SIZE], const char *title);

/* dhdl.xvg as GROMACS writes it: components in GROMACS's order, differences to every window, pV when the stage has
 * pressure coupling. */
void dhdl_header(struct buf *out, const struct settings *set, int window, bool pv);
void dhdl_row(struct buf *out, const struct settings *set, bool pv, const struct sample *s);

/* energy.xvg: potential, kinetic and total energy, temperature, pressure, volume, density and every term; where replicas exchange
 * windows which of them is here, by the window that it began in, and how many exchanges came before. */
void energy_header(struct buf *out, const struct settings *set, const struct system *sys);
void energy_row(struct buf *out, const struct settings *set, const struct system *sys, const struct sample *s);

#endif
