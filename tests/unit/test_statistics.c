/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/statistics/compare.h"
#include "client/statistics/network.h"

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * (1 + fabs(b))))
        fail_msg("%.15g is not %.15g", a, b);
}

/* ---- networks ---- */

/* Three edges of one error around a triangle share what does not close; each node has 2/9 of the variance of an edge. */
static void test_triangle(void **state)
{
    const struct measured m[] = {{0, 1, 1.0, 0.3}, {1, 2, 2.0, 0.3}, {0, 2, 3.6, 0.3}};
    struct network net;
    network_solve(&net, 3, m, 3);
    assert_int_equal(net.parts, 1);
    assert_near(net.value[1] - net.value[0], 1.2);
    assert_near(net.value[2] - net.value[1], 2.2);
    assert_near(net.value[0] + net.value[1] + net.value[2], 0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_near(net.covariance[3 * i + j], i == j ? 0.02 : -0.01);
    network_free(&net);
}

/* Two edges between the same pair count by their weights; errors of a chain add in quadrature. */
static void test_weights(void **state)
{
    const struct measured m[] = {{0, 1, 1.0, 0.1}, {1, 0, -4.0, 0.2}, {1, 2, 0.5, 0.3}, {2, 3, NAN, 0.3}, {3, 2, 1, 0}};
    struct network net;
    network_solve(&net, 4, m, 5);
    const double *c = net.covariance;
    assert_near(net.value[1] - net.value[0], (1.0 * 100 + 4.0 * 25) / 125);
    assert_near(c[0] + c[5] - 2 * c[1], 1.0 / 125);
    assert_near(c[0] + c[10] - 2 * c[2], 1.0 / 125 + 0.09);
    assert_true(isnan(net.value[3]));
    assert_int_equal(net.part[3], -1);
    network_free(&net);
}

/* A part that has a zero of its own, and one that has none. */
static void test_anchors_and_parts(void **state)
{
    const struct measured m[] = {{0, 1, 1.0, 0.4}, {0, -1, -2.0, 0.3}, {2, 3, 5.0, 0.1}};
    struct network net;
    network_solve(&net, 4, m, 3);
    assert_int_equal(net.parts, 2);
    assert_true(net.anchored[0] && net.anchored[1] && !net.anchored[2]);
    assert_near(net.value[0], -2);
    assert_near(net.value[1], -1);
    assert_near(net.covariance[0], 0.09);
    assert_near(net.covariance[5], 0.25);
    assert_near(net.covariance[1], 0.09);
    assert_near(net.value[2], -2.5);
    assert_near(net.covariance[2 * 4 + 2], 0.0025);
    assert_near(net.covariance[0 * 4 + 2], 0);
    network_free(&net);
}

static double around(const struct loop *l, const struct measured *m, const double *value)
{
    double sum = 0;
    for (int k = 0; k < l->length; k++)
        sum += l->signs[k] * (value[m[l->edges[k]].j] - value[m[l->edges[k]].i]);
    return sum;
}

/* As many as are independent, every one closed, the short ones found; of values without errors all close at 0. */
static void test_loops(void **state)
{
    const double value[] = {0.3, -1.7, 2.2, 5.1, -0.4, 9};
    static const int ends[][2] = {{0, 1}, {2, 1}, {2, 3}, {3, 0}, {0, 2}, {4, 5}, {5, 4}, {1, 3}};
    enum { EDGES = sizeof ends / sizeof *ends };
    struct measured m[EDGES];
    struct loop *loops;
    for (int k = 0; k < EDGES; k++) {
        const int *e = ends[k];
        m[k] = (struct measured){e[0], e[1], value[e[1]] - value[e[0]], 0.5};
    }
    m[7].value += 0.25;
    int n = network_loops(6, m, EDGES, &loops);
    assert_int_equal(n, EDGES - 6 + 2);
    static const int lengths[] = {4, 3, 2, 3};
    for (int i = 0; i < n; i++) {
        assert_int_equal(loops[i].length, lengths[i]);
        assert_near(around(&loops[i], m, value), 0);
        assert_near(fabs(loops[i].closure), i == 3 ? 0.25 : 0);
        assert_near(loops[i].error, 0.5 * sqrt(lengths[i]));
    }
    loops_free(loops, n);
}

/* ---- comparisons ---- */

static int sign(double x)
{
    return (x > 0) - (x < 0);
}

/* By its definition, over all pairs. */
static double tau_of_pairs(const double *a, const double *b, int n)
{
    double sum = 0, in_a = 0, in_b = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            sum += sign(a[i] - a[j]) * sign(b[i] - b[j]);
            in_a += a[i] != a[j];
            in_b += b[i] != b[j];
        }
    return sum / sqrt(in_a * in_b);
}

static void test_kendall(void **state)
{
    enum { MOST = 60 };
    double a[MOST], b[MOST];
    srandom(7);
    for (int round = 0; round < 500; round++) {
        int n = 2 + (int)(random() % (MOST - 2)), levels = 2 + (int)(random() % 40);
        for (int i = 0; i < n; i++) {
            a[i] = (double)(random() % levels);
            b[i] = (double)(random() % levels);
        }
        double wanted = tau_of_pairs(a, b, n);
        if (isnan(wanted))
            assert_true(isnan(kendall(a, b, n)));
        else
            assert_near(kendall(a, b, n), wanted);
    }
}

static void test_compare(void **state)
{
    const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1.5, 1.5, 3.5, 3.5, 6, 7};
    struct comparison c = compare(a, b, 6), again = compare(a, b, 6);
    assert_int_equal(c.pairs, 6);
    assert_near(c.rmse.value, sqrt((4 * 0.25 + 2) / 6));
    assert_near(c.mue.value, 4.0 / 6);
    assert_near(c.tau.value, 13 / sqrt(15 * 13));
    const struct measure *all[] = {&c.rmse, &c.mue, &c.tau}, *twice[] = {&again.rmse, &again.mue, &again.tau};
    for (int i = 0; i < 3; i++) {
        assert_true(all[i]->low < all[i]->value && all[i]->value < all[i]->high);
        assert_true(all[i]->low == twice[i]->low && all[i]->high == twice[i]->high);
    }
    /* Six draws of errors that are 1 with a chance of 1/3, else 0.5: none is 1 in 8.8 %, more than four in 1.8 %. */
    assert_near(c.mue.low, 0.5);
    assert_near(c.mue.high, 0.5 + 4 / 12.0);
    assert_true(isnan(compare(a, b, 0).rmse.value));
    assert_near(deviation(a, 6), sqrt(3.5));
    assert_true(isnan(deviation(a, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_triangle),          cmocka_unit_test(test_weights),
                                       cmocka_unit_test(test_anchors_and_parts), cmocka_unit_test(test_loops),
                                       cmocka_unit_test(test_kendall),           cmocka_unit_test(test_compare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
