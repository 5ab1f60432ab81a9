/* SPDX-License-Identifier: Apache-2.0
 *
 * Fails a cmocka test where a value is not within a tolerance of what is expected.
 */
#ifndef SHOAL_TESTS_LIB_NEAR_H
#define SHOAL_TESTS_LIB_NEAR_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.12g, expected %.12g within %g", value, expected, tolerance);
}

#endif
