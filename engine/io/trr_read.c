/* SPDX-License-Identifier: Apache-2.0
 *
 * TRR (GROMACS manual, "File formats: trr"), big-endian XDR: a magic number, a version string, the sizes in bytes of
 * ten parts, the number of atoms, the step, a count of energies, time and lambda; then the parts that have a size. A
 * number has the width that the box's nine, or the atoms' three, leave it.
 */
#include "engine/io/trr_read.h"

#include <string.h>

enum { IR, E, BOX, VIRIAL, PRESSURE, TOPOLOGY, SYMBOLS, X, V, F, PARTS };
enum { STRING_MAX = 128 };

struct trr_reader {
    const unsigned char *data;
    size_t len, pos; /* pos beyond len: the data ended */
};

static int32_t trr_int(struct trr_reader *r)
{
    uint32_t u = 0;
    for (size_t i = r->pos; i < r->pos + 4; i++)
        u = u << 8 | (i < r->len ? r->data[i] : 0);
    r->pos += 4;
    return (int32_t)u;
}

static double number_at(const unsigned char *at, int width)
{
    uint64_t u = 0;
    double d;
    float f;
    for (int i = 0; i < width; i++)
        u = u << 8 | at[i];
    const uint32_t half = (uint32_t)u;
    if (width == 8)
        memcpy(&d, &u, sizeof d);
    else
        memcpy(&f, &half, sizeof f);
    return width == 8 ? d : f;
}

double trr_number(const struct trr_read *f, const unsigned char *part, size_t i)
{
    return number_at(part + i * (size_t)f->width, f->width);
}

/* 4 or 8; 0: sizes that fit no number. */
static int width_of(const int32_t size[PARTS], int natoms)
{
    const int64_t numbers = size[BOX] ? 9 : 3 * (int64_t)natoms;
    const int64_t bytes = size[BOX] ? size[BOX] : size[X] ? size[X] : size[V] ? size[V] : size[F];
    return bytes == 4 * numbers ? 4 : bytes == 8 * numbers ? 8 : 0;
}

/* Each part is absent or of its size. */
static int sizes_fit(const int32_t size[PARTS], int natoms, int width)
{
    static const int matrices[] = {BOX, VIRIAL, PRESSURE}, vectors[] = {X, V, F}, none[] = {IR, E, TOPOLOGY, SYMBOLS};
    int fit = 1;
    for (int i = 0; i < 3; i++)
        fit &= !size[matrices[i]] || size[matrices[i]] == 9 * width;
    for (int i = 0; i < 3; i++)
        fit &= !size[vectors[i]] || size[vectors[i]] == 3 * (int64_t)natoms * width;
    for (int i = 0; i < 4; i++)
        fit &= !size[none[i]];
    return fit;
}

/* False: it is no frame. */
static bool read_frame(struct trr_read *f, struct trr_reader *r)
{
    int32_t size[PARTS];
    if (trr_int(r) != TRR_MAGIC || trr_int(r) <= 0)
        return false;
    const int32_t string = trr_int(r);
    if (string < 0 || string > STRING_MAX)
        return false;
    r->pos += ((size_t)string + 3) / 4 * 4;
    for (int i = 0; i < PARTS; i++)
        size[i] = trr_int(r);
    f->natoms = trr_int(r);
    f->step = trr_int(r);
    trr_int(r);
    if (f->natoms <= 0 || !(f->width = width_of(size, f->natoms)) || !sizes_fit(size, f->natoms, f->width))
        return false;
    const size_t time = r->pos;
    r->pos += 2 * (size_t)f->width;
    const unsigned char **part[PARTS] = {[BOX] = &f->box, [X] = &f->x, [V] = &f->v};
    for (int i = 0; i < PARTS; i++) {
        if (part[i] && size[i])
            *part[i] = r->data + r->pos;
        r->pos += (size_t)size[i];
    }
    if (r->pos <= r->len)
        f->time = number_at(r->data + time, f->width);
    return r->pos <= r->len;
}

size_t trr_read_frame(struct trr_read *f, const unsigned char *data, size_t len)
{
    struct trr_reader r = {.data = data, .len = len};
    *f = (struct trr_read){0};
    const bool whole = read_frame(f, &r);
    f->cut = r.pos > len;
    return whole ? r.pos : 0;
}
