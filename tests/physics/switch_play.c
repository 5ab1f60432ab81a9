/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/physics/switch_play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

double switch_to_end(struct sim *s)
{
    toy_run(s, SIM_SWITCH, sim_switch(s).steps_left);
    assert_int_equal(sim_switch(s).steps_left, 0);
    return sim_switch(s).work;
}

double switch_work(struct sim *s, enum switch_way way, uint32_t number)
{
    return switch_work_longer(s, way, 0, number);
}

double switch_work_longer(struct sim *s, enum switch_way way, int doublings, uint32_t number)
{
    struct err e = {0};
    if (sim_switch_begin(s, way, doublings, number, &e))
        fail_msg("%s", e.msg);
    const double work = switch_to_end(s);
    assert_int_equal(sim_switch_end(s, &e), 0);
    return work;
}

struct system *switch_wells(int n, double far, double k)
{
    struct system *s = toy_system(n, 4);
    for (int i = 0; i < n; i++) {
        double *at = s->x[i];
        at[0] = 0.5 + i % 4, at[1] = 0.5 + i / 4 % 4, at[2] = 0.5 + i / 16;
        toy_add(s, position_restraints, nposition_restraints,
                (struct position_restraint){i, {at[0], at[1], at[2]}, {{k, k, k}, {0, 0, 0}}});
        toy_add(s, position_restraints, nposition_restraints,
                (struct position_restraint){i, {at[0] + far, at[1], at[2]}, {{0, 0, 0}, {k, k, k}}});
    }
    return s;
}

struct settings switch_settings_of_ends(int changes, int every)
{
    static double ends[2][LAMBDA_COUNT] = {{0}, {0, 0, 1}};
    struct settings set = toy_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_B_STATES, .nwindows = 2, .lambda = ends};
    set.switching = (struct switch_settings){.changes = changes, .every = every};
    return set;
}
