/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that go in step, for kernels and for the host code that launches them.
 */
#ifndef SHOAL_ENGINE_CUDA_DEVICE_WARP_H
#define SHOAL_ENGINE_CUDA_DEVICE_WARP_H

/* Threads of a warp, and the mask that names all of them. */
enum { WARP = 32 };
#define WARP_ALL 0xffffffffu

#endif
