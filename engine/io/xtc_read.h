/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads XTC frames, one at a time.
 */
#ifndef SHOAL_ENGINE_IO_XTC_READ_H
#define SHOAL_ENGINE_IO_XTC_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/system/system.h"

enum { XTC_MAGIC = 1995, XTC_FEW = 9 /* atoms that are not packed, at most */ };

struct xtc_read {
    int natoms;
    int32_t step;
    float time, box[9];    /* ps; nm, three edge vectors */
    float precision;       /* of coordinates: so many steps a nm */
    int32_t (*grid)[3];    /* coordinates times `precision`; owned; NULL: they are in `few` */
    float few[XTC_FEW][3]; /* coordinates of few atoms, nm, not rounded */
    bool cut;
};

/* Returns the length of the frame, or 0 if it is not one, or not whole: f->cut then says whether that is as the data
 * end. */
size_t xtc_read_frame(struct xtc_read *f, const unsigned char *data, size_t len);

/* Its length by its head, without unpacking it; 0: as of xtc_read_frame. */
size_t xtc_length(const unsigned char *data, size_t len);

/* Its coordinates and box, nm; x: [natoms]. */
void xtc_place(const struct xtc_read *f, double (*x)[3], double box[BOX_SIZE]);

#endif
