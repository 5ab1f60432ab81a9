/* SPDX-License-Identifier: Apache-2.0
 *
 * Constraints, one rigid water or one cluster of fixed distances at a time: SETTLE, and iteration (SHAKE: Ryckaert et
 * al. 1977; RATTLE: Andersen 1983). Molecules whole. Units: nm, ps, u. Each device brings the loops.
 */
#ifndef SHOAL_ENGINE_KERNELS_CONSTRAINTS_H
#define SHOAL_ENGINE_KERNELS_CONSTRAINTS_H

#include <stdbool.h>

#include "engine/math/bodies/settle.h"
#include "engine/run/ctl.h"
#include "engine/prepare/device_tables.h"

/* Masses at the replica's lambda, or all 1 (minimization, where displacements follow the forces). */
struct masses {
    const double (*mass)[2];
    double lambda;
    bool unit;
};

MATH_FN struct masses masses_of(const struct motion_table *m, const struct ctl *c)
{
    struct masses masses = {m->mass, c->lambda[LAMBDA_MASS], false};
    return masses;
}

MATH_FN double mass_of(const struct masses *m, int i)
{
    return m->unit ? 1 : (1 - m->lambda) * m->mass[i][0] + m->lambda * m->mass[i][1];
}

/* Where it did not converge. */
struct constrain_failure {
    int atom[2];
    double deviation; /* relative */
};

/* What constraints did to x: sums over mass times displacement, u nm^2. */
struct reaction {
    double virial[9]; /* -1/2 sum r x (mass displacement) */
    double du_dl;     /* sum of mass times displacement along the bond times dr0/dlambda */
};

#define POSITION_TOLERANCE 1e-10
#define ITERATIONS_MAX 20000

/* ---- rigid water ---- */

/* Where waters' masses change with lambda, or all are 1, there is none in the table. */
MATH_FN struct water_shape water_shape_at(const struct motion_table *m, const struct rigid_water *w,
                                          const struct masses *masses)
{
    if (m->shapes && !masses->unit)
        return m->shapes[w->shape];
    return water_shape_of(w->r_oh, w->r_hh, mass_of(masses, w->atom[0]), mass_of(masses, w->atom[1]));
}

MATH_FN bool water_positions(const struct motion_table *m, const struct rigid_water *w, const struct masses *masses,
                             const double (*x_old)[3], double (*x)[3], double (*v)[3], double inv_dt,
                             struct reaction *reaction)
{
    const struct water_shape shape = water_shape_at(m, w, masses);
    double old[3][3], free_x[3][3], new_x[3][3];
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            old[k][d] = x_old[w->atom[k]][d];
            new_x[k][d] = free_x[k][d] = x[w->atom[k]][d];
        }
    if (!settle_positions(&shape, old, new_x))
        return false;
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            x[w->atom[k]][d] = new_x[k][d];
            if (v)
                v[w->atom[k]][d] += (new_x[k][d] - free_x[k][d]) * inv_dt;
        }
    for (int k = 1; k < 3 && reaction; k++) /* relative to O: displacements times masses add to zero */
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                reaction->virial[3 * i + j] -=
                    0.5 * (old[k][i] - old[0][i]) * mass_of(masses, w->atom[k]) * (new_x[k][j] - free_x[k][j]);
    return true;
}

MATH_FN void constrain_water_velocities(const struct motion_table *m, uint32_t i, const struct masses *masses,
                                        const double (*x)[3], double (*v)[3])
{
    const struct rigid_water *w = &m->waters[i];
    const struct water_shape shape = water_shape_at(m, w, masses);
    double pos[3][3], vel[3][3];
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            pos[k][d] = x[w->atom[k]][d];
            vel[k][d] = v[w->atom[k]][d];
        }
    settle_velocities(&shape, pos, vel);
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            v[w->atom[k]][d] = vel[k][d];
}

/* An impulse lambda r on one end of a distance and its opposite on the other. */
MATH_FN void add_reaction(struct reaction *reaction, double lambda, const double r[3], double dr0)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            reaction->virial[3 * i + j] -= 0.5 * lambda * r[i] * r[j];
    reaction->du_dl += lambda * sqrt(vec_dot(r, r)) * dr0;
}

/* ---- clusters of distances: each constraint in turn is solved to first order, again until all hold ---- */

/* What one cluster's iteration works on. */
struct sweep {
    const struct motion_table *m;
    const struct cluster *cluster;
    const struct masses *masses;
    const struct fixed_distance *worst; /* the constraint furthest off in the last sweep */
};

/* One sweep; returns the largest relative deviation met, INFINITY when a bond turned by about 90 degrees in the step.
 */
MATH_FN double sweep_positions(struct sweep *s, double lambda, const double (*x_old)[3], double (*x)[3], double (*v)[3],
                               double inv_dt, struct reaction *reaction)
{
    double largest = 0;
    for (uint32_t k = s->cluster->first; k < s->cluster->first + s->cluster->count; k++) {
        const struct fixed_distance *d = &s->m->distances[k];
        int i = d->atom[0], j = d->atom[1];
        double r[3], old[3], r0 = (1 - lambda) * d->r0[0] + lambda * d->r0[1];
        vec_sub(x[i], x[j], r);
        double diff = r0 * r0 - vec_dot(r, r), deviation = fabs(diff) / (2 * r0 * r0);
        if (!(deviation <= largest)) {
            largest = deviation;
            s->worst = d;
        }
        if (deviation <= 0.5 * POSITION_TOLERANCE)
            continue;
        vec_sub(x_old[i], x_old[j], old);
        double im_i = 1 / mass_of(s->masses, i), im_j = 1 / mass_of(s->masses, j), along = vec_dot(old, r);
        if (!(along > 1e-3 * r0 * r0)) {
            s->worst = d;
            return INFINITY;
        }
        double g = diff / (2 * (im_i + im_j) * along);
        vec_add(x[i], g * im_i, old);
        vec_add(x[j], -g * im_j, old);
        if (v) {
            vec_add(v[i], g * im_i * inv_dt, old);
            vec_add(v[j], -g * im_j * inv_dt, old);
        }
        if (reaction)
            add_reaction(reaction, g, old, d->r0[1] - d->r0[0]);
    }
    return largest;
}

MATH_FN double sweep_velocities(struct sweep *s, const double (*x)[3], double (*v)[3], double tolerance)
{
    double largest = 0;
    for (uint32_t k = s->cluster->first; k < s->cluster->first + s->cluster->count; k++) {
        const struct fixed_distance *d = &s->m->distances[k];
        int i = d->atom[0], j = d->atom[1];
        double r[3], rel[3];
        vec_sub(x[i], x[j], r);
        vec_sub(v[i], v[j], rel);
        double r2 = vec_dot(r, r), along = vec_dot(r, rel), deviation = fabs(along) / sqrt(r2);
        if (!(deviation <= largest)) {
            largest = deviation;
            s->worst = d;
        }
        if (deviation <= 0.5 * tolerance)
            continue;
        double im_i = 1 / mass_of(s->masses, i), im_j = 1 / mass_of(s->masses, j), g = along / (r2 * (im_i + im_j));
        vec_add(v[i], -g * im_i, r);
        vec_add(v[j], g * im_j, r);
    }
    return largest;
}

MATH_FN bool fail(struct constrain_failure *bad, int i, int j, double deviation)
{
    bad->atom[0] = i;
    bad->atom[1] = j;
    bad->deviation = deviation;
    return false;
}

/* Puts x (moved from x_old, which gives the directions) onto the constraints of one water or cluster, clusters to 1e-10
 * relative. v (may be NULL) gets the displacement times inv_dt; reaction (may be NULL) is added to. False and *bad: no
 * solution. */
MATH_FN bool constrain_water_positions(const struct motion_table *m, uint32_t i, const struct masses *masses,
                                       const double (*x_old)[3], double (*x)[3], double (*v)[3], double inv_dt,
                                       struct reaction *reaction, struct constrain_failure *bad)
{
    const struct rigid_water *w = &m->waters[i];
    return water_positions(m, w, masses, x_old, x, v, inv_dt, reaction) || fail(bad, w->atom[0], w->atom[1], INFINITY);
}

MATH_FN bool constrain_cluster_positions(const struct motion_table *m, uint32_t i, const struct masses *masses,
                                         double bonded_lambda, const double (*x_old)[3], double (*x)[3], double (*v)[3],
                                         double inv_dt, struct reaction *reaction, struct constrain_failure *bad)
{
    struct sweep s = {m, &m->clusters[i], masses, &m->distances[m->clusters[i].first]};
    double deviation = INFINITY, met = 0;
    for (int n = 0; n < ITERATIONS_MAX && !(deviation <= POSITION_TOLERANCE) && met < INFINITY; n++)
        deviation = met = sweep_positions(&s, bonded_lambda, x_old, x, v, inv_dt, reaction);
    return deviation <= POSITION_TOLERANCE || fail(bad, s.worst->atom[0], s.worst->atom[1], deviation);
}

/* Makes v obey r . (v_i - v_j) = 0 for every constraint, r from x, to `tolerance` in the unit of v. */
MATH_FN bool constrain_cluster_velocities(const struct motion_table *m, uint32_t i, const struct masses *masses,
                                          const double (*x)[3], double (*v)[3], double tolerance,
                                          struct constrain_failure *bad)
{
    struct sweep s = {m, &m->clusters[i], masses, &m->distances[m->clusters[i].first]};
    double deviation = INFINITY, met = 0;
    for (int n = 0; n < ITERATIONS_MAX && !(deviation <= tolerance) && met < INFINITY; n++)
        deviation = met = sweep_velocities(&s, x, v, tolerance);
    return deviation <= tolerance || fail(bad, s.worst->atom[0], s.worst->atom[1], deviation);
}

#endif
