/* SPDX-License-Identifier: Apache-2.0
 *
 * Steepest descent with GROMACS's step rule: the atom with the largest force moves min_step_size; 1.2 times longer
 * steps after the energy fell, 5 times shorter after it rose. Constraints are kept, with unit masses, and their forces
 * taken out.
 */
#ifndef SHOAL_ENGINE_KERNELS_DESCENT_H
#define SHOAL_ENGINE_KERNELS_DESCENT_H

#include <stdbool.h>

#include "engine/run/ctl.h"

#define DESCENT_FIRST_STEP 0.01      /* nm */
#define DESCENT_SHORTEST_STEP 1e-8   /* nm: energies of steps shorter than this differ by rounding only */
#define DESCENT_FORCE_TOLERANCE 1e-9 /* left along a constraint, relative to the largest force */

MATH_FN bool descent_converged(const struct ctl *c)
{
    return c->min_max_force <= c->min_tolerance || c->min_step_size < DESCENT_SHORTEST_STEP;
}

/* With the energies at the trial: whether it becomes the best x, and the next step's length. */
MATH_FN bool descent_better(struct ctl *c)
{
    double u = ctl_potential(c);
    bool first = c->min_steps == 0, better = first || (!c->min_rejected && u < c->min_energy);
    if (better) {
        c->min_energy = u;
        c->min_step_size = first ? DESCENT_FIRST_STEP : 1.2 * c->min_step_size;
    } else {
        c->min_step_size *= 0.2;
    }
    return better;
}

/* Whether there is something left to do; if not, the step counts all the same. */
MATH_FN bool descent_goes_on(struct ctl *c)
{
    bool over = c->min_steps && c->min_converged;
    c->done += over;
    return !over;
}

/* The step is over; min_max_force is that of the best x. */
MATH_FN void descent_end(struct ctl *c)
{
    c->done++;
    c->trial = 0;
    c->min_steps++;
    c->min_converged = descent_converged(c);
}

#endif
