/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cpu/motion/constrain.h"

bool constrain_positions(const struct motion_table *m, const struct masses *masses, double bonded_lambda,
                         const double (*x_old)[3], double (*x)[3], double (*v)[3], double inv_dt,
                         struct reaction *reaction, struct constrain_failure *bad)
{
    for (uint32_t i = 0; i < m->nwaters; i++)
        if (!constrain_water_positions(m, i, masses, x_old, x, v, inv_dt, reaction, bad))
            return false;
    for (uint32_t i = 0; i < m->nclusters; i++)
        if (!constrain_cluster_positions(m, i, masses, bonded_lambda, x_old, x, v, inv_dt, reaction, bad))
            return false;
    return true;
}

bool constrain_velocities(const struct motion_table *m, const struct masses *masses, const double (*x)[3],
                          double (*v)[3], double tolerance, struct constrain_failure *bad)
{
    for (uint32_t i = 0; i < m->nwaters; i++)
        constrain_water_velocities(m, i, masses, x, v);
    for (uint32_t i = 0; i < m->nclusters; i++)
        if (!constrain_cluster_velocities(m, i, masses, x, v, tolerance, bad))
            return false;
    return true;
}
