/* SPDX-License-Identifier: Apache-2.0
 *
 * Digests of memory, a chunk at a time, that any number of threads make in any order: each word is mixed with its
 * place, and what comes of it is added up. Mixing is one to one, so one word that has changed, wherever and however,
 * gives another digest for certain; words that have changed together, or places, all but once in 2^64 times.
 */
#ifndef SHOAL_ENGINE_MATH_DIGEST_H
#define SHOAL_ENGINE_MATH_DIGEST_H

#include <stdint.h>

#include "engine/math/fn.h"

enum { DIGEST_WORDS = 512 }; /* of 8 bytes, in a chunk; the last one may have fewer */

MATH_FN uint64_t digest_chunks(uint64_t words)
{
    return (words + DIGEST_WORDS - 1) / DIGEST_WORDS;
}

/* place: of the word in the whole memory. The finalizer of splitmix64 (Steele, Lea, Flood 2014,
 * doi 10.1145/2660193.2660195). */
MATH_FN uint64_t digest_word(uint64_t word, uint64_t place)
{
    uint64_t z = word + (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* What one thread of `threads` adds to the digest of a chunk. */
MATH_FN uint64_t digest_part(const uint64_t *words, uint64_t count, uint64_t chunk, uint32_t thread, uint32_t threads)
{
    const uint64_t first = chunk * DIGEST_WORDS, end = first + DIGEST_WORDS < count ? first + DIGEST_WORDS : count;
    uint64_t sum = 0;
    for (uint64_t i = first + thread; i < end; i += threads)
        sum += digest_word(words[i], i);
    return sum;
}

#endif
