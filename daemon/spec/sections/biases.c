/* SPDX-License-Identifier: Apache-2.0
 *
 * Coordinations and the biases along them: what the spec says of them, and their atoms in a system.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"

/* ---- schedules ---- */

/* Timesteps from when the replica begins to a time of its files, in which production begins at 0: over stages of
 * different timesteps, and on as the first and the last of them go. */
static double steps_until(const struct spec *s, double time)
{
    double steps = 0, dt = s->settings.integrator.timestep;
    for (int i = 0; i < s->nstages && s->stages[i].kind != STAGE_PRODUCE; i++)
        if (s->stages[i].kind == STAGE_EQUILIBRATE)
            time += (double)s->stages[i].steps * s->stages[i].timestep;
    for (int i = 0; i < s->nstages; i++) {
        const struct stage *stage = &s->stages[i];
        if (stage->kind == STAGE_MINIMIZE)
            continue;
        dt = stage->timestep;
        if (time < (double)stage->steps * dt)
            break;
        time -= (double)stage->steps * dt;
        steps += (double)stage->steps;
    }
    return steps + time / dt;
}

/* A mapping of the spec, and a key of it in full. */
struct bias_place {
    char mapping[64], text[128];
};

static struct bias_place place_in(int index, const char *key)
{
    struct bias_place p;
    snprintf(p.mapping, sizeof p.mapping, "biases[%d].%s", index, key);
    return p;
}

static const char *at_key(struct bias_place *p, const char *key)
{
    snprintf(p->text, sizeof p->text, "%s%s%s", p->mapping, *key ? "." : "", key);
    return p->text;
}

static int read_knot(struct reader *r, const struct spec *s, struct bias_choice *b, struct view v, struct bias_place *p,
                     const char *k_key)
{
    struct bias_knot *knot = &b->knots[b->nknots];
    struct view at = view_key(v, "at"), k = view_key(v, k_key), time = view_key(v, "time");
    *knot = (struct bias_knot){steps_until(s, view_quantity(time).value), b->c[0][0], b->c[0][1]};
    if (view_given(at))
        knot->at = view_number(at);
    if (view_given(k))
        knot->k = view_quantity(k).value;
    if (b->nknots && knot->step <= knot[-1].step)
        return spec_bad(r, time, at_key(p, "schedule"), "%s: expected times one after the other", view_text(time));
    if (s->settings.alchemy.nwindows > 1 && view_quantity(time).value > 0)
        return spec_bad(
            r, time, at_key(p, "schedule"),
            "%s: expected 0 ps, where production begins, or earlier: samples of several windows are to be of "
            "potentials that stay",
            view_text(time));
    b->nknots++;
    return 0;
}

static int read_schedule(struct reader *r, const struct spec *s, struct bias_choice *b, struct view v,
                         struct bias_place *p, const char *k_key)
{
    int rc = 0;
    b->knots = xcalloc((size_t)view_count(v), sizeof *b->knots);
    for (int i = 0; i < view_count(v) && !rc; i++)
        rc = read_knot(r, s, b, view_item(v, i), p, k_key);
    return rc;
}

/* ---- biases ---- */

/* at and k of one state, where they are given. */
static void read_numbers(struct view v, const char *k_key, double c[2])
{
    struct view at = view_key(v, "at"), k = view_key(v, k_key);
    if (view_given(at))
        c[0] = view_number(at);
    if (view_given(k))
        c[1] = view_quantity(k).value;
}

static int read_bias(struct reader *r, const struct spec *s, struct bias_choice *b, struct view v, struct bias_place *p)
{
    const struct alchemy_settings *al = &s->settings.alchemy;
    const char *k_key = b->kind == BIAS_LINEAR ? "slope" : "force-constant";
    struct view other = view_key(v, "b"), schedule = view_key(v, "schedule");
    const bool whole = view_given(schedule) ||
                       (view_given(view_key(v, k_key)) && (b->kind == BIAS_LINEAR || view_given(view_key(v, "at"))));
    read_numbers(v, k_key, b->c[0]);
    memcpy(b->c[1], b->c[0], sizeof b->c[1]);
    if (!whole)
        return spec_bad(r, v, at_key(p, ""), "missing; expected %s%s, or a schedule",
                        b->kind == BIAS_LINEAR ? "" : "at and ", k_key);
    if (view_given(schedule) && view_given(other))
        return spec_bad(r, other, at_key(p, "b"), "expected b or schedule, not both");
    if (view_given(other) && !al->given[LAMBDA_RESTRAINT] && !al->given[LAMBDA_BONDED])
        return spec_bad(r, other, at_key(p, "b"),
                        "expected a ladder that leads there, alchemy.windows.restraint or bonded");
    if (view_given(other))
        read_numbers(other, k_key, b->c[1]);
    return view_given(schedule) ? read_schedule(r, s, b, schedule, p, k_key) : 0;
}

static int read_biases(struct reader *r, const struct spec *s, struct coordination_choice *c, struct view v, int index)
{
    static const char *const keys[BIAS_KINDS] = {
        [BIAS_HARMONIC] = "harmonic", [BIAS_LOWER] = "lower", [BIAS_UPPER] = "upper", [BIAS_LINEAR] = "linear"};
    int rc = 0;
    for (int kind = 0; kind < BIAS_KINDS && !rc; kind++) {
        struct bias_place p = place_in(index, keys[kind]);
        struct view one = view_key(v, keys[kind]);
        if (!view_given(one))
            continue;
        struct bias_choice *b = &c->biases[c->nbiases++];
        b->kind = (enum bias_kind)kind;
        rc = read_bias(r, s, b, one, &p);
    }
    return rc;
}

/* ---- coordinations ---- */

static int read_function(struct reader *r, struct coordination *c, struct view v, struct bias_place *p)
{
    struct view far = view_key(v, "d-max"), mm = view_key(v, "mm");
    const double r0 = view_quantity(view_key(v, "r0")).value, d0 = view_quantity(view_key(v, "d0")).value;
    const uint32_t n = (uint32_t)view_integer(view_key(v, "nn")), m = (uint32_t)view_integer(mm);
    double d_max = view_given(far) ? view_quantity(far).value : INFINITY;
    if (m && m <= n)
        return spec_bad(r, mm, at_key(p, "mm"), "%u: expected more than nn, %u, or 0 for twice nn", m, n);
    if (view_given(far) && view_quantity(far).steps) /* automatic */
        d_max = rational_short_form(r0, d0, n, m);
    if (d_max <= d0)
        return spec_bad(r, far, at_key(p, "d-max"), "%s: expected more than d0, %.15g nm", view_text(far), d0);
    c->f = rational_make(r0, d0, n, m, d_max, view_boolean(view_key(v, "stretch")));
    return 0;
}

int spec_read_coordination(struct reader *r, struct coordination *c, struct selection group[2], struct view v,
                           const char *mapping, const char *index)
{
    struct view between = view_key(v, "between"), within = view_key(v, "within"), paired = view_key(v, "paired");
    struct bias_place p;
    int rc = 0;
    snprintf(p.mapping, sizeof p.mapping, "%s", mapping);
    c->periodic = view_boolean(view_key(v, "periodic"));
    c->pairs = view_given(within) ? COORDINATION_WITHIN : COORDINATION_BETWEEN;
    if (view_boolean(paired) && view_given(within))
        return spec_bad(r, paired, at_key(&p, "paired"), "expected between, two groups");
    if (view_boolean(paired))
        c->pairs = COORDINATION_PAIRED;
    for (int g = 0; g < (view_given(within) ? 1 : 2) && !rc; g++) {
        rc = selection_read(r, &group[g], view_given(within) ? within : view_item(between, g),
                            at_key(&p, view_given(within) ? "within" : "between"), index);
        group[g].ordered = c->pairs == COORDINATION_PAIRED;
    }
    return rc ? rc : read_function(r, c, v, &p);
}

int spec_read_biases(struct reader *r, struct spec *s, struct view v)
{
    int rc = 0;
    s->coordinations = xcalloc((size_t)view_count(v), sizeof *s->coordinations);
    for (int i = 0; i < view_count(v) && !rc; i++) {
        struct coordination_choice *c = &s->coordinations[s->ncoordinations++];
        struct view of = view_key(view_item(v, i), "coordination");
        c->line = of.node->line;
        rc = spec_read_coordination(r, &c->of, c->group, of, place_in(i, "coordination").mapping, s->index);
        if (!rc)
            rc = read_biases(r, s, c, view_item(v, i), i);
    }
    return rc;
}

void spec_biases_close(struct spec *s)
{
    for (int i = 0; i < s->ncoordinations; i++) {
        struct coordination_choice *c = &s->coordinations[i];
        for (int g = 0; g < 2; g++)
            selection_close(&c->group[g]);
        for (int k = 0; k < c->nbiases; k++)
            free(c->biases[k].knots);
    }
    free(s->coordinations);
}

/* ---- in a system ---- */

int spec_check_coordination(const struct coordination *c, const struct selection group[2], int *const atoms[2],
                            const int n[2], struct err *e)
{
    for (int g = 0; g < 2; g++)
        if (n[g] > COORDINATION_ATOMS_MOST)
            return err_set(e, ERR_SPEC, "%s: %d atoms: expected %d at most", group[g].text, n[g],
                           COORDINATION_ATOMS_MOST);
    if (c->pairs == COORDINATION_PAIRED && n[0] != n[1])
        return err_set(e, ERR_SPEC, "%s: %d atoms, %s: %d; expected as many in both, to pair them one by one",
                       group[0].text, n[0], group[1].text, n[1]);
    if (c->pairs == COORDINATION_BETWEEN && n[0] == n[1] && !memcmp(atoms[0], atoms[1], (size_t)n[0] * sizeof(int)))
        return err_set(e, ERR_SPEC, "%s, %s: the same atoms; expected within: %s, which counts each pair once",
                       group[0].text, group[1].text, group[0].text);
    if (c->pairs == COORDINATION_WITHIN && n[0] < 2)
        return err_set(e, ERR_SPEC, "%s: one atom; expected two or more", group[0].text);
    return 0;
}

static int make_coordination_groups(const struct spec *s, const struct coordination_choice *c, struct source *src,
                                    struct system *sys, struct err *e)
{
    int *atoms[2] = {NULL, NULL}, n[2] = {0, 0}, rc = 0;
    for (int g = 0; g < (c->of.pairs == COORDINATION_WITHIN ? 1 : 2) && !rc; g++) {
        rc = selection_atoms(&c->group[g], s->index, src, sys, &atoms[g], &n[g], e);
        if (rc && rc != -ERR_MISSING_FILE)
            err_prefix(e, "%s", c->group[g].text);
    }
    if (!rc)
        rc = spec_check_coordination(&c->of, c->group, atoms, n, e);
    if (!rc)
        system_add_coordination(sys, c->of, (const int *const[2]){atoms[0], atoms[1]}, n);
    free(atoms[0]);
    free(atoms[1]);
    return rc;
}

static void add_bias(struct system *sys, const struct bias_choice *b)
{
    struct bias bias = {.coordination = (uint32_t)sys->ncoordinations - 1,
                        .kind = b->kind,
                        .first = (uint32_t)sys->nknots,
                        .count = (uint32_t)b->nknots};
    memcpy(bias.c, b->c, sizeof bias.c);
    sys->biases = xrealloc(sys->biases, (size_t)sys->nbiases + 1, sizeof *sys->biases);
    sys->biases[sys->nbiases++] = bias;
    sys->knots = xrealloc(sys->knots, (size_t)(sys->nknots + b->nknots), sizeof *sys->knots);
    for (int i = 0; i < b->nknots; i++)
        sys->knots[sys->nknots++] = b->knots[i];
}

int spec_make_biases(const struct spec *s, struct source *src, struct system *sys, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < s->ncoordinations && !rc; i++) {
        const struct coordination_choice *c = &s->coordinations[i];
        rc = make_coordination_groups(s, c, src, sys, e);
        for (int k = 0; k < c->nbiases && !rc; k++)
            add_bias(sys, &c->biases[k]);
        if (rc && rc != -ERR_MISSING_FILE)
            err_prefix(e, "%s:%d: biases[%d].coordination", s->file, c->line, i);
    }
    return rc;
}
