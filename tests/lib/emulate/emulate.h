/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a CUDA kernel that was compiled by a C++ compiler (cuda.h), block after block.
 */
#ifndef SHOAL_TESTS_LIB_EMULATE_H
#define SHOAL_TESTS_LIB_EMULATE_H

#include "graphs/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* call(args) runs one thread of the kernel. Aborts where threads wait for each other in vain, and where there are more than
 * `most` (0: 1024) in a block. */
void emulate_launch(const struct launch *launch, unsigned most, void (*call)(const void *args), const void *args);

#ifdef __cplusplus
}
#endif

#endif
