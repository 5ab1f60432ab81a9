/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/water_shapes.h"

#include <stdbool.h>
#include <stdlib.h>

#include "engine/base/mem.h"

static bool constant_masses(const struct rigid_water *w, const double (*mass)[2])
{
    for (int k = 0; k < 3; k++)
        if (mass[w->atom[k]][0] != mass[w->atom[k]][1])
            return false;
    return true;
}

/* For single precision. */
static bool small(const struct rigid_water *w)
{
    return w->r_oh < WATER_SIDE_MOST && w->r_hh < WATER_SIDE_MOST;
}

static bool alike(const struct rigid_water *a, const struct rigid_water *b, const double (*mass)[2])
{
    return a->r_oh == b->r_oh && a->r_hh == b->r_hh && mass[a->atom[0]][0] == mass[b->atom[0]][0] &&
           mass[a->atom[1]][0] == mass[b->atom[1]][0];
}

struct water_shape *water_shapes(struct rigid_water *waters, int nwaters, const double (*mass)[2], uint32_t *count)
{
    struct water_shape *shapes = NULL;
    const struct rigid_water **first = xcalloc((size_t)nwaters + 1, sizeof *first); /* of each shape */
    *count = 0;
    for (int i = 0; i < nwaters; i++) {
        struct rigid_water *w = &waters[i];
        uint32_t k = 0;
        if (!constant_masses(w, mass) || !small(w)) {
            free(shapes);
            shapes = NULL, *count = 0;
            break;
        }
        while (k < *count && !alike(w, first[k], mass))
            k++;
        if (k == *count) {
            shapes = xrealloc(shapes, ++*count, sizeof *shapes);
            shapes[k] = water_shape_of(w->r_oh, w->r_hh, mass[w->atom[0]][0], mass[w->atom[1]][0]);
            first[k] = w;
        }
        w->shape = k;
    }
    free(first);
    return shapes;
}
