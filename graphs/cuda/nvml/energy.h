/* SPDX-License-Identifier: Apache-2.0
 *
 * The energy that a GPU has taken, as NVIDIA's management library (NVML) counts it: GPUs since Volta have a counter
 * that begins at 0 when the driver is loaded. It is the whole card's, whichever process uses the card. Knows nothing of
 * CUDA.
 */
#ifndef SHOAL_GRAPHS_CUDA_NVML_ENERGY_H
#define SHOAL_GRAPHS_CUDA_NVML_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: it has no counter. */
struct gpu_energy {
    void *handle; /* NULL: no counter */
    void *card;
    int (*read)(void *card, unsigned long long *millijoules);
    int (*shutdown)(void);
};

/* Loads the library and looks for the GPU at a place of the PCI bus ("0000:3b:00.0"). There is no counter where there
 * is no library, where the GPU is too old, and where it is divided into MIG slices, because the counter is of all
 * slices together. */
void gpu_energy_open(struct gpu_energy *g, const char *place);
/* What the GPU has taken since its driver was loaded; false: it has no counter, or did not answer. */
bool gpu_energy_read(const struct gpu_energy *g, uint64_t *millijoules);
/* Zeroed is fine. */
void gpu_energy_close(struct gpu_energy *g);

#endif
