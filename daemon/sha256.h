/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 (FIPS 180-4), to tell whether two submissions have the same content.
 */
#ifndef SHOAL_DAEMON_SHA256_H
#define SHOAL_DAEMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t h[8];
    uint64_t bytes;
    uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
void sha256_hex(struct sha256 *s, char out[65]);

#endif
