/* SPDX-License-Identifier: Apache-2.0
 *
 * energy.xvg: lines of it, appended to buffers. legends.h says by what its columns are found again.
 */
#ifndef SHOAL_ENGINE_SERIES_ENERGY_H
#define SHOAL_ENGINE_SERIES_ENERGY_H

#include "engine/base/buf.h"
#include "engine/system/sample.h"
#include "engine/system/settings.h"
#include "engine/system/system.h"

/* energy.xvg: potential, kinetic and total energy, temperature, pressure, volume, density and every term; where
 * replicas exchange windows which of them is here, by the window that it began in, and how many exchanges came before.
 */
void energy_header(struct buf *out, const struct settings *set, const struct system *sys);
void energy_row(struct buf *out, const struct settings *set, const struct system *sys, const struct sample *s);

#endif
