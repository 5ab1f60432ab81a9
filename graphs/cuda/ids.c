/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/cuda/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/dev_open.h"
#include "graphs/kinds.h"

#define VISIBLE "CUDA_VISIBLE_DEVICES"

int gpu_ids_choose(const char *name, struct err *e)
{
    static char chosen[DEV_NAME]; /* by this process, as its environment is */
    const char *id = device_id(name), *before = device_id(chosen);
    if ((id || before) && *chosen && strcmp(chosen, name))
        return err_set(e, ERR_USAGE,
                       "%s: this process has opened %s: expected one device in all, where one is named by its id", name,
                       chosen);
    snprintf(chosen, sizeof chosen, "%s", name);
    return id && setenv(VISIBLE, id, 1) ? err_errno(e, "%s: setenv", name) : 0;
}

/* Lines as "GPU 0: NVIDIA H200 (UUID: GPU-3f6b..)" and, below, "  MIG 1g.18gb  Device 0: (UUID: MIG-8c1d..)". */
static void list_ids(FILE *said, struct buf *out)
{
    static const char mark[] = "(UUID: ";
    char line[512];
    while (fgets(line, sizeof line, said)) {
        const char *id = strstr(line, mark);
        if (id && (id += strlen(mark)))
            buf_printf(out, "%s%.*s", out->len ? ", " : "", (int)strcspn(id, ")\n"), id);
    }
}

int gpu_ids_missing(const char *name, struct err *e)
{
    struct buf ids = {0};
    FILE *said = popen("nvidia-smi -L 2>/dev/null", "re");
    if (said) {
        list_ids(said, &ids);
        pclose(said);
    }
    if (ids.len)
        err_set(e, ERR_DEVICE, "%s: no such device, or several begin so: there is %.900s", name, ids.data);
    else
        err_set(e, ERR_DEVICE, "%s: no such device; `nvidia-smi -L` lists the ids that there are", name);
    buf_free(&ids);
    return -ERR_DEVICE;
}

size_t gpu_ids_slices(const char *visible, void (*gpu)(void *ctx, const char *name), void *ctx)
{
    size_t n = 0;
    if (!visible || !strstr(visible, "MIG-"))
        return 0;
    for (const char *at = visible; *at; at += strspn(at, ",")) {
        const int length = (int)strcspn(at, ",");
        char name[DEV_NAME];
        snprintf(name, sizeof name, "cuda:%.*s", length, at);
        at += length;
        if (!device_id(name))
            continue;
        gpu(ctx, name);
        n++;
    }
    return n;
}

size_t dev_cuda_slices(void (*gpu)(void *ctx, const char *name), void *ctx)
{
    return gpu_ids_slices(getenv(VISIBLE), gpu, ctx);
}
