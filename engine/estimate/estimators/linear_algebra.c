/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/estimate/estimators/linear_algebra.h"

#include <float.h>
#include <math.h>

double linalg_dot(const double *a, const double *b, size_t n)
{
    double part[4] = {0}, rest = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        part[0] += a[i] * b[i];
        part[1] += a[i + 1] * b[i + 1];
        part[2] += a[i + 2] * b[i + 2];
        part[3] += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++)
        rest += a[i] * b[i];
    return (part[0] + part[1]) + (part[2] + part[3]) + rest;
}

bool linalg_cholesky(double *a, double *b, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, a[i * n + i]);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i != j) {
                a[i * n + j] = sum / a[j * n + j];
                continue;
            }
            if (!(sum > n * DBL_EPSILON * largest))
                return false;
            a[i * n + i] = sqrt(sum);
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; k++)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
    return true;
}

static void swap_rows(double *a, int i, int j, int width)
{
    for (int k = 0; k < width; k++) {
        double t = a[i * width + k];
        a[i * width + k] = a[j * width + k];
        a[j * width + k] = t;
    }
}

bool linalg_lu(double *a, double *b, int n, int nrhs)
{
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int i = c + 1; i < n; i++)
            if (fabs(a[i * n + c]) > fabs(a[pivot * n + c]))
                pivot = i;
        if (!(fabs(a[pivot * n + c]) > 0))
            return false;
        swap_rows(a, c, pivot, n);
        swap_rows(b, c, pivot, nrhs);
        for (int i = c + 1; i < n; i++) {
            double factor = a[i * n + c] / a[c * n + c];
            for (int k = c + 1; k < n; k++)
                a[i * n + k] -= factor * a[c * n + k];
            for (int k = 0; k < nrhs; k++)
                b[i * nrhs + k] -= factor * b[c * nrhs + k];
        }
    }
    for (int i = n; i-- > 0;) {
        for (int k = 0; k < nrhs; k++) {
            for (int j = i + 1; j < n; j++)
                b[i * nrhs + k] -= a[i * n + j] * b[j * nrhs + k];
            b[i * nrhs + k] /= a[i * n + i];
        }
    }
    return true;
}
