/* SPDX-License-Identifier: Apache-2.0
 *
 * What longer switches would do. Near equilibrium the work that is dissipated goes as one over the length of a switch:
 * Sivak and Crooks, Phys. Rev. Lett. 108, 190602 (2012), doi 10.1103/PhysRevLett.108.190602. Works are Gaussian there,
 * so that by Crooks' relation their variance is twice what they dissipate. For D kT dissipated each way and n works of
 * each the squared error of BAR is then V(D) / n,
 *
 *   V(D) = 1 / A(D) - 2,   A(D) = integral of p_F p_B / (p_F + p_B) = exp(-D/4) <1 / (2 cosh(x/2))>,
 *
 * p_F and p_B Gaussians of variance 2 D about D and -D, the mean over x of that variance about 0. Correlation of
 * snapshots is the same factor of both errors.
 */
#include <math.h>

#include "engine/estimate/switching/switching.h"

#define FAR_OUT 8.0           /* standard deviations */
#define DISSIPATED_MOST 100.0 /* kT */

#define MUCH_LESS 0.9 /* of an error: what is gained by less is not worth a longer switch */

enum { POINTS = 800, SEEN = 2 };

static double squared_error(double dissipated)
{
    const double deviation = sqrt(2 * dissipated), step = 2 * FAR_OUT / POINTS;
    double sum = 0, weights = 0;
    for (int i = 0; i <= POINTS; i++) {
        const double z = -FAR_OUT + i * step, weight = exp(-0.5 * z * z);
        sum += weight / (2 * cosh(0.5 * deviation * z));
        weights += weight;
    }
    return exp(0.25 * dissipated) * weights / sum - 2;
}

/* The error of the number, in any unit, that later switches of so many doublings come to in the same time; those that
 * stay as long as the first have the works of these too. */
static double error_in_time(double dissipated, const struct switch_pace *pace, int doublings)
{
    const double time = pace->apart + ldexp(pace->length, doublings), later = (double)pace->later,
                 works = doublings ? later : later + (double)pace->first;
    return sqrt(squared_error(ldexp(dissipated, -doublings)) * time * later / works);
}

/* The fewest doublings that no more of them would be much better than. */
struct switch_choice switching_doublings(const struct value_error *lag, const struct switch_pace *pace)
{
    const double dissipated = fmin(0.5 * lag->value, DISSIPATED_MOST);
    struct switch_choice out = {.made = true, .dissipated = NAN};
    if (!(lag->value > SEEN * lag->error))
        return out;
    out.dissipated = dissipated;
    double least = INFINITY; /* of those that are longer */
    for (int k = pace->doublings; k >= 0; k--) {
        const double error = error_in_time(dissipated, pace, k);
        if (least >= MUCH_LESS * error)
            out.doublings = k;
        least = fmin(least, error);
    }
    return out;
}

void switching_longer(struct switching *s)
{
    const double dissipated = 0.5 * s->lag.value;
    s->longer = NAN;
    if (s->bar.ok && s->lag.value > SEEN * s->lag.error && dissipated < DISSIPATED_MOST)
        s->longer = s->bar.error * sqrt(squared_error(0.5 * dissipated) / squared_error(dissipated));
}
