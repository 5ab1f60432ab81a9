/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device/device.h"

#include <gnu/libc-version.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/processes/frames.h"
#include "daemon/worker/device/memory.h"
#include "engine/base/checksum.h"
#include "engine/base/number.h"
#include "graphs/kinds.h"

/* Replicas of 5,000 atoms that an H200 does at once nearly as fast a step as any more; a usual ladder starts as a
 * whole. */
#define GPU_SLOTS 24

unsigned device_slots(const char *name)
{
    if (device_is_gpu(name))
        return GPU_SLOTS;
    long n = 0;
    if (!strncmp(name, "cpu:", 4))
        n = strtol(name + 4, NULL, 10); /* what is behind the number is graphs/dev.h's */
    if (n < 1)
        n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

/* ---- what a replica finds there ---- */

enum { DEVICE_LIMITS = 80 };

static void write_limits(const struct dev_limits *l, char out[DEVICE_LIMITS])
{
    snprintf(out, DEVICE_LIMITS, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %d", l->processors,
             l->block_shared, l->processor_shared, l->reserved_shared, l->queues, l->clusters);
}

bool device_limits_read(const char *text, struct dev_limits *out)
{
    int clusters, end = 0;
    const int n =
        sscanf(text, "%" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %d%n", &out->processors,
               &out->block_shared, &out->processor_shared, &out->reserved_shared, &out->queues, &clusters, &end);
    out->clusters = n == 6 && clusters;
    return n == 6 && !text[end];
}

struct room device_room(struct dev *d, const char *name)
{
    struct dev_usage use;
    d->ops->usage(d, NULL, &use);
    const uint64_t left = device_is_gpu(name) ? UINT64_MAX : memory_left();
    return (struct room){
        .total = (int64_t)use.total, .free = (int64_t)(use.free < left ? use.free : left), .slab = (int64_t)use.slab};
}

uint64_t device_energy(struct dev *d)
{
    uint64_t millijoules;
    return d->ops->energy && d->ops->energy(d, &millijoules) ? millijoules : 0;
}

/* ---- which program this is ---- */

/* Adds what the linker wrote into the notes from `at` to `end`: a number made of all that it linked. */
static void add_build_id(const char *at, const char *end, struct buf *out)
{
    while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, at, sizeof note);
        const char *name = at + sizeof note, *text = name + (note.n_namesz + 3) / 4 * 4;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(name, "GNU", 4))
            buf_add(out, text, note.n_descsz);
        at = text + (note.n_descsz + 3) / 4 * 4;
    }
}

/* The first object is the program itself. */
static int visit(struct dl_phdr_info *object, size_t size, void *out)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[i];
        const char *start = (const char *)(uintptr_t)(object->dlpi_addr + h->p_vaddr);
        if (h->p_type == PT_NOTE && h->p_align <= 4)
            add_build_id(start, start + h->p_memsz, out);
    }
    return 1;
}

/* "cpu avx2, build 1a2b3c4d": replicas repeat each other's bits where this is the same. The build is the program as it
 * was linked and the version of the C library, whose functions round in their own ways. */
static void write_model(const struct dev *d, struct buf *out)
{
    struct buf what = {0};
    buf_printf(&what, "%s %s ", SHOAL_VERSION, gnu_get_libc_version());
    dl_iterate_phdr(visit, &what);
    buf_printf(out, "%s, build %08" PRIx32, d->model, (uint32_t)checksum(what.data, what.len));
    buf_free(&what);
}

json_t *device_hello(const struct dev *d, const char *name, unsigned slots, const struct room *room, uint64_t energy)
{
    struct buf model = {0};
    char limits[DEVICE_LIMITS];
    write_limits(&d->limits, limits);
    write_model(d, &model);
    json_t *hello = json_pack(
        "{s:s, s:i, s:s, s:s, s:i, s:i, s:s, s:s, s:{s:I, s:I, s:I, s:i, s:i}, s:I}", "type", "hello", "protocol",
        FRAMES_PROTOCOL, "device", name, "model", model.data, "slots", (int)slots, "pid", (int)getpid(), "version",
        SHOAL_VERSION, "limits", limits, "memory", "total", (json_int_t)room->total, "free", (json_int_t)room->free,
        "slab", (json_int_t)room->slab, "cards", room->cards, "joined", room->joined, "energy_mj", (json_int_t)energy);
    buf_free(&model);
    return hello;
}
