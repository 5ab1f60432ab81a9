/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cpu/constrain.h"

#include "engine/math/settle.h"

#define POSITION_TOLERANCE 1e-10
#define ITERATIONS_MAX 20000

/* ---- rigid water ---- */

static bool water_positions(const struct rigid_water *w, const struct masses *masses, const double (*x_old)[3],
                            double (*x)[3], double (*v)[3], double inv_dt)
{
    struct settle_shape shape = {w->r_oh, w->r_hh};
    double old[3][3], free_x[3][3], new_x[3][3];
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            old[k][d] = x_old[w->atom[k]][d];
            new_x[k][d] = free_x[k][d] = x[w->atom[k]][d];
        }
    if (!settle_positions(&shape, mass_of(masses, w->atom[0]), mass_of(masses, w->atom[1]), old, new_x))
        return false;
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            x[w->atom[k]][d] = new_x[k][d];
            if (v)
                v[w->atom[k]][d] += (new_x[k][d] - free_x[k][d]) * inv_dt;
        }
    return true;
}

static void add_reaction(struct reaction *reaction, double lambda, const double r[3], double dr0)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            reaction->virial[3 * i + j] -= 0.5 * lambda * r[i] * r[j];
    reaction->du_dl += lambda * sqrt(vec_dot(r, r)) * dr0;
}

static void water_velocities(const struct rigid_water *w, const struct masses *masses, const double (*x)[3],
                             const double (*u)[3], double (*v)[3], struct reaction *reaction)
{
    static const int side[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    double pos[3][3], vel[3][3], target[3] = {0, 0, 0}, lambda[3], r[3];
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++) {
            pos[k][d] = x[w->atom[k]][d];
            vel[k][d] = v[w->atom[k]][d];
        }
    for (int k = 0; k < 3 && u; k++) {
        vec_sub(u[w->atom[side[k][0]]], u[w->atom[side[k][1]]], r);
        target[k] = -vec_dot(r, r);
    }
    settle_velocities(mass_of(masses, w->atom[0]), mass_of(masses, w->atom[1]), pos, target, vel, lambda);
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            v[w->atom[k]][d] = vel[k][d];
    for (int k = 0; k < 3 && reaction; k++) {
        vec_sub(pos[side[k][0]], pos[side[k][1]], r);
        add_reaction(reaction, lambda[k], r, 0);
    }
}

/* ---- clusters of distances: each constraint in turn is solved to first order, again until all hold ---- */

/* One sweep; returns the largest relative deviation met, *worst: where. */
static double sweep_positions(const struct motion_table *m, const struct cluster *c, const struct masses *masses,
                              double lambda, const double (*x_old)[3], double (*x)[3], double (*v)[3], double inv_dt,
                              const struct fixed_distance **worst)
{
    double largest = 0;
    for (uint32_t k = c->first; k < c->first + c->count; k++) {
        const struct fixed_distance *d = &m->distances[k];
        int i = d->atom[0], j = d->atom[1];
        double r[3], old[3], r0 = (1 - lambda) * d->r0[0] + lambda * d->r0[1];
        vec_sub(x[i], x[j], r);
        double diff = r0 * r0 - vec_dot(r, r), deviation = fabs(diff) / (2 * r0 * r0);
        if (!(deviation <= largest)) {
            largest = deviation;
            *worst = d;
        }
        if (deviation <= 0.5 * POSITION_TOLERANCE)
            continue;
        vec_sub(x_old[i], x_old[j], old);
        double im_i = 1 / mass_of(masses, i), im_j = 1 / mass_of(masses, j), along = vec_dot(old, r);
        if (!(along > 1e-3 * r0 * r0)) {
            *worst = d;
            return INFINITY; /* turned by about 90 degrees in one step */
        }
        double g = diff / (2 * (im_i + im_j) * along);
        vec_add(x[i], g * im_i, old);
        vec_add(x[j], -g * im_j, old);
        if (v) {
            vec_add(v[i], g * im_i * inv_dt, old);
            vec_add(v[j], -g * im_j * inv_dt, old);
        }
    }
    return largest;
}

static double sweep_velocities(const struct motion_table *m, const struct cluster *c, const struct masses *masses,
                               const double (*x)[3], const double (*u)[3], double (*v)[3], double tolerance,
                               struct reaction *reaction, const struct fixed_distance **worst)
{
    double largest = 0;
    for (uint32_t k = c->first; k < c->first + c->count; k++) {
        const struct fixed_distance *d = &m->distances[k];
        int i = d->atom[0], j = d->atom[1];
        double r[3], rel[3], target = 0;
        if (u) {
            vec_sub(u[i], u[j], rel);
            target = -vec_dot(rel, rel);
        }
        vec_sub(x[i], x[j], r);
        vec_sub(v[i], v[j], rel);
        double r2 = vec_dot(r, r), miss = target - vec_dot(r, rel), deviation = fabs(miss) / sqrt(r2);
        if (!(deviation <= largest)) {
            largest = deviation;
            *worst = d;
        }
        if (deviation <= 0.5 * tolerance)
            continue;
        double im_i = 1 / mass_of(masses, i), im_j = 1 / mass_of(masses, j), g = miss / (r2 * (im_i + im_j));
        vec_add(v[i], g * im_i, r);
        vec_add(v[j], -g * im_j, r);
        if (reaction)
            add_reaction(reaction, g, r, d->r0[1] - d->r0[0]);
    }
    return largest;
}

static bool fail(struct constrain_failure *bad, int i, int j, double deviation)
{
    *bad = (struct constrain_failure){{i, j}, deviation};
    return false;
}

bool constrain_positions(const struct motion_table *m, const struct masses *masses, double bonded_lambda,
                         const double (*x_old)[3], double (*x)[3], double (*v)[3], double inv_dt,
                         struct constrain_failure *bad)
{
    for (uint32_t i = 0; i < m->nwaters; i++)
        if (!water_positions(&m->waters[i], masses, x_old, x, v, inv_dt))
            return fail(bad, m->waters[i].atom[0], m->waters[i].atom[1], INFINITY);
    for (uint32_t i = 0; i < m->nclusters; i++) {
        const struct fixed_distance *worst = &m->distances[m->clusters[i].first];
        double deviation = INFINITY, was = INFINITY;
        for (int n = 0; n < ITERATIONS_MAX && !(deviation <= POSITION_TOLERANCE); n++) {
            was = deviation;
            deviation = sweep_positions(m, &m->clusters[i], masses, bonded_lambda, x_old, x, v, inv_dt, &worst);
            if (deviation == INFINITY || deviation != deviation)
                break;
        }
        if (!(deviation <= POSITION_TOLERANCE))
            return fail(bad, worst->atom[0], worst->atom[1], deviation < INFINITY ? deviation : was);
    }
    return true;
}

bool constrain_velocities(const struct motion_table *m, const struct masses *masses, const double (*x)[3],
                          const double (*u)[3], double (*v)[3], double tolerance, struct reaction *reaction,
                          struct constrain_failure *bad)
{
    for (uint32_t i = 0; i < m->nwaters; i++)
        water_velocities(&m->waters[i], masses, x, u, v, reaction);
    for (uint32_t i = 0; i < m->nclusters; i++) {
        const struct fixed_distance *worst = &m->distances[m->clusters[i].first];
        double deviation = INFINITY;
        for (int n = 0; n < ITERATIONS_MAX && !(deviation <= tolerance); n++) {
            deviation = sweep_velocities(m, &m->clusters[i], masses, x, u, v, tolerance, reaction, &worst);
            if (deviation != deviation)
                break;
        }
        if (!(deviation <= tolerance))
            return fail(bad, worst->atom[0], worst->atom[1], deviation);
    }
    return true;
}
