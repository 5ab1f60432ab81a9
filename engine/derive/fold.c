/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/derive/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/math/box.h"
#include "engine/derive/superpose.h"
#include "engine/derive/torsions.h"

#define HEAVY 4.5 /* u: more than a heavy hydrogen has */

/* ---- which atoms ---- */

/* Behind the last atom of the residue that begins at `begin`. */
static int residue_end(const struct system *sys, int begin)
{
    const struct atom *first = &sys->atoms[begin];
    int end = begin;
    while (end < sys->natoms && sys->atoms[end].molecule == first->molecule &&
           sys->atoms[end].residue == first->residue)
        end++;
    return end;
}

int fold_backbone(const struct system *sys, int **atoms)
{
    static const char *const names[] = {"N", "CA", "C"};
    int n = 0, *list = *atoms = xcalloc((size_t)sys->natoms, sizeof *list);
    for (int begin = 0, end; begin < sys->natoms; begin = end) {
        int found = 0;
        end = residue_end(sys, begin);
        for (int i = begin; i < end; i++)
            for (int k = 0; k < 3; k++)
                if (!strcmp(sys->atoms[i].name, names[k])) {
                    list[n + found] = i;
                    found += found < 3;
                }
        n += found == 3 ? 3 : 0;
    }
    return n < 3 * FOLD_RESIDUES ? 0 : n;
}

static bool is_member(const int *sorted, int n, int atom)
{
    int low = 0;
    while (n > 0) {
        const int half = n / 2, below = sorted[low + half] < atom;
        low += below ? half + 1 : 0;
        n = below ? n - half - 1 : half;
    }
    return sorted[low] == atom;
}

/* Whether an atom may be one of the ligand's. */
static bool counts(const struct system *sys, int i, const int *backbone, int n)
{
    const double mass = sys->weights ? sys->weights[i] : sys->atoms[i].mass[0];
    return !is_hydrogen(&sys->atoms[i]) && mass > HEAVY && !system_is_dummy(sys, i, 0) && !system_is_dummy(sys, i, 1) &&
           !(n && backbone[n - 1] >= i && is_member(backbone, n, i));
}

int fold_changed(const struct system *sys, const struct alchemy_settings *set, const int *backbone, int n, int **atoms)
{
    bool *changed = changed_residues(sys, set);
    int found = 0, *list = *atoms = xcalloc((size_t)sys->natoms, sizeof *list);
    for (int begin = 0, end; begin < sys->natoms && !set->temper.nmolecules; begin = end) {
        int of_residue = 0;
        end = residue_end(sys, begin);
        for (int i = begin; i < end && changed[begin]; i++)
            if (counts(sys, i, backbone, n))
                list[found + of_residue++] = i;
        found += of_residue < FOLD_LEAST ? 0 : of_residue;
    }
    free(changed);
    return found;
}

/* ---- frames ---- */

struct fold {
    int n[FOLD_GROUPS], all; /* atoms; those of the backbone first */
    int *atom;               /* [all] */
    int *order, *beside;     /* [all] in which order atoms are placed, and beside which one; -1: the first */
    double (*start)[3];      /* [all] whole; the center of the backbone is 0 */
    double (*now)[3];        /* [all] of a frame */
};

/* Each atom beside the one that it is nearest to of those before: a spanning tree of least length, grown atom by atom
 * (R. C. Prim, Bell Syst. Tech. J. 36, 1389 (1957), doi 10.1002/j.1538-7305.1957.tb01515.x). */
static void grow_tree(struct fold *f, const struct system *sys)
{
    double *nearest = xcalloc((size_t)f->all, sizeof *nearest), dx[3];
    bool *placed = xcalloc((size_t)f->all, sizeof *placed);
    for (int i = 0; i < f->all; i++)
        nearest[i] = INFINITY;
    f->beside[0] = -1;
    for (int k = 0, at = 0; k < f->all; k++) {
        int next = -1;
        f->order[k] = at;
        placed[at] = true;
        for (int i = 0; i < f->all; i++) {
            if (placed[i])
                continue;
            box_image(sys->x[f->atom[i]], sys->x[f->atom[at]], sys->box, dx);
            const double r2 = vec_dot(dx, dx);
            if (r2 < nearest[i]) {
                nearest[i] = r2;
                f->beside[i] = at;
            }
            if (next < 0 || nearest[i] < nearest[next])
                next = i;
        }
        at = next;
    }
    free(nearest);
    free(placed);
}

/* All atoms of the groups, whole, about the center of the backbone. */
static void make_whole(const struct fold *f, const double (*x)[3], const double box[BOX_SIZE], double (*out)[3])
{
    double center[3] = {0};
    for (int k = 0; k < f->all; k++) {
        const int i = f->order[k], at = f->beside[i];
        double dx[3];
        memcpy(out[i], x[f->atom[i]], sizeof out[i]);
        if (at < 0)
            continue;
        box_image(x[f->atom[i]], out[at], box, dx);
        for (int d = 0; d < 3; d++)
            out[i][d] = out[at][d] + dx[d];
    }
    for (int i = 0; i < f->n[FOLD_BACKBONE]; i++)
        vec_add(center, 1.0 / f->n[FOLD_BACKBONE], out[i]);
    for (int i = 0; i < f->all; i++)
        vec_sub(out[i], center, out[i]);
}

struct fold *fold_new(const struct system *sys, const int *const atoms[FOLD_GROUPS], const int n[FOLD_GROUPS])
{
    struct fold *f = xcalloc(1, sizeof *f);
    for (int g = 0; g < FOLD_GROUPS; g++)
        f->all += f->n[g] = n[g];
    const size_t all = (size_t)f->all;
    f->atom = xcalloc(all, sizeof *f->atom);
    f->order = xcalloc(all, sizeof *f->order);
    f->beside = xcalloc(all, sizeof *f->beside);
    f->start = xcalloc(all, sizeof *f->start);
    f->now = xcalloc(all, sizeof *f->now);
    memcpy(f->atom, atoms[FOLD_BACKBONE], (size_t)n[FOLD_BACKBONE] * sizeof(int));
    if (n[FOLD_LIGAND])
        memcpy(f->atom + n[FOLD_BACKBONE], atoms[FOLD_LIGAND], (size_t)n[FOLD_LIGAND] * sizeof(int));
    grow_tree(f, sys);
    make_whole(f, (const double(*)[3])sys->x, sys->box, f->start);
    return f;
}

void fold_free(struct fold *f)
{
    if (!f)
        return;
    free(f->atom);
    free(f->order);
    free(f->beside);
    free(f->start);
    free(f->now);
    free(f);
}

void fold_deviations(struct fold *f, const double (*x)[3], const double box[BOX_SIZE], double out[FOLD_GROUPS])
{
    double turn[3][3];
    make_whole(f, x, box, f->now);
    superpose((const double(*)[3])f->now, (const double(*)[3])f->start, f->n[FOLD_BACKBONE], turn);
    for (int g = 0, first = 0; g < FOLD_GROUPS; first += f->n[g++]) {
        double sum = 0;
        for (int i = first; i < first + f->n[g]; i++)
            for (int d = 0; d < 3; d++) {
                const double off = vec_dot(turn[d], f->now[i]) - f->start[i][d];
                sum += off * off;
            }
        out[g] = sqrt(sum / f->n[g]); /* 0 / 0: NAN */
    }
}
