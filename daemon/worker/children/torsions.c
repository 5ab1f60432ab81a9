/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/children/torsions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

#define DEGREES (180 / M_PI)

struct watched watched_of(const struct system *sys, const struct alchemy_settings *set)
{
    struct watched t = {.sys = sys};
    t.n = torsions_of(sys, set, t.torsions);
    for (int i = 0; i < t.n; i++)
        t.twofold[i] = torsion_is_twofold(sys, &t.torsions[i]);
    return t;
}

void watched_close(struct watched *t)
{
    for (int i = 0; i < t->n; i++)
        free(t->stays[i]);
}

void watched_begin(struct watched *t)
{
    t->before = NAN;
    t->now = 0;
    memset(t->of_window, 0, sizeof t->of_window);
}

void watched_frame(struct watched *t, const struct trajectory_frame *f)
{
    t->now++;
    t->interval = fmax(t->interval, f->time - t->before); /* fmax leaves NAN out */
    t->before = f->time;
    for (int i = 0; i < t->n; i++)
        turns_add(&t->of_window[i], torsion_angle(&t->torsions[i], (const double(*)[3])f->x, f->box));
}

void watched_end(struct watched *t, int repeat, int window)
{
    const struct torsion_turns *turns = t->of_window;
    t->frames += t->now;
    if (t->now < 2)
        return;
    t->trajectories++;
    for (int i = 0; i < t->n; i++) {
        t->turns[i] += turns[i].count;
        if (turns[i].count)
            continue;
        t->stays[i] = xrealloc(t->stays[i], (size_t)t->nstays[i] + 1, sizeof *t->stays[i]);
        t->stays[i][t->nstays[i]++] = (struct stay){.repeat = repeat, .window = window, .angle = turns_mean(&turns[i])};
    }
}

/* One well: the trajectories that stay where the first that is in none yet does. False: there is none. */
static bool well_json(struct watched *t, int i, struct writer *w)
{
    struct stay *list = t->stays[i], *first = NULL;
    for (int k = 0; k < t->nstays[i]; k++) {
        struct stay *s = &list[k];
        if (s->grouped || (first && !torsion_same_well(s->angle, first->angle, t->twofold[i])))
            continue;
        if (!first) {
            first = s;
            jw_begin(w, NULL, '{');
            jw_real(w, "angle", rint(s->angle * DEGREES));
            jw_begin(w, "windows", '[');
        }
        s->grouped = true;
        jw_begin(w, NULL, '{');
        jw_integer(w, "repeat", (size_t)s->repeat);
        jw_integer(w, "window", (size_t)s->window);
        jw_end(w, '}');
    }
    if (!first)
        return false;
    jw_end(w, ']');
    jw_end(w, '}');
    return true;
}

static void torsion_json(struct watched *t, int i, struct writer *w)
{
    const struct atom *first = &t->sys->atoms[t->torsions[i].atom[1]];
    jw_begin(w, NULL, '{');
    jw_text(w, "molecule", t->sys->kinds[t->sys->molecules[first->molecule].kind].name);
    jw_text(w, "residue", first->resname);
    jw_begin(w, "atoms", '[');
    for (int k = 0; k < 4; k++)
        jw_integer(w, NULL, (size_t)t->torsions[i].atom[k] + 1);
    jw_end(w, ']');
    jw_begin(w, "names", '[');
    for (int k = 0; k < 4; k++)
        jw_text(w, NULL, t->sys->atoms[t->torsions[i].atom[k]].name);
    jw_end(w, ']');
    jw_integer(w, "transitions", (size_t)t->turns[i]);
    jw_integer(w, "windows_without", (size_t)t->nstays[i]);
    jw_begin(w, "wells", '[');
    while (well_json(t, i, w))
        ;
    jw_end(w, ']');
    jw_end(w, '}');
}

void watched_json(struct watched *t, struct writer *w)
{
    jw_integer(w, "frames", (size_t)t->frames);
    jw_real(w, "interval", t->interval);
    jw_integer(w, "windows", (size_t)t->trajectories);
    jw_begin(w, "list", '[');
    for (int i = 0; i < t->n; i++)
        torsion_json(t, i, w);
    jw_end(w, ']');
}
