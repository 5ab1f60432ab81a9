/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of NVML by their names, numbers and results as NVIDIA's NVML API reference has them.
 */
#include "graphs/cuda/nvml/energy.h"

#include <dlfcn.h>
#include <stddef.h>

#define LIBRARY "libnvidia-ml.so.1"

enum { SUCCESS = 0, MIG_ENABLED = 1 };

typedef int init_fn(void);
typedef int find_fn(const char *place, void **card);
typedef int mig_fn(void *card, unsigned *now, unsigned *after_reset);

/* Libraries of drivers before MIG, and cards that cannot be divided, do not say that one is. */
static bool is_divided(void *handle, void *card)
{
    mig_fn *mig = (mig_fn *)dlsym(handle, "nvmlDeviceGetMigMode");
    unsigned now = 0, after_reset;
    return mig && mig(card, &now, &after_reset) == SUCCESS && now == MIG_ENABLED;
}

static bool find(struct gpu_energy *g, const char *place)
{
    find_fn *find_card = (find_fn *)dlsym(g->handle, "nvmlDeviceGetHandleByPciBusId_v2");
    uint64_t now;
    g->read = (int (*)(void *, unsigned long long *))dlsym(g->handle, "nvmlDeviceGetTotalEnergyConsumption");
    return find_card && g->read && find_card(place, &g->card) == SUCCESS && !is_divided(g->handle, g->card) &&
           gpu_energy_read(g, &now);
}

void gpu_energy_open(struct gpu_energy *g, const char *place)
{
    *g = (struct gpu_energy){.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    if (!g->handle)
        return;
    init_fn *init = (init_fn *)dlsym(g->handle, "nvmlInit_v2");
    g->shutdown = (int (*)(void))dlsym(g->handle, "nvmlShutdown");
    if (!init || !g->shutdown || init() != SUCCESS) {
        dlclose(g->handle);
        *g = (struct gpu_energy){0};
    } else if (!find(g, place)) {
        gpu_energy_close(g);
    }
}

bool gpu_energy_read(const struct gpu_energy *g, uint64_t *millijoules)
{
    unsigned long long now;
    if (!g->handle || g->read(g->card, &now) != SUCCESS)
        return false;
    *millijoules = now;
    return true;
}

void gpu_energy_close(struct gpu_energy *g)
{
    if (!g->handle)
        return;
    (void)g->shutdown(); /* nothing depends on it */
    dlclose(g->handle);
    *g = (struct gpu_energy){0};
}
