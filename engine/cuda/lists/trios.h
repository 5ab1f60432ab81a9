/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the atoms of a system into slots (layout.h), on the host, while a model is made.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_TRIOS_H
#define SHOAL_ENGINE_CUDA_LISTS_TRIOS_H

#include "engine/prepare/alchemy.h"
#include "engine/prepare/topology.h"

/* Atom of every slot ([3 ntrios + nperturbed]; ~ the trio's first atom where there is none); the caller frees it. Rigid
 * waters that are all alike, whose hydrogens have no Lennard-Jones among waters, come first: nwaters of them, as
 * oxygen, hydrogen, hydrogen. Not together: every atom is a trio of its own. */
int32_t *trios_make(const struct system *sys, const struct topology *t, const struct alchemy_plan *plan, bool together,
                    int32_t *nwaters, int32_t *ntrios);

#endif
