/* SPDX-License-Identifier: Apache-2.0
 *
 * X-ray scattering on a GPU. Launches of one frame: place; spread, round, forward and add for each element; bin, keep.
 */
#ifndef SHOAL_ENGINE_CUDA_OBSERVE_SAXS_H
#define SHOAL_ENGINE_CUDA_OBSERVE_SAXS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/observe/saxs_plan.h"

struct dev;
struct lane;
struct sim;
struct tape;

#define SAXS_MESH_SCALE 16777216.0f /* 2^24 per atom: a point of the mesh may hold up to 127 */

enum { SAXS_BLOCK = 256 };

#ifdef __cplusplus
extern "C" {
#endif
/* A transform of a mesh by cuFFT, which is loaded at the first one: float [x][y][2 (z / 2 + 1)] in place; one that any lane may use,
 * each with `bytes` of working memory of its own. On the thread that has the device. ERR_DEVICE, ERR_MEMORY. */
int saxs_fft_new(struct dev *dev, int32_t *fft, const int32_t size[3], size_t *bytes, struct err *e);
void saxs_fft_free(int32_t fft);

/* The first transform of a plan that has just been made: work on the lane, of nothing. table: a device address. ERR_DEVICE,
 * ERR_MEMORY. */
int cuda_saxs_warm(struct dev *dev, struct lane *lane, const struct saxs_plan *p, const void *table, struct err *e);
/* Bytes of working memory, whose mesh is zero at first and stays so between frames; and the launches of one frame; table, seen: device addresses. The plan has a transform. */
size_t cuda_saxs_work(const struct saxs_plan *p);
void cuda_saxs_emit(const struct sim *s, const struct saxs_plan *p, void *memory, const void *table, void *seen,
                    struct tape *t);
#ifdef __cplusplus
}
#endif

#endif
