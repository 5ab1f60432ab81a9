/* SPDX-License-Identifier: Apache-2.0
 *
 * One bonded term of every kind, and its energy in long double from the positions of its atoms.
 */
#ifndef SHOAL_TESTS_ENGINE_KERNELS_DEFINED_TERMS_H
#define SHOAL_TESTS_ENGINE_KERNELS_DEFINED_TERMS_H

#include "engine/kernels/rare_terms.h"
#include "tests/engine/kernels/term_check.h"

/* Terms of enum rare_kind are where their kind says; behind them pairs that are one restraint, and other places. */
enum { JOINT = RARE_KINDS, NJOINT = 3, FLAT = JOINT + NJOINT, NFLAT = 8, NRARE = FLAT + NFLAT };
struct defined_term {
    const char *name;
    void (*kernel)(struct bonded_pass *p, uint32_t i);
    uint32_t first, count; /* of the kernel's list: terms that have one energy together */
    enum term term;
    uint32_t components; /* of lambda that it follows: bits of enum lambda; 0: it is the same in all states */
    bool placed;         /* it holds atoms in places: only the diagonal of its virial is known */
    long double (*energy)(const struct bonded_table *t, uint32_t first, const long double (*x)[3], long double l);
};

extern const struct defined_term defined_terms[];
extern const size_t defined_count;

/* Of the pairs that differ between the states, in their order: of both atoms, in A and B, e. */
extern const double defined_charges[][2][2];
extern const struct soft_core defined_soft_core;

/* The terms as kernels see them. changes: those from the first on differ between A and B, else none. */
struct bonded_table defined_table(bool changes);

#endif
