/* SPDX-License-Identifier: Apache-2.0
 *
 * In place of engine/cuda/observe/saxs_fft.cu: the CPU device's transform.
 */
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/cpu/mesh/fft.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/observe/saxs.h"
#include "engine/observe/saxs_frame.h"
#include "engine/observe/device_tables.h"

void emulate_saxs_forward(const struct args_saxs_forward *args);

int saxs_fft_new(struct dev *dev, int32_t *fft, const int32_t size[3], size_t *bytes, struct err *e)
{
    *fft = 0;
    *bytes = 0;
    return 0;
}

void saxs_fft_free(int32_t fft)
{
}

void emulate_saxs_forward(const struct args_saxs_forward *args)
{
    const struct saxs_table *t = ((const struct observe_table *)args->table)->own;
    const size_t nz = (size_t)t->size[2], wide = 2 * (nz / 2 + 1), rows = saxs_points(t) / nz;
    double *mesh = xcalloc(saxs_points(t), sizeof *mesh), *spectrum = xcalloc(rows * wide, sizeof *spectrum);
    float *values = args->spectrum;
    for (size_t row = 0; row < rows; row++)
        for (size_t z = 0; z < nz; z++)
            mesh[row * nz + z] = values[row * wide + z];
    fft_forward(t->size, mesh, spectrum);
    for (size_t i = 0; i < rows * wide; i++)
        values[i] = (float)spectrum[i];
    free(mesh);
    free(spectrum);
}
