/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts what a device is asked for that its owner has to wait for, or to be given: of whoever drives it between two
 * moments, for tests. The device stays as it is.
 */
#ifndef SHOAL_TESTS_LIB_DEV_COUNT_H
#define SHOAL_TESTS_LIB_DEV_COUNT_H

#include <stdbool.h>

#include "graphs/dev.h"

struct dev_counts {
    unsigned calls;                        /* of any kind */
    unsigned copies, allocs, frees, lanes; /* that wait; memory asked for and given back; lanes made and taken down */
};

/* From now on, calls made while `counted` says so. One device at a time. */
void dev_count_begin(struct dev *d, bool (*counted)(void));
struct dev_counts dev_count_end(struct dev *d);
/* A call of the device is under way, on this thread. */
bool dev_count_inside(void);

#endif
