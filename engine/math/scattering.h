/* SPDX-License-Identifier: Apache-2.0
 *
 * X-ray scattering from densities on a grid: form factors, and the transform of a cell.
 */
#ifndef SHOAL_ENGINE_MATH_SCATTERING_H
#define SHOAL_ENGINE_MATH_SCATTERING_H

#include "engine/math/fn.h"

/* f(s) = sum of a_k exp(-b_k s^2) + c, s = q / 4 pi in 1/nm: electrons. */
struct form_factor {
    double a[4], b[4], c; /* electrons; nm^2 */
};

MATH_FN double form_factor(const struct form_factor *f, double q2)
{
    double s2 = q2 / (16 * M_PI * M_PI), sum = f->c;
    for (int k = 0; k < 4; k++)
        sum += f->a[k] * exp(-f->b[k] * s2);
    return sum;
}

/* integral of exp(-2 pi i m x) over x from 0 to `part`, over `part`: of an edge of a cell in a larger one. */
MATH_FN void edge_wave(int m, double part, double out[2])
{
    const double angle = M_PI * (double)m * part, size = m ? sin(angle) / angle : 1;
    out[0] = size * cos(angle);
    out[1] = -size * sin(angle);
}

#endif
