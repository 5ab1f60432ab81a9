/* SPDX-License-Identifier: Apache-2.0
 *
 * What a bias adds to the energy, as a function of a collective variable q without unit. Its numbers c[state] = {at,
 * k}, in units of q and in kJ/mol, go linearly from A to B with lambda.
 */
#ifndef SHOAL_ENGINE_MATH_POTENTIALS_BIAS_H
#define SHOAL_ENGINE_MATH_POTENTIALS_BIAS_H

#include "engine/math/potentials/bonded.h"

/* k/2 (q - at)^2 everywhere, below at, above at; k (q - at) */
enum bias_kind { BIAS_HARMONIC, BIAS_LOWER, BIAS_UPPER, BIAS_LINEAR, BIAS_KINDS };

MATH_FN struct bonded_value bias_value(enum bias_kind kind, double q, const double c[2][2], double l)
{
    const double d = q - ((1 - l) * c[0][0] + l * c[1][0]), dat = c[1][0] - c[0][0];
    const double k = (1 - l) * c[0][1] + l * c[1][1], dk = c[1][1] - c[0][1];
    struct bonded_value v = {0, 0, 0};
    if ((kind == BIAS_LOWER && d >= 0) || (kind == BIAS_UPPER && d <= 0))
        return v;
    if (kind == BIAS_LINEAR) {
        v.u = k * d;
        v.du_dq = k;
        v.du_dl = dk * d - k * dat;
    } else {
        v.u = 0.5 * k * d * d;
        v.du_dq = k * d;
        v.du_dl = 0.5 * dk * d * d - k * d * dat;
    }
    return v;
}

#endif
