/* SPDX-License-Identifier: Apache-2.0
 *
 * Written from the description at the head of engine/io/xtc_write.c, apart from the writer: it follows what the bits
 * say.
 */
#include "engine/io/xtc_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_FIRST = 9, WINDOW_LAST = 72 };

struct xtc_reader {
    const unsigned char *data;
    size_t len, pos; /* bytes */
    int bit;         /* next bit of data[pos], 0 the highest */
    int bad, cut;    /* cut: as the data ended, and bad for that */
};

static int32_t xtc_int(struct xtc_reader *r)
{
    if (r->pos + 4 > r->len) {
        r->cut |= !r->bad;
        r->bad = 1;
        return 0;
    }
    const unsigned char *p = r->data + r->pos;
    r->pos += 4;
    return (int32_t)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]);
}

static float get_float(struct xtc_reader *r)
{
    int32_t i = xtc_int(r);
    float f;
    memcpy(&f, &i, sizeof f);
    return f;
}

static uint32_t get_bits(struct xtc_reader *r, int n)
{
    uint32_t v = 0;
    for (int i = 0; i < n; i++) {
        if (r->pos >= r->len) {
            r->cut |= !r->bad;
            r->bad = 1;
            return 0;
        }
        v = v << 1 | (r->data[r->pos] >> (7 - r->bit) & 1);
        if (++r->bit == 8) {
            r->bit = 0;
            r->pos++;
        }
    }
    return v;
}

/* The window of index i: three numbers below it take i bits. These exceptions are the format's. */
static uint32_t window(int i)
{
    switch (i) {
    case 37:
        return 5060;
    case 57:
        return 524287;
    case 69:
        return 8388607;
    default:
        return (uint32_t)floor(exp2(i / 3.0) + 1e-6);
    }
}

static void get_three(struct xtc_reader *r, int bits, const uint32_t size[3], uint32_t out[3])
{
    unsigned __int128 v = 0;
    int shift = 0;
    for (; bits >= 8; bits -= 8, shift += 8)
        v |= (unsigned __int128)get_bits(r, 8) << shift;
    v |= (unsigned __int128)get_bits(r, bits) << shift;
    out[2] = (uint32_t)(v % size[2]);
    v /= size[2];
    out[1] = (uint32_t)(v % size[1]);
    out[0] = (uint32_t)(v / size[1]);
    r->bad |= out[0] >= size[0];
}

static int bits_of(unsigned __int128 v)
{
    int n = 0;
    for (; v; v >>= 1)
        n++;
    return n;
}

static void get_packed(struct xtc_reader *r, struct xtc_read *f)
{
    int32_t low[3], high[3];
    uint32_t size[3], v[3];
    int wide = 0, run = 0;
    f->precision = get_float(r);
    r->bad |= !(f->precision > 0) || !isfinite(f->precision);
    for (int d = 0; d < 3; d++)
        low[d] = xtc_int(r);
    for (int d = 0; d < 3; d++) {
        high[d] = xtc_int(r);
        size[d] = (uint32_t)high[d] - (uint32_t)low[d] + 1;
        r->bad |= size[d] == 0;
        wide |= size[d] > 0xffffff;
    }
    int joint = wide ? 0 : bits_of((unsigned __int128)size[0] * size[1] * size[2]);
    int index = xtc_int(r);
    size_t bytes = (size_t)xtc_int(r), start = r->pos;
    for (int i = 0; i < f->natoms && !r->bad;) {
        int32_t at[3];
        if (joint)
            get_three(r, joint, size, v);
        for (int d = 0; d < 3; d++)
            at[d] = (int32_t)((joint ? v[d] : get_bits(r, bits_of(size[d]))) + (uint32_t)low[d]);
        int step = 0;
        if (get_bits(r, 1)) {
            int code = (int)get_bits(r, 5);
            run = code / 3;
            step = code % 3 - 1;
        }
        r->bad |= i + run >= f->natoms;
        r->bad |= index < WINDOW_FIRST || index > WINDOW_LAST;
        uint32_t w = r->bad ? 1 : window(index), three[3] = {w, w, w};
        for (int k = 0; k < run && !r->bad; k++) {
            int32_t next[3];
            get_three(r, index, three, v);
            for (int d = 0; d < 3; d++)
                next[d] = (int32_t)((uint32_t)at[d] + v[d] - w / 2);
            if (k == 0) { /* the first two have changed places */
                memcpy(f->grid[i], next, sizeof next);
                memcpy(f->grid[i + 1], at, sizeof at);
            } else {
                memcpy(f->grid[i + k + 1], next, sizeof next);
            }
            memcpy(at, next, sizeof at);
        }
        if (run == 0)
            memcpy(f->grid[i], at, sizeof at);
        i += run + 1;
        index += step;
    }
    size_t used = r->pos + (r->bit != 0) - start;
    r->bad |= used != bytes;
    r->pos = start + (bytes + 3) / 4 * 4;
    r->cut |= !r->bad && r->pos > r->len;
    r->bad |= r->cut;
}

#define FEW_MOST 2e6f /* nm, as far as packed ones go with three decimals */

size_t xtc_read_frame(struct xtc_read *f, const unsigned char *data, size_t len)
{
    struct xtc_reader r = {.data = data, .len = len};
    r.bad |= xtc_int(&r) != XTC_MAGIC;
    f->natoms = xtc_int(&r);
    f->step = xtc_int(&r);
    f->time = get_float(&r);
    for (int i = 0; i < 9; i++)
        f->box[i] = get_float(&r);
    r.bad |= xtc_int(&r) != f->natoms;
    f->cut = r.cut || (!r.bad && f->natoms > 0 && (size_t)f->natoms > 8 * len);
    if (r.bad || f->natoms <= 0 || f->cut)
        return 0;
    if (f->natoms > XTC_FEW) {
        f->grid = calloc((size_t)f->natoms, sizeof *f->grid);
        if (!f->grid)
            return 0;
        get_packed(&r, f);
    } else {
        for (int i = 0; i < f->natoms; i++)
            for (int d = 0; d < 3; d++) {
                f->few[i][d] = get_float(&r);
                r.bad |= !(fabsf(f->few[i][d]) < FEW_MOST);
            }
    }
    if (!r.bad)
        return r.pos;
    free(f->grid);
    f->grid = NULL;
    f->cut = r.cut;
    return 0;
}

size_t xtc_length(const unsigned char *data, size_t len)
{
    enum { AGAIN = 52, FEW_AT = 56, BYTES_AT = 88, PACKED_AT = 92 }; /* where the head has what */
    struct xtc_reader r = {.data = data, .len = len};
    r.bad |= xtc_int(&r) != XTC_MAGIC;
    const int32_t natoms = xtc_int(&r);
    r.pos = AGAIN;
    r.bad |= xtc_int(&r) != natoms || natoms <= 0;
    size_t length = FEW_AT + 3 * sizeof(float) * (size_t)(r.bad ? 0 : natoms);
    if (!r.bad && natoms > XTC_FEW) {
        r.pos = BYTES_AT;
        const int32_t bytes = xtc_int(&r);
        r.bad |= bytes < 0;
        length = PACKED_AT + ((size_t)bytes + 3) / 4 * 4;
    }
    return r.bad || length > len ? 0 : length;
}

void xtc_place(const struct xtc_read *f, double (*x)[3], double box[BOX_SIZE])
{
    static const int at[BOX_SIZE] = {
        [BOX_XX] = 0, [BOX_YY] = 4, [BOX_ZZ] = 8, [BOX_YX] = 3, [BOX_ZX] = 6, [BOX_ZY] = 7};
    for (int i = 0; i < BOX_SIZE; i++)
        box[i] = f->box[at[i]];
    const double step = f->grid ? 1 / (double)f->precision : 0;
    for (int i = 0; i < f->natoms; i++)
        for (int d = 0; d < 3; d++)
            x[i][d] = f->grid ? step * f->grid[i][d] : (double)f->few[i][d];
}
