/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/places.h"

#include <math.h>

void place_between(const long double a[3], const long double b[3], long double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = b[d] - a[d];
}

long double place_dot(const long double a[3], const long double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void place_cross(const long double a[3], const long double b[3], long double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

long double place_length(const long double a[3])
{
    return sqrtl(place_dot(a, a));
}

long double place_distance(const long double (*x)[3], int i, int j)
{
    long double d[3];
    place_between(x[i], x[j], d);
    return place_length(d);
}

long double place_angle_between(const long double a[3], const long double b[3])
{
    return acosl(place_dot(a, b) / (place_length(a) * place_length(b)));
}

long double place_angle(const long double (*x)[3], int i, int j, int k)
{
    long double a[3], b[3];
    place_between(x[j], x[i], a);
    place_between(x[j], x[k], b);
    return place_angle_between(a, b);
}

long double place_dihedral(const long double (*x)[3], const int a[4])
{
    long double b[3][3], m[3], n[3];
    for (int k = 0; k < 3; k++)
        place_between(x[a[k]], x[a[k + 1]], b[k]);
    place_cross(b[0], b[1], m);
    place_cross(b[1], b[2], n);
    return copysignl(place_angle_between(m, n), place_dot(b[0], n));
}
