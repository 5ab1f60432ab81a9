/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with --wrap=engine_open: every cuda device is emulated.
 */
#include <string.h>

#include "engine/run/program.h"

int __real_engine_open(struct dev **out, const char *name, struct err *e);
int __wrap_engine_open(struct dev **out, const char *name, struct err *e);

int __wrap_engine_open(struct dev **out, const char *name, struct err *e)
{
    if (!strncmp(name, cuda_program.device, strlen(cuda_program.device)))
        return dev_open(out, "cpu:1", *cuda_program.kernels, e);
    return __real_engine_open(out, name, e);
}
