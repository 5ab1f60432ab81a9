/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker devices: the devices that `serve` would run on here, one name a line; on standard error, why a GPU is
 * not among them. shoald asks when it is told none; it never touches CUDA itself.
 */
#include <stdbool.h>
#include <stdio.h>

#include "daemon/worker/command/commands.h"
#include "daemon/worker/device/device.h"

static void not_used(const struct err *e)
{
    fprintf(stderr, "shoal-worker: %s; not used\n", e->msg);
}

static bool usable(const char *name)
{
    struct dev *dev;
    struct err e = {0};
    if (engine_open(&dev, name, &e)) {
        not_used(&e);
        return false;
    }
    dev_close(dev);
    return true;
}

int devices_main(int argc, char **argv)
{
    (void)argc, (void)argv;
    uint32_t gpus, found = 0;
    struct err e = {0};
    if (dev_cuda_count(&gpus, &e))
        not_used(&e);
    for (uint32_t k = 0; k < gpus; k++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%u", k);
        if (!usable(name))
            continue;
        puts(name);
        found++;
    }
    if (!found)
        puts("cpu");
    return EXIT_OK;
}
