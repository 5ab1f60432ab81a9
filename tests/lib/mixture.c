/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/mixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/toy.h"

#define SIDE 6
#define KINDS 2

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* sigma (nm), epsilon (kJ/mol); the last two types have no LJ. */
static const double shape[5][2] = {{0.31, 0.6}, {0.26, 0.3}, {0.35, 0.4}, {0, 0}, {0, 0}};

static void combine(struct system *s, int rule)
{
    s->ntypes = 5;
    s->lj = xrealloc(s->lj, 25, sizeof *s->lj);
    s->type_names = xrealloc(s->type_names, 5, sizeof *s->type_names);
    for (int i = 0; i < 5; i++) {
        memcpy(s->type_names[i], "T", 2);
        for (int j = 0; j < 5; j++) {
            double sigma = rule == 2 ? 0.5 * (shape[i][0] + shape[j][0]) : sqrt(shape[i][0] * shape[j][0]);
            double eps = sqrt(shape[i][1] * shape[j][1]);
            s->lj[5 * i + j] = (struct lj){4 * eps * pow(sigma, 6), 4 * eps * pow(sigma, 12)};
        }
    }
}

/* Atoms 3m .. 3m+2 exclude each other in plain molecules; in the chains of six the first and the last two do not. */
static bool excluded(int i, int j, int first, int count)
{
    int far = abs(i - j);
    (void)first;
    return i != j && (count == 3 || far <= 3);
}

static void bind_molecules(struct system *s)
{
    int used = 0;
    s->exclusion = xrealloc(s->exclusion, (size_t)s->natoms * 6, sizeof *s->exclusion);
    for (int i = 0; i < s->natoms; i++) {
        const struct molecule *m = &s->molecules[s->atoms[i].molecule];
        s->exclusion_start[i] = used;
        for (int j = m->first; j < m->first + m->count; j++)
            if (excluded(i, j, m->first, m->count))
                s->exclusion[used++] = j;
        if (i > m->first)
            toy_add(s, connections, nconnections, (struct connection){{i - 1, i}});
    }
    s->exclusion_start[s->natoms] = used;
}

struct system *mixture(int rule)
{
    const int n = SIDE * SIDE * SIDE;
    const double box[3] = {2.2, 2.35, 2.5};
    struct system *s = toy_system(n, 1);
    uint64_t random = 20261120;
    double net = 0;
    combine(s, rule);
    memcpy(s->box, box, sizeof box);
    s->nkinds = KINDS;
    s->kinds = xrealloc(s->kinds, KINDS, sizeof *s->kinds);
    s->kinds[0] = (struct molecule_kind){.name = "CHAIN"};
    s->kinds[1] = (struct molecule_kind){.name = "SOL"};
    s->nmolecules = 2 + (n - 12) / 3;
    for (int m = 0, at = 0; m < s->nmolecules; m++) {
        int count = m < 2 ? 6 : 3;
        s->molecules[m] = (struct molecule){at, count, m >= 2};
        for (int k = 0; k < count; k++, at++) {
            struct atom *a = &s->atoms[at];
            double q = 1.2 * (uniform(&random) - 0.5);
            int type = (int)(4 * uniform(&random));
            *a = (struct atom){.type = {type, type}, .charge = {q, q}, .mass = {12, 12}, .molecule = m, .name = "X"};
            net += q;
            if (m == 0) { /* B states: the first chain changes, an atom vanishes, another appears */
                a->charge[1] = k == 1 ? 0 : q + 0.1 * k;
                a->type[1] = k == 1 ? 4 : k == 4 ? type : (type + 1) % 4;
                if (k == 2)
                    a->type[0] = 3;
            }
            for (int d = 0; d < 3; d++) { /* to and fro over a lattice, so that chains are in one piece */
                int z = at % SIDE, y = at / SIDE % SIDE, x = at / (SIDE * SIDE);
                y = x % 2 ? SIDE - 1 - y : y;
                z = (at / SIDE) % 2 ? SIDE - 1 - z : z;
                int place[3] = {x, y, z};
                s->x[at][d] = (place[d] + 0.5 + 0.35 * (uniform(&random) - 0.5)) * box[d] / SIDE;
            }
        }
    }
    s->atoms[n - 1].charge[0] -= net;
    s->atoms[n - 1].charge[1] -= net;
    bind_molecules(s);
    return s;
}

struct system *mixture_first(int natoms)
{
    struct system *s = mixture(2);
    int kept = 0;
    s->natoms = natoms;
    s->nmolecules = s->atoms[natoms - 1].molecule + 1;
    for (int k = 0; k < s->nconnections; k++)
        if (s->connections[k].atom[1] < natoms)
            s->connections[kept++] = s->connections[k];
    s->nconnections = kept;
    return s;
}

void mixture_of_both_ends(struct system *s)
{
    for (int k = 2; k <= 5; k += 3) {
        s->atoms[s->natoms - 1].charge[0] += s->atoms[k].charge[0];
        s->atoms[k].charge[0] = 0;
    }
}

struct alchemy_settings mixture_alchemy(enum alchemy kind, int windows, double (*lambda)[LAMBDA_COUNT])
{
    return (struct alchemy_settings){.kind = kind,
                                     .decouple = {{.molecule = "CHAIN", .on = {COUPLED_ALL}}},
                                     .ndecouple = 1,
                                     .soft_core = {.alpha = 0.5, .power = 1, .sigma = 0.3},
                                     .nwindows = windows,
                                     .lambda = lambda};
}
