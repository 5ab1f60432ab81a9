/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/derive/superpose.h"

#include <math.h>

enum { SWEEPS = 50 }; /* of Jacobi's method, which needs fewer than ten */

/* Turns rows and columns p and q of a symmetric matrix until their element is 0, and the columns of v with them (C. G.
 * J. Jacobi, J. reine angew. Math. 30, 51 (1846), doi 10.1515/crll.1846.30.51). */
static void eliminate(double a[4][4], double v[4][4], int p, int q)
{
    const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    const double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 4; k++) {
        const double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 4; k++) {
        const double x = a[p][k], y = a[q][k], m = v[k][p], n = v[k][q];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
        v[k][p] = c * m - s * n;
        v[k][q] = s * m + c * n;
    }
}

/* The unit eigenvector to the largest eigenvalue of a symmetric matrix, which is lost. */
static void largest_eigenvector(double a[4][4], double out[4])
{
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    double off = INFINITY;
    int largest = 0;
    for (int sweep = 0; sweep < SWEEPS && off > 0; sweep++) {
        off = 0;
        for (int p = 0; p < 4; p++)
            for (int q = p + 1; q < 4; q++) {
                off += fabs(a[p][q]);
                if (fabs(a[p][q]) > 0)
                    eliminate(a, v, p, q);
            }
    }
    for (int k = 1; k < 4; k++)
        largest = a[k][k] > a[largest][largest] ? k : largest;
    for (int k = 0; k < 4; k++)
        out[k] = v[k][largest];
}

void superpose(const double (*x)[3], const double (*onto)[3], int n, double turn[3][3])
{
    double s[3][3] = {{0}}, q[4];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                s[k][l] += x[i][k] * onto[i][l];
    double m[4][4] = {
        {s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
        {s[1][2] - s[2][1], s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
        {s[2][0] - s[0][2], s[0][1] + s[1][0], -s[0][0] + s[1][1] - s[2][2], s[1][2] + s[2][1]},
        {s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1], -s[0][0] - s[1][1] + s[2][2]},
    };
    largest_eigenvector(m, q);
    const double w = q[0], a = q[1], b = q[2], c = q[3];
    const double rotation[3][3] = {
        {w * w + a * a - b * b - c * c, 2 * (a * b - w * c), 2 * (a * c + w * b)},
        {2 * (a * b + w * c), w * w - a * a + b * b - c * c, 2 * (b * c - w * a)},
        {2 * (a * c - w * b), 2 * (b * c + w * a), w * w - a * a - b * b + c * c},
    };
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
            turn[k][l] = rotation[k][l];
}
