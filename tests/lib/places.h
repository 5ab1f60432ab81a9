/* SPDX-License-Identifier: Apache-2.0
 *
 * Distances and angles of atoms in long double, from their definitions.
 */
#ifndef SHOAL_TESTS_LIB_PLACES_H
#define SHOAL_TESTS_LIB_PLACES_H

/* out: from a to b */
void place_between(const long double a[3], const long double b[3], long double out[3]);
long double place_dot(const long double a[3], const long double b[3]);
void place_cross(const long double a[3], const long double b[3], long double out[3]);
long double place_length(const long double a[3]);
long double place_angle_between(const long double a[3], const long double b[3]);

/* Of atoms at x, by their numbers; angles in radians. */
long double place_distance(const long double (*x)[3], int i, int j);
long double place_angle(const long double (*x)[3], int i, int j, int k);
/* IUPAC: 0 is cis; above 0 the last bond goes clockwise from the first, seen along the middle one. */
long double place_dihedral(const long double (*x)[3], const int atom[4]);

#endif
