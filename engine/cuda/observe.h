/* SPDX-License-Identifier: Apache-2.0
 *
 * Observables of the CUDA program: see struct program.
 */
#ifndef SHOAL_ENGINE_CUDA_OBSERVE_H
#define SHOAL_ENGINE_CUDA_OBSERVE_H

#include "engine/run/program.h"

enum { RDF_PIECE = 1024, MSD_BLOCKS = 256 };

void cuda_observe(const struct sim *s, struct tape *t);

#endif
