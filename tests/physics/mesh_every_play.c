/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/physics/mesh_every_play.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SPACING 0.55 /* nm */

struct system *mesh_every_salt(void)
{
    struct system *s = toy_system(MESH_IONS, MESH_SIDE * SPACING);
    uint64_t random = 7;
    s->lj[0] = (struct lj){4 * 0.4 * pow(0.34, 6), 4 * 0.4 * pow(0.34, 12)};
    for (int i = 0; i < MESH_IONS; i++) {
        const int at[3] = {i / (MESH_SIDE * MESH_SIDE), i / MESH_SIDE % MESH_SIDE, i % MESH_SIDE};
        const double q = (at[0] + at[1] + at[2]) % 2 ? 0.8 : -0.8;
        s->atoms[i].charge[0] = s->atoms[i].charge[1] = q;
        s->atoms[i].mass[0] = s->atoms[i].mass[1] = q > 0 ? 23 : 35.45;
        for (int d = 0; d < 3; d++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            s->x[i][d] = SPACING * at[d] + 0.12 * ((double)(random >> 11) * 0x1p-53 - 0.5);
        }
    }
    return s;
}

struct settings mesh_every_settings(int every, double timestep)
{
    struct settings set = toy_settings();
    set.form = FORM_GRAPH;
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = 0.6;
    set.nonbonded.vdw_switch = 0.5;
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.temperature = 600;
    set.integrator.friction = 0;
    set.integrator.timestep = timestep;
    set.integrator.mesh_every = every;
    return set;
}

void mesh_every_get(struct sim *s, struct mesh_state *out)
{
    struct err e = {0};
    if (sim_get(s, out->x, out->v, NULL, &e))
        fail_msg("%s", e.msg);
}

void mesh_every_put(const struct system *sys, struct sim *s, const struct mesh_state *to)
{
    struct err e = {0};
    if (sim_put(s, to->x, to->v, sys->box, &e))
        fail_msg("%s", e.msg);
}

struct toy mesh_every_moving(const struct system *sys, const struct settings *set)
{
    struct err e = {0};
    struct toy t = toy_open(sys, set, 0);
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    return t;
}
