/* SPDX-License-Identifier: Apache-2.0
 *
 * What a spec's protocol becomes, with what hangs on it: exchange, stop-when, allocate and later targets. And what keys
 * ask of one another, which is mostly of these.
 */
#undef NDEBUG
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "tests/lib/spec_read.h"

/* How often, in steps of each stage that produces. */
static void test_exchange(void **state)
{
    struct spec *s =
        parsed(HEAD
               "alchemy: {decouple: A, windows: {vdw: [0, 1]}}\nexchange: {every: 1 ps, scheme: gibbs}\n"
               "protocol:\n  - equilibrate: {time: 1 ps}\n  - produce: {time: 1 ps, sample-every: 0.2 ps}\n"
               "  - produce: {time: 1.5 ps, sample-every: 0.5 ps}\n");
    assert_int_equal(s->settings.exchange, EXCHANGE_GIBBS);
    assert_int_equal(s->stages[0].exchange_every, 0);
    assert_int_equal(s->stages[1].exchange_every, 500);
    assert_int_equal(s->stages[2].exchange_every, 500);
    assert_int_equal(s->exchange_after, 0);
    spec_free(s);
}

/* Windows that were added: how many exchanges nobody takes part in. Stages have 500, 500 and 750 steps, of which the
 * last may have become more. */
static void test_exchange_after(void **state)
{
    static const struct {
        unsigned after, alone;
    } cases[] = {{0, 0}, {500, 0}, {999, 0}, {1000, 1}, {1499, 1}, {1500, 2}, {2500, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = {0};
        buf_printf(&text,
                   HEAD
                   "alchemy: {decouple: A, windows: {vdw: [0, 1]}}\nexchange: {every: 1 ps, after: %u}\n"
                   "protocol:\n  - equilibrate: {time: 1 ps}\n  - produce: {time: 1 ps, sample-every: 0.2 ps}\n"
                   "  - produce: {time: 1.5 ps, sample-every: 0.5 ps}\n",
                   cases[i].after);
        struct spec *s = parsed(text.data);
        assert_int_equal(s->exchange_after, cases[i].after);
        assert_int_equal(spec_exchanges_alone(s), cases[i].alone);
        spec_free(s);
        buf_free(&text);
    }
}

/* What production does every so many steps comes after multiples of the stride. */
static void test_stride(void **state)
{
    static const struct {
        const char *text;
        uint64_t stride;
    } cases[] = {
        {"protocol: [{equilibrate: {time: 1000 steps, sample-every: 7 steps}}, "
         "{produce: {time: 1000 steps, sample-every: 80 steps, frames-every: no}}]\n",
         80},
        {"protocol: [{produce: {time: 1000 steps, sample-every: 80 steps, frames-every: 500 steps}}]\n", 20},
        {"protocol: [{produce: {time: 1000 steps, sample-every: 80 steps}}, "
         "{produce: {time: 1000 steps, sample-every: 28 steps}}]\n",
         4},
        {"barostat: {every: 25 steps}\nprotocol: [{produce: {time: 1000 steps, sample-every: 100 steps}}]\n", 25},
        {"barostat: {every: 25 steps}\n"
         "protocol: [{produce: {time: 1000 steps, sample-every: 100 steps, ensemble: nvt}}]\n",
         100},
        {"water-exchange: {every: 45 steps}\n"
         "protocol: [{produce: {time: 1000 steps, sample-every: 100 steps}}]\n",
         5},
        {"observables: [{pressure: {every: 15 steps}}]\n"
         "protocol: [{produce: {time: 1000 steps, sample-every: 20 steps}}]\n",
         5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = {0};
        buf_printf(&text, "%s%s", HEAD, cases[i].text);
        struct spec *s = parsed(text.data);
        if (s->settings.stride != cases[i].stride)
            fail_msg("%s: %" PRIu64, cases[i].text, s->settings.stride);
        spec_free(s);
        buf_free(&text);
    }
}

static void test_allocate(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_printf(&text, "%sallocate: adaptive\n", whole);
    struct spec *s = parsed(text.data);
    assert_true(s->allocate.rounds);
    assert_int_equal(s->allocate.share, 500000);
    assert_int_equal(s->allocate.before, spec_steps(s, 3));
    assert_int_equal(s->allocate.every, 100);
    assert_int_equal(s->allocate.first, 125000);
    spec_free(s);
    buf_printf(&text, "stop-when: {error: 1 kJ/mol, after: 300 ps}\n");
    s = parsed(text.data);
    assert_int_equal(s->allocate.first, 150000); /* no estimate counts before */
    spec_free(s);
    s = parsed(whole);
    assert_false(s->allocate.rounds);
    spec_free(s);
    buf_free(&text);
}

static void test_stop_when(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_printf(&text, "%sstop-when: {error: 0.1 kcal/mol}\n", whole);
    struct spec *s = parsed(text.data);
    assert_true(s->stop.error == 0.1 * 4.184 && s->stop.converged);
    assert_int_equal(s->stop.after, spec_steps(s, 3) + 50000);
    spec_free(s);
    text.len = 0;
    buf_printf(&text, "%sstop-when: {error: 1 kJ/mol, verdict: any, after: 200 ps}\n", whole);
    s = parsed(text.data);
    assert_true(s->stop.error == 1 && !s->stop.converged);
    assert_int_equal(s->stop.after, spec_steps(s, 3) + 100000);
    spec_free(s);
    s = parsed(whole);
    assert_true(s->stop.error == 0);
    spec_free(s);
    buf_free(&text);
}

/* Longer and shorter production. */
static void test_targets(void **state)
{
    (void)state;
    struct spec *s = parsed(whole);
    struct stage stages[4];
    struct err e = {0};
    uint64_t steps;
    assert_int_equal(spec_produce_steps(s), 500000);
    memcpy(stages, s->stages, sizeof stages);
    assert_int_equal(spec_retarget(s, stages, spec_steps(s, 4) + 7, &e), 0);
    assert_int_equal(stages[3].steps, 500007);
    assert_int_equal(stages[2].steps, s->stages[2].steps);
    assert_int_equal(spec_retarget(s, stages, spec_steps(s, 3) + 1, &e), 0);
    assert_int_equal(stages[3].steps, 1);
    assert_int_equal(spec_retarget(s, stages, spec_steps(s, 3), &e), -ERR_CONFLICT);
    assert_int_equal(spec_production(s, "2 ns", false, &steps, &e), 0);
    assert_int_equal(steps, 1000000);
    assert_int_equal(spec_production(s, "3 steps", false, &steps, &e), 0);
    assert_int_equal(steps, 3);
    static const char *const bad[] = {"", "2", "2 nm", "-1 ps", "0 steps", "1 fs", "2.5 steps", "2e9 ps", "ns"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(spec_production(s, bad[i], false, &steps, &e), -ERR_USAGE);
    static const struct {
        const char *text;
        uint64_t steps;
    } nearest[] = {{"3 fs", 2}, {"7.1 fs", 4}, {"6.9 fs", 3}, {"2 fs", 1}, {"1.99 fs", 0}, {"1.2 steps", 1}};
    for (size_t i = 0; i < sizeof nearest / sizeof *nearest; i++) {
        assert_int_equal(spec_production(s, nearest[i].text, true, &steps, &e), 0);
        assert_int_equal(steps, nearest[i].steps);
    }
    assert_int_equal(spec_production(s, "-1 ps", true, &steps, &e), -ERR_USAGE);
    s->stages[3].kind = STAGE_EQUILIBRATE;
    assert_int_equal(spec_production(s, "2 ns", false, &steps, &e), -ERR_CONFLICT);
    assert_int_equal(spec_retarget(s, stages, spec_steps(s, 4) + 7, &e), -ERR_CONFLICT);
    spec_free(s);
}

/* ---- timesteps without the mesh ---- */

#define EVERY(every, rest) HEAD "integrator: {mesh-every: " every ", " rest "}\n"
#define MULTIPLE "expected a multiple of integrator.mesh-every, "

/* What comes between timesteps comes after whole cycles: defaults become multiples. */
static void test_mesh_every(void **state)
{
    (void)state;
    struct spec *s = parsed(whole);
    assert_int_equal(mesh_cycle(&s->settings.integrator), 1);
    spec_free(s);
    s = parsed(EVERY("3", "timestep: 1.6 fs") "barostat: {}\nprotocol: [{produce: {time: 1002 steps}}]\n");
    assert_int_equal(mesh_cycle(&s->settings.integrator), 3);
    assert_int_equal(s->settings.barostat.every, 27);
    assert_int_equal(s->stages[0].sample_every, 102);
    assert_int_equal(s->settings.stride, 3);
    spec_free(s);
    s = parsed(EVERY("2", "timestep: 2.5 fs") "protocol: [{minimize: {steps: 7}}, {equilibrate: {time: 9 fs, timestep: "
                                              "1.5 fs}}, {produce: {time: 1 ps, sample-every: 0.1 ps}}]\n");
    struct err e = {0};
    uint64_t steps;
    assert_int_equal(s->stages[1].steps, 6);
    assert_int_equal(spec_production(s, "50 fs", false, &steps, &e), 0);
    assert_int_equal(steps, 20);
    assert_int_equal(spec_production(s, "3 steps", false, &steps, &e), -ERR_USAGE);
    assert_string_equal(e.msg,
                        "3 steps: expected a whole multiple of integrator.mesh-every timesteps, 5 fs; the nearest "
                        "is 0.01 ps");
    assert_int_equal(spec_production(s, "13 fs", true, &steps, &e), 0);
    assert_int_equal(steps, 6);
    spec_free(s);
}

static void test_mesh_every_refused(void **state)
{
    (void)state;
    refused(
        EVERY("2", "timestep: 4 fs"),
        SPEC("3: integrator.mesh-every: 2: impulses of the mesh every 2 timesteps of 4 fs: expected them every 5 fs "
             "or sooner, for longer ones resonate with the fastest motions; expected a timestep of 2.5 fs at most, "
             "or integrator.mesh-every 1"));
    refused(
        EVERY("3", "timestep: 2 fs"),
        SPEC("3: integrator.mesh-every: 3: impulses of the mesh every 3 timesteps of 2 fs: expected them every 5 fs "
             "or sooner, for longer ones resonate with the fastest motions; expected a timestep of 1.66 fs at most, "
             "or integrator.mesh-every 1"));
    refused(EVERY("2", "timestep: 1 fs") "protocol: [{equilibrate: {time: 1 ps, timestep: 4 fs}}]\n",
            SPEC("4: protocol[0].equilibrate.timestep: 4 fs: impulses of the mesh every 2 timesteps of 4 fs: expected "
                 "them every 5 fs or sooner, for longer ones resonate with the fastest motions; expected a timestep of "
                 "2.5 fs at most, or integrator.mesh-every 1"));
    refused(EVERY("2", "method: velocity-verlet"),
            SPEC("3: integrator.mesh-every: 2: velocity-verlet has no friction, which damps what impulses excite; "
                 "expected 1, or langevin-middle"));
    refused(EVERY("2", "timestep: 1 fs") "nonbonded: {coulomb: {method: reaction-field}}\n",
            SPEC("3: integrator.mesh-every: 2: there is a mesh only with nonbonded.coulomb.method pme; expected 1"));
    static const struct {
        const char *text, *said;
    } odd[] = {
        {"barostat: {every: 25 steps}\n", "4: barostat.every: 25 steps: " MULTIPLE},
        {"run: {checkpoint-every: 25 steps}\n", "4: run.checkpoint-every: 25 steps: " MULTIPLE},
        {"observables: [{pressure: {every: 25 steps}}]\n", "4: observables[0].pressure.every: 25 steps: " MULTIPLE},
        {"protocol: [{produce: {time: 25 steps, sample-every: 10 steps}}]\n",
         "4: protocol[0].produce.time: 25 steps: " MULTIPLE},
        {"protocol: [{produce: {time: 100 steps, sample-every: 25 steps}}]\n",
         "4: protocol[0].produce.sample-every: 25 steps: " MULTIPLE},
        {"protocol: [{produce: {time: 100 steps, frames-every: 25 steps}}]\n",
         "4: protocol[0].produce.frames-every: 25 steps: " MULTIPLE},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct buf text = {0}, said = {0};
        buf_printf(&text, "%s%s", EVERY("2", "timestep: 2 fs"), odd[i].text);
        buf_printf(&said, "s.yaml:%s2 timesteps or 0.004 ps; the next is 26 steps, 0.052 ps", odd[i].said);
        refused(text.data, ERR_SPEC, said.data);
        buf_free(&text);
        buf_free(&said);
    }
}

/* ---- stages with something of their own ---- */

static void test_phases(void **state)
{
    struct spec *s = parsed(
        "name: a\n"
        "system: {topology: a.top, coordinates: a.gro, defines: [FAST]}\n"
        "integrator: {timestep: 4 fs}\n"
        "barostat: {}\n"
        "protocol:\n"
        "  - minimize: {steps: 5, defines: [POSRES, K=1000]}\n"
        "  - equilibrate: {time: 1 ps, ensemble: nvt, timestep: 1 fs, temperature: 50 K, defines: [K=1]}\n"
        "  - equilibrate: {time: 1 ps, ensemble: npt, defines: [FAST], pressure: 5 bar}\n"
        "  - equilibrate: {time: 1 ps, pressure: 5 bar}\n"
        "  - equilibrate: {time: 1 ps, timestep: 4 fs, temperature: 298.15 K, friction: 1 /ps}\n"
        "  - equilibrate: {time: 1 ps, friction: 5 /ps}\n"
        "  - produce: {time: 1 ps}\n");
    static const int phase[] = {1, 2, 3, 3, 0, 4, 0}, steps[] = {5, 1000, 250, 250, 250, 250, 250};
    assert_int_equal(s->nstages, 7);
    for (int i = 0; i < s->nstages; i++) {
        assert_int_equal(s->stages[i].phase, phase[i]);
        assert_int_equal(s->stages[i].steps, steps[i]);
        assert_is(s->stages[i].timestep, i == 1 ? 0.001 : 0.004);
    }
    assert_int_equal(s->nphases, 5);
    assert_true(s->phases[1].own_defines && s->phases[2].own_defines && !s->phases[3].own_defines);
    assert_string_equal(s->phases[1].defines[1].value, "1000");
    assert_string_equal(s->phases[3].defines[0].name, "FAST");
    assert_int_equal(s->phases[2].line, 7);
    struct settings two = spec_settings(s, 2), three = spec_settings(s, 3), none = spec_settings(s, 0);
    assert_is(two.integrator.timestep, 0.001);
    assert_is(two.integrator.temperature, 50);
    assert_is(two.barostat.pressure, 1.01325);
    assert_is(three.integrator.temperature, 298.15);
    assert_is(three.barostat.pressure, 5);
    assert_is(none.integrator.timestep, 0.004);
    assert_is(none.integrator.friction, 1);
    assert_is(spec_settings(s, 4).integrator.friction, 5);
    spec_free(s);
}

/* Stages that differ in how strongly atoms are held are phases of their own. */
static void test_scaled_phases(void **state)
{
    struct spec *s = parsed(
        "name: a\nsystem: {topology: a.top, coordinates: a.gro, defines: [POSRES]}\nprotocol:\n"
        "  - minimize: {steps: 5, position-restraint-scale: 1}\n"
        "  - equilibrate: {time: 1 ps, position-restraint-scale: 0.1}\n"
        "  - equilibrate: {time: 2 ps, position-restraint-scale: 0.1}\n"
        "  - equilibrate: {time: 1 ps, position-restraint-scale: 0}\n"
        "  - produce: {time: 1 ps}\n");
    static const int phase[] = {0, 1, 1, 2, 0};
    static const double scale[] = {1, 0.1, 0.1, 0, 1};
    for (int i = 0; i < s->nstages; i++) {
        assert_int_equal(s->stages[i].phase, phase[i]);
        assert_is(s->phases[phase[i]].restraint_scale, scale[i]);
        assert_false(s->phases[phase[i]].own_defines);
    }
    spec_free(s);
    refused(HEAD "protocol:\n  - produce: {time: 1 ps, position-restraint-scale: 0.1}\n", ERR_UNSUPPORTED,
            "s.yaml:4: protocol[0].produce.position-restraint-scale: not supported: all that produces is one system; "
            "expected "
            "position-restraint-scale in the stages before");
    refused(
        HEAD "protocol:\n  - minimize: {steps: 1, position-restraint-scale: -1}\n",
        SPEC("4: protocol[0].minimize.position-restraint-scale: -1: out of range; expected a number from 0 to 1000"));
}

static void test_phase_errors(void **state)
{
    refused(HEAD "barostat: {}\nprotocol:\n  - equilibrate: {time: 1 ps, ensemble: nvt, pressure: 5 bar}\n",
            SPEC("5: protocol[0].equilibrate.pressure: 5 bar: only with ensemble npt is there a pressure to keep"));
    refused(
        HEAD "protocol:\n  - equilibrate:\n      time: 1 ps\n      timestep: 3 fs\n",
        SPEC("5: protocol[0].equilibrate.time: 1 ps: expected a whole multiple of the timestep, 3 fs; the nearest is "
             "0.999 ps"));
    refused(
        HEAD "protocol:\n  - produce: {time: 1 ps, temperature: 5 K}\n", ERR_UNSUPPORTED,
        "s.yaml:4: protocol[0].produce.temperature: not supported: a free energy is that of one temperature; expected "
        "integrator.temperature, and others in equilibrate stages");
    refused(HEAD "integrator: {method: velocity-verlet}\nprotocol:\n  - equilibrate: {time: 1 ps, friction: 5 /ps}\n",
            SPEC("5: protocol[0].equilibrate.friction: 5 /ps: velocity-verlet has no friction; langevin-middle has"));
}

/* ---- what keys ask of one another, and a run of a spec ---- */

static void test_cross_errors(void **state)
{
    refused(HEAD "nonbonded: {vdw: {modifier: force-switch}}\n",
            SPEC("3: nonbonded.vdw.switch-start: missing; force-switch needs it, below the cut-off of 1 nm"));
    refused(HEAD "nonbonded: {cutoff: 0.8 nm, vdw: {modifier: force-switch, switch-start: 0.8 nm}}\n",
            SPEC("3: nonbonded.vdw.switch-start: 0.8 nm: expected less than the cut-off of 0.8 nm"));
    refused(HEAD "nonbonded: {vdw: {switch-start: 0.8 nm}}\n",
            SPEC("3: nonbonded.vdw.switch-start: 0.8 nm: only potential-switch and force-switch begin somewhere, not "
                 "potential-shift"));
    refused(HEAD "nonbonded: {coulomb: {grid-spacing: 0.1 nm, grid: [32, 32, 32]}}\n",
            SPEC("3: nonbonded.coulomb.grid: expected grid or grid-spacing, not both"));
    refused(HEAD "nonbonded: {coulomb: {grid: [32, 8, 32], order: 6}}\n",
            SPEC("3: nonbonded.coulomb.grid: 8: expected at least twice the order, 12 points"));
    refused(HEAD "alchemy:\n  decouple: A\n  windows:\n    coulomb: [0, 1]\n    vdw: [0, 0.5, 1]\n",
            SPEC("7: alchemy.windows.vdw: 3 values; expected 2, as many as coulomb in line 6"));
    refused(
        HEAD "alchemy:\n  decouple: A\n  windows:\n    coulomb: [0, 0.50001, 0.50004]\n",
        SPEC("6: alchemy.windows: windows 1 and 2 are one state to four decimals; dhdl.xvg could not tell them apart"));
    refused(HEAD "alchemy: {perturb: b-states, intramolecular: keep, windows: {vdw: [0]}}\n",
            SPEC("3: alchemy.intramolecular: keep: only decouple has a choice of inner interactions, not perturb"));
    refused(HEAD "integrator: {method: velocity-verlet, friction: 1 /ps}\n",
            SPEC("3: integrator.friction: 1 /ps: velocity-verlet has no friction; langevin-middle has"));
    refused(HEAD "protocol:\n  - produce: {time: 1.0001 ps}\n",
            SPEC("4: protocol[0].produce.time: 1.0001 ps: expected a whole multiple of the timestep, 2 fs; the nearest "
                 "is 1 ps"));
    refused(HEAD "protocol:\n  - produce: {time: 1 fs}\n",
            SPEC("4: protocol[0].produce.time: 1 fs: expected a whole multiple of the timestep, 2 fs; the nearest is "
                 "0.002 ps"));
    refused(HEAD "protocol:\n  - produce:\n      time: 1 ps\n      sample-every: 2 ps\n",
            SPEC("6: protocol[0].produce.sample-every: 2 ps: longer than the stage"));
    refused(HEAD "protocol:\n  - produce: {time: 1 ps, ensemble: npt}\n",
            SPEC("4: protocol[0].produce.ensemble: npt: needs a barostat; the spec has none"));
    refused(HEAD "protocol:\n  - produce: {time: 1 ps, ensemble: nve}\n",
            SPEC("4: protocol[0].produce.ensemble: nve: langevin-middle is a thermostat; expected nvt or npt, or "
                 "integrator.method velocity-verlet"));
    refused(HEAD "integrator: {method: velocity-verlet}\nprotocol:\n  - equilibrate: {time: 1 ps, ensemble: nvt}\n",
            SPEC("5: protocol[0].equilibrate.ensemble: nvt: velocity-verlet has no thermostat; expected nve, or "
                 "integrator.method langevin-middle"));
    refused(HEAD "stop-when: {error: 1 kJ/mol}\nprotocol:\n  - produce: {time: 1 ps}\n",
            SPEC("3: stop-when: a single window has no free energy"));
#define PERTURB "alchemy: {perturb: b-states, finite-size: {dielectric: 97}, windows: {coulomb: [0, 1]}}\n"
    refused(HEAD "nonbonded: {coulomb: {method: reaction-field}}\n" PERTURB,
            SPEC("4: alchemy.finite-size: expected coulomb: {method: pme}"));
    refused(HEAD "barostat: {coupling: anisotropic}\n" PERTURB,
            SPEC("4: alchemy.finite-size: expected a box that stays a cube: barostat.coupling isotropic"));
#undef PERTURB
#define TWO HEAD "alchemy: {decouple: A, windows: {vdw: [0, 1]}}\n"
    refused(TWO "stop-when: {error: 1 kJ/mol}\nprotocol:\n  - produce: {time: 1 ps}\n  - equilibrate: {time: 1 ps}\n",
            SPEC("4: stop-when: expected a protocol that ends with a produce stage"));
    refused(TWO "stop-when: {error: 1 kJ/mol, after: 2 ps}\nprotocol:\n  - produce: {time: 1 ps}\n",
            SPEC("4: stop-when.after: 2 ps: longer than production, 1 ps"));
#define RUN "protocol:\n  - produce: {time: 1 ps}\n"
    refused(HEAD "allocate: adaptive\n" RUN, SPEC("3: allocate: adaptive: a single window has no free energy"));
    refused(
        TWO "allocate: adaptive\nexchange: {every: 0.2 ps}\n" RUN,
        SPEC("4: allocate: adaptive: windows that exchange replicas are sampled alike; expected even, or no exchange"));
    refused(TWO "allocate: adaptive\n" RUN "  - produce: {time: 1 ps}\n",
            SPEC("4: allocate: adaptive: expected a protocol that ends with its only produce stage"));
    refused(TWO "allocate: most\n" RUN, SPEC("4: allocate: most: expected even or adaptive"));
#undef RUN
    refused(TWO "stop-when: {error: 1 kJ}\n",
            SPEC("4: stop-when.error: 1 kJ: unknown unit; expected a quantity above 0 kJ/mol, at most 1000 kJ/mol "
                 "(units: kJ/mol, kcal/mol), such as 0.1 kcal/mol"));
    refused(HEAD "exchange: {every: 1 ps}\nprotocol:\n  - produce: {time: 1 ps}\n",
            SPEC("3: exchange: a single window; expected two or more"));
    refused(
        TWO "exchange: {every: 0.3 ps}\nprotocol:\n  - produce: {time: 1 ps, sample-every: 0.2 ps}\n",
        SPEC("4: exchange.every: 0.3 ps: expected a multiple of sample-every of protocol[0].produce, 0.2 ps: samples "
             "decide"));
    refused(TWO "exchange: {every: 1 ps}\nintegrator: {method: velocity-verlet}\n",
            SPEC("4: exchange: velocity-verlet has no thermostat; expected integrator.method langevin-middle"));
    refused(HEAD "alchemy: {perturb: b-states, windows: {vdw: [0, 1], mass: [0, 1]}}\nexchange: {every: 1 ps}\n",
            SPEC("4: exchange: alchemy.windows.mass: velocities of one mass are none of another; expected no ladder of "
                 "masses"));
    refused(
        TWO "exchange: {every: 1 ps}\nobservables:\n- rdf: {between: [A, A], max: 1 nm}\n- msd: {of: A, max: 9 ps}\n",
        SPEC("4: exchange: observables[1].msd follows one replica from frame to frame, but a window has now one, now "
             "another; expected none, or no exchange"));
    refused(TWO "exchange: {every: 1 ps, scheme: all}\n",
            SPEC("4: exchange.scheme: all: expected neighbours or gibbs"));
#undef TWO
}

static void not_run(const char *text, const char *message)
{
    struct err e = {0};
    struct spec *s = parsed(text);
    assert_int_equal(spec_check_run(s, &e), -ERR_SPEC);
    assert_string_equal(e.msg, message);
    spec_free(s);
}

static void test_run_errors(void **state)
{
    not_run(HEAD, "s.yaml:1: protocol: missing; a run needs at least one produce stage");
    not_run(HEAD "protocol: [{minimize: {steps: 1}}]\n",
            "s.yaml:1: protocol: no stage produces; a run needs at least one produce stage");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange),     cmocka_unit_test(test_exchange_after),
        cmocka_unit_test(test_cross_errors), cmocka_unit_test(test_run_errors),
        cmocka_unit_test(test_phases),       cmocka_unit_test(test_scaled_phases),
        cmocka_unit_test(test_phase_errors), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_mesh_every),   cmocka_unit_test(test_mesh_every_refused),
        cmocka_unit_test(test_stop_when),    cmocka_unit_test(test_stride),
        cmocka_unit_test(test_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
