/* SPDX-License-Identifier: Apache-2.0
 *
 * The rotation that lays one set of points over another with the least sum of squared distances, by unit quaternions
 * (B. K. P. Horn, J. Opt. Soc. Am. A 4, 629 (1987), doi 10.1364/JOSAA.4.000629): the quaternion is the eigenvector, to
 * the largest eigenvalue, of a symmetric matrix of 4 x 4 that is made of the sums of products of coordinates. It is
 * never a reflection.
 */
#ifndef SHOAL_ENGINE_DERIVE_SUPERPOSE_H
#define SHOAL_ENGINE_DERIVE_SUPERPOSE_H

/* Of n points `x` over `onto`; the center of each set is 0. Point p is turned to (turn[0] . p, turn[1] . p, turn[2] .
 * p). */
void superpose(const double (*x)[3], const double (*onto)[3], int n, double turn[3][3]);

#endif
