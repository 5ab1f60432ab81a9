/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/statistics/compare.h"
#include "client/statistics/contradictions.h"
#include "client/statistics/network.h"

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * (1 + fabs(b))))
        fail_msg("%.15g is not %.15g", a, b);
}

/* ---- networks ---- */

/* Three edges of one error around a triangle share what does not close; each node has 2/9 of the variance of an edge.
 */
static void test_triangle(void **state)
{
    const struct measurement m[] = {{0, 1, 1.0, 0.3}, {1, 2, 2.0, 0.3}, {0, 2, 3.6, 0.3}};
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
    const struct measurement m[] = {
        {0, 1, 1.0, 0.1}, {1, 0, -4.0, 0.2}, {1, 2, 0.5, 0.3}, {2, 3, NAN, 0.3}, {3, 2, 1, 0}};
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
    const struct measurement m[] = {{0, 1, 1.0, 0.4}, {0, -1, -2.0, 0.3}, {2, 3, 5.0, 0.1}};
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

static double around(const struct loop *l, const struct measurement *m, const double *value)
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
    struct measurement m[EDGES];
    struct loop *loops;
    for (int k = 0; k < EDGES; k++) {
        const int *e = ends[k];
        m[k] = (struct measurement){e[0], e[1], value[e[1]] - value[e[0]], 0.5};
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

/* ---- contradictions ---- */

/* Four nodes that all have edges to each other, one of them off: by how much is what the rest says. */
static void test_contradiction(void **state)
{
    enum { EDGES = 7 };
    struct measurement m[EDGES] = {{0, 1, 1, 0.1}, {0, 2, 2, 0.1}, {0, 3, 3, 0.1}, {1, 2, 1, 0.1},
                                   {1, 3, 2, 0.1}, {2, 3, 1, 0.1}, {4, 5, 9, 0.1}};
    struct contradiction *c;
    assert_int_equal(network_contradictions(6, m, EDGES, &c), 0);
    contradictions_free(c, 0);
    m[3].value += 1;
    assert_int_equal(network_contradictions(6, m, EDGES, &c), 1);
    assert_int_equal(c->part, 0);
    assert_int_equal(c->loops, 3);
    assert_int_equal(c->length, 1);
    assert_int_equal(c->edges[0], 3);
    /* without it two ways of two edges each lead from 1 to 2, and one of three: the mean of the first has the error of
     * one edge */
    assert_near(c->off, 1);
    assert_near(c->error, 0.1 * sqrt(2));
    assert_near(c->chi_square, 1 / 0.02);
    contradictions_free(c, 1);
    m[0].value += 1;
    m[5].value -= 3;
    int n = network_contradictions(6, m, EDGES, &c);
    assert_int_equal(n, 3);
    contradictions_free(c, n);
}

/* A single loop cannot say which of its edges is wrong; errors that are all too small are no edge's fault. */
static void test_unnamed_contradictions(void **state)
{
    const struct measurement triangle[] = {{0, 1, 1, 0.1}, {1, 2, 1, 0.1}, {0, 2, 3, 0.1}, {2, -1, 0, 0.1}};
    struct contradiction *c;
    assert_int_equal(network_contradictions(3, triangle, 4, &c), 1);
    assert_int_equal(c->length, 3);
    assert_near(fabs(c->off), 1);
    assert_near(c->error, 0.1 * sqrt(3));
    contradictions_free(c, 1);
    enum { TWICE = 8 };
    struct measurement pairs[2 * TWICE];
    for (int k = 0; k < TWICE; k++) {
        pairs[2 * k] = (struct measurement){k, k + 1, 0.19, 0.1};
        pairs[2 * k + 1] = (struct measurement){k, k + 1, -0.19, 0.1};
    }
    assert_int_equal(network_contradictions(TWICE + 1, pairs, 2 * TWICE, &c), 1);
    assert_int_equal(c->length, 0);
    assert_int_equal(c->loops, TWICE);
    assert_near(c->chi_square, 2 * TWICE * 1.9 * 1.9);
    contradictions_free(c, 1);
}

/* ---- comparisons ---- */

static int sign(double x)
{
    return (x > 0) - (x < 0);
}

/* By its definition, over all pairs. */
static double tau_of_pairs(const struct compared *x, int n)
{
    double sum = 0, in_a = 0, in_b = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            if (x[i].group != x[j].group)
                continue;
            sum += sign(x[i].a - x[j].a) * sign(x[i].b - x[j].b);
            in_a += x[i].a != x[j].a;
            in_b += x[i].b != x[j].b;
        }
    return sum / sqrt(in_a * in_b);
}

static void test_kendall(void **state)
{
    enum { MOST = 60 };
    struct compared x[MOST];
    srandom(7);
    for (int round = 0; round < 500; round++) {
        int n = 2 + (int)(random() % (MOST - 2)), levels = 2 + (int)(random() % 40), groups = 1 + (int)(random() % 4);
        for (int i = 0; i < n; i++)
            x[i] = (struct compared){
                .a = (double)(random() % levels), .b = (double)(random() % levels), .group = i * groups / n};
        double wanted = tau_of_pairs(x, n);
        if (isnan(wanted))
            assert_true(isnan(kendall(x, n)));
        else
            assert_near(kendall(x, n), wanted);
    }
}

static void test_compare(void **state)
{
    const struct compared given[] = {{.a = 1, .b = 1.5}, {.a = 2, .b = 1.5}, {.a = 3, .b = 3.5},
                                     {.a = 4, .b = 3.5}, {.a = 5, .b = 6},   {.a = 6, .b = 7}};
    struct compared x[6], y[6];
    memcpy(x, given, sizeof x);
    memcpy(y, given, sizeof y);
    struct comparison c = compare_values(x, 6), again = compare_values(y, 6);
    assert_int_equal(c.values, 6);
    assert_near(c.rmse.value, sqrt((4 * 0.25 + 2) / 6));
    assert_near(c.mue.value, 4.0 / 6);
    assert_near(c.tau.value, 13 / sqrt(15 * 13));
    const struct measure *all[] = {&c.rmse, &c.mue, &c.tau}, *twice[] = {&again.rmse, &again.mue, &again.tau};
    for (int i = 0; i < 3; i++) {
        assert_true(all[i]->low < all[i]->value && all[i]->value < all[i]->high);
        assert_true(all[i]->low == twice[i]->low && all[i]->high == twice[i]->high);
    }
}

/* Of few there are no bounds, of fewer than four nothing. */
static void test_compare_few(void **state)
{
    struct compared x[] = {
        {.a = 1, .b = 1.5}, {.a = 2, .b = 1.5}, {.a = 3, .b = 3.5}, {.a = 4, .b = 3.5}, {.a = 5, .b = 6}};
    struct comparison c = compare_values(x, 5);
    assert_near(c.rmse.value, sqrt((4 * 0.25 + 1) / 5));
    assert_true(isnan(c.rmse.low) && isnan(c.mue.high) && isnan(c.tau.low) && !isnan(c.tau.value));
    c = compare_values(x, 3);
    assert_int_equal(c.values, 3);
    assert_true(isnan(c.rmse.value) && isnan(c.mue.value) && isnan(c.tau.value));
    assert_true(isnan(compare_values(x, 0).rmse.value));
}

/* Two parts that float, and one system alone: its difference of 0 is no agreement, and the others' lack what their
 * means took. */
static void test_compare_parts(void **state)
{
    struct compared x[] = {{.a = 1, .b = 2, .group = 0, .centered = true},
                           {.a = 3, .b = 2, .group = 0, .centered = true},
                           {.a = -1, .b = 2, .group = 1, .centered = true},
                           {.a = 5, .b = 2, .group = 1, .centered = true},
                           {.a = 7, .b = 7, .group = 2, .centered = true}};
    struct comparison c = compare_values(x, 5);
    assert_int_equal(c.values, 4);
    assert_near(c.pairs, 2);
    assert_near(c.rmse.value, sqrt(2 * (2 * 1 + 2 * 9) / 4.0));
    assert_near(c.mue.value, sqrt(2) * (2 * 1 + 2 * 3) / 4.0);
    assert_true(isnan(c.tau.value)); /* of two pairs there is none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triangle),          cmocka_unit_test(test_weights),
        cmocka_unit_test(test_anchors_and_parts), cmocka_unit_test(test_loops),
        cmocka_unit_test(test_contradiction),     cmocka_unit_test(test_unnamed_contradictions),
        cmocka_unit_test(test_kendall),           cmocka_unit_test(test_compare),
        cmocka_unit_test(test_compare_few),       cmocka_unit_test(test_compare_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
