/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/physics/waters_play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/mem.h"

static const double shape[3][3] = {{0, 0, 0}, {0.1, 0, 0}, {-0.1 / 3, 0.094280904158206336, 0}};

static void add_types(struct system *s, double lj)
{
    s->ntypes = 3;
    s->lj = xrealloc(s->lj, 9, sizeof *s->lj);
    memset(s->lj, 0, 9 * sizeof *s->lj);
    s->lj[0] = (struct lj){lj * 4 * 0.650194 * pow(0.3165578, 6), lj * 4 * 0.650194 * pow(0.3165578, 12)};
    s->type_names = xrealloc(s->type_names, 3, sizeof *s->type_names);
    memcpy(s->type_names[0], "OW", 3);
    memcpy(s->type_names[1], "HW", 3);
    memcpy(s->type_names[2], "CC", 3);
}

static void add_water(struct system *s, int m, int first, const double at[3], double charge)
{
    s->molecules[m] = (struct molecule){first, 3, 1};
    for (int k = 0; k < 3; k++) {
        const double q = charge * (k ? 0.4238 : -0.8476), mass = k ? 1.008 : 15.9994;
        s->atoms[first + k] =
            (struct atom){.type = {k > 0, k > 0}, .charge = {q, q}, .mass = {mass, mass}, .molecule = m};
        strcpy(s->atoms[first + k].name, k ? "HW" : "OW");
        for (int d = 0; d < 3; d++)
            s->x[first + k][d] = at[d] + shape[k][(d + m) % 3];
    }
    toy_add(s, settles, nsettles, (struct settle){first, {first + 1, first + 2}, 0.1, 2 * sqrt(0.01 - 0.01 / 3)});
}

static void exclude(struct system *s)
{
    s->exclusion = xrealloc(s->exclusion, 6 * (size_t)s->nsettles + 1, sizeof *s->exclusion);
    for (int i = 0, n = 0; i < s->natoms; i++) {
        const struct molecule *m = &s->molecules[s->atoms[i].molecule];
        for (int k = m->first; k < m->first + m->count; k++)
            if (k != i)
                s->exclusion[n++] = k;
        s->exclusion_start[i + 1] = n;
    }
}

struct system *waters_system(int natoms, double edge, int side, int most, double bare, double charge, double lj)
{
    struct system *s = toy_system(natoms + 3 * side * side * side, edge);
    int waters = 0;
    add_types(s, lj);
    s->nkinds = 2;
    s->kinds = xrealloc(s->kinds, 2, sizeof *s->kinds);
    memset(&s->kinds[1], 0, sizeof s->kinds[1]);
    strcpy(s->kinds[1].name, "SOL");
    s->around = xcalloc((size_t)natoms, sizeof *s->around);
    for (int i = 0; i < natoms; i++) {
        s->around[s->naround++] = i;
        s->atoms[i].type[0] = s->atoms[i].type[1] = 2;
        for (int d = 0; d < 3; d++)
            s->x[i][d] = 0.5 * edge;
    }
    for (int k = 0; k < side * side * side; k++) {
        const int cell[3] = {k / (side * side), k / side % side, k % side};
        double at[3], r2 = 0;
        for (int d = 0; d < 3; d++) {
            at[d] = (cell[d] + 0.5) * edge / side;
            r2 += pow(at[d] - 0.5 * edge, 2);
        }
        if (r2 >= bare * bare && waters < most) {
            add_water(s, natoms + waters, natoms + 3 * waters, at, charge);
            waters++;
        }
    }
    s->natoms = natoms + 3 * waters;
    s->nmolecules = natoms + waters;
    exclude(s);
    return s;
}

void waters_attract(struct system *s, double depth, double sigma)
{
    const struct lj lj = {4 * depth * pow(sigma, 6), 4 * depth * pow(sigma, 12)};
    s->lj[2] = s->lj[6] = lj;
}

struct settings waters_settings(double cutoff, double radius, uint32_t tries)
{
    struct settings set = toy_settings();
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = cutoff;
    set.nonbonded.vdw_modifier = VDW_CUTOFF;
    set.nonbonded.coulomb_modifier = COULOMB_CUTOFF;
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.timestep = 0.002;
    set.waters = (struct water_settings){.on = true, .radius = radius, .every = 1, .tries = tries};
    return set;
}

int waters_batch(struct sim *s)
{
    const uint64_t before = sim_water_moves(s).inside;
    toy_run(s, SIM_WATERS, 1);
    return (int)(sim_water_moves(s).inside - before);
}
