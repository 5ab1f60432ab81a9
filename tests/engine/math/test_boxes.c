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

/* The least length of x + whole edges, up to 4 of each. */
static double least(const double box[BOX_SIZE], const double x[3])
{
    long double edge[3][3], best = INFINITY;
    edges_of(box, edge);
    for (int a = -4; a <= 4; a++)
        for (int b = -4; b <= 4; b++)
            for (int c = -4; c <= 4; c++) {
                long double image[3];
                for (int d = 0; d < 3; d++)
                    image[d] = x[d] + a * edge[0][d] + b * edge[1][d] + c * edge[2][d];
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
        near(sqrt(vec_dot(moved, moved)), least(box, x), 1e-14);
        vec_sub(moved, x, x);
        box_apply(inverse, x, x);
        for (int d = 0; d < 3; d++)
            near(x[d], rint(x[d]), 1e-13); /* by whole edges */
    }
}

/* As skewed as boxes come: a - b + c is shorter than any edge. */
static const double steep[BOX_SIZE] = {2.4, 1.8, 1.2, 1.2, -1.188, 0.9};

/* The images next to one: the shortest is found. */
static void test_shortest_image(void **state)
{
    uint64_t random = 1;
    for (int n = 0; n < 2000; n++) {
        double f[3], d[3], least = INFINITY;
        for (int k = 0; k < 3; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            f[k] = 4.0 * (double)(random >> 40) / 16777216.0 - 2;
        }
        for (int k = 0; k < 11 * 11 * 11; k++) {
            const double g[3] = {f[0] + k / 121 - 5, f[1] + k / 11 % 11 - 5, f[2] + k % 11 - 5};
            box_apply(steep, g, d);
            least = fmin(least, vec_dot(d, d));
        }
        box_apply(steep, f, d);
        box_shortest(steep, d);
        assert_true(fabs(vec_dot(d, d) - least) < 1e-12);
    }
}

/* Half the shortest vector of a lattice, or what the diagonal allows; the shortest need not be an edge. */
static void test_cutoff_limit(void **state)
{
    uint64_t random = 1;
    uint32_t shorter = 0;
    for (int n = 0; n < 3000; n++) {
        double r[BOX_SIZE], least = INFINITY;
        for (int k = 0; k < BOX_SIZE; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            r[k] = (double)(random >> 40) / 16777216.0;
        }
        const double xx = 1 + r[0], yy = 1 + r[1], zz = 0.7 + r[2];
        const double box[BOX_SIZE] = {xx, yy, zz, (r[3] - 0.5) * xx, (r[4] - 0.5) * xx, (r[5] - 0.5) * yy};
        const double allowed = fmin(xx, fmin(yy - fabs(box[BOX_ZY]), zz));
        double edge[3];
        box_edges(box, edge);
        for (int k = 0; k < 7 * 7 * 7; k++) {
            double v[3] = {k / 49 - 3, k / 7 % 7 - 3, k % 7 - 3};
            box_apply(box, v, v);
            least = vec_dot(v, v) > 0 ? fmin(least, sqrt(vec_dot(v, v))) : least;
        }
        assert_true(fabs(box_cutoff_limit(box) - fmin(least / 2, allowed)) < 1e-12);
        shorter += least / 2 < fmin(allowed, fmin(edge[0], fmin(edge[1], edge[2])) / 2);
    }
    assert_in_range(shorter, 10, 100);
}

/* In flat boxes, half of what opposite faces are apart. */
static void test_gpu_cutoff_limit(void **state)
{
    int flat = 0;
    for (int k = 0; k < 20 * FORMULA_POINTS; k++) {
        double box[BOX_SIZE];
        box_of(k, box);
        box[BOX_ZZ] = 1 + formula_spread(k, 2);
        const double width = box_least_width(box), limit = box_cutoff_limit(box);
        near(box_gpu_cutoff_limit(box), width / limit < BOX_FLAT ? width / 2 : limit, 0);
        flat += width / limit < BOX_FLAT;
    }
    assert_in_range(flat, 20, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),        cmocka_unit_test(test_fractions),
        cmocka_unit_test(test_images),       cmocka_unit_test(test_shortest_image),
        cmocka_unit_test(test_cutoff_limit), cmocka_unit_test(test_gpu_cutoff_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
