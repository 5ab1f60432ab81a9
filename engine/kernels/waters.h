/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchange of waters between bulk and a sphere about the ligand, at a constant number of waters, for sites that waters
 * reach and leave more seldom than a simulation is long.
 *
 * A batch is a chain of `tries` moves of one water each, by an approximate energy S, and one decision by the whole
 * energy U (nested Markov chains: Iftimie et al. 2000, doi 10.1063/1.1289534; Gelb 2003, doi 10.1063/1.1563597). A move
 * goes into the sphere or out of it with even odds. A water i of the side that it leaves is chosen with probability
 * w_i / Z, w_i = exp(min(u_i, 0) / kT), u_i the energy by S with all others, Z the sum of w over the waters of that
 * side: those that are bound least leave most often. It goes to a point drawn evenly of the other side, of volume V' (V
 * is that of the side that it leaves), turned at random, where its energy is u_i' and the sum of the side is Z'. The
 * move is accepted (Metropolis and Hastings) with probability
 *
 *   min(1, V'/V exp(-(u_i' - u_i) / kT) (w_i' / Z') / (w_i / Z)),
 *
 * which is V' Z / (V Z') where both energies are negative: the biased deletion and uniform insertion of timemachine's
 * water sampler (github.com/proteneer/timemachine, timemachine/md/exchange), and for waters without energies the rule
 * of an ideal gas, V' N / (V (N' + 1)). Each move obeys detailed balance for exp(-S / kT), and all of a batch are drawn
 * alike, so the batch as a whole does so too. It is kept with probability
 *
 *   min(1, exp(-(dU - dS) / kT)),
 *
 * which is detailed balance for exp(-U / kT), whatever S is: S decides how often batches are kept and nothing else.
 *
 * S of a water with another is Lennard-Jones of their oxygens and Coulomb of all atoms in a reaction field, up to the
 * cut-off between oxygens; the same with other atoms, up to the cut-off from the oxygen; perturbed atoms at the
 * replica's lambda. A proposal that brings opposite charges as close as no liquid has them is refused: the full energy
 * has singularities there that no dynamics reaches.
 *
 * A water keeps the motion that it had in its own frame: velocities turn with it. Kinetic energy and constraints stay
 * as they are, and the map from old to new positions and velocities keeps volumes, so nothing else enters.
 *
 * These velocities are those at the time of x. Langevin-middle leaves others, which lack half a kick. So forces at the
 * old positions give them this half (half_kick), and the next timestep's kick is the other half, by forces at the new
 * ones. Without that each move would push all whose forces it changes, a water most, towards where the new forces
 * point: a bias of first order in the timestep. The mesh has the share here that it has in each timestep, so its
 * impulse may not count for several (mesh_cycle()).
 */
#ifndef SHOAL_ENGINE_KERNELS_WATERS_H
#define SHOAL_ENGINE_KERNELS_WATERS_H

#include <stdbool.h>

#include "engine/base/units.h"
#include "engine/math/philox.h"
#include "engine/prepare/waters/water_table.h"
#include "engine/run/ctl.h"

#define WATERS_DRAWS 64                  /* random numbers of one move; those from 4 on are points, two each */
#define WATERS_CLOSEST 0.08              /* nm */
#define WATERS_SOFTEST 0.1               /* nm: perturbed charges are no nearer than this for S */
#define WATERS_REFUSED 1e30              /* kJ/mol */
#define WATERS_SPHERE 4.1887902047863910 /* volume of a sphere over radius^3 */

struct water_place {
    double site[3][3]; /* O, H, H */
};

/* Of each water of the table: its energy with all others (kJ/mol), its weight, and whether it is in the sphere. */
struct water_states {
    double *energy, *weight;
    uint32_t *inside;
};

/* memory: 3 doubles for each water. */
MATH_FN struct water_states waters_states(void *memory, uint32_t nwaters)
{
    double *first = (double *)memory;
    struct water_states s = {first, first + nwaters, (uint32_t *)(first + 2 * nwaters)};
    return s;
}

/* A move of one water. */
struct water_trial {
    bool valid;
    uint32_t into;  /* 1: into the sphere, 0: out of it */
    uint32_t water; /* in the table */
    double volumes; /* of the side that it goes to over that of the other */
    double uniform; /* it is accepted if this is not above the probability */
    struct water_place from, to;
};

MATH_FN struct philox waters_draw(const struct ctl *c, uint32_t move, uint32_t k)
{
    return philox_at(c->seed, c->replica, c->water_batches, STREAM_WATERS, move * WATERS_DRAWS + k);
}

MATH_FN struct water_place waters_place(const struct water_table *t, const double (*x)[3], uint32_t water)
{
    struct water_place place;
    for (int k = 0; k < 3; k++)
        memcpy(place.site[k], x[t->waters[water][k]], sizeof place.site[k]);
    return place;
}

/* ---- the sphere ---- */

/* The centroid of its atoms, each where it is nearest to the first. */
MATH_FN void waters_center(const struct water_table *t, const double (*x)[3], const double box[BOX_SIZE],
                           double center[3])
{
    const double *first = x[t->around[0]];
    double sum[3] = {0, 0, 0};
    for (uint32_t i = 1; i < t->naround; i++) {
        double d[3];
        box_image(x[t->around[i]], first, box, d);
        vec_add(sum, 1, d);
    }
    for (int d = 0; d < 3; d++)
        center[d] = first[d] + sum[d] / t->naround;
}

MATH_FN bool waters_inside(const struct water_table *t, const double oxygen[3], const double center[3],
                           const double box[BOX_SIZE])
{
    double d[3];
    box_image(oxygen, center, box, d);
    return vec_dot(d, d) < t->radius * t->radius;
}

/* Whether there is room for a sphere and something outside. */
MATH_FN bool waters_fit(const struct water_table *t, const double box[BOX_SIZE])
{
    return t->radius < box_cutoff_limit(box);
}

/* ---- proposals ---- */

/* A point drawn evenly inside the sphere, or in the rest of the box. False: no draw has hit it, which even where the
 * sphere is half of the box happens once in 10^8 moves. */
MATH_FN bool waters_point(const struct water_table *t, const struct ctl *c, const double center[3], uint32_t move,
                          uint32_t into, double p[3])
{
    for (uint32_t k = 4; k + 1 < WATERS_DRAWS; k += 2) {
        const struct philox a = waters_draw(c, move, k), b = waters_draw(c, move, k + 1);
        double u[3] = {philox_uniform(a.word[0], a.word[1]), philox_uniform(a.word[2], a.word[3]),
                       philox_uniform(b.word[0], b.word[1])};
        if (into)
            for (int d = 0; d < 3; d++)
                p[d] = center[d] + (2 * u[d] - 1) * t->radius;
        else
            box_apply(c->box, u, p);
        if (waters_inside(t, p, center, c->box) == (into == 1))
            return true;
    }
    return false;
}

/* A rotation drawn evenly. */
MATH_FN void waters_turn(struct philox r, double m[3][3])
{
    float g[4];
    philox_normal(r, g);
    double norm = sqrt((double)g[0] * g[0] + (double)g[1] * g[1] + (double)g[2] * g[2] + (double)g[3] * g[3] + 1e-300);
    const double w = g[0] / norm, x = g[1] / norm, y = g[2] / norm, z = g[3] / norm;
    const double q[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(m, q, sizeof q);
}

/* The side, the point and the turn of a move: all but its water. */
MATH_FN void waters_propose(const struct water_table *t, const struct ctl *c, const double center[3], uint32_t move,
                            double p[3], double m[3][3], struct water_trial *out)
{
    const double in = WATERS_SPHERE * t->radius * t->radius * t->radius, rest = box_volume(c->box) - in;
    const struct philox b = waters_draw(c, move, 2);
    out->into = waters_draw(c, move, 0).word[0] & 1;
    out->uniform = philox_uniform(b.word[0], b.word[1]);
    out->volumes = out->into ? in / rest : rest / in;
    out->valid = waters_point(t, c, center, move, out->into, p);
    waters_turn(waters_draw(c, move, 1), m);
}

/* Where on the sum of weights of the side that is left the water of a move is. */
MATH_FN double waters_mark(const struct ctl *c, uint32_t move, double sum)
{
    const struct philox a = waters_draw(c, move, 0);
    return philox_uniform(a.word[2], a.word[3]) * sum;
}

/* The water is known. */
MATH_FN void waters_lead(const struct water_table *t, const double (*x)[3], const double p[3], const double m[3][3],
                         struct water_trial *out)
{
    for (int k = 0; k < 3; k++) {
        double d[3];
        memcpy(out->from.site[k], x[t->waters[out->water][k]], sizeof d);
        vec_sub(out->from.site[k], out->from.site[0], d);
        for (int i = 0; i < 3; i++)
            out->to.site[k][i] = p[i] + vec_dot(m[i], d);
    }
}

/* ---- the approximate energy ---- */

/* A box and one over its edges: images without divisions. */
struct water_box {
    double box[BOX_SIZE], over[3];
};

MATH_FN void waters_box(const double box[BOX_SIZE], struct water_box *b)
{
    memcpy(b->box, box, sizeof b->box);
    b->over[0] = 1 / box[BOX_XX];
    b->over[1] = 1 / box[BOX_YY];
    b->over[2] = 1 / box[BOX_ZZ];
}

/* a - b, by whole edges of the box taken off from the last to the first: out, and what was taken off: shift. */
MATH_FN double waters_apart(const struct water_box *b, const double a[3], const double o[3], double shift[3])
{
    double d[3];
    vec_sub(a, o, d);
    const double z = rint(d[2] * b->over[2]);
    const double y = rint((d[1] - z * b->box[BOX_ZY]) * b->over[1]);
    const double s = rint((d[0] - z * b->box[BOX_ZX] - y * b->box[BOX_YX]) * b->over[0]);
    shift[0] = s * b->box[BOX_XX] + y * b->box[BOX_YX] + z * b->box[BOX_ZX];
    shift[1] = y * b->box[BOX_YY] + z * b->box[BOX_ZY];
    shift[2] = z * b->box[BOX_ZZ];
    vec_sub(d, shift, d);
    return vec_dot(d, d);
}

/* Coulomb of charges whose product is qq, e^2. */
MATH_FN double waters_coulomb(const struct water_table *t, double qq, double r2)
{
    return UNIT_COULOMB * qq * (1 / sqrt(r2 + 1e-20) + t->field * r2);
}

MATH_FN double waters_lj(double c6, double c12, double r2)
{
    const double ri2 = 1 / (r2 + 1e-20), ri6 = ri2 * ri2 * ri2;
    return ri6 * (c12 * ri6 - c6);
}

/* Of a site with an atom at o + shift. */
MATH_FN double waters_site2(const double site[3], const double o[3], const double shift[3])
{
    const double d[3] = {site[0] - o[0] - shift[0], site[1] - o[1] - shift[1], site[2] - o[2] - shift[2]};
    return vec_dot(d, d);
}

MATH_FN double waters_with_water(const struct water_table *t, const struct water_box *b, const double (*x)[3],
                                 uint32_t other, const struct water_place *w)
{
    const int32_t *atom = t->waters[other];
    double shift[3], r2 = waters_apart(b, w->site[0], x[atom[0]], shift);
    if (r2 >= t->cutoff * t->cutoff)
        return 0;
    double u = waters_lj(t->c6, t->c12, r2), closest = INFINITY;
    for (int i = 0; i < 3 && t->charge[0] != 0; i++)
        for (int k = 0; k < 3; k++) {
            const double qq = t->charge[i > 0] * t->charge[k > 0];
            r2 = waters_site2(w->site[i], x[atom[k]], shift);
            closest = qq < 0 ? fmin(closest, r2) : closest;
            u += waters_coulomb(t, qq, r2);
        }
    return closest < WATERS_CLOSEST * WATERS_CLOSEST ? WATERS_REFUSED : u;
}

MATH_FN double waters_with_other(const struct water_table *t, const struct water_box *b, const double (*x)[3],
                                 const struct water_neighbour *n, const struct water_place *w)
{
    double shift[3], r2 = waters_apart(b, w->site[0], x[n->atom], shift);
    if (r2 >= t->cutoff * t->cutoff)
        return 0;
    double u = waters_lj(n->c6, n->c12, r2), closest = INFINITY;
    for (int i = 0; i < 3 && n->charge != 0; i++) {
        const double qq = t->charge[i > 0] * n->charge;
        r2 = waters_site2(w->site[i], x[n->atom], shift);
        closest = qq < 0 ? fmin(closest, r2) : closest;
        u += waters_coulomb(t, qq, r2);
    }
    return closest < WATERS_CLOSEST * WATERS_CLOSEST ? WATERS_REFUSED : u;
}

MATH_FN double waters_with_soft(const struct water_table *t, const struct water_box *b, const struct ctl *c,
                                const double (*x)[3], const struct water_soft *n, const struct water_place *w)
{
    const double l = c->lambda[LAMBDA_COULOMB], q = (1 - l) * n->charge[0] + l * n->charge[1];
    double shift[3], r2 = waters_apart(b, w->site[0], x[n->atom], shift);
    if (r2 >= t->cutoff * t->cutoff)
        return 0;
    double u = soft_lj((enum soft_function)t->function, VDW_CUTOFF, &t->lj, (int)t->power, &n->pair,
                       c->lambda[LAMBDA_VDW], r2 + 1e-20)
                   .v;
    for (int i = 0; i < 3; i++) {
        r2 = waters_site2(w->site[i], x[n->atom], shift);
        u += waters_coulomb(t, t->charge[i > 0] * q, fmax(r2, WATERS_SOFTEST * WATERS_SOFTEST));
    }
    return u;
}

/* Of a water that takes the place of number `water` of the table, with partners `from`, `from` + step, ..: kJ/mol. */
MATH_FN double waters_energy(const struct water_table *t, const struct water_box *b, const struct ctl *c,
                             const double (*x)[3], uint32_t water, const struct water_place *w, uint32_t from,
                             uint32_t step)
{
    double u = 0;
    for (uint32_t k = from; k < t->nwaters; k += step)
        if (k != water)
            u += waters_with_water(t, b, x, k, w);
    for (uint32_t k = from; k < t->nothers; k += step)
        u += waters_with_other(t, b, x, &t->others[k], w);
    for (uint32_t k = from; k < t->nsoft; k += step)
        u += waters_with_soft(t, b, c, x, &t->soft[k], w);
    return u;
}

/* What chooses which water leaves: at most 1. */
MATH_FN double waters_weight(double energy, double kt)
{
    return exp(fmin(energy, 0.0) / kt);
}

/* What a move changes: the water's energy where it goes to, and the weights of the other waters of that side. */
struct water_change {
    double energy, weights;
};

/* By partners `from`, `from` + step, .. */
MATH_FN struct water_change waters_change(const struct water_table *t, const struct water_box *b, const struct ctl *c,
                                          const double (*x)[3], const struct water_states *s,
                                          const struct water_trial *trial, double kt, uint32_t from, uint32_t step)
{
    struct water_change out = {0, 0};
    for (uint32_t k = from; k < t->nwaters; k += step) {
        if (k == trial->water)
            continue;
        const double gained = waters_with_water(t, b, x, k, &trial->to);
        out.energy += gained;
        if (s->inside[k] != trial->into)
            continue;
        const double lost = waters_with_water(t, b, x, k, &trial->from);
        if (gained != 0 || lost != 0)
            out.weights += waters_weight(s->energy[k] + gained - lost, kt) - s->weight[k];
    }
    for (uint32_t k = from; k < t->nothers; k += step)
        out.energy += waters_with_other(t, b, x, &t->others[k], &trial->to);
    for (uint32_t k = from; k < t->nsoft; k += step)
        out.energy += waters_with_soft(t, b, c, x, &t->soft[k], &trial->to);
    return out;
}

/* sums: of the weights of the waters outside, and inside. */
MATH_FN bool waters_trial_accepted(const struct water_trial *trial, const struct water_states *s,
                                   const struct water_change *change, const double sums[2], double kt)
{
    if (!(change->energy < 0.5 * WATERS_REFUSED))
        return false;
    const double old = s->energy[trial->water], rise = change->energy - old;
    const double weight = waters_weight(change->energy, kt), after = sums[trial->into] + change->weights + weight;
    const double boltzmann = exp((fmin(change->energy, 0.0) - fmin(old, 0.0) - rise) / kt);
    return trial->uniform <= trial->volumes * boltzmann * sums[1 - trial->into] / after;
}

/* ---- a batch ---- */

/* Keeps what is needed to go back. */
MATH_FN void waters_begin(struct ctl *c, uint32_t inside)
{
    c->energy_old = ctl_potential(c);
    memcpy(c->box_old, c->box, sizeof c->box_old);
    c->trial = 1;
    c->water_change = 0;
    c->waters_moved = 0;
    c->waters_inside[0] = c->waters_inside[1] = inside;
}

/* A move was accepted: energies and weights of waters `from`, `from` + step, .. before it is carried out. */
MATH_FN void waters_follow(const struct water_table *t, const struct water_box *b, const double (*x)[3],
                           const struct water_states *s, const struct water_trial *trial, double energy, double kt,
                           uint32_t from, uint32_t step)
{
    for (uint32_t k = from; k < t->nwaters; k += step) {
        if (k == trial->water)
            s->energy[k] = energy;
        else
            s->energy[k] += waters_with_water(t, b, x, k, &trial->to) - waters_with_water(t, b, x, k, &trial->from);
        s->weight[k] = waters_weight(s->energy[k], kt);
    }
}

/* After that: its positions, its side, and the sum of changes. */
MATH_FN void waters_carry_out(const struct water_table *t, struct ctl *c, const struct water_states *s,
                              const struct water_trial *trial, double rise, double (*x)[3])
{
    for (int i = 0; i < 3; i++)
        memcpy(x[t->waters[trial->water][i]], trial->to.site[i], sizeof trial->to.site[i]);
    s->inside[trial->water] = trial->into;
    c->waters_inside[1] += trial->into ? 1 : -1;
    c->water_change += rise;
    c->waters_moved++;
}

/* After the energies at the end of the chain: whether to stay there. kt in kJ/mol. */
MATH_FN bool waters_accepted(const struct ctl *c, uint32_t tries, double kt)
{
    if (!c->waters_moved)
        return true;
    if (c->sum.overflow)
        return false;
    const double w = ctl_potential(c) - c->energy_old - c->water_change;
    const struct philox r = waters_draw(c, tries, 0);
    return philox_uniform(r.word[0], r.word[1]) <= exp(-w / kt);
}

MATH_FN void waters_end(struct ctl *c, uint32_t tries, bool yes)
{
    struct water_moves *n = &c->waters;
    c->trial = 0;
    c->done++;
    c->water_batches++;
    n->tried += tries;
    n->moved += c->waters_moved;
    n->kept += yes ? c->waters_moved : 0;
    n->batches++;
    n->changed += c->waters_moved > 0;
    n->undone += !yes;
    n->inside += c->waters_inside[yes];
}

/* Orthonormal axes of a water, one a row. */
MATH_FN void waters_axes(const double (*x)[3], const int32_t atom[3], double axes[3][3])
{
    double a[3], b[3];
    vec_sub(x[atom[1]], x[atom[0]], a);
    vec_sub(x[atom[2]], x[atom[0]], b);
    const double na = 1 / sqrt(vec_dot(a, a));
    for (int d = 0; d < 3; d++)
        axes[0][d] = a[d] * na;
    vec_add(b, -vec_dot(b, axes[0]), axes[0]);
    const double nb = 1 / sqrt(vec_dot(b, b));
    for (int d = 0; d < 3; d++)
        axes[1][d] = b[d] * nb;
    vec_cross(axes[0], axes[1], axes[2]);
}

/* Of one water, whose place is another now: its velocities turn as it has turned. */
MATH_FN void waters_turn_velocities(const int32_t atom[3], const double (*x_old)[3], const double (*x)[3],
                                    double (*v)[3])
{
    double from[3][3], to[3][3];
    const double *was = x_old[atom[0]], *is = x[atom[0]];
    if (was[0] == is[0] && was[1] == is[1] && was[2] == is[2])
        return;
    waters_axes(x_old, atom, from);
    waters_axes(x, atom, to);
    for (int k = 0; k < 3; k++) {
        const double own[3] = {vec_dot(from[0], v[atom[k]]), vec_dot(from[1], v[atom[k]]),
                               vec_dot(from[2], v[atom[k]])};
        for (int d = 0; d < 3; d++)
            v[atom[k]][d] = own[0] * to[0][d] + own[1] * to[1][d] + own[2] * to[2][d];
    }
}

#endif
