/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads TRR frames, one at a time: positions and velocities in full precision.
 */
#ifndef SHOAL_ENGINE_IO_TRR_READ_H
#define SHOAL_ENGINE_IO_TRR_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where in a frame its parts begin; numbers are big-endian floats, or doubles. */
struct trr_read {
    int natoms;
    int32_t step;
    double time;                      /* ps */
    int width;                        /* bytes of a number */
    const unsigned char *box, *x, *v; /* into the data; NULL: it has none */
    bool cut;
};

enum { TRR_MAGIC = 1993 };

/* Returns the length of the frame, or 0 if it is not one, or not whole: f->cut then says whether that is as the data
 * end. */
size_t trr_read_frame(struct trr_read *f, const unsigned char *data, size_t len);
/* Number i of one of its parts. */
double trr_number(const struct trr_read *f, const unsigned char *part, size_t i);

#endif
