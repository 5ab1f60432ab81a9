/* SPDX-License-Identifier: Apache-2.0
 *
 * Steepest descent on the CPU device.
 */
#include <math.h>
#include <string.h>

#include "engine/cpu/motion/constrain.h"
#include "engine/cpu/kernels.h"
#include "engine/kernels/descent.h"
#include "engine/math/fixed.h"
#include "engine/math/vec.h"

static const struct masses unit_masses = {.unit = true};

void cpu_descend(const struct launch *launch, const struct args_descend *a)
{
    struct ctl *c = a->ctl;
    const struct motion_table *m = a->motion;
    double(*x)[3] = a->x, (*force)[3] = a->f_best;
    struct constrain_failure bad;
    if (c->halt)
        return;
    if (c->min_steps == 0) {
        memcpy(a->x_old, x, m->natoms * sizeof *x);
        if (!constrain_positions(m, &unit_masses, c->lambda[LAMBDA_BONDED], a->x_old, x, NULL, 0, NULL, &bad))
            ctl_halt(c, HALT_CONSTRAINT, (uint32_t)bad.atom[0], (uint32_t)bad.atom[1], bad.deviation);
        return;
    }
    c->min_converged = descent_converged(c);
    if (c->min_converged)
        return;
    memcpy(a->x_old, x, m->natoms * sizeof *x);
    memcpy(c->box_old, c->box, sizeof c->box);
    c->trial = 1;
    for (uint32_t i = 0; i < m->natoms; i++)
        vec_add(x[i], c->min_step_size / c->min_max_force, force[i]);
    c->min_rejected = !constrain_positions(m, &unit_masses, c->lambda[LAMBDA_BONDED], a->x_old, x, NULL, 0, NULL, &bad);
    if (c->min_rejected)
        memcpy(x, a->x_old, m->natoms * sizeof *x);
}

static double largest_of(const struct motion_table *m, double (*force)[3])
{
    double largest = 0;
    for (uint32_t i = 0; i < m->natoms; i++)
        largest = fmax(largest, vec_dot(force[i], force[i]));
    return sqrt(largest);
}

/* The forces at the new best x, without what constraints take up; the largest in kJ/mol/nm. */
static void keep_forces(struct ctl *c, const struct args_descend_decide *a)
{
    const struct motion_table *m = a->motion;
    const int64_t(*f)[3] = a->f;
    double(*force)[3] = a->f_best;
    for (uint32_t i = 0; i < m->natoms; i++)
        for (int d = 0; d < 3; d++)
            force[i][d] = fixed_value(f[i][d]);
    struct constrain_failure bad;
    double tolerance = DESCENT_FORCE_TOLERANCE * (1 + largest_of(m, force));
    if (!constrain_velocities(m, &unit_masses, a->x, force, tolerance, &bad))
        ctl_halt(c, HALT_CONSTRAINT, (uint32_t)bad.atom[0], (uint32_t)bad.atom[1], bad.deviation);
    c->min_max_force = largest_of(m, force);
}

void cpu_descend_decide(const struct launch *launch, const struct args_descend_decide *a)
{
    struct ctl *c = a->ctl;
    const struct motion_table *m = a->motion;
    if (c->halt || !descent_goes_on(c))
        return;
    if (descent_better(c))
        keep_forces(c, a);
    else
        memcpy(a->x, a->x_old, m->natoms * 3 * sizeof(double));
    descent_end(c);
}
