/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/cuda/failure_text.h"

#include <stdio.h>

#define GIB ((double)(1 << 30))

int gpu_failed(const struct gpu_failure *f, struct err *e)
{
    char device[400] = "";
    if (f->model)
        snprintf(device, sizeof device, "; %s, compute capability %d.%d, %.2f of %.2f GiB free%s", f->model, f->major,
                 f->minor, (double)f->free_bytes / GIB, (double)f->total_bytes / GIB, f->before ? " before" : "");
    const char *lost = f->lost ? "; the device is lost to this process" : "";
    return f->code ? err_set(e, ERR_DEVICE, "%s: %s: %s (%s)%s%s", f->name, f->call, f->code, f->text, device, lost)
                   : err_set(e, ERR_DEVICE, "%s: %s%s%s", f->name, f->call, device, lost);
}
