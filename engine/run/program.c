/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/program.h"

#include <string.h>

static const struct program *const programs[] = {
#define HOST(kind) &kind##_program,
#define GPU HOST
#include "graphs/kinds.def"
};
enum { PROGRAM_COUNT = sizeof programs / sizeof programs[0] };

const struct program *program_of(const struct dev *dev)
{
    for (int i = 0; i < PROGRAM_COUNT; i++)
        if (programs[i]->kernels->kernels == dev->kernels.kernels)
            return programs[i];
    return NULL;
}

const struct program *program_named(const char *device)
{
    const struct program *found = &cpu_program;
    for (int i = 0; i < PROGRAM_COUNT; i++)
        if (!strncmp(device, programs[i]->device, strlen(programs[i]->device)))
            found = programs[i];
    return found;
}

int engine_open(struct dev **out, const char *name, struct err *e)
{
    return dev_open(out, name, *program_named(name)->kernels, e);
}
