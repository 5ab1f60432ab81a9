/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/physics/state_play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct system *state_water;

struct settings state_settings(enum integrator kind)
{
    struct settings set = toy_settings();
    set.integrator.kind = kind;
    set.integrator.timestep = 0.002;
    set.integrator.com_every = 7;
    set.barostat.on = true;
    return set;
}

void state_finish(struct sim *s, struct state_final *out)
{
    struct err e = {0};
    double du;
    assert_int_equal(sim_save(s, &out->state, &e), 0);
    sim_seal(&out->state);
    struct sample a = toy_sample(s, &du);
    memcpy(out->box, a.box, sizeof out->box);
    buf_add(&out->state, &a.potential, sizeof a.potential);
    buf_add(&out->state, &a.kinetic, sizeof a.kinetic);
    buf_add(&out->state, a.virial, sizeof a.virial);
}

void state_march(struct sim *s, int from, int to, int piece, bool npt)
{
    for (int i = from; i < to; i += piece) {
        toy_run(s, SIM_STEP, (uint32_t)piece);
        if (npt && (i + piece) % 10 == 0)
            toy_run(s, SIM_BAROSTAT, 1);
    }
}

struct toy state_start(const struct settings *set)
{
    struct toy t = toy_open(state_water, set, 0);
    toy_relax(t.sim, 100, 10);
    return t;
}

void state_same(const struct state_final *a, const struct state_final *b)
{
    assert_int_equal(a->state.len, b->state.len);
    assert_memory_equal(a->state.data, b->state.data, a->state.len);
    assert_memory_equal(a->box, b->box, sizeof a->box);
}

int state_set_up(void **state)
{
    state_water = toy_water(6);
    return 0;
}

int state_tear_down(void **state)
{
    toy_system_free(state_water);
    return 0;
}
