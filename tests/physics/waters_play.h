/* SPDX-License-Identifier: Apache-2.0
 *
 * Systems of rigid waters and a few atoms, for tests of water exchange.
 */
#ifndef SHOAL_TESTS_PHYSICS_WATERS_PLAY_H
#define SHOAL_TESTS_PHYSICS_WATERS_PLAY_H

#include "tests/lib/toy.h"

/* `natoms` atoms "C" at the center of a cubic box, then waters on a lattice that fills it, `most` of them; those nearer
 * than `bare` nm to the center are left out. Charges of waters are SPC/E's times `charge`, of their Lennard-Jones with
 * each other `lj` times. Types: 0 of oxygens, 1 of hydrogens, 2 of atoms, which attract nothing yet. Waters are
 * exchanged about the atoms. */
struct system *waters_system(int natoms, double edge, int side, int most, double bare, double charge, double lj);
/* Lennard-Jones of the atoms with oxygens: depth (kJ/mol) and the distance where it is 0 (nm). */
void waters_attract(struct system *s, double depth, double sigma);
/* Langevin dynamics of 2 fs at 300 K with plain cut-offs, and `tries` moves of a water a batch. */
struct settings waters_settings(double cutoff, double radius, uint32_t tries);
/* One batch; how many waters are in the sphere behind it. */
int waters_batch(struct sim *s);

#endif
