/* SPDX-License-Identifier: Apache-2.0
 *
 * XTC frames (GROMACS manual, "File formats: xtc", and the description of its 3dfcoord compression): big-endian XDR; a
 * header, the box, then coordinates rounded to 1/precision and packed.
 *
 * Packing. Coordinates become whole numbers and are offset by their smallest values. Atoms are packed in groups: the
 * first one in full, then up to eight as differences to their predecessor, each component within a window of magic[i]
 * numbers, so that three of them take i bits. In a group with differences the first two atoms change places (a water is
 * then packed as hydrogen, oxygen - hydrogen, hydrogen - oxygen). One bit per group says whether the number of
 * differences or the window changes; if so, five bits give 3 * differences + step + 1, where step (-1, 0, 1) moves i
 * after the group.
 *
 * Three numbers below s0, s1, s2 are packed together as (n0 * s1 + n1) * s2 + n2, in the bits of s0 * s1 * s2, lowest
 * byte first. Which groups and steps are chosen is the writer's affair; any reader follows.
 */
#include "engine/io/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    XTC_MAGIC = 1995,
    UNPACKED_MAX = 9, /* so many atoms are written as plain numbers */
    FIRST_WINDOW = 9, /* smallest usable index into magic */
    RUN_MAX = 8,
    WINDOW_STEPS = 8,    /* a frame moves its window by no more than this */
    JOINT_MAX = 0xffffff /* larger extents are packed one by one */
};
static const double precision = 1000;
static const double coordinate_max = 1e9; /* keeps extents within 32 bits, 1e6 nm */

/* Part of the format: the largest window of which three fit into i bits (with the format's own rounding of some). */
static const int magic[] = {0,        0,        0,       0,       0,       0,       0,       0,       0,       8,
                            10,       12,       16,      20,      25,      32,      40,      50,      64,      80,
                            101,      128,      161,     203,     256,     322,     406,     512,     645,     812,
                            1024,     1290,     1625,    2048,    2580,    3250,    4096,    5060,    6501,    8192,
                            10321,    13003,    16384,   20642,   26007,   32768,   41285,   52015,   65536,   82570,
                            104031,   131072,   165140,  208063,  262144,  330280,  416127,  524287,  660561,  832255,
                            1048576,  1321122,  1664510, 2097152, 2642245, 3329021, 4194304, 5284491, 6658042, 8388607,
                            10568983, 13316085, 16777216};
enum { WINDOWS = sizeof magic / sizeof *magic };

static void put_int(struct buf *out, int32_t value)
{
    uint32_t u = (uint32_t)value;
    unsigned char bytes[4] = {(unsigned char)(u >> 24), (unsigned char)(u >> 16), (unsigned char)(u >> 8),
                              (unsigned char)u};
    buf_add(out, bytes, sizeof bytes);
}

static void put_float(struct buf *out, double value)
{
    float f = (float)value;
    int32_t i;
    memcpy(&i, &f, sizeof i);
    put_int(out, i);
}

/* Bits, the most significant first. */
struct bits {
    struct buf *out;
    unsigned pending; /* the low `count` bits are still to be written, fewer than 8 */
    int count;
};

static void put_bits(struct bits *b, unsigned value, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        b->pending = b->pending << 1 | (value >> i & 1);
        if (++b->count == 8) {
            unsigned char byte = (unsigned char)b->pending;
            buf_add(b->out, &byte, 1);
            b->pending = 0;
            b->count = 0;
        }
    }
}

static int packed_bits(unsigned __int128 value)
{
    int n = 0;
    for (; value; value >>= 1)
        n++;
    return n;
}

/* Three numbers below the sizes, in n bits together. */
static void put_three(struct bits *b, int n, const unsigned size[3], const unsigned value[3])
{
    unsigned __int128 v = ((unsigned __int128)value[0] * size[1] + value[1]) * size[2] + value[2];
    for (; n >= 8; n -= 8, v >>= 8)
        put_bits(b, (unsigned)(v & 0xff), 8);
    put_bits(b, (unsigned)v, n);
}

struct packer {
    struct bits bits;
    int n;
    int32_t (*x)[3];
    int32_t low[3];
    unsigned size[3];
    int joint_bits; /* of one atom in full; 0: component by component */
    int window;     /* index into magic */
    int window_max, window_min;
    int run; /* differences of the previous group */
};

static bool within(const int32_t *a, const int32_t *b, int limit)
{
    for (int d = 0; d < 3; d++)
        if (llabs((long long)a[d] - b[d]) >= limit)
            return false;
    return true;
}

static void put_full(struct packer *p, const int32_t *x)
{
    unsigned value[3];
    for (int d = 0; d < 3; d++)
        value[d] = (unsigned)x[d] - (unsigned)p->low[d];
    if (p->joint_bits) {
        put_three(&p->bits, p->joint_bits, p->size, value);
        return;
    }
    for (int d = 0; d < 3; d++)
        put_bits(&p->bits, value[d], packed_bits(p->size[d]));
}

/* Number of atoms after i that follow as differences; exchanges the first two if there are any. */
static int find_run(struct packer *p, int i)
{
    int half = magic[p->window] / 2, run = 0;
    if (i + 1 == p->n || !within(p->x[i], p->x[i + 1], half))
        return 0;
    for (int d = 0; d < 3; d++) {
        int32_t first = p->x[i][d];
        p->x[i][d] = p->x[i + 1][d];
        p->x[i + 1][d] = first;
    }
    do
        run++;
    while (run < RUN_MAX && i + run + 1 < p->n && within(p->x[i + run], p->x[i + run + 1], half));
    return run;
}

/* A wider window would have held this atom too; or all differences fit into a narrower one. */
static int find_step(const struct packer *p, int i, int run, const int32_t *before)
{
    if (before && p->window < p->window_max && within(before, p->x[i], magic[p->window_max] / 2))
        return 1;
    if (run == 0 || p->window == p->window_min)
        return 0;
    for (int k = 0; k < run; k++)
        if (!within(p->x[i + k], p->x[i + k + 1], magic[p->window - 1] / 2))
            return 0;
    return -1;
}

/* One group from atom i on; returns how many atoms it holds. */
static int put_group(struct packer *p, int i, const int32_t *before)
{
    unsigned small = (unsigned)magic[p->window], size[3] = {small, small, small};
    int run = find_run(p, i), step = find_step(p, i, run, before);
    put_full(p, p->x[i]);
    bool changed = run != p->run || step != 0;
    put_bits(&p->bits, changed, 1);
    if (changed)
        put_bits(&p->bits, (unsigned)(3 * run + step + 1), 5);
    for (int k = 0; k < run; k++) {
        unsigned value[3];
        for (int d = 0; d < 3; d++)
            value[d] = (unsigned)(p->x[i + k + 1][d] - p->x[i + k][d] + (int32_t)(small / 2));
        put_three(&p->bits, p->window, size, value);
    }
    p->run = run;
    p->window += step;
    return run + 1;
}

static void round_all(struct packer *p, const double (*x)[3])
{
    for (int i = 0; i < p->n; i++)
        for (int d = 0; d < 3; d++)
            p->x[i][d] = (int32_t)lrint(fmax(-coordinate_max, fmin(coordinate_max, x[i][d] * precision)));
}

/* Extents, and the first window: the narrowest that holds the closest neighbours. */
static void measure_bits(struct packer *p)
{
    long long closest = INT32_MAX, high[3];
    for (int d = 0; d < 3; d++)
        p->low[d] = (int32_t)(high[d] = p->x[0][d]);
    for (int i = 1; i < p->n; i++) {
        long long distance = 0;
        for (int d = 0; d < 3; d++) {
            p->low[d] = p->x[i][d] < p->low[d] ? p->x[i][d] : p->low[d];
            high[d] = p->x[i][d] > high[d] ? p->x[i][d] : high[d];
            distance += llabs((long long)p->x[i][d] - p->x[i - 1][d]);
        }
        closest = distance < closest ? distance : closest;
    }
    bool joint = true;
    for (int d = 0; d < 3; d++) {
        p->size[d] = (unsigned)(high[d] - p->low[d] + 1);
        joint = joint && p->size[d] <= JOINT_MAX;
    }
    p->joint_bits = joint ? packed_bits((unsigned __int128)p->size[0] * p->size[1] * p->size[2]) : 0;
    p->window = FIRST_WINDOW;
    while (p->window < WINDOWS - 1 && magic[p->window] < closest)
        p->window++;
    p->window_max = p->window + WINDOW_STEPS < WINDOWS ? p->window + WINDOW_STEPS : WINDOWS - 1;
    p->window_min = p->window_max - WINDOW_STEPS;
}

static void put_packed(struct buf *out, int n, const double (*x)[3])
{
    struct buf data = {0};
    struct packer p = {.bits = {.out = &data}, .n = n, .x = xcalloc((size_t)n, sizeof *p.x), .run = -1};
    round_all(&p, x);
    measure_bits(&p);
    put_float(out, precision);
    for (int d = 0; d < 3; d++)
        put_int(out, p.low[d]);
    for (int d = 0; d < 3; d++)
        put_int(out, (int32_t)((int64_t)p.low[d] + p.size[d] - 1));
    put_int(out, p.window);
    for (int i = 0; i < n;)
        i += put_group(&p, i, i ? p.x[i - 1] : NULL);
    if (p.bits.count)
        put_bits(&p.bits, 0, 8 - p.bits.count);
    put_int(out, (int32_t)data.len);
    buf_add(out, data.data, data.len);
    buf_add(out, "\0\0\0", (4 - data.len % 4) % 4);
    buf_free(&data);
    free(p.x);
}

void xtc_frame(struct buf *out, int natoms, const double (*x)[3], const double box[BOX_SIZE], uint64_t step,
               double time)
{
    const double rows[9] = {box[BOX_XX], 0, 0, box[BOX_YX], box[BOX_YY], 0, box[BOX_ZX], box[BOX_ZY], box[BOX_ZZ]};
    put_int(out, XTC_MAGIC);
    put_int(out, natoms);
    put_int(out, (int32_t)(step & INT32_MAX));
    put_float(out, time);
    for (int i = 0; i < 9; i++)
        put_float(out, rows[i]);
    put_int(out, natoms);
    if (natoms > UNPACKED_MAX) {
        put_packed(out, natoms, x);
        return;
    }
    for (int i = 0; i < natoms; i++)
        for (int d = 0; d < 3; d++)
            put_float(out, x[i][d]);
}
