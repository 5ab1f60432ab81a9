/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/checksum.h"

#include <endian.h>
#include <string.h>

static const uint64_t prime = UINT64_C(0x100000001b3);

uint64_t checksum(const void *data, size_t len)
{
    const unsigned char *p = data;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t word;
        memcpy(&word, p + i, 8);
        h = (h ^ le64toh(word)) * prime;
        h ^= h >> 32;
    }
    for (; i < len; i++)
        h = (h ^ p[i]) * prime;
    return h ^ (h >> 29);
}
