/* SPDX-License-Identifier: Apache-2.0
 *
 * A small box for tests of non-bonded forces: 216 charged atoms of four LJ types on a shaken lattice, 2.2 x 2.35 x 2.5
 * nm; two chains of six (kind CHAIN, the first with B states, inner pairs beyond exclusions) and molecules of three
 * (SOL). No bonded term has a force. Neutral in state A.
 */
#ifndef SHOAL_TESTS_LIB_MIXTURE_H
#define SHOAL_TESTS_LIB_MIXTURE_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

/* rule: 2 (arithmetic sigma) or 3 (geometric). Freed with toy_system_free. */
struct system *mixture(int rule);
/* Its first atoms, whole molecules, by rule 2; what bends and turns is of the chains, and left out. Freed the same. */
struct system *mixture_first(int natoms);
/* Two atoms of the first chain are charged in B alone, beside one that is in A alone: that one excludes the first, not
 * the second. */
void mixture_of_both_ends(struct system *s);
/* Its alchemy: kind CHAIN decoupled, where that is the kind, with the usual soft core; of so many windows, whose
 * lambdas stay the caller's. */
struct alchemy_settings mixture_alchemy(enum alchemy kind, int windows, double (*lambda)[LAMBDA_COUNT]);

#endif
