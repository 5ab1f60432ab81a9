/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/torsions.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "engine/base/buf.h"
#include "engine/io/trajectory.h"

#define DEGREES (180 / 3.14159265358979323846)

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

static void add_up(struct watched *t, const struct turns turns[TORSIONS_MAX], int64_t frames, int repeat, int window)
{
    t->frames += frames;
    if (frames < 2)
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

void watched_add(struct watched *t, const char *path, uint64_t bytes, int repeat, int window)
{
    struct trajectory *trajectory;
    struct trajectory_frame f;
    struct turns turns[TORSIONS_MAX] = {0};
    struct err unread = {0};
    struct stat st;
    int64_t frames = 0;
    double before = NAN;
    if (stat(path, &st) || !st.st_size || trajectory_open(&trajectory, path, t->sys, &unread))
        return;
    while (trajectory_read_part(trajectory) * (double)st.st_size < (double)bytes &&
           trajectory_next(trajectory, &f, &unread) == 0) {
        frames++;
        t->interval = fmax(t->interval, f.time - before); /* fmax leaves NAN out */
        before = f.time;
        for (int i = 0; i < t->n; i++)
            turns_add(&turns[i], torsion_angle(&t->torsions[i], (const double(*)[3])f.x, f.box));
    }
    add_up(t, turns, frames, repeat, window);
    trajectory_close(trajectory);
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
