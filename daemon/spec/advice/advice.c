/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/advice/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/base/json/text_json.h"
#include "engine/kernels/volume.h"
#include "engine/observe/observe.h"
#include "engine/prepare/alchemy.h"
#include "engine/system/lines.h"
#include "engine/prepare/topology.h"

#define VDW_STEP 0.3     /* lambda; beyond it neighbours rarely overlap */
#define COULOMB_STEP 0.5 /* e, of the root of the sum of squared charges that go in one step */
#define SAMPLES 50       /* rows of a window, below which no estimate is more than a guess */
#define VOLUME_ROUNDS 10 /* changes of the size of volume moves, after which it fits */

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
    if (a->s->walkers) /* nobody samples what is between the ends */
        return;
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
    const enum integrator kind = s->settings.integrator.kind;
    uint64_t rows = 0;
    for (int i = 0; i < s->nstages; i++)
        if (s->stages[i].kind == STAGE_PRODUCE && s->stages[i].sample_every)
            rows += s->stages[i].steps / s->stages[i].sample_every;
    if (s->nstages && s->stages[0].kind != STAGE_MINIMIZE && !system_start(a->sys, 0).v)
        advice_say(
            a, "minimization", s->protocol_line,
            "protocol: begins without minimize, and %s has no velocities of an earlier run; a bad contact ends the run",
            s->coordinates);
    if (integrator_conserves_energy(kind) && s->settings.alchemy.nwindows > 1)
        advice_say(a, "ensemble", s->integrator_line,
                   "integrator.method: %s samples at constant energy; the estimators take every window for one at "
                   "constant temperature",
                   integrators[kind].word);
    if (s->nstages && rows < SAMPLES)
        advice_say(a, "sampling", s->protocol_line,
                   "protocol: %llu %s of every window; expected %d at the least, and hundreds that are independent",
                   (unsigned long long)rows, number_word((int64_t)rows, "sample", "samples"), SAMPLES);
}

/* ---- observables ---- */

/* Volume moves scale all positions: displacements have that in them too. */
static void advise_displacements(const struct advising *a)
{
    const struct spec *s = a->s;
    const char *kind = NULL, *what = NULL;
    bool npt = false;
    for (int i = 0; i < a->sys->nobservables && !what; i++) {
        kind = observable_words[a->sys->observables[i].kind];
        what = observe_kinds[a->sys->observables[i].kind]->at_constant_volume;
    }
    for (int i = 0; i < s->nstages; i++)
        npt |= s->stages[i].kind == STAGE_PRODUCE && s->stages[i].npt;
    if (what && npt)
        advice_say(
            a, "ensemble", s->protocol_line,
            "protocol: production with ensemble npt moves molecules with the box, which observables: %s takes for "
            "%s; expected ensemble nvt, at the volume that an npt stage before it came to",
            kind, what);
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
    advise_split(&a);
    advise_timestep(&a, &t);
    advise_soft_core(&a);
    advise_net_charge(&a);
    advise_ladder(&a, &t);
    advise_gaps(&a);
    advise_idle(&a, &t);
    advise_states(&a, &t);
    advise_protocol(&a);
    advise_center(&a);
    advise_volume_moves(&a);
    advise_displacements(&a);
    advise_shape(&a);
    topology_close(&t);
    return 0;
}
