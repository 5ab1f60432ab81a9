/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/advice_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/base/text_json.h"
#include "engine/kernels/volume.h"
#include "engine/system/alchemy.h"
#include "engine/system/lines.h"
#include "engine/system/topology.h"

#define PERIOD_STEPS 10 /* timesteps that the fastest motion should have for one swing */
#define HEAVY_STEPS 8   /* an angle where masses are repartitioned: 4 fs, shown by tests/physics/heavy_hydrogens.py */
#define HEAVY_HYDROGEN 1.5 /* u, beyond which a hydrogen has mass that was its neighbour's */
#define VDW_STEP 0.3       /* lambda; beyond it neighbours rarely overlap */
#define COULOMB_STEP 0.5   /* e, of the root of the sum of squared charges that go in one step */
#define SAMPLES 50         /* rows of a window, below which no estimate is more than a guess */
#define VOLUME_ROUNDS 10   /* changes of the size of volume moves, after which it fits */

void advice_say(const struct advising *a, const char *kind, int line, const char *fmt, ...)
{
    char text[800], whole[1200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(whole, sizeof whole, "%.300s:%d: %s", a->s->file, line, text);
    json_t *message = json_string(whole); /* NULL where a name is no UTF-8: then the advice goes without */
    if (message)
        json_array_append_new(a->list, json_pack("{s:s, s:o}", "kind", kind, "message", message));
}

/* ---- the timestep ---- */

/* A harmonic motion and how long one swing takes, ps. */
struct motion {
    double period;
    int atom[3], natoms;
};

static void take_faster(struct motion *fastest, struct motion m)
{
    if (m.period < fastest->period)
        *fastest = m;
}

static void look_at_bond(const struct system *sys, const struct bond *b, struct motion *fastest)
{
    for (int state = 0; state < 2; state++) {
        double mass = 1 / (1 / sys->atoms[b->atom[0]].mass[state] + 1 / sys->atoms[b->atom[1]].mass[state]);
        if (b->k[state] > 0 && mass > 0) /* none: of a virtual site */
            take_faster(fastest, (struct motion){2 * M_PI * sqrt(mass / b->k[state]), {b->atom[0], b->atom[1]}, 2});
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

static void look_at_bonds(const struct system *sys, const struct topology *t, struct motion *fastest)
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
                          struct motion *fastest)
{
    double r1 = length_of(list, n, a->atom[0], a->atom[1]), r2 = length_of(list, n, a->atom[1], a->atom[2]);
    bool rigid = length_of(list, n, a->atom[0], a->atom[2]) > 0;
    for (int state = 0; state < 2 && r1 > 0 && r2 > 0 && !rigid; state++) {
        double stiffness = a->k[state] * bending(sys, a, r1, r2, state);
        if (a->k[state] > 0 && isfinite(stiffness)) /* infinite: of a virtual site */
            take_faster(fastest, (struct motion){2 * M_PI / sqrt(stiffness), {a->atom[0], a->atom[1], a->atom[2]}, 3});
    }
}

static void look_at_angles(const struct system *sys, const struct topology *t, struct motion *fastest)
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

static bool has_hydrogen(const struct system *sys, const struct motion *m)
{
    for (int i = 0; i < m->natoms; i++)
        if (is_hydrogen(&sys->atoms[m->atom[i]]))
            return true;
    return false;
}

/* Whether hydrogens were made heavy, here or by whoever wrote the topology. */
static bool heavy_hydrogens(const struct system *sys)
{
    for (int i = 0; i < sys->natoms; i++)
        if (is_hydrogen(&sys->atoms[i]) && sys->atoms[i].mass[0] > HEAVY_HYDROGEN)
            return true;
    return false;
}

/* What can be done about a motion that is too fast, beside a shorter timestep. */
static const char *remedy(const struct advising *a, const struct motion *m, bool heavy)
{
    bool hydrogen = has_hydrogen(a->sys, m);
    if (m->natoms == 3)
        return hydrogen && !heavy ? ", or masses: {repartition: 3}" : "";
    if (hydrogen && a->s->settings.constrain == CONSTRAIN_NONE)
        return ", or constraints: h-bonds";
    return a->s->settings.constrain == CONSTRAIN_ALL_BONDS ? "" : ", or constraints: all-bonds";
}

static void advise_timestep(const struct advising *a, const struct topology *t)
{
    struct motion m = {.period = INFINITY};
    const struct phase *longest = &a->s->phases[0];
    for (int i = 1; i < a->s->nphases; i++)
        longest = a->s->phases[i].timestep > longest->timestep ? &a->s->phases[i] : longest;
    double step = longest->timestep;
    bool own = longest != &a->s->phases[0];
    look_at_bonds(a->sys, t, &m);
    look_at_angles(a->sys, t, &m);
    bool heavy = a->s->settings.masses.repartition > 1 || heavy_hydrogens(a->sys);
    int wanted = m.natoms == 3 && heavy ? HEAVY_STEPS : PERIOD_STEPS;
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

/* ---- the soft core ---- */

/* Whether an atom with a charge has no Lennard-Jones of its own in one state, but in the other. */
static bool bare_in(const struct system *sys, const struct atom *atom, int state)
{
    const struct lj *self[2];
    for (int k = 0; k < 2; k++)
        self[k] = &sys->lj[(size_t)atom->type[k] * (size_t)sys->ntypes + (size_t)atom->type[k]];
    return self[state]->c12 == 0 && self[!state]->c12 > 0 && atom->charge[!state] != 0;
}

/* Whether a decoupled molecule's atom with a charge has Lennard-Jones in the other state alone. */
static bool gone_in(const struct advising *a, int atom, int state)
{
    const struct decoupled *gone = alchemy_decoupled(a->sys, &a->s->settings.alchemy, atom);
    return gone && a->sys->atoms[atom].charge[0] != 0 && !(gone->on[state] & COUPLED_VDW) &&
           gone->on[!state] == COUPLED_ALL;
}

/* The window is in between for Lennard-Jones, and charges that go with it are partly there. */
static bool softens_nothing(const double lambda[LAMBDA_COUNT], bool vanish, bool appear)
{
    double vdw = lambda[LAMBDA_VDW], coulomb = lambda[LAMBDA_COULOMB];
    return (vanish && vdw > 0 && coulomb < 1) || (appear && vdw < 1 && coulomb > 0);
}

static void advise_soft_core(const struct advising *a)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    bool vanish = false, appear = false;
    int first = -1, count = 0;
    for (int i = 0; i < a->sys->natoms && al->kind != ALCHEMY_NONE; i++) {
        const struct atom *atom = &a->sys->atoms[i];
        bool b_states = al->kind == ALCHEMY_B_STATES;
        vanish |= b_states ? bare_in(a->sys, atom, 1) : gone_in(a, i, 1);
        appear |= b_states ? bare_in(a->sys, atom, 0) : gone_in(a, i, 0);
    }
    for (int w = 0; w < al->nwindows && al->lambda; w++)
        if (softens_nothing(al->lambda[w], vanish, appear) && count++ == 0)
            first = w;
    if (count && !al->soft_core.coulomb)
        advice_say(
            a, "soft-core", a->s->alchemy_line,
            "alchemy.windows: in window %d%s charges are there while Lennard-Jones is softened; expected coulomb to go "
            "first "
            "(and to come last), or soft-core.%s",
            first, count > 1 ? " and others" : "",
            al->soft_core.function == SOFT_GAPSYS ? "scale-linpoint-coulomb above 0" : "coulomb: yes");
}

/* ---- the ladder ---- */

/* Root of the sum of squares of what the charges of the changing atoms change by, e. */
static double changing_charge(const struct advising *a)
{
    double sum = 0;
    bool b_states = a->s->settings.alchemy.kind == ALCHEMY_B_STATES;
    for (int i = 0; i < a->sys->natoms; i++) {
        const struct atom *atom = &a->sys->atoms[i];
        double change = b_states ? atom->charge[1] - atom->charge[0] : advise_charge_change(a, i);
        sum += change * change;
    }
    return sqrt(sum);
}

static void advise_spacing(const struct advising *a, enum lambda component, const char *name, double most)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    int first = -1, count = 0;
    for (int w = 1; w < al->nwindows && al->given[component]; w++)
        if (fabs(al->lambda[w][component] - al->lambda[w - 1][component]) > most + 1e-9 && count++ == 0)
            first = w;
    if (!count)
        return;
    char step[32] = "";
    if (most > 0.05)
        snprintf(step, sizeof step, " of at most about %.2g", most);
    advice_say(
        a, "ladder", a->s->alchemy_line,
        "alchemy.windows.%s: from %.4g in window %d to %.4g in window %d%s: neighbours so far apart hardly overlap; "
        "expected "
        "more windows, with steps%s",
        name, al->lambda[first - 1][component], first - 1, al->lambda[first][component], first,
        count > 1 ? ", and elsewhere" : "", step);
}

static void advise_ends(const struct advising *a, enum lambda component, const char *name)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    double low = 1, high = 0;
    for (int w = 0; w < al->nwindows && al->given[component]; w++) {
        low = fmin(low, al->lambda[w][component]);
        high = fmax(high, al->lambda[w][component]);
    }
    if (al->given[component] && al->nwindows > 1 && (low > 0 || high < 1) && low < high)
        advice_say(
            a, "ladder", a->s->alchemy_line,
            "alchemy.windows.%s: goes from %.4g to %.4g; the free energy is that of this part of the way, not of 0 to "
            "1",
            name, low, high);
}

static void advise_ladder(const struct advising *a, const struct topology *t)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    if (al->kind == ALCHEMY_NONE)
        return;
    if (al->nwindows == 1) {
        advice_say(a, "ladder", a->s->alchemy_line,
                   "alchemy.windows: one window makes no free energy; expected two or more");
        return;
    }
    if (al->temper.nmolecules) {
        advise_temper(a);
        return;
    }
    double charge = changing_charge(a);
    if (advise_changes(a, t, LAMBDA_VDW))
        advise_spacing(a, LAMBDA_VDW, "vdw", VDW_STEP);
    if (charge > COULOMB_STEP)
        advise_spacing(a, LAMBDA_COULOMB, "coulomb", COULOMB_STEP / charge);
    advise_ends(a, LAMBDA_COULOMB, "coulomb");
    advise_ends(a, LAMBDA_VDW, "vdw");
}

/* ---- the protocol ---- */

/* Moves adapt after every VOLUME_ROUND of a stage before, and not where results are gathered. */
static void advise_volume_moves(const struct advising *a)
{
    const struct spec *s = a->s;
    uint64_t every = (uint64_t)s->settings.barostat.every, moves = 0;
    for (int i = 0; i < s->nstages; i++) {
        const struct stage *stage = &s->stages[i];
        if (!stage->npt || !every)
            continue;
        if (stage->kind != STAGE_PRODUCE) {
            moves += stage->steps / every;
            continue;
        }
        if (moves < VOLUME_ROUND)
            advice_say(
                a, "barostat", s->protocol_line,
                "protocol: produces with ensemble npt after %llu volume %s of equilibrate stages; their size adapts "
                "there after every %d and nowhere else, so it stays %g %% of the volume, of which a large system "
                "accepts "
                "few; expected an equilibrate stage with ensemble npt before, of %llu steps at the least",
                (unsigned long long)moves, number_word((int64_t)moves, "move", "moves"), VOLUME_ROUND,
                100 * VOLUME_FIRST_SCALE, (unsigned long long)(VOLUME_ROUND * VOLUME_ROUNDS * every));
        return;
    }
}

static void advise_protocol(const struct advising *a)
{
    const struct spec *s = a->s;
    bool verlet = s->settings.integrator.kind == INTEGRATOR_VELOCITY_VERLET;
    uint64_t rows = 0;
    for (int i = 0; i < s->nstages; i++)
        if (s->stages[i].kind == STAGE_PRODUCE && s->stages[i].sample_every)
            rows += s->stages[i].steps / s->stages[i].sample_every;
    if (s->nstages && s->stages[0].kind != STAGE_MINIMIZE && !system_start(a->sys, 0).v)
        advice_say(
            a, "minimization", s->protocol_line,
            "protocol: begins without minimize, and %s has no velocities of an earlier run; a bad contact ends the run",
            s->coordinates);
    if (verlet && s->settings.alchemy.nwindows > 1)
        advice_say(
            a, "ensemble", s->integrator_line,
            "integrator.method: velocity-verlet samples at constant energy; the estimators take every window for one "
            "at "
            "constant temperature");
    if (s->nstages && rows < SAMPLES)
        advice_say(a, "sampling", s->protocol_line,
                   "protocol: %llu %s of every window; expected %d at the least, and hundreds that are independent",
                   (unsigned long long)rows, number_word((int64_t)rows, "sample", "samples"), SAMPLES);
}

/* ---- the topology ---- */

/* What its readers took and who wrote it should know, and what its force field says of constraints. */
static void advise_topology(const struct advising *a)
{
    for (int i = 0; i < a->sys->nnotes; i++) {
        const char *note = a->sys->notes[i];
        json_array_append_new(a->list,
                              json_pack("{s:s, s:o}", "kind", "topology", "message", text_json(note, strlen(note))));
    }
    if (a->s->settings.constrain == CONSTRAIN_ALL_BONDS && a->sys->fitted_to_h_bonds)
        advice_say(a, "constraints", 1,
                   "constraints: all-bonds, and the force field (_FF_AMBER, _FF_CHARMM or _FF_OPLSAA) was fitted with "
                   "constraints on bonds of hydrogens alone; expected h-bonds");
}

int spec_advise(const struct spec *s, const struct system *sys, json_t **out, struct err *e)
{
    struct advising a = {.s = s, .sys = sys};
    struct topology t = {0};
    int rc = topology_build(&t, sys, &s->settings, e);
    if (rc) {
        topology_close(&t);
        return rc;
    }
    a.list = *out = json_array();
    advise_topology(&a);
    advise_hydrogens(&a);
    advise_box(&a);
    advise_timestep(&a, &t);
    advise_soft_core(&a);
    advise_net_charge(&a);
    advise_ladder(&a, &t);
    advise_idle(&a, &t);
    advise_states(&a, &t);
    advise_protocol(&a);
    advise_center(&a);
    advise_volume_moves(&a);
    advise_shape(&a);
    topology_close(&t);
    return 0;
}
