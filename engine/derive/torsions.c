/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/derive/torsions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/math/box.h"
#include "engine/prepare/alchemy.h"

#define HELD 60.0                 /* kJ/mol: a bond whose dihedrals may add up to more does not turn in a simulation */
#define LINEAR (165 * M_PI / 180) /* an angle from which on a dihedral has no direction */
#define TURN                                                                                                           \
    (75 * M_PI / 180) /* beyond three deviations of an angle in its well, and within the distance of two wells */

/* ---- chemical bonds ---- */

/* Neighbours of atom i: to[first[i] .. first[i + 1]), in order. */
struct torsion_graph {
    const struct system *sys;
    int nbonds, (*bonds)[2];
    int *first, *to;
};

static void add_graph_bond(struct torsion_graph *g, const int atom[2])
{
    memcpy(g->bonds[g->nbonds++], atom, sizeof *g->bonds);
    g->first[atom[0] + 1]++;
    g->first[atom[1] + 1]++;
}

static void graph_open(struct torsion_graph *g, const struct system *sys)
{
    size_t n = (size_t)sys->natoms, most = (size_t)sys->nbonds + (size_t)sys->nconnections + (size_t)sys->nconstraints;
    *g = (struct torsion_graph){.sys = sys,
                                .bonds = xcalloc(most, sizeof *g->bonds),
                                .first = xcalloc(n + 1, sizeof(int)),
                                .to = xcalloc(2 * most, sizeof(int))};
    for (int k = 0; k < sys->nbonds; k++)
        add_graph_bond(g, sys->bonds[k].atom);
    for (int k = 0; k < sys->nconnections; k++)
        add_graph_bond(g, sys->connections[k].atom);
    for (int k = 0; k < sys->nconstraints; k++)
        if (sys->constraints[k].bonded)
            add_graph_bond(g, sys->constraints[k].atom);
    for (size_t i = 0; i < n; i++)
        g->first[i + 1] += g->first[i];
    int *filled = xcalloc(n, sizeof *filled);
    for (int k = 0; k < g->nbonds; k++)
        for (int end = 0; end < 2; end++) {
            int i = g->bonds[k][end];
            g->to[g->first[i] + filled[i]++] = g->bonds[k][!end];
        }
    free(filled);
}

static void graph_close(struct torsion_graph *g)
{
    free(g->bonds);
    free(g->first);
    free(g->to);
}

static int degree(const struct torsion_graph *g, int i)
{
    return g->first[i + 1] - g->first[i];
}

/* Whether there is another way from one end of a bond to the other. */
static bool in_ring(const struct torsion_graph *g, int from, int to)
{
    bool *seen = xcalloc((size_t)g->sys->natoms, sizeof *seen), found = false;
    int *queue = xcalloc((size_t)g->sys->natoms, sizeof *queue), tail = 0;
    seen[queue[tail++] = from] = true;
    for (int head = 0; head < tail && !found; head++)
        for (int k = g->first[queue[head]]; k < g->first[queue[head] + 1]; k++) {
            int next = g->to[k];
            if (seen[next] || (queue[head] == from && next == to))
                continue;
            found |= next == to;
            seen[queue[tail++] = next] = true;
        }
    free(queue);
    free(seen);
    return found;
}

/* ---- which bonds turn ---- */

static bool alike(const struct system *sys, int i, int j)
{
    const struct atom *a = &sys->atoms[i], *b = &sys->atoms[j];
    return a->type[0] == b->type[0] && a->type[1] == b->type[1] && a->charge[0] == b->charge[0] &&
           a->charge[1] == b->charge[1];
}

/* What atom i holds beside its bond to `from` are two or more ends that are alike: to turn them is to change nothing.
 */
static bool has_equal_ends(const struct torsion_graph *g, int i, int from)
{
    int first = -1, n = 0;
    for (int k = g->first[i]; k < g->first[i + 1]; k++) {
        int end = g->to[k];
        if (end == from)
            continue;
        first = first < 0 ? end : first;
        if (degree(g, end) > 1 || !alike(g->sys, first, end))
            return false;
        n++;
    }
    return n > 1;
}

static bool is_about(const int atom[4], int j, int k)
{
    return (atom[1] == j && atom[2] == k) || (atom[1] == k && atom[2] == j);
}

/* The most that the potential of a bond's dihedrals may differ by, in the state that holds it less, kJ/mol. */
static double barrier(const struct system *sys, int j, int k)
{
    double most[2] = {0, 0};
    for (int state = 0; state < 2; state++) {
        for (int n = 0; n < sys->ndihedrals; n++)
            if (!sys->dihedrals[n].improper && is_about(sys->dihedrals[n].atom, j, k))
                most[state] += 2 * fabs(sys->dihedrals[n].k[state]);
        for (int n = 0; n < sys->nrb_dihedrals; n++)
            for (int c = 1; c < 6 && is_about(sys->rb_dihedrals[n].atom, j, k); c++)
                most[state] += fabs(sys->rb_dihedrals[n].c[state][c]);
    }
    return fmin(most[0], most[1]);
}

static bool is_linear(const struct system *sys, int i, int j, int k)
{
    for (int n = 0; n < sys->nangles; n++) {
        const int *a = sys->angles[n].atom;
        if (a[1] == j && ((a[0] == i && a[2] == k) || (a[0] == k && a[2] == i)))
            return sys->angles[n].theta0[0] > LINEAR;
    }
    return false;
}

/* The neighbour of j beside k that the torsion is taken from: one that has others, if there is one. -1: none. */
static int outer_atom(const struct torsion_graph *g, int j, int k)
{
    int found = -1;
    for (int n = g->first[j]; n < g->first[j + 1]; n++) {
        int i = g->to[n];
        if (i != k && (found < 0 || (degree(g, found) == 1 && degree(g, i) > 1)))
            found = i;
    }
    return found;
}

static bool turns(const struct torsion_graph *g, const struct bond_torsion *t)
{
    int i = t->atom[0], j = t->atom[1], k = t->atom[2], l = t->atom[3];
    return i >= 0 && l >= 0 && i != l && !has_equal_ends(g, j, k) && !has_equal_ends(g, k, j) &&
           !is_linear(g->sys, i, j, k) && !is_linear(g->sys, j, k, l) && barrier(g->sys, j, k) < HELD &&
           !in_ring(g, j, k);
}

/* Of atom i beside its bond to `from`: two groups, alike. */
static bool has_two_alike(const struct torsion_graph *g, int i, int from)
{
    int end[2] = {-1, -1}, n = 0;
    for (int k = g->first[i]; k < g->first[i + 1]; k++)
        if (g->to[k] != from && n++ < 2)
            end[n - 1] = g->to[k];
    return n == 2 && alike(g->sys, end[0], end[1]) && degree(g, end[0]) == degree(g, end[1]);
}

bool torsion_is_twofold(const struct system *sys, const struct bond_torsion *t)
{
    struct torsion_graph g;
    graph_open(&g, sys);
    const bool twofold = has_two_alike(&g, t->atom[1], t->atom[2]) || has_two_alike(&g, t->atom[2], t->atom[1]);
    graph_close(&g);
    return twofold;
}

/* ---- what the alchemy changes ---- */

static void mark_where(bool differ, bool *marked, const int *atom, int n)
{
    for (int k = 0; differ && k < n; k++)
        marked[atom[k]] = true;
}

#define DIFFER(pair) (memcmp(&(pair)[0], &(pair)[1], sizeof(pair)[0]) != 0)

/* Atoms whose charges, types or bonded terms differ between the states. */
static void mark_b_states(const struct system *sys, bool *marked)
{
    for (int i = 0; i < sys->natoms; i++)
        marked[i] = DIFFER(sys->atoms[i].type) || DIFFER(sys->atoms[i].charge);
    for (int i = 0; i < sys->nbonds; i++)
        mark_where(DIFFER(sys->bonds[i].k) || DIFFER(sys->bonds[i].r0), marked, sys->bonds[i].atom, 2);
    for (int i = 0; i < sys->nangles; i++)
        mark_where(DIFFER(sys->angles[i].k) || DIFFER(sys->angles[i].theta0), marked, sys->angles[i].atom, 3);
    for (int i = 0; i < sys->ndihedrals; i++)
        mark_where(DIFFER(sys->dihedrals[i].k) || DIFFER(sys->dihedrals[i].phi0), marked, sys->dihedrals[i].atom, 4);
    for (int i = 0; i < sys->nrb_dihedrals; i++)
        mark_where(DIFFER(sys->rb_dihedrals[i].c), marked, sys->rb_dihedrals[i].atom, 4);
    for (int i = 0; i < sys->ncmaps; i++)
        mark_where(DIFFER(sys->cmaps[i].share), marked, sys->cmaps[i].atom, 5);
}

bool *changed_residues(const struct system *sys, const struct alchemy_settings *set)
{
    bool *marked = xcalloc((size_t)sys->natoms, sizeof *marked);
    if (set->kind == ALCHEMY_B_STATES)
        mark_b_states(sys, marked);
    for (int i = 0; i < sys->natoms; i++)
        marked[i] |= alchemy_decoupled(sys, set, i) != NULL;
    for (int begin = 0, end; begin < sys->natoms; begin = end) {
        const struct atom *first = &sys->atoms[begin];
        bool any = false;
        for (end = begin; end < sys->natoms && sys->atoms[end].molecule == first->molecule &&
                          sys->atoms[end].residue == first->residue;
             end++)
            any |= marked[end];
        for (int i = begin; i < end; i++)
            marked[i] = any;
    }
    return marked;
}

int torsions_of(const struct system *sys, const struct alchemy_settings *set, struct bond_torsion out[TORSIONS_MAX])
{
    struct torsion_graph g;
    bool *changed = changed_residues(sys, set);
    int n = 0;
    graph_open(&g, sys);
    for (int b = 0; b < g.nbonds && n < TORSIONS_MAX; b++) {
        int j = g.bonds[b][0], k = g.bonds[b][1];
        if (!changed[j] && !changed[k])
            continue;
        out[n] = (struct bond_torsion){{outer_atom(&g, j, k), j, k, outer_atom(&g, k, j)}};
        n += turns(&g, &out[n]);
    }
    graph_close(&g);
    free(changed);
    return n;
}

/* ---- angles ---- */

double torsion_angle(const struct bond_torsion *t, const double (*x)[3], const double box[BOX_SIZE])
{
    double b[3][3], m[3], n[3];
    for (int k = 0; k < 3; k++)
        box_image(x[t->atom[k + 1]], x[t->atom[k]], box, b[k]);
    vec_cross(b[0], b[1], m);
    vec_cross(b[1], b[2], n);
    return atan2(sqrt(vec_dot(b[1], b[1])) * vec_dot(b[0], n), vec_dot(m, n));
}

void turns_add(struct torsion_turns *t, double angle)
{
    const double now[2] = {cos(angle), sin(angle)}, c = t->toward[0], s = t->toward[1];
    const bool begun = c != 0 || s != 0;
    if (begun && fabs(atan2(c * now[1] - s * now[0], c * now[0] + s * now[1])) > TURN)
        *t = (struct torsion_turns){.count = t->count + 1};
    t->toward[0] += now[0];
    t->toward[1] += now[1];
}

double turns_mean(const struct torsion_turns *t)
{
    return atan2(t->toward[1], t->toward[0]);
}

bool torsion_same_well(double a, double b, bool twofold)
{
    return fabs(remainder(a - b, twofold ? M_PI : 2 * M_PI)) <= TURN;
}
