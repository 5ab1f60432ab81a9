/* SPDX-License-Identifier: Apache-2.0
 *
 * Observables of the CUDA program: see struct program.
 */
#ifndef SHOAL_ENGINE_CUDA_OBSERVE_OBSERVE_H
#define SHOAL_ENGINE_CUDA_OBSERVE_OBSERVE_H

#include "engine/observe/saxs_plan.h"
#include "engine/run/program.h"

enum { RDF_PIECE = 1024, LAG_BLOCKS = 256 };

int cuda_observe_open(struct model *m, struct lane *lane, struct err *e);
void cuda_observe_close(struct model *m);
uint32_t cuda_observe_launches(const struct model *m);
size_t cuda_observe_work(const struct model *m);
void cuda_observe(const struct sim *s, struct tape *t);

/* The first transform of a plan that has just been made: work on the lane, of nothing. table: a device address. ERR_DEVICE,
 * ERR_MEMORY. */
int cuda_saxs_warm(struct dev *dev, struct lane *lane, const struct saxs_plan *p, void *table, struct err *e);
/* Bytes of working memory, whose mesh is zero at first and stays so between frames; and the launches of one frame; table, seen: device addresses. The plan has a transform. */
size_t cuda_saxs_work(const struct saxs_plan *p);
void cuda_saxs_emit(const struct sim *s, const struct saxs_plan *p, void *memory, void *table, void *seen,
                    struct tape *t);

#endif
