/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker devices: the devices that `serve` would run on here, one name a line; on standard error, why a GPU is
 * not among them. shoald asks when it is told none; it never touches CUDA itself.
 */
#include <stdbool.h>
#include <stdio.h>

#include "daemon/worker/command/commands.h"
#include "daemon/worker/device/device.h"
#include "graphs/kinds.h"

static void not_used(void *found, const struct err *e)
{
    fprintf(stderr, "shoal-worker: %s; not used\n", e->msg);
}

/* One that has an id is not tried: a process opens one of those. */
static void say_usable(void *found, const char *name)
{
    struct dev *dev = NULL;
    struct err e = {0};
    if (!device_id(name) && engine_open(&dev, name, &e)) {
        not_used(NULL, &e);
        return;
    }
    dev_close(dev);
    puts(name);
    *(bool *)found = true;
}

int devices_main(int argc, char **argv)
{
    (void)argc, (void)argv;
    bool found = false;
    dev_gpus(say_usable, not_used, &found);
    if (!found)
        puts("cpu");
    return EXIT_OK;
}
