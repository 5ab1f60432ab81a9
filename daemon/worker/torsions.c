/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/torsions.h"

#include <sys/stat.h>

#include "engine/io/trajectory.h"

struct watched watched_of(const struct system *sys, const struct alchemy_settings *set)
{
    struct watched t = {.sys = sys};
    t.n = torsions_of(sys, set, t.torsions);
    return t;
}

static void add_up(struct watched *t, const struct turns turns[TORSIONS_MAX], int64_t frames)
{
    t->frames += frames;
    if (frames < 2)
        return;
    t->trajectories++;
    for (int i = 0; i < t->n; i++) {
        t->turns[i] += turns[i].count;
        t->still[i] += turns[i].count == 0;
    }
}

void watched_add(struct watched *t, const char *path, uint64_t bytes)
{
    struct trajectory *trajectory;
    struct trajectory_frame f;
    struct turns turns[TORSIONS_MAX] = {0};
    struct err unread = {0};
    struct stat st;
    int64_t frames = 0;
    if (stat(path, &st) || !st.st_size || trajectory_open(&trajectory, path, t->sys, &unread))
        return;
    while (trajectory_read_part(trajectory) * (double)st.st_size < (double)bytes &&
           trajectory_next(trajectory, &f, &unread) == 0) {
        frames++;
        for (int i = 0; i < t->n; i++)
            turns_add(&turns[i], torsion_angle(&t->torsions[i], (const double(*)[3])f.x, f.box));
    }
    add_up(t, turns, frames);
    trajectory_close(trajectory);
}

static void torsion_json(const struct watched *t, int i, struct writer *w)
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
    jw_integer(w, "windows_without", (size_t)t->still[i]);
    jw_end(w, '}');
}

void watched_json(const struct watched *t, struct writer *w)
{
    jw_integer(w, "frames", (size_t)t->frames);
    jw_integer(w, "windows", (size_t)t->trajectories);
    jw_begin(w, "list", '[');
    for (int i = 0; i < t->n; i++)
        torsion_json(t, i, w);
    jw_end(w, ']');
}
