/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a point above some faces of a region is from all that is below them, in random triclinic boxes: no more than
 * the least vector that a search finds, and no less where it is not the distance from one face.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/cuda/lists/halo.h"
#include "engine/math/vec.h"

enum { BOXES = 200, POINTS = 20, SWEEPS = 4000 };

static uint64_t state = 1;

/* from .. to */
static double uniform(double from, double to)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * (double)(state >> 11) / 9007199254740992.0;
}

/* As GROMACS takes boxes: no edge leans over more than half of another. */
static void random_box(double box[BOX_SIZE])
{
    const double x = uniform(3, 9), y = uniform(3, 9), z = uniform(3, 9);
    box[BOX_XX] = x, box[BOX_YY] = y, box[BOX_ZZ] = z;
    box[BOX_YX] = uniform(-0.5, 0.5) * x;
    box[BOX_ZX] = uniform(-0.5, 0.5) * x;
    box[BOX_ZY] = uniform(-0.5, 0.5) * y;
}

static double square_of(const double box[BOX_SIZE], const double f[3])
{
    double x[3];
    box_apply(box, f, x);
    return vec_dot(x, x);
}

/* The least square of a vector whose fractions along the edges of `faces` are at least `above`: one after the other is
 * set to its best. */
static double least_square(const double box[BOX_SIZE], uint32_t faces, const float above[3])
{
    double f[3] = {above[0], above[1], above[2]};
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int d = 0; d < 3; d++) {
            double at[3] = {f[0], f[1], f[2]};
            at[d] = -1;
            const double before = square_of(box, at);
            at[d] = 1;
            const double after = square_of(box, at);
            at[d] = 0;
            const double middle = square_of(box, at), curve = before + after - 2 * middle;
            f[d] = (before - after) / (2 * curve); /* of the parabola through them */
            if (faces >> d & 1)
                f[d] = fmax(f[d], above[d]);
        }
    return square_of(box, f);
}

static void test_halo(void **unused)
{
    (void)unused;
    double farthest = 0;
    for (int n = 0; n < BOXES; n++) {
        double box[BOX_SIZE], width[3];
        random_box(box);
        box_widths(box, width);
        const struct halo_edges edges = halo_edges_of(box);
        for (int k = 0; k < POINTS; k++) {
            const uint32_t faces = 1 + (uint32_t)uniform(0, 7);
            float above[3];
            double one = 0; /* the farthest from a single face */
            for (int d = 0; d < 3; d++) {
                above[d] = faces >> d & 1 ? (float)uniform(1e-4, 0.4) : 0;
                one = fmax(one, above[d] * width[d]);
            }
            const double least = least_square(box, faces, above), told = halo_square(&edges, above);
            assert_true(told <= least * (1 + 1e-5));
            assert_true(fmax(told, one * one) >= least * (1 - 1e-4));
            farthest = fmax(farthest, told / (one * one));
        }
    }
    assert_true(farthest > 2); /* it tells more than single faces do */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_halo)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
