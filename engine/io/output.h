/* SPDX-License-Identifier: Apache-2.0
 *
 * Output formats, appended to buffers; the caller writes whole lines and whole frames to files. Units: nm, ps, kJ/mol.
 */
#ifndef SHOAL_ENGINE_IO_OUTPUT_H
#define SHOAL_ENGINE_IO_OUTPUT_H

#include "engine/base/buf.h"
#include "engine/system/system.h"

/* One frame of compressed trajectory (XTC, magic 1995, precision 1000). x: [natoms]; molecules whole. */
void xtc_frame(struct buf *out, int natoms, const double (*x)[3], const double box[BOX_SIZE], uint64_t step,
               double time);

/* A .gro file: 3 decimals for positions, 4 for velocities (v may be NULL). */
void gro_write(struct buf *out, const struct system *s, const double (*x)[3], const double (*v)[3],
               const double box[BOX_SIZE], const char *title);

#endif
