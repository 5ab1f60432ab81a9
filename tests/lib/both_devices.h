/* SPDX-License-Identifier: Apache-2.0
 *
 * A system on the CPU device and by the CUDA program, with its kernels run on the CPU, for cmocka tests: what each
 * makes of it, and whether that is the same.
 */
#ifndef SHOAL_TESTS_LIB_BOTH_DEVICES_H
#define SHOAL_TESTS_LIB_BOTH_DEVICES_H

#include "engine/run/sim.h"
#include "tests/lib/mixture.h"
#include "tests/lib/toy.h"

#define MOST_WINDOWS 8

struct outcome {
    struct sample sample;
    double delta_u[MOST_WINDOWS];
    double (*f)[3];
};

/* Of the state as it is, forces (the caller frees them) included; then of a volume move. */
struct outcome outcome_of(struct toy *t, int natoms);
/* To the last bit. Frees the forces of both. */
void same_outcome(struct outcome a, struct outcome b, const struct system *sys, const struct settings *set);
/* Within the tolerances of mixed precision; a on the CPU device, b by the CUDA program. Ends the two. */
void compare_ended(struct toy *a, struct toy *b, const struct system *sys, const struct settings *set);
void compare(const struct system *sys, const struct settings *set, int window);
/* Three windows, whose lambdas are the same in all settings from here. */
struct settings settings_of(enum vdw_modifier modifier, enum alchemy kind);
/* Water that has found its bonds: on a lattice, turned at random, energies are what is left of much larger ones. */
void relax(struct system *sys, const struct settings *set);
struct system *relaxed_water(int side, const struct settings *set);
/* Systems are cut into regions that hold `most` trios; 0: as on a GPU. */
void cut_into(uint32_t most);
/* In edges a, b, c of a rhombic dodecahedron, of a truncated octahedron and of a skewed cell; order of terms.h. */
extern const double shapes[3][BOX_SIZE];
/* The same fractions in a box of another shape and the same volume, of all atoms, or of molecules that are moved as
 * they are. */
void reshape(struct system *sys, const double shape[BOX_SIZE], bool molecules);

#endif
