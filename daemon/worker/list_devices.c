/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker devices: the devices that `serve` would run on here, one name a line. shoald asks when it is told none; it
 * never touches CUDA itself.
 */
#include <stdbool.h>
#include <stdio.h>

#include "daemon/worker/commands.h"
#include "daemon/worker/device.h"

#define GPUS_MAX 64

static bool usable(const char *name)
{
    struct dev *dev;
    struct err e = {0};
    if (engine_open(&dev, name, &e))
        return false;
    dev_close(dev);
    return true;
}

int devices_main(int argc, char **argv)
{
    (void)argc, (void)argv;
    int found = 0;
    for (; found < GPUS_MAX; found++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%d", found);
        if (!usable(name))
            break;
        puts(name);
    }
    if (!found)
        puts("cpu");
    return EXIT_OK;
}
