/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/pair_definitions.h"

#include <math.h>

#include "engine/base/units.h"

/* x^n; a sum over pairs has no time for powl. */
static long double power(long double x, int n)
{
    long double of = 1;
    for (int k = n < 0 ? -n : n; k > 0; k--)
        of *= x;
    return n < 0 ? 1 / of : of;
}

/* ---- Lennard-Jones and its cut-offs ---- */

/* r^-p whose force has A d^2 + B d^3 added, d = r - switch > 0, so that it and its slope vanish at the cut-off. The
 * energy is the integral of the force from r to there. */
static long double force_switched(const struct nonbonded_settings *nb, int p, long double r)
{
    const long double rc = nb->vdw_cutoff, w = rc - nb->vdw_switch, from = fmaxl(0, r - nb->vdw_switch);
    const long double force = p * power(rc, -p - 1), slope = -p * (p + 1) * power(rc, -p - 2);
    const long double b = (2 * force - slope * w) / power(w, 3), a = -(force + b * power(w, 3)) / (w * w);
    return power(r, -p) - power(rc, -p) + a / 3 * (power(w, 3) - power(from, 3)) +
           b / 4 * (power(w, 4) - power(from, 4));
}

static long double modified(const struct nonbonded_settings *nb, const struct lj *c, long double r)
{
    const long double rc = nb->vdw_cutoff, plain = c->c12 * power(r, -12) - c->c6 * power(r, -6);
    const long double x = fmaxl(0, (r - nb->vdw_switch) / (rc - nb->vdw_switch));
    if (r >= rc)
        return 0;
    switch (nb->vdw_modifier) {
    case VDW_CUTOFF:
        return plain;
    case VDW_POTENTIAL_SHIFT:
        return plain - (c->c12 * power(rc, -12) - c->c6 * power(rc, -6));
    case VDW_POTENTIAL_SWITCH:
        return plain * (1 - 10 * power(x, 3) + 15 * power(x, 4) - 6 * power(x, 5));
    case VDW_FORCE_SWITCH:
        return c->c12 * force_switched(nb, 12, r) - c->c6 * force_switched(nb, 6, r);
    }
    return NAN;
}

/* ---- soft cores ---- */

static bool is_soft(const struct pair_defined *p)
{
    return p->perturbed && !(p->c[0].c12 > 0 && p->c[1].c12 > 0);
}

static long double sigma6(const struct pair_defined *p, int state)
{
    const struct lj *c = &p->c[state];
    return c->c6 > 0 && c->c12 > 0 ? (long double)c->c12 / c->c6 : power(p->core->sigma, 6);
}

/* Beutler: where a pair is taken to be. away: how far from the state lambda is */
static long double softened(const struct pair_defined *p, int state, long double r, long double away)
{
    long double size = sigma6(p, state);
    if (!is_soft(p))
        return r;
    if (p->core->coulomb)
        size = fmaxl(size, power(p->core->sigma, 6));
    return powl(p->core->alpha * size * power(away, p->core->power) + power(r, 6), 1.0L / 6);
}

/* Gapsys: the series to second order about `point`, of a pair that is closer. */
static long double continued(long double r, long double point, long double v, long double dv, long double ddv)
{
    const long double d = r - point;
    return v + dv * d + ddv / 2 * d * d;
}

static long double gapsys_lj(const struct pair_defined *p, int state, long double r, long double away)
{
    const struct nonbonded_settings *nb = p->nb;
    const struct lj *c = &p->c[state];
    const bool switched = nb->vdw_modifier == VDW_POTENTIAL_SWITCH || nb->vdw_modifier == VDW_FORCE_SWITCH;
    const long double most = switched ? nb->vdw_switch : nextafter(nb->vdw_cutoff, 0);
    const long double point = fminl(most, p->core->alpha * powl(26.0L / 7 * sigma6(p, state) * away, 1.0L / 6));
    if (!is_soft(p) || r >= point)
        return modified(nb, c, r);
    return continued(r, point, modified(nb, c, point), -12 * c->c12 * power(point, -13) + 6 * c->c6 * power(point, -7),
                     156 * c->c12 * power(point, -14) - 42 * c->c6 * power(point, -8));
}

static long double gapsys_inverse(const struct pair_defined *p, int state, long double r, long double away)
{
    const long double size = 1 + fabsl((long double)p->q[state] * p->p[state]);
    const long double point = fminl(p->nb->coulomb_cutoff, p->core->alpha_coulomb * size * powl(away, 1.0L / 6));
    if (!is_soft(p) || r >= point)
        return 1 / r;
    return continued(r, point, 1 / point, -1 / (point * point), 2 / power(point, 3));
}

/* ---- Coulomb ---- */

long double pair_field_k(const struct nonbonded_settings *nb)
{
    const long double eps = nb->epsilon_rf;
    return (eps > 0 ? (eps - 1) / (2 * eps + 1) : 0.5L) / power(nb->coulomb_cutoff, 3);
}

long double pair_field_c(const struct nonbonded_settings *nb)
{
    return 1 / (long double)nb->coulomb_cutoff + pair_field_k(nb) * power(nb->coulomb_cutoff, 2);
}

long double pair_besides(const struct pair_defined *p, long double r, bool excluded)
{
    const long double rc = p->nb->coulomb_cutoff;
    if (p->nb->coulomb_method == COULOMB_REACTION_FIELD)
        return pair_field_k(p->nb) * r * r - pair_field_c(p->nb);
    const bool shifted = p->nb->coulomb_modifier == COULOMB_POTENTIAL_SHIFT && !excluded;
    return -(shifted ? erfcl(p->beta * rc) / rc : 0) - erfl(p->beta * r) / r;
}

bool pair_of_other_ends(const struct pair_defined *p)
{
    return p->q[0] * p->p[0] == 0 && p->q[1] * p->p[1] == 0;
}

/* How much of the product of charges goes to a state. */
static long double part(const struct pair_defined *p, int state, long double l)
{
    const long double dq = fabsl((long double)p->q[1] - p->q[0]), dp = fabsl((long double)p->p[1] - p->p[0]);
    const long double share = dq + dp > 0 ? dq / (dq + dp) : 0.5L, own = state ? 1 - share : share;
    const long double cross = own * p->q[0] * p->p[1] + (1 - own) * p->q[1] * p->p[0], near = state ? l : 1 - l;
    return near * near * p->q[state] * p->p[state] + l * (1 - l) * cross;
}

static long double coulomb_of(const struct pair_defined *p, int state, long double r, long double away)
{
    const bool field = p->nb->coulomb_method == COULOMB_REACTION_FIELD;
    if (p->core->function == SOFT_GAPSYS)
        return gapsys_inverse(p, state, r, away) + pair_besides(p, r, false);
    const long double at = p->core->coulomb ? softened(p, state, r, away) : r;
    if (field && at >= p->nb->coulomb_cutoff)
        return 0;
    return 1 / at + pair_besides(p, field ? at : r, false);
}

long double pair_coulomb(const void *pair, long double r, long double l)
{
    const struct pair_defined *p = pair;
    if (r >= p->nb->coulomb_cutoff || pair_of_other_ends(p))
        return 0;
    return UNIT_COULOMB * (part(p, 0, l) * coulomb_of(p, 0, r, l) + part(p, 1, l) * coulomb_of(p, 1, r, 1 - l));
}

static long double lj_of(const struct pair_defined *p, int state, long double r, long double away)
{
    if (r >= p->nb->vdw_cutoff)
        return 0;
    if (p->core->function == SOFT_GAPSYS)
        return gapsys_lj(p, state, r, away);
    return modified(p->nb, &p->c[state], softened(p, state, r, away));
}

long double pair_lj(const void *pair, long double r, long double l)
{
    return (1 - l) * lj_of(pair, 0, r, l) + l * lj_of(pair, 1, r, 1 - l);
}
