/* SPDX-License-Identifier: Apache-2.0
 *
 * One checksum for everything that is kept or looked up: guards against damage, not against forgery.
 */
#ifndef SHOAL_ENGINE_BASE_CHECKSUM_H
#define SHOAL_ENGINE_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* In the manner of FNV-1a (Fowler, Noll, Vo), 64 bits, but over little-endian 64-bit words with a byte-wise tail, and
 * with every word folded so that the low bits are good. The same on every machine; stored in checkpoints. */
uint64_t checksum(const void *data, size_t len);

#endif
