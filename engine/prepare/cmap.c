/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/cmap.h"

#include <stdlib.h>

#include "engine/base/buf.h"

/* Slopes at the `side` points of one period, of the natural cubic spline through two. y: from the first point of the
 * period on, `step` from one to the next; work: [4 side] */
static void spline_slopes(const double *y, int step, int side, double *slope, int slope_step, double *work)
{
    const int n = 2 * side, before = side / 2;
    double *curve = work, *reduced = work + n; /* second derivatives, for points at a distance of 1 */
#define Y(i) y[(i + side - before) % side * step]
    curve[0] = reduced[0] = 0;
    for (int i = 1; i < n - 1; i++) { /* curve[i-1]/2 + 2 curve[i] + curve[i+1]/2 = 3 (Y(i+1) - 2 Y(i) + Y(i-1)) */
        const double pivot = 0.5 * curve[i - 1] + 2;
        curve[i] = -0.5 / pivot;
        reduced[i] = (3 * (Y(i + 1) - 2 * Y(i) + Y(i - 1)) - 0.5 * reduced[i - 1]) / pivot;
    }
    curve[n - 1] = 0;
    for (int i = n - 2; i >= 0; i--)
        curve[i] = curve[i] * curve[i + 1] + reduced[i];
    for (int i = 0; i < side; i++) {
        const int k = i + before;
        slope[i * slope_step] = Y(k + 1) - Y(k) - curve[k] / 3 - curve[k + 1] / 6;
    }
#undef Y
}

void cmap_points_make(const double *values, int side, double (*out)[CMAP_NUMBERS])
{
    double *work = xcalloc(4 * (size_t)side, sizeof *work), *numbers = &out[0][0];
    for (int i = 0; i < side * side; i++)
        out[i][CMAP_VALUE] = values[i];
    for (int i = 0; i < side; i++)
        spline_slopes(values + i * side, 1, side, numbers + i * side * CMAP_NUMBERS + CMAP_PSI, CMAP_NUMBERS, work);
    for (int j = 0; j < side; j++) {
        double *column = numbers + j * CMAP_NUMBERS;
        const int step = side * CMAP_NUMBERS;
        spline_slopes(column + CMAP_VALUE, step, side, column + CMAP_PHI, step, work);
        spline_slopes(column + CMAP_PSI, step, side, column + CMAP_BOTH, step, work);
    }
    free(work);
}
