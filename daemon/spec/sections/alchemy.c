/* SPDX-License-Identifier: Apache-2.0
 *
 * What is changed along the ladder, the soft core, and the lambdas of the windows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"
#include "engine/base/number.h"

/* dhdl.xvg prints lambdas with four decimals, and readers tell states apart by that text. */
static int check_collisions(struct reader *r, const struct alchemy_settings *a, struct view windows)
{
    char(*state)[LAMBDA_COUNT * 8] = xcalloc((size_t)a->nwindows, sizeof *state);
    int rc = 0;
    for (int i = 0; i < a->nwindows && !rc; i++) {
        for (int c = 0, used = 0; c < LAMBDA_COUNT; c++)
            used += snprintf(state[i] + used, sizeof state[i] - (size_t)used, "%.4f ", fabs(a->lambda[i][c]));
        for (int j = 0; j < i && !rc; j++)
            if (!strcmp(state[i], state[j]))
                rc = spec_bad(r, windows, "alchemy.windows",
                              "windows %d and %d are one state to four decimals; dhdl.xvg could not tell them apart", j,
                              i);
    }
    free(state);
    return rc;
}

/* key: of alchemy, for messages. */
static int read_windows(struct reader *r, struct alchemy_settings *a, struct view v, const char *key)
{
    struct view first = {0};
    const char *first_name = NULL;
    for (int c = 0; c < LAMBDA_COUNT; c++) {
        struct view ladder = view_key(v, lambda_names[c].ours);
        char place[64];
        snprintf(place, sizeof place, "alchemy.%s.%s", key, lambda_names[c].ours);
        if (!(a->given[c] = view_given(ladder)))
            continue;
        if (!first_name) {
            first = ladder;
            first_name = lambda_names[c].ours;
            a->nwindows = view_count(ladder);
            a->lambda = xcalloc((size_t)a->nwindows, sizeof *a->lambda);
        }
        if (view_count(ladder) != a->nwindows)
            return spec_bad(r, ladder, place, "%d %s; expected %d, as many as %s in line %d", view_count(ladder),
                            number_word(view_count(ladder), "value", "values"), a->nwindows, first_name,
                            first.node->line);
        for (int i = 0; i < a->nwindows; i++)
            a->lambda[i][c] = view_number(view_item(ladder, i));
    }
    return check_collisions(r, a, v);
}

/* What a pilot placed counts in place of the windows that the pilot had. */
static int read_ladders(struct reader *r, struct alchemy_settings *a, struct view v)
{
    struct view placed = view_key(view_key(v, "ladder"), "placed");
    return view_given(placed) ? read_windows(r, a, placed, "ladder.placed")
                              : read_windows(r, a, view_key(v, "windows"), "windows");
}

static int read_soft_core(struct reader *r, struct soft_core *core, struct view v)
{
    static const struct {
        const char *key;
        enum soft_function of;
    } own[] = {{"alpha", SOFT_BEUTLER},
               {"power", SOFT_BEUTLER},
               {"coulomb", SOFT_BEUTLER},
               {"scale-linpoint-lj", SOFT_GAPSYS},
               {"scale-linpoint-coulomb", SOFT_GAPSYS}};
    core->function = (enum soft_function)view_choice(view_key(v, "function"));
    core->power = (int)view_integer(view_key(v, "power"));
    core->sigma = view_quantity(view_key(v, "sigma")).value;
    if (core->function == SOFT_GAPSYS) {
        core->alpha = view_number(view_key(v, "scale-linpoint-lj"));
        core->alpha_coulomb = view_quantity(view_key(v, "scale-linpoint-coulomb")).value;
        core->coulomb = core->alpha_coulomb > 0;
    } else {
        core->alpha = view_number(view_key(v, "alpha"));
        core->coulomb = view_boolean(view_key(v, "coulomb"));
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        struct view key = view_key(v, own[i].key);
        char place[64];
        snprintf(place, sizeof place, "alchemy.soft-core.%s", own[i].key);
        if (view_given(key) && own[i].of != core->function)
            return spec_bad(r, key, place, "%s: a key of another function than %s", view_text(key),
                            view_text(view_key(v, "function")));
    }
    return 0;
}

/* Ladders of what holds a molecule: along them one that stays as it is may be held or let go. */
static bool is_held(struct view windows)
{
    return view_given(view_key(windows, "bonded")) || view_given(view_key(windows, "restraint"));
}

static int read_decoupled(struct reader *r, struct alchemy_settings *a, struct view v, int k, bool held)
{
    struct decoupled *one = &a->decouple[k];
    struct view name = view_key(v, "molecule"), to = view_key(v, "to");
    char place[48];
    snprintf(one->molecule, sizeof one->molecule, "%s", view_text(name));
    one->on[0] = (unsigned)view_choice(view_key(v, "from")); /* the words in the order of the bits */
    one->on[1] = (unsigned)view_choice(to);
    one->intramolecular_decouple = view_choice(view_key(v, "intramolecular")) == 1;
    snprintf(place, sizeof place, "alchemy.decouple[%d]", k);
    if (one->on[0] == one->on[1] && !held)
        return spec_bad(r, v, place,
                        "%s: from %s to %s: nothing changes; expected another end, or a ladder bonded or restraint",
                        view_text(name), view_text(to), view_text(to));
    for (int other = 0; other < k; other++)
        if (!strcmp(a->decouple[other].molecule, one->molecule))
            return spec_bad(r, name, place, "%s: there is an entry of this molecule already", view_text(name));
    return 0;
}

static int read_decouple(struct reader *r, struct alchemy_settings *a, struct view v, struct view inner, bool held)
{
    int rc = 0;
    if (v.node->kind == NODE_SCALAR) {
        a->decouple[a->ndecouple++] = (struct decoupled){.on = {COUPLED_ALL}};
        a->decouple->intramolecular_decouple = view_choice(inner) == 1;
        snprintf(a->decouple->molecule, sizeof a->decouple->molecule, "%s", view_text(v));
        return 0;
    }
    if (view_given(inner))
        return spec_bad(r, inner, "alchemy.intramolecular",
                        "%s: where decouple is a list, each of its molecules has an intramolecular of its own",
                        view_text(inner));
    for (; a->ndecouple < view_count(v) && !rc; a->ndecouple++)
        rc = read_decoupled(r, a, view_item(v, a->ndecouple), a->ndecouple, held);
    return rc;
}

/* Nothing vanishes, so there is no soft core; it would act on charges of atoms without Lennard-Jones. */
static int read_temper(struct reader *r, struct alchemy_settings *a, struct view v, struct view soft_core)
{
    struct tempered *t = &a->temper;
    struct view names = view_key(v, "molecule");
    const bool one = names.node->kind == NODE_SCALAR;
    t->nmolecules = one ? 1 : view_count(names);
    for (int k = 0; k < t->nmolecules; k++)
        snprintf(t->molecule[k], sizeof t->molecule[k], "%s", view_text(one ? names : view_item(names, k)));
    t->to = view_quantity(view_key(v, "to")).value;
    a->soft_core.alpha = 0;
    return view_given(soft_core) ? spec_bad(r, soft_core, "alchemy.soft-core",
                                            "with temper no pair loses its repulsion; expected no soft-core")
                                 : 0;
}

int spec_check_temper(struct reader *r, const struct settings *set, struct view v)
{
    const struct alchemy_settings *a = &set->alchemy;
    struct view to = view_key(view_key(v, "temper"), "to");
    if (!a->temper.nmolecules)
        return 0;
    if (!(a->temper.to > set->integrator.temperature))
        return spec_bad(r, to, "alchemy.temper.to", "%s: expected more than integrator.temperature, %.15g K",
                        view_text(to), set->integrator.temperature);
    if (!a->given[LAMBDA_COULOMB] && !a->given[LAMBDA_VDW] && !a->given[LAMBDA_BONDED])
        return spec_bad(r, view_key(v, "windows"), "alchemy.windows", "temper: expected coulomb, vdw and bonded");
    return 0;
}

int spec_read_alchemy(struct reader *r, struct alchemy_settings *a, struct view v)
{
    struct view decouple = view_key(v, "decouple"), inner = view_key(v, "intramolecular"),
                temper = view_key(v, "temper");
    int rc = read_soft_core(r, &a->soft_core, view_key(v, "soft-core"));
    if (rc)
        return rc;
    a->dielectric = view_number(view_key(view_key(v, "finite-size"), "dielectric"));
    if (!view_given(v)) {
        a->nwindows = 1;
        a->lambda = xcalloc(1, sizeof *a->lambda);
        return 0;
    }
    a->allow_no_change = view_boolean(view_key(v, "allow-no-change"));
    a->kind = view_given(decouple) ? ALCHEMY_DECOUPLE : ALCHEMY_B_STATES;
    if (a->kind == ALCHEMY_DECOUPLE)
        rc = read_decouple(r, a, decouple, inner, is_held(view_key(v, "windows")));
    else if (view_given(inner))
        return spec_bad(r, inner, "alchemy.intramolecular",
                        "%s: only decouple has a choice of inner interactions, not %s", view_text(inner),
                        view_given(temper) ? "temper" : "perturb");
    else if (view_given(temper))
        rc = read_temper(r, a, temper, view_key(v, "soft-core"));
    return rc ? rc : read_ladders(r, a, v);
}

/* What the placed windows would be refused for when the pilot has run. */
static int check_placed_number(struct reader *r, const struct spec *s, struct view ladder)
{
    const int rows = s->ladder.windows ? s->ladder.windows : s->settings.alchemy.nwindows,
              pilot = s->settings.alchemy.nwindows,
              most = spec_windows_placed(s) > pilot ? spec_windows_placed(s) : pilot;
    if (most * s->repeats > SPEC_REPLICAS_MAX)
        return spec_bad(r, ladder, "alchemy.ladder", "%d windows x %d repeats are %d replicas; expected at most %d",
                        most, s->repeats, most * s->repeats, SPEC_REPLICAS_MAX);
    if (s->walkers && s->settings.switching.changes < rows - 1)
        return spec_bad(r, ladder, "alchemy.ladder",
                        "%d rows: in a switch lambda changes %d times; expected %d rows at most, or a longer switch",
                        rows, s->settings.switching.changes, s->settings.switching.changes + 1);
    return 0;
}

/* Windows become others, so nothing may be said of one of them alone. */
static int check_placeable(struct reader *r, const struct spec *s, struct view root, struct view ladder)
{
    struct view starts = view_key(view_key(root, "system"), "window-coordinates");
    struct view shares = view_key(view_key(root, "switch"), "shares");
    if (s->settings.alchemy.nwindows < 2)
        return spec_bad(r, ladder, "alchemy.ladder", "a single window; expected two or more, which the pilot has");
    if (s->nstarts)
        return spec_bad(r, starts, "system.window-coordinates",
                        "alchemy.ladder places other windows; expected coordinates for all of them");
    if (view_given(shares))
        return spec_bad(r, shares, "switch.shares",
                        "alchemy.ladder places the rows evenly, so each interval takes as long; expected no shares");
    return check_placed_number(r, s, ladder);
}

int spec_read_ladder(struct reader *r, struct spec *s, struct view root)
{
    struct view v = view_key(view_key(root, "alchemy"), "ladder");
    if (!view_given(v))
        return 0;
    s->ladder.placed = view_given(view_key(v, "placed"));
    s->ladder.automatic = !s->ladder.placed;
    s->ladder.pilot = view_quantity(view_key(v, "pilot")).value;
    s->ladder.windows = view_given(view_key(v, "windows")) ? (int)view_integer(view_key(v, "windows")) : 0;
    return s->ladder.automatic ? check_placeable(r, s, root, v) : 0;
}
