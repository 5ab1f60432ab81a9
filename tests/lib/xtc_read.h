/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads one XTC frame, for tests of the writer.
 */
#ifndef SHOAL_TESTS_LIB_XTC_READ_H
#define SHOAL_TESTS_LIB_XTC_READ_H

#include <stddef.h>
#include <stdint.h>

struct xtc_read {
    int natoms;
    int32_t step;
    float time, box[9];
    int32_t (*grid)[3]; /* coordinates times 1000; owned */
};

/* Returns the length of the frame, or 0 if it is not one. */
size_t xtc_read_frame(struct xtc_read *f, const unsigned char *data, size_t len);

#endif
