/* SPDX-License-Identifier: Apache-2.0
 *
 * Real transforms of a mesh on the CPU device (fft.cc). Mesh: double [nx][ny][nz]; spectrum: complex [nx][ny][nz/2+1]
 * as pairs of double. Forward has exp(-2 pi i ..), backward exp(+2 pi i ..); neither divides by the number of points.
 */
#ifndef SHOAL_ENGINE_CPU_MESH_FFT_H
#define SHOAL_ENGINE_CPU_MESH_FFT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void fft_forward(const int32_t size[3], const double *mesh, double *spectrum);
/* Only waves up to most[d] along each edge, either way, are right: the others are left out where that saves work. */
void fft_forward_low(const int32_t size[3], const int32_t most[3], const double *mesh, double *spectrum);
void fft_backward(const int32_t size[3], double *spectrum, double *mesh); /* spectrum is destroyed */
#ifdef __cplusplus
}
#endif

#endif
