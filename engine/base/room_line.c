/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/room_line.h"

#include "engine/base/number.h"

void room_line(struct buf *out, const char *device, double memory, long long replicas, double replica)
{
    buf_printf(out, "%s (", device);
    number_bytes(out, memory);
    buf_printf(out, "): %lld %s of ", replicas, number_word(replicas, "replica", "replicas"));
    number_bytes(out, replica);
    buf_printf(out, replicas == 1 ? " fits" : " fit");
}
