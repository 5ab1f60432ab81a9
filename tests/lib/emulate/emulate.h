/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a CUDA kernel that was compiled by a C++ compiler (cuda.h), block after block.
 */
#ifndef SHOAL_TESTS_LIB_EMULATE_H
#define SHOAL_TESTS_LIB_EMULATE_H

#include "graphs/dev.h"

#ifdef __cplusplus
extern "C" {
#endif

/* GPUs that there are, by what launches on them may ask for. */
struct emulated_card {
    const char *name;
    struct dev_limits limits;
};
extern const struct emulated_card emulated_cards[]; /* the last has no name */
extern struct dev_limits emulated_limits;           /* of the card that was opened last */

/* Opens a CPU device as dev_open() does, that has the limits of the card; NULL: an H200. One card at a time in a
 * process: all that is launched is held against the last one. ERR_USAGE: there is no such card. */
int emulate_open(struct dev **out, const char *device, const char *card, struct kernel_table kernels, struct err *e);

/* Devices that are opened from here on say that a block may have `block` bytes of shared memory and that a
 * multiprocessor has `processor`, fewer than their card has; 0: as many. */
void emulate_shared(uint32_t block, uint32_t processor);

/* call(args) runs one thread of the kernel. Aborts where threads wait for each other in vain, where there are more than
 * `most` (0: 1024) in a block, and where the launch asks for more than the card has. */
void emulate_launch(const struct launch *launch, unsigned most, void (*call)(const void *args), const void *args);

#ifdef __cplusplus
}
#endif

#endif
