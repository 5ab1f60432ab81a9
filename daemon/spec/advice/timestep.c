/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the timestep is short enough for the fastest motion of a topology: bonds and angles as harmonic motions, and
 * how long one swing of each takes.
 */
#include "daemon/spec/advice/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/system/lines.h"
#include "engine/prepare/topology.h"

#define PERIOD_STEPS 10 /* timesteps that the fastest motion should have for one swing */
#define HEAVY_STEPS 8   /* an angle where masses are repartitioned: 4 fs, shown by tests/physics/heavy_hydrogens.py */
#define HEAVY_HYDROGEN 1.5 /* u, beyond which a hydrogen has mass that was its neighbour's */

/* A harmonic motion and how long one swing takes, ps. */
struct fast_motion {
    double period;
    int atom[3], natoms;
};

static void take_faster(struct fast_motion *fastest, struct fast_motion m)
{
    if (m.period < fastest->period)
        *fastest = m;
}

static void look_at_bond(const struct system *sys, const struct bond *b, struct fast_motion *fastest)
{
    for (int state = 0; state < 2; state++) {
        double mass = 1 / (1 / sys->atoms[b->atom[0]].mass[state] + 1 / sys->atoms[b->atom[1]].mass[state]);
        if (b->k[state] > 0 && mass > 0) /* none: of a virtual site */
            take_faster(fastest,
                        (struct fast_motion){2 * M_PI * sqrt(mass / b->k[state]), {b->atom[0], b->atom[1]}, 2});
    }
}

/* The harmonic bond that one of another form is for small swings about its length; false: it has none. */
static bool harmonic_of(const struct rare_term *r, struct bond *out)
{
    *out = (struct bond){.atom = {r->atom[0], r->atom[1]}};
    for (int s = 0; s < 2; s++) {
        const double *c = r->c[s];
        out->r0[s] = c[0];
        if (r->kind == RARE_G96_BOND)
            out->k[s] = 2 * c[1] * c[0] * c[0];
        else if (r->kind == RARE_MORSE)
            out->k[s] = 2 * c[1] * c[2] * c[2];
        else if (r->kind == RARE_CUBIC_BOND)
            out->k[s] = 2 * c[1];
        else
            return false;
    }
    return true;
}

/* The same of angles: k/2 (cos theta - cos theta0)^2. */
static bool harmonic_angle_of(const struct rare_term *r, struct angle *out)
{
    if (r->kind != RARE_G96_ANGLE)
        return false;
    *out = (struct angle){.atom = {r->atom[0], r->atom[1], r->atom[2]}};
    for (int s = 0; s < 2; s++) {
        const double *c = r->c[s];
        out->theta0[s] = acos(c[0]);
        out->k[s] = c[1] * (1 - c[0] * c[0]);
    }
    return true;
}

static void look_at_bonds(const struct system *sys, const struct topology *t, struct fast_motion *fastest)
{
    struct bond b;
    for (uint32_t i = 0; i < t->nbonds.count; i++)
        look_at_bond(sys, &t->bonds[i], fastest);
    for (uint32_t i = 0; i < t->nrare.count; i++)
        if (harmonic_of(&t->rare[i], &b))
            look_at_bond(sys, &b, fastest);
}

struct length {
    int atom[2]; /* the smaller first */
    double r;    /* nm */
};

static int by_atoms(const void *a, const void *b)
{
    return memcmp(((const struct length *)a)->atom, ((const struct length *)b)->atom, sizeof((struct length *)0)->atom);
}

static void add_length(struct length *list, size_t *n, int a, int b, double r)
{
    list[(*n)++] = (struct length){{a < b ? a : b, a < b ? b : a}, r};
}

/* Of all bonds and fixed distances, for by_atoms. */
static struct length *all_lengths(const struct system *sys, const struct topology *t, size_t *n)
{
    struct length *list = xcalloc((size_t)(sys->nbonds + sys->nrare + t->ndistances + 3 * sys->nsettles), sizeof *list);
    struct bond b;
    *n = 0;
    for (int i = 0; i < sys->nrare; i++)
        if (harmonic_of(&sys->rare[i], &b))
            add_length(list, n, b.atom[0], b.atom[1], b.r0[0]);
    for (int i = 0; i < sys->nbonds; i++)
        add_length(list, n, sys->bonds[i].atom[0], sys->bonds[i].atom[1], sys->bonds[i].r0[0]);
    for (int i = 0; i < t->ndistances; i++)
        add_length(list, n, t->distances[i].atom[0], t->distances[i].atom[1], t->distances[i].r0[0]);
    for (int i = 0; i < sys->nsettles; i++) {
        const struct settle *s = &sys->settles[i];
        add_length(list, n, s->oxygen, s->hydrogen[0], s->r_oh);
        add_length(list, n, s->oxygen, s->hydrogen[1], s->r_oh);
        add_length(list, n, s->hydrogen[0], s->hydrogen[1], s->r_hh);
    }
    qsort(list, *n, sizeof *list, by_atoms);
    return list;
}

static double length_of(const struct length *list, size_t n, int a, int b)
{
    struct length key;
    size_t one = 0;
    add_length(&key, &one, a, b, 0);
    const struct length *found = n ? bsearch(&key, list, n, sizeof *list, by_atoms) : NULL;
    return found ? found->r : 0;
}

/* The inverse moment of inertia of a bending: Wilson's G element for the angle, 1/(u nm^2). */
static double bending(const struct system *sys, const struct angle *a, double r1, double r2, int state)
{
    const double mass[3] = {sys->atoms[a->atom[0]].mass[state], sys->atoms[a->atom[1]].mass[state],
                            sys->atoms[a->atom[2]].mass[state]};
    double middle = 1 / (r1 * r1) + 1 / (r2 * r2) - 2 * cos(a->theta0[state]) / (r1 * r2);
    return 1 / (mass[0] * r1 * r1) + middle / mass[1] + 1 / (mass[2] * r2 * r2);
}

/* list: n lengths, for by_atoms */
static void look_at_angle(const struct system *sys, const struct length *list, size_t n, const struct angle *a,
                          struct fast_motion *fastest)
{
    double r1 = length_of(list, n, a->atom[0], a->atom[1]), r2 = length_of(list, n, a->atom[1], a->atom[2]);
    bool rigid = length_of(list, n, a->atom[0], a->atom[2]) > 0;
    for (int state = 0; state < 2 && r1 > 0 && r2 > 0 && !rigid; state++) {
        double stiffness = a->k[state] * bending(sys, a, r1, r2, state);
        if (a->k[state] > 0 && isfinite(stiffness)) /* infinite: of a virtual site */
            take_faster(fastest,
                        (struct fast_motion){2 * M_PI / sqrt(stiffness), {a->atom[0], a->atom[1], a->atom[2]}, 3});
    }
}

static void look_at_angles(const struct system *sys, const struct topology *t, struct fast_motion *fastest)
{
    size_t n;
    struct angle a;
    struct length *list = all_lengths(sys, t, &n);
    for (uint32_t i = 0; i < t->nangles.count; i++)
        look_at_angle(sys, list, n, &t->angles[i], fastest);
    for (uint32_t i = 0; i < t->nrare.count; i++)
        if (harmonic_angle_of(&t->rare[i], &a))
            look_at_angle(sys, list, n, &a, fastest);
    free(list);
}

static bool has_hydrogen(const struct system *sys, const struct fast_motion *m)
{
    for (int i = 0; i < m->natoms; i++)
        if (is_hydrogen(&sys->atoms[m->atom[i]]))
            return true;
    return false;
}

/* Whether hydrogens were made heavy, here or in the topology. */
static bool heavy_hydrogens(const struct system *sys)
{
    for (int i = 0; i < sys->natoms; i++)
        if (is_hydrogen(&sys->atoms[i]) && sys->atoms[i].mass[0] > HEAVY_HYDROGEN)
            return true;
    return false;
}

/* What can be done about a motion that is too fast, beside a shorter timestep. */
static const char *remedy(const struct advising *a, const struct fast_motion *m, bool heavy)
{
    bool hydrogen = has_hydrogen(a->sys, m);
    if (m->natoms == 3)
        return hydrogen && !heavy ? ", or masses: {repartition: 3}" : "";
    if (hydrogen && a->s->settings.constrain == CONSTRAIN_NONE)
        return ", or constraints: h-bonds";
    return a->s->settings.constrain == CONSTRAIN_ALL_BONDS ? "" : ", or constraints: all-bonds";
}

/* The bond or angle that has the smallest part of the timesteps that one swing should have, and how many these are. */
static struct fast_motion worst_motion(const struct advising *a, const struct topology *t, bool heavy, int *wanted)
{
    const int of_bond = heavy ? integrators[a->s->settings.integrator.kind].bond_steps : PERIOD_STEPS,
              of_angle = heavy ? HEAVY_STEPS : PERIOD_STEPS;
    struct fast_motion bond = {.period = INFINITY}, angle = {.period = INFINITY};
    look_at_bonds(a->sys, t, &bond);
    look_at_angles(a->sys, t, &angle);
    const bool is_bond = bond.period / of_bond <= angle.period / of_angle;
    *wanted = is_bond ? of_bond : of_angle;
    return is_bond ? bond : angle;
}

void advise_timestep(const struct advising *a, const struct topology *t)
{
    const struct phase *longest = &a->s->phases[0];
    for (int i = 1; i < a->s->nphases; i++)
        longest = a->s->phases[i].timestep > longest->timestep ? &a->s->phases[i] : longest;
    double step = longest->timestep;
    bool own = longest != &a->s->phases[0];
    bool heavy = a->s->settings.masses.repartition > 1 || heavy_hydrogens(a->sys);
    int wanted;
    const struct fast_motion m = worst_motion(a, t, heavy, &wanted);
    if (m.period >= wanted * step)
        return;
    char names[80] = "";
    for (int i = 0; i < m.natoms; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.15s", i ? "-" : "",
                 a->sys->atoms[m.atom[i]].name);
    struct buf place = {0};
    system_line(a->sys, m.atom, m.natoms, &place);
    advice_say(a, "timestep", own ? longest->line : a->s->integrator_line,
               "%s: the %s %s (atoms %d to %d, %.15s%s%.200s) swings once in %.1f fs, %.1f timesteps of %.4g fs%s; "
               "expected %d or more: at most %.2g fs%s",
               own ? "protocol: timestep" : "integrator.timestep", m.natoms == 2 ? "bond" : "angle", names,
               m.atom[0] + 1, m.atom[m.natoms - 1] + 1, a->sys->atoms[m.atom[0]].resname, place.len ? ", " : "",
               place.len ? place.data : "", m.period * 1e3, m.period / step, step * 1e3,
               m.period < M_PI * step ? ", which cannot be stable" : "", wanted, floor(m.period * 1e4 / wanted) / 10,
               remedy(a, &m, heavy));
    buf_free(&place);
}
