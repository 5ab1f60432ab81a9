/* SPDX-License-Identifier: Apache-2.0
 *
 * Observables of the CUDA program: see struct program.
 */
#ifndef SHOAL_ENGINE_CUDA_OBSERVE_OBSERVE_H
#define SHOAL_ENGINE_CUDA_OBSERVE_OBSERVE_H

#include "engine/run/program.h"

enum { RDF_PIECE = 1024, LAG_BLOCKS = 256 };

int cuda_observe_open(struct model *m, struct lane *lane, struct err *e);
void cuda_observe_close(struct model *m);
uint32_t cuda_observe_launches(const struct model *m);
size_t cuda_observe_work(const struct model *m);
void cuda_observe(const struct sim *s, struct tape *t);

#endif
