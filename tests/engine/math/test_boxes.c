/* SPDX-License-Identifier: Apache-2.0
 *
 * Periodic boxes: against edge vectors, faces and all images, searched.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/math/box.h"
#include "tests/lib/formulas.h"
#include "tests/lib/near.h"
#include "tests/lib/places.h"

/* The k-th box: every third rectangular, the others slanted as far as GROMACS allows, by half an edge. */
static void box_of(int k, double box[BOX_SIZE])
{
    const double slant = k % 3 ? 1 : 0;
    box[BOX_XX] = 3 + formula_noise(k, 0, 0.5);
    box[BOX_YY] = 3 + formula_noise(k, 1, 0.5);
    box[BOX_ZZ] = 3 + formula_noise(k, 2, 0.5);
    box[BOX_YX] = slant * formula_noise(k, 3, 0.5) * box[BOX_XX];
    box[BOX_ZX] = slant * formula_noise(k, 4, 0.5) * box[BOX_XX];
    box[BOX_ZY] = slant * formula_noise(k, 5, 0.5) * box[BOX_YY];
}

static void edges_of(const double box[BOX_SIZE], long double edge[3][3])
{
    const double all[3][3] = {
        {box[BOX_XX], 0, 0}, {box[BOX_YX], box[BOX_YY], 0}, {box[BOX_ZX], box[BOX_ZY], box[BOX_ZZ]}};
    for (int i = 0; i < 9; i++)
        edge[i / 3][i % 3] = all[i / 3][i % 3];
}

static void test_shape(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++) {
        double box[BOX_SIZE], lengths[3], widths[3];
        long double edge[3][3], normal[3];
        box_of(k, box);
        edges_of(box, edge);
        place_cross(edge[0], edge[1], normal);
        const long double volume = place_dot(normal, edge[2]);
        near(box_volume(box), (double)volume, 1e-13);
        assert_int_equal(box_triclinic(box), k % 3 != 0);
        box_edges(box, lengths);
        box_widths(box, widths);
        for (int d = 0; d < 3; d++) {
            place_cross(edge[(d + 1) % 3], edge[(d + 2) % 3], normal);
            near(lengths[d], (double)place_length(edge[d]), 1e-14);
            near(widths[d], (double)(volume / place_length(normal)), 1e-14);
        }
        near(box_least_width(box), fmin(fmin(widths[0], widths[1]), widths[2]), 0);
    }
}

/* Points from fractions, and back; a gradient of f(fractions) is what f changes by as the point moves. */
static void test_fractions(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const double f[3] = {formula_noise(k, 6, 2), formula_noise(k, 7, 2), formula_noise(k, 8, 2)},
                     g[3] = {k % 5 - 2.0, k % 7 - 3.0, 1.3};
        double box[BOX_SIZE], inverse[BOX_SIZE], x[3], back[3], wave[3];
        long double edge[3][3];
        box_of(k, box);
        edges_of(box, edge);
        box_invert(box, inverse);
        box_apply(box, f, x);
        box_apply(inverse, x, back);
        box_gradient(inverse, g, wave);
        for (int d = 0; d < 3; d++) {
            near(x[d], (double)(f[0] * edge[0][d] + f[1] * edge[1][d] + f[2] * edge[2][d]), 1e-14);
            near(back[d], f[d], 1e-14);
            long double along = 0; /* by one fraction more, that is an edge */
            for (int axis = 0; axis < 3; axis++)
                along += wave[axis] * edge[d][axis];
            near((double)along, g[d], 1e-14);
        }
    }
}

/* The least length of x + whole edges, up to `reach` of each; other than x: without none of them. */
static double least(const double box[BOX_SIZE], const double x[3], int reach, bool other)
{
    long double edge[3][3], best = INFINITY;
    edges_of(box, edge);
    for (int a = -reach; a <= reach; a++)
        for (int b = -reach; b <= reach; b++)
            for (int c = -reach; c <= reach; c++) {
                long double image[3];
                for (int d = 0; d < 3; d++)
                    image[d] = x[d] + a * edge[0][d] + b * edge[1][d] + c * edge[2][d];
                if (!other || a || b || c)
                    best = fminl(best, place_length(image));
            }
    return (double)best;
}

static void test_images(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++) {
        double box[BOX_SIZE], inverse[BOX_SIZE],
            x[3] = {formula_noise(k, 6, 5), formula_noise(k, 7, 5), formula_noise(k, 8, 5)}, moved[3];
        box_of(k, box);
        box_invert(box, inverse);
        memcpy(moved, x, sizeof x);
        box_shortest(box, moved);
        near(sqrt(vec_dot(moved, moved)), least(box, x, 4, false), 1e-14);
        vec_sub(moved, x, x);
        box_apply(inverse, x, x);
        for (int d = 0; d < 3; d++)
            near(x[d], rint(x[d]), 1e-13); /* by whole edges */
    }
}

static void test_cutoffs(void **state)
{
    static const double here[3] = {0, 0, 0};
    for (int k = 0; k < FORMULA_POINTS; k++) {
        double box[BOX_SIZE];
        box_of(k, box);
        const double gromacs = fmin(box[BOX_XX], fmin(box[BOX_YY] - fabs(box[BOX_ZY]), box[BOX_ZZ]));
        near(box_cutoff_limit(box), fmin(gromacs, least(box, here, 3, true) / 2), 1e-14);
        assert_true(box_gpu_cutoff_limit(box) <= box_cutoff_limit(box));
        assert_true(box_gpu_cutoff_limit(box) >= box_least_width(box) / 2 * (1 - 1e-12));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_fractions),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_cutoffs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
