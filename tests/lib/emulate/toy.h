/* SPDX-License-Identifier: Apache-2.0
 *
 * A program's kernels on the CPU device with the limits of a GPU, and a replica that they run, for physics tests. For
 * files that include cmocka.h.
 */
#ifndef SHOAL_TESTS_LIB_EMULATE_TOY_H
#define SHOAL_TESTS_LIB_EMULATE_TOY_H

#include "engine/cuda/kernels.h"
#include "engine/cuda/lists/layout.h"
#include "tests/lib/emulate/emulate.h"
#include "tests/lib/toy.h"

/* As toy_open; card: as emulate_open takes it. */
static inline struct toy toy_emulated(struct kernel_table kernels, const char *card, const struct system *sys,
                                      const struct settings *set, int window)
{
    struct toy t = {0};
    struct err e = {0};
    if (emulate_open(&t.dev, "cpu:1", card, kernels, &e) || model_new(&t.model, t.dev, sys, set, &e) ||
        sim_new(&t.sim, t.model, window, 0, &e))
        fail_msg("%s", e.msg);
    return t;
}

/* As emulate_shared: room for so many trios in a block, and in each of two blocks that share a multiprocessor. */
static inline void emulate_room(uint32_t whole, uint32_t region)
{
    const uint32_t half = CUDA_STATIC_SHARED + region * TRIO_BYTES + emulated_cards[0].limits.reserved_shared;
    emulate_shared(CUDA_STATIC_SHARED + whole * TRIO_BYTES, 2 * half);
}

/* What a replica has come to; x is the caller's to free, velocities are behind it. */
struct snapshot {
    double (*x)[3];
    uint64_t step;
};

static inline struct snapshot snapshot_of(struct sim *s, int natoms)
{
    struct err e = {0};
    struct snapshot shot = {.x = xcalloc(2 * (size_t)natoms, sizeof *shot.x)};
    if (sim_get(s, shot.x, shot.x + natoms, NULL, &e))
        fail_msg("%s", e.msg);
    shot.step = sim_step_number(s);
    return shot;
}

#endif
