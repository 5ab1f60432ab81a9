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
struct observable;
struct observe_frame;
struct tape;

#define SAXS_MESH_SCALE 16777216.0f /* 2^24 per atom: a point of the mesh may hold up to 127 */

enum { SAXS_BLOCK = 256 };

#ifdef __cplusplus
extern "C" {
#endif
/* A transform of a mesh by cuFFT, which is loaded at the first one: float [x][y][2 (z / 2 + 1)] in place; one that any
 * lane may use, each with `bytes` of working memory of its own. On the thread that has the device. ERR_DEVICE,
 * ERR_MEMORY. */
int saxs_fft_new(struct dev *dev, int32_t *fft, const int32_t size[3], size_t *bytes, struct err *e);
void saxs_fft_free(int32_t fft);

/* Of struct observe_launches. plan: struct saxs_plan, with a transform. The mesh in the working memory is zero at first
 * and stays so between frames. */
void cuda_saxs_emit(const struct observe_frame *f, struct tape *t);
uint32_t cuda_saxs_launches(const struct observable *o, const void *plan);
size_t cuda_saxs_work(const struct observable *o, const void *plan);
/* Makes the transform, unless the plan has one. ERR_DEVICE, ERR_MEMORY. */
int cuda_saxs_open(struct dev *dev, struct lane *lane, void *plan, const void *table, struct err *e);
void cuda_saxs_close(void *plan);
#ifdef __cplusplus
}
#endif

#endif
