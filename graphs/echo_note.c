/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "graphs/echo.h"

void echo_note(const struct launch *l, const void *args)
{
    const struct args_head *head = args;
    struct echo_ring *ring = head->echo;
    if (!ring || !ring->on || l->kind != LAUNCH_KERNEL)
        return;
    struct echo_record r = {
        .bytes = ECHO_RECORD_BYTES(l->args_size), .kernel = l->kernel, .shared_bytes = l->shared_bytes};
    memcpy(r.grid, l->grid, sizeof r.grid);
    memcpy(r.block, l->block, sizeof r.block);
    memcpy(r.cluster, l->cluster, sizeof r.cluster);
    uint64_t at = ring->used;
    ring->used += r.bytes;
    if (ring->used > ring->capacity)
        return;
    memcpy(ring->records + at, &r, sizeof r);
    memcpy(ring->records + at + sizeof r, args, l->args_size);
}
