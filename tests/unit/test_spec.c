/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/spec/spec.h"
#include "daemon/spec/node.h"
#include "engine/system/system.h"
#include "engine/base/buf.h"

#define HEAD "name: x\nsystem: {topology: a.top, coordinates: a.gro}\n"

static struct spec *parsed(const char *text)
{
    struct err e = {0};
    struct spec *s = NULL;
    if (spec_parse(&s, "s.yaml", text, strlen(text), &e))
        fail_msg("%s", e.msg);
    assert_non_null(s);
    return s;
}

static void refused(const char *text, enum err_code code, const char *message)
{
    struct err e = {0};
    struct spec *s = (struct spec *)1;
    int rc = spec_parse(&s, "s.yaml", text, strlen(text), &e);
    if (!rc)
        fail_msg("accepted: %s", text);
    assert_string_equal(e.msg, message);
    assert_int_equal(rc, -(int)code);
    assert_null(s);
}

static void assert_is(double a, double b)
{
    if (a != b)
        fail_msg("%.17g is not %.17g", a, b);
}

/* ---- seeds that are drawn ---- */

/* The word becomes a number, every other byte stays, and two draws differ. */
static void test_random_seed(void **state)
{
    static const char *const texts[] = {
        HEAD "integrator: {seed: random}\n",
        HEAD "integrator: {seed: 'random', timestep: 1 fs}\n",
        HEAD "integrator:\n  method: langevin-middle\n  seed: \"random\"  # random\n",
        "\xef\xbb\xbf# \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 random\n" HEAD "integrator: {seed: random}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint64_t seeds[2];
        for (int k = 0; k < 2; k++) {
            struct buf drawn = {0};
            struct err e = {0};
            struct spec *s = parsed(texts[i]);
            assert_true(s->seed_random);
            if (spec_draw_seed(s, texts[i], strlen(texts[i]), &drawn, &e))
                fail_msg("%zu at %zu: %s", i, s->seed_at, e.msg);
            seeds[k] = s->settings.integrator.seed;
            assert_true(seeds[k] < UINT64_C(1) << 53 && !s->seed_random);
            spec_free(s);
            s = parsed(drawn.data);
            assert_true(!s->seed_random && s->settings.integrator.seed == seeds[k]);
            char number[32];
            snprintf(number, sizeof number, "%llu", (unsigned long long)seeds[k]);
            char *at = strstr(drawn.data, number);
            assert_int_equal(drawn.len - strlen(number), strlen(texts[i]) - strlen("random"));
            assert_memory_equal(drawn.data, texts[i], (size_t)(at - drawn.data));
            assert_string_equal(at + strlen(number), texts[i] + (at - drawn.data) + strlen("random"));
            spec_free(s);
            buf_free(&drawn);
        }
        assert_int_not_equal(seeds[0], seeds[1]);
    }
    refused(HEAD "integrator: {seed: rnd}\n", ERR_SPEC,
            "s.yaml:3: integrator.seed: rnd: expected a whole number from 0 to 9007199254740991 or random");
}

/* ---- what a whole spec becomes ---- */

static const char whole[] =
    "# yaml-language-server: $schema=../schemas/ensemble.schema.json\n"
    "name: toluene-hydration\n"
    "system: {topology: toluene.top, coordinates: toluene.gro}\n"
    "nonbonded:\n"
    "  cutoff: 0.9 nm\n"
    "  vdw: {modifier: potential-switch, switch-start: 0.8 nm, dispersion-correction: energy-pressure}\n"
    "  coulomb: {method: pme, grid-spacing: 0.11 nm, order: 4, tolerance: 1e-5}\n"
    "constraints: h-bonds\n"
    "alchemy:\n"
    "  decouple: TOL                 # or `perturb: b-states`\n"
    "  intramolecular: keep          # couple-intramol = no\n"
    "  soft-core: {alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: no}\n"
    "  windows:\n"
    "    coulomb: [0, 0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    "    vdw:     [0, 0, 0, 0, 0, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1]\n"
    "integrator: {method: langevin-middle, timestep: 2 fs, temperature: 298.15 K, friction: 1 /ps, seed: 2026}\n"
    "barostat: {method: monte-carlo, pressure: 1.01325 bar, every: 25 steps}\n"
    "protocol:\n"
    "  - minimize: {steps: 500}\n"
    "  - equilibrate: {time: 50 ps, ensemble: nvt}\n"
    "  - equilibrate: {time: 100 ps, ensemble: npt}\n"
    "  - produce: {time: 1 ns, ensemble: npt, sample-every: 0.2 ps, frames-every: 10 ps}\n";

static void test_whole(void **state)
{
    struct spec *s = parsed(whole);
    struct err e = {0};
    const struct settings *set = &s->settings;
    assert_string_equal(s->name, "toluene-hydration");
    assert_string_equal(s->topology, "toluene.top");
    assert_string_equal(s->coordinates, "toluene.gro");
    assert_null(s->reference);
    assert_is(set->nonbonded.vdw_cutoff, 0.9);
    assert_is(set->nonbonded.coulomb_cutoff, 0.9);
    assert_int_equal(set->nonbonded.vdw_modifier, VDW_POTENTIAL_SWITCH);
    assert_is(set->nonbonded.vdw_switch, 0.8);
    assert_int_equal(set->nonbonded.dispersion, DISPERSION_ENERGY_PRESSURE);
    assert_is(set->nonbonded.pme_spacing, 0.11);
    assert_int_equal(set->nonbonded.pme_order, 4);
    assert_is(set->nonbonded.ewald_tolerance, 1e-5);
    assert_is(set->nonbonded.list_buffer, 0);
    assert_int_equal(set->constrain, CONSTRAIN_H_BONDS);
    assert_int_equal(set->alchemy.kind, ALCHEMY_DECOUPLE);
    assert_string_equal(set->alchemy.decouple[0].molecule, "TOL");
    assert_false(set->alchemy.decouple[0].intramolecular_decouple);
    assert_is(set->alchemy.soft_core.alpha, 0.5);
    assert_int_equal(set->alchemy.soft_core.power, 1);
    assert_is(set->alchemy.soft_core.sigma, 0.3);
    assert_false(set->alchemy.soft_core.coulomb);
    assert_int_equal(set->alchemy.nwindows, 12);
    assert_true(set->alchemy.given[LAMBDA_COULOMB] && set->alchemy.given[LAMBDA_VDW]);
    assert_false(set->alchemy.given[LAMBDA_BONDED] || set->alchemy.given[LAMBDA_MASS]);
    assert_is(set->alchemy.lambda[3][LAMBDA_COULOMB], 0.75);
    assert_is(set->alchemy.lambda[6][LAMBDA_VDW], 0.25);
    assert_is(set->alchemy.lambda[6][LAMBDA_BONDED], 0);
    assert_int_equal(set->integrator.kind, INTEGRATOR_LANGEVIN_MIDDLE);
    assert_is(set->integrator.timestep, 0.002);
    assert_is(set->integrator.temperature, 298.15);
    assert_is(set->integrator.friction, 1);
    assert_int_equal(set->integrator.seed, 2026);
    assert_int_equal(set->integrator.com_every, 100);
    assert_true(set->barostat.on);
    assert_is(set->barostat.pressure, 1.01325);
    assert_int_equal(set->barostat.every, 25);
    assert_int_equal(set->check_every, 10000);
    assert_int_equal(s->checkpoint_every, 0);
    assert_float_equal(s->checkpoint_seconds, 60, 0);
    assert_int_equal(s->retries, 2);
    assert_int_equal(s->repeats, 1);
    assert_int_equal(s->nstages, 4);
    assert_int_equal(s->stages[0].kind, STAGE_MINIMIZE);
    assert_int_equal(s->stages[0].steps, 500);
    assert_is(s->stages[0].force_tolerance, 100);
    assert_int_equal(s->stages[1].kind, STAGE_EQUILIBRATE);
    assert_int_equal(s->stages[1].steps, 25000);
    assert_false(s->stages[1].npt);
    assert_int_equal(s->stages[1].sample_every, 0);
    assert_true(s->stages[2].npt);
    assert_int_equal(s->stages[3].kind, STAGE_PRODUCE);
    assert_int_equal(s->stages[3].steps, 500000);
    assert_int_equal(s->stages[3].sample_every, 100);
    assert_int_equal(s->stages[3].frames_every, 5000);
    assert_int_equal(spec_check_run(s, &e), 0);
    spec_free(s);
}

static void test_defaults(void **state)
{
    struct spec *s = parsed(HEAD);
    const struct settings *set = &s->settings;
    assert_is(set->nonbonded.vdw_cutoff, 1.0);
    assert_is(set->nonbonded.coulomb_cutoff, 1.0);
    assert_int_equal(set->nonbonded.vdw_modifier, VDW_POTENTIAL_SHIFT);
    assert_int_equal(set->nonbonded.coulomb_modifier, COULOMB_POTENTIAL_SHIFT);
    assert_int_equal(set->nonbonded.dispersion, DISPERSION_ENERGY_PRESSURE);
    assert_is(set->nonbonded.pme_spacing, 0.12);
    assert_int_equal(set->nonbonded.pme_grid[0], 0);
    assert_int_equal(set->constrain, CONSTRAIN_H_BONDS);
    assert_int_equal(set->alchemy.kind, ALCHEMY_NONE);
    assert_int_equal(set->alchemy.nwindows, 1);
    assert_is(set->alchemy.lambda[0][LAMBDA_MASS], 0);
    assert_false(set->barostat.on);
    assert_int_equal(s->nstages, 0);
    assert_int_equal(s->phases[0].ndefines, 0);
    spec_free(s);
}

static void test_everything_else(void **state)
{
    struct spec *s = parsed(
        "name: b.2\n"
        "system:\n"
        "  topology: sub/a.top\n"
        "  coordinates: 'a.gro'\n"
        "  reference: \"r.gro\"\n"
        "  defines: [POSRES, KPOS=1000, E=]\n"
        "nonbonded:\n"
        "  cutoff: 10 A\n"
        "  list-buffer: 0.05 nm\n"
        "  vdw: {cutoff: 12 angstrom, modifier: force-switch, switch-start: 1nm, "
        "dispersion-correction: no}\n"
        "  coulomb: {cutoff: 1.1 nm, modifier: none, grid: [32, 36, 40], order: 6}\n"
        "constraints: all-bonds\n"
        "alchemy:\n"
        "  perturb: b-states\n"
        "  soft-core: {alpha: 0, power: 2, coulomb: Yes}\n"
        "  windows: {mass: [0, .5, 1.], bonded: [0, 5e-1, +1]}\n"
        "integrator: {method: velocity-verlet, timestep: 0.5 fs, com-removal: no}\n"
        "repeats: 3\n"
        "run: {retries: 0, checkpoint-every: 2000 steps, graph-check-every: 1 step}\n"
        "protocol:\n"
        "- produce: {time: 2000 steps, sample-every: 10 fs, frames-every: no}\n");
    const struct settings *set = &s->settings;
    assert_string_equal(s->reference, "r.gro");
    assert_int_equal(s->phases[0].ndefines, 3);
    assert_string_equal(s->phases[0].defines[0].name, "POSRES");
    assert_string_equal(s->phases[0].defines[0].value, "");
    assert_string_equal(s->phases[0].defines[1].name, "KPOS");
    assert_string_equal(s->phases[0].defines[1].value, "1000");
    assert_string_equal(s->phases[0].defines[2].value, "");
    assert_is(set->nonbonded.vdw_cutoff, 1.2);
    assert_is(set->nonbonded.coulomb_cutoff, 1.1);
    assert_is(set->nonbonded.list_buffer, 0.05);
    assert_int_equal(set->nonbonded.vdw_modifier, VDW_FORCE_SWITCH);
    assert_is(set->nonbonded.vdw_switch, 1);
    assert_int_equal(set->nonbonded.dispersion, DISPERSION_NONE);
    assert_int_equal(set->nonbonded.coulomb_modifier, COULOMB_CUTOFF);
    assert_int_equal(set->nonbonded.pme_grid[0], 32);
    assert_int_equal(set->nonbonded.pme_grid[2], 40);
    assert_int_equal(set->constrain, CONSTRAIN_ALL_BONDS);
    assert_int_equal(set->alchemy.kind, ALCHEMY_B_STATES);
    assert_is(set->alchemy.soft_core.alpha, 0);
    assert_int_equal(set->alchemy.soft_core.power, 2);
    assert_true(set->alchemy.soft_core.coulomb);
    assert_int_equal(set->alchemy.nwindows, 3);
    assert_is(set->alchemy.lambda[1][LAMBDA_MASS], 0.5);
    assert_is(set->alchemy.lambda[2][LAMBDA_BONDED], 1);
    assert_int_equal(set->integrator.kind, INTEGRATOR_VELOCITY_VERLET);
    assert_is(set->integrator.timestep, 0.0005);
    assert_int_equal(set->integrator.com_every, 0);
    assert_int_equal(set->check_every, 1);
    assert_int_equal(s->retries, 0);
    assert_int_equal(s->repeats, 3);
    assert_int_equal(s->checkpoint_every, 2000);
    assert_int_equal(s->stages[0].steps, 2000);
    assert_int_equal(s->stages[0].sample_every, 20);
    assert_int_equal(s->stages[0].frames_every, 0);
    assert_false(s->stages[0].npt);
    spec_free(s);
}

/* Each soft core has keys of its own. */
static void test_soft_core(void **state)
{
    struct spec *s = parsed(HEAD "alchemy: {decouple: A, windows: {vdw: [0]}, soft-core: {function: gapsys}}\n");
    const struct soft_core *core = &s->settings.alchemy.soft_core;
    assert_int_equal(core->function, SOFT_GAPSYS);
    assert_is(core->alpha, 0.85);
    assert_is(core->alpha_coulomb, 0.3);
    assert_is(core->sigma, 0.3);
    assert_true(core->coulomb);
    spec_free(s);
    s = parsed(HEAD
               "alchemy: {decouple: A, windows: {vdw: [0]}, soft-core: {function: gapsys, scale-linpoint-lj: 0.5, "
               "scale-linpoint-coulomb: 0 nm, sigma: 0.2 nm}}\n");
    core = &s->settings.alchemy.soft_core;
    assert_is(core->alpha, 0.5);
    assert_is(core->alpha_coulomb, 0);
    assert_is(core->sigma, 0.2);
    assert_false(core->coulomb);
    spec_free(s);
}

static void test_reaction_field(void **state)
{
    struct spec *s = parsed(HEAD "nonbonded: {cutoff: 1.2 nm, coulomb: {method: reaction-field}}\n");
    const struct nonbonded_settings *nb = &s->settings.nonbonded;
    assert_int_equal(nb->coulomb_method, COULOMB_REACTION_FIELD);
    assert_is(nb->epsilon_rf, 0);
    assert_is(nb->coulomb_cutoff, 1.2);
    spec_free(s);
    s = parsed(HEAD "nonbonded: {coulomb: {method: reaction-field, epsilon-rf: 61.5, cutoff: 1.4 nm}}\n");
    nb = &s->settings.nonbonded;
    assert_is(nb->epsilon_rf, 61.5);
    assert_is(nb->coulomb_cutoff, 1.4);
    spec_free(s);
    s = parsed(HEAD);
    assert_int_equal(s->settings.nonbonded.coulomb_method, COULOMB_PME);
    spec_free(s);
}

/* A molecule type alone, or several with ends of their own. */
static void test_decouple(void **state)
{
    struct spec *s = parsed(HEAD "alchemy: {decouple: A, windows: {vdw: [0]}, intramolecular: decouple}\n");
    const struct alchemy_settings *al = &s->settings.alchemy;
    assert_int_equal(al->ndecouple, 1);
    assert_int_equal(al->decouple[0].on[0], COUPLED_ALL);
    assert_int_equal(al->decouple[0].on[1], 0);
    assert_true(al->decouple[0].intramolecular_decouple);
    spec_free(s);
    s = parsed(HEAD
               "alchemy:\n  windows: {vdw: [0]}\n  decouple:\n    - molecule: A\n"
               "    - {molecule: B, from: none, to: q}\n    - {molecule: C, to: vdw, intramolecular: decouple}\n");
    al = &s->settings.alchemy;
    assert_int_equal(al->ndecouple, 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(al->decouple[k].molecule[0], 'A' + k);
        assert_int_equal(al->decouple[k].on[0], k == 1 ? 0 : COUPLED_ALL);
        assert_int_equal(al->decouple[k].on[1], ((const unsigned[]){0, COUPLED_CHARGE, COUPLED_VDW})[k]);
        assert_int_equal(al->decouple[k].intramolecular_decouple, k == 2);
    }
    spec_free(s);
}

/* Every word of every enum reaches the constant it names. */
static void test_words(void **state)
{
    static const struct {
        const char *text;
        size_t offset;
        int value;
    } words[] = {
#define AT(f) offsetof(struct settings, f)
        {"nonbonded: {vdw: {modifier: none}}", AT(nonbonded.vdw_modifier), VDW_CUTOFF},
        {"nonbonded: {vdw: {modifier: potential-shift}}", AT(nonbonded.vdw_modifier), VDW_POTENTIAL_SHIFT},
        {"nonbonded: {vdw: {dispersion-correction: energy}}", AT(nonbonded.dispersion), DISPERSION_ENERGY},
        {"nonbonded: {vdw: {dispersion-correction: all}}", AT(nonbonded.dispersion), DISPERSION_ALL},
        {"nonbonded: {coulomb: {modifier: potential-shift}}", AT(nonbonded.coulomb_modifier), COULOMB_POTENTIAL_SHIFT},
        {"constraints: none", AT(constrain), CONSTRAIN_NONE},
        {"constraints: \"none\"", AT(constrain), CONSTRAIN_NONE},
        {"integrator: {method: langevin-middle}", AT(integrator.kind), INTEGRATOR_LANGEVIN_MIDDLE},
        {"alchemy: {decouple: A, windows: {vdw: [0]}, intramolecular: keep}",
         AT(alchemy.decouple[0].intramolecular_decouple), 0},
        {"alchemy: {decouple: A, windows: {vdw: [0]}, intramolecular: decouple}",
         AT(alchemy.decouple[0].intramolecular_decouple), 1},
        {"alchemy: {decouple: A, windows: {vdw: [0]}, soft-core: {coulomb: on}}", AT(alchemy.soft_core.coulomb), 1},
        {"alchemy: {decouple: A, windows: {vdw: [0]}, soft-core: {coulomb: FALSE}}", AT(alchemy.soft_core.coulomb), 0},
#undef AT
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct buf b = {0};
        buf_printf(&b, HEAD "%s\n", words[i].text);
        struct spec *s = parsed(b.data);
        const char *field = (const char *)&s->settings + words[i].offset;
        bool flag = strstr(words[i].text, "alchemy") != NULL;
        int value = flag ? *(const bool *)field : *(const int *)field;
        if (value != words[i].value)
            fail_msg("%s: %d", words[i].text, value);
        spec_free(s);
        buf_free(&b);
    }
}

static void test_units(void **state)
{
    struct spec *s = parsed(HEAD
                            "integrator: {timestep: 3 fs, temperature: 300K, friction: 0.5 1/ps}\n"
                            "barostat: {pressure: 2 atm, every: 0.3 ps}\n"
                            "protocol: [{minimize: {steps: 1, force-tolerance: 10 kJ/mol/nm}}, "
                            "{produce: {time: 0.003 us, sample-every: 300 fs}}]\n");
    assert_is(s->settings.integrator.timestep, 0.003);
    assert_is(s->settings.integrator.temperature, 300);
    assert_is(s->settings.integrator.friction, 0.5);
    assert_is(s->settings.barostat.pressure, 2.0265);
    assert_int_equal(s->settings.barostat.every, 100);
    assert_is(s->stages[0].force_tolerance, 10);
    assert_int_equal(s->stages[1].steps, 1000000);
    assert_int_equal(s->stages[1].sample_every, 100);
    assert_true(s->stages[1].npt); /* the default where there is a barostat */
    spec_free(s);
}

/* ---- what is refused, and how ---- */

#define SPEC(...) ERR_SPEC, "s.yaml:" __VA_ARGS__

static void test_yaml_errors(void **state)
{
    refused("", SPEC("1: the spec is empty"));
    refused("# nothing\n", SPEC("1: the spec is empty"));
    refused("name: x\nname: y\n", SPEC("2: name: duplicate key; the first is in line 1"));
    refused("name: &a x\n", SPEC("1: an anchor (&name) is not accepted; write the value out"));
    refused("name: *a\n", SPEC("1: an alias (*name) is not accepted; write the value out"));
    refused("name: x\n<<: *a\n", SPEC("2: an alias (*name) is not accepted; write the value out"));
    refused("*a : x\n", SPEC("1: a key must be a word"));
    refused("&a name: x\n", SPEC("1: an anchor (&name) is not accepted; write the value out"));
    refused("name: !!str x\n", SPEC("1: a tag (!name) is not accepted; the schema says what a value is"));
    refused("? [a, b]\n: c\n", SPEC("1: a key must be a word"));
    refused(HEAD "---\nname: y\n", SPEC("3: a second document; one file holds one ensemble"));
    refused("name: \"\\0\"\n", SPEC("1: a zero byte in a value"));
    refused("name: [a\n", SPEC("2: column 1: did not find expected ',' or ']', while parsing a flow sequence"));
    refused("name: x\n\ty: 1\n",
            SPEC("2: column 1: found a tab character that violates indentation, while scanning a plain scalar"));
    refused("name: x\nsystem: \"\xff\"\n",
            SPEC("2: byte 0xff at offset 17: invalid leading UTF-8 octet; expected UTF-8 text"));
    refused("[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n", SPEC("1: nested deeper than any spec is (16 levels)"));
}

static void test_sizes(void **state)
{
    struct err e = {0};
    struct spec *s = NULL;
    struct buf b = {0};
    buf_printf(&b, "name: x # ");
    while (b.len <= NODE_MAX_BYTES)
        buf_printf(&b, "................................");
    assert_int_equal(spec_parse(&s, "s.yaml", b.data, b.len, &e), -ERR_SPEC);
    assert_non_null(strstr(e.msg, "a spec has at most 1048576"));
    b.len = 0;
    buf_printf(&b, "name: [");
    for (int i = 0; i < NODE_MAX_COUNT; i++)
        buf_printf(&b, "1,");
    buf_printf(&b, "1]\n");
    refused(b.data, SPEC("1: more values than any spec has (20000)"));
    b.len = 0;
    for (int i = 0; i <= NODE_MAX_KEYS; i++)
        buf_printf(&b, "k%d: 1\n", i);
    refused(b.data, SPEC("101: more keys in one mapping than any spec has (100)"));
    b.len = 0;
    for (int i = 0; i < 65; i++)
        buf_printf(&b, "k");
    buf_printf(&b, ": 1\n");
    refused(b.data, SPEC("1: a key of more than 64 bytes"));
    buf_free(&b);
}

static void test_key_errors(void **state)
{
    refused("42\n", SPEC("1: 42: expected a mapping with name, system, nonbonded, constraints, masses, alchemy, "
                         "restraints, integrator, barostat, "
                         "repeats, exchange, stop-when, allocate, protocol or run"));
    refused(HEAD "nonbonded:\n  vdw: {modifer: cutoff}\n",
            SPEC("4: nonbonded.vdw.modifer: unknown key; did you mean modifier?"));
    refused(HEAD "nonbonded:\n  vdw: {switch_start: 1 nm}\n",
            SPEC("4: nonbonded.vdw.switch_start: unknown key; did you mean switch-start?"));
    refused(
        HEAD "nonbonded: {pressure: 1 bar}\n",
        SPEC("3: nonbonded.pressure: unknown key; expected cutoff, list-buffer, vdw or coulomb; pressure belongs into "
             "barostat"));
    refused(HEAD "zebra: 1\n", SPEC("3: zebra: unknown key; expected name, system, nonbonded, constraints, masses, "
                                    "alchemy, restraints, integrator, "
                                    "barostat, repeats, exchange, stop-when, allocate, protocol or run"));
    refused("name: x\n", SPEC("1: system: missing; expected a mapping with topology, coordinates, reference, "
                              "window-coordinates, index or defines"));
    refused("name: x\nsystem: {topology: a.top}\n",
            SPEC("2: system.coordinates: missing; expected text of 1 to 255 bytes, such as toluene.gro"));
    refused(HEAD "alchemy: {windows: {vdw: [0]}}\n", SPEC("3: alchemy: expected exactly one of decouple and perturb"));
    refused(HEAD "alchemy: {decouple: A, perturb: b-states, windows: {vdw: [0]}}\n",
            SPEC("3: alchemy: expected exactly one of decouple and perturb"));
    refused(HEAD "alchemy: {decouple: A, windows: {}}\n",
            SPEC("3: alchemy.windows: 0 keys; expected at least one of coulomb, vdw, bonded, restraint or mass"));
    refused(HEAD "protocol: [{produce: {time: 1 ps}, minimize: {steps: 1}}]\n",
            SPEC("3: protocol[0]: 2 keys; expected exactly one of minimize, equilibrate or produce"));
    refused(HEAD "observables:\n  - rdf: {between: [OW, OW]}\n", ERR_UNSUPPORTED,
            "s.yaml:3: observables: not supported: observables are not built yet; analyse the trajectory "
            "(frames-every) instead");
}

static void test_value_errors(void **state)
{
    refused(HEAD "nonbonded: {cutoff: 0.9}\n", SPEC("3: nonbonded.cutoff: 0.9: no unit; expected a quantity from 0.2 "
                                                    "nm to 5 nm (units: nm, A, angstrom), such as "
                                                    "0.9 nm"));
    refused(HEAD "nonbonded: {cutoff: 0.9 mm}\n", SPEC("3: nonbonded.cutoff: 0.9 mm: unknown unit; expected a quantity "
                                                       "from 0.2 nm to 5 nm (units: nm, A, angstrom), "
                                                       "such as 0.9 nm"));
    refused(HEAD "nonbonded: {cutoff: 9 nm}\n", SPEC("3: nonbonded.cutoff: 9 nm: out of range; expected a quantity "
                                                     "from 0.2 nm to 5 nm (units: nm, A, angstrom), "
                                                     "such as 0.9 nm"));
    refused(HEAD "nonbonded: {cutoff: near}\n", SPEC("3: nonbonded.cutoff: near: expected a quantity from 0.2 nm to 5 "
                                                     "nm (units: nm, A, angstrom), such as 0.9 nm"));
    refused(HEAD "nonbonded: {cutoff: inf nm}\n", SPEC("3: nonbonded.cutoff: inf nm: expected a quantity from 0.2 nm "
                                                       "to 5 nm (units: nm, A, angstrom), such as 0.9 nm"));
    refused(HEAD "nonbonded: {cutoff: 1e999 nm}\n", SPEC("3: nonbonded.cutoff: 1e999 nm: expected a quantity from 0.2 "
                                                         "nm to 5 nm (units: nm, A, angstrom), such as 0.9 nm"));
    refused(HEAD "nonbonded: {cutoff: 25 steps}\n", SPEC("3: nonbonded.cutoff: 25 steps: unknown unit; expected a "
                                                         "quantity from 0.2 nm to 5 nm (units: nm, A, angstrom), "
                                                         "such as 0.9 nm"));
    refused(HEAD "nonbonded: {cutoff: }\n", SPEC("3: nonbonded.cutoff: no value: expected a quantity from 0.2 nm to 5 "
                                                 "nm (units: nm, A, angstrom), such as 0.9 nm"));
    refused(HEAD "integrator: {temperature: 0 K}\n", SPEC("3: integrator.temperature: 0 K: out of range; expected a "
                                                          "quantity above 0 K, at most 5000 K (units: K), such as "
                                                          "298.15 K"));
    refused(HEAD "integrator: {com-removal: never}\n",
            SPEC("3: integrator.com-removal: never: expected a quantity above 0 ps, at most 1000 ps (units: fs, ps, "
                 "ns, us, steps) "
                 "or no, such as 100 steps"));
    refused(HEAD "barostat: {every: 2.5 steps}\n",
            SPEC("3: barostat.every: 2.5 steps: expected a whole number of steps from 1 to 1e12"));
    refused(HEAD "constraints: hbonds\n",
            SPEC("3: constraints: hbonds: expected none, h-bonds or all-bonds; did you mean h-bonds?"));
    refused(HEAD "constraints: [h-bonds]\n", SPEC("3: constraints: a list of 1: expected none, h-bonds or all-bonds"));
    refused(HEAD "constraints:\n", SPEC("3: constraints: no value: expected none, h-bonds or all-bonds"));
    refused(HEAD "alchemy: {decouple: A, windows: {vdw: [0]}, soft-core: {coulomb: maybe}}\n",
            SPEC("3: alchemy.soft-core.coulomb: maybe: expected yes or no"));
    refused(HEAD "nonbonded: {coulomb: {method: reaction-field, order: 4}}\n",
            SPEC("3: nonbonded.coulomb.order: a key of another method than reaction-field"));
    refused(HEAD "nonbonded: {coulomb: {epsilon-rf: 78}}\n",
            SPEC("3: nonbonded.coulomb.epsilon-rf: a key of another method than pme"));
    refused(HEAD "nonbonded: {coulomb: {method: reaction-field, epsilon-rf: 0.5}}\n",
            SPEC("3: nonbonded.coulomb.epsilon-rf: 0.5: expected 1 or more, or 0 for an infinite constant"));
    refused(HEAD "alchemy: {decouple: [{molecule: A, from: none}], windows: {vdw: [0]}}\n",
            SPEC("3: alchemy.decouple[0]: A: from none to none: nothing changes"));
    refused(HEAD "alchemy: {decouple: [{molecule: A}, {molecule: A}], windows: {vdw: [0]}}\n",
            SPEC("3: alchemy.decouple[1]: A: there is an entry of this molecule already"));
    refused(HEAD "alchemy: {decouple: [A, B], windows: {vdw: [0]}}\n",
            SPEC("3: alchemy.decouple[0]: A: expected a mapping with molecule, from, to or intramolecular"));
    refused(
        HEAD "alchemy: {decouple: [], windows: {vdw: [0]}}\n",
        SPEC("3: alchemy.decouple: a list of 0: expected text of 1 to 63 bytes or a list of 1 to 16 values, such as "
             "TOL"));
    refused(
        HEAD "alchemy: {decouple: [{molecule: A}], windows: {vdw: [0]}, intramolecular: keep}\n",
        SPEC("3: alchemy.intramolecular: keep: where decouple is a list, each of its molecules has an intramolecular "
             "of its own"));
    refused(HEAD "alchemy: {decouple: A, windows: {vdw: [0]}, soft-core: {function: gapsys, alpha: 0.5}}\n",
            SPEC("3: alchemy.soft-core.alpha: 0.5: a key of another function than gapsys"));
    refused(HEAD "alchemy: {decouple: A, windows: {vdw: [0]}, soft-core: {scale-linpoint-coulomb: 0.3 nm}}\n",
            SPEC("3: alchemy.soft-core.scale-linpoint-coulomb: 0.3 nm: a key of another function than beutler"));
    refused(HEAD "nonbonded: {coulomb: {order: 8}}\n",
            SPEC("3: nonbonded.coulomb.order: 8: out of range; expected a whole number from 4 to 6"));
    refused(HEAD "nonbonded: {coulomb: {order: 0o4}}\n",
            SPEC("3: nonbonded.coulomb.order: 0o4: expected a whole number from 4 to 6"));
    refused(HEAD "integrator: {seed: 010}\n",
            SPEC("3: integrator.seed: 010: expected a whole number from 0 to 9007199254740991 or random"));
    refused(HEAD "nonbonded: {coulomb: {tolerance: 0x1}}\n",
            SPEC("3: nonbonded.coulomb.tolerance: 0x1: expected a number from 1e-12 to 0.01"));
    refused(HEAD "nonbonded: {coulomb: {grid: [32, 32]}}\n",
            SPEC("3: nonbonded.coulomb.grid: a list of 2: expected a list of 3 values"));
    refused(HEAD "alchemy:\n  decouple: A\n  windows:\n    vdw: [0, 1.5]\n",
            SPEC("6: alchemy.windows.vdw[1]: 1.5: out of range; expected a number from 0 to 1"));
    refused("name: a b\n",
            SPEC("1: name: a b: expected text of 1 to 64 bytes like ^[A-Za-z0-9][A-Za-z0-9._+-]*$, such as "
                 "toluene-hydration"));
    refused("name: ~\n",
            SPEC("1: name: no value: expected text of 1 to 64 bytes like ^[A-Za-z0-9][A-Za-z0-9._+-]*$, such as "
                 "toluene-hydration"));
}

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
    refused(TWO "exchange: {every: 1 ps, scheme: all}\n",
            SPEC("4: exchange.scheme: all: expected neighbours or gibbs"));
#undef TWO
}

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
    spec_free(s);
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
        "  - equilibrate: {time: 1 ps, timestep: 4 fs, temperature: 298.15 K}\n"
        "  - produce: {time: 1 ps}\n");
    static const int phase[] = {1, 2, 3, 3, 0, 0}, steps[] = {5, 1000, 250, 250, 250, 250};
    assert_int_equal(s->nstages, 6);
    for (int i = 0; i < s->nstages; i++) {
        assert_int_equal(s->stages[i].phase, phase[i]);
        assert_int_equal(s->stages[i].steps, steps[i]);
        assert_is(s->stages[i].timestep, i == 1 ? 0.001 : 0.004);
    }
    assert_int_equal(s->nphases, 4);
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
    spec_free(s);
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

/* ---- with a system ---- */

static const char top[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nCH4 16.043 0.0 A 0.373 1.23\n"
    "[ moleculetype ]\nMET 1\n[ atoms ]\n"
    "#ifdef OTHER\n1 CH4 1 MET CH5 1 0 16.043\n#else\n1 CH4 1 MET CH4 1 CHARGE 16.043\n#endif\n"
    "#ifdef HOLD\n[ position_restraints ]\n1 1 10 10 10\n#endif\n"
    "[ moleculetype ]\nTWO 1\n[ atoms ]\n1 CH4 1 MET CH4 1 0 16.043\n2 CH4 1 MET CH4 1 0 16.043\n"
    "#ifdef RIGID\n[ constraints ]\n1 2 1 1.8\n#endif\n#ifdef STRETCH\n[ constraints ]\n1 2 1 1.8 1.9\n#endif\n"
    "[ system ]\none\n[ molecules ]\n#ifdef MORE\nMET 3\n#else\n#ifdef PAIR\nTWO 1\n#else\nMET 2\n#endif\n#endif\n";
static const char gro[] =
    "two\n    2\n    1MET    CH4    1   0.500   0.500   0.500\n    2MET    CH4    2   1.500   1.500   "
    "1.500\n   3.0 3.0 2.5\n";

/* The same in other boxes: 2.60.gro has one of 2.60 nm at its shortest edge. */
static void add_boxes(struct source *src)
{
    struct err e = {0};
    static const char *const edges[] = {"2.40", "2.50", "2.60", "2.70"};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        struct buf text = {0}, name = {0};
        buf_printf(&text, "%.*s %s\n", (int)(sizeof gro - 1 - strlen("2.5\n")), gro, edges[i]);
        buf_printf(&name, "%s.gro", edges[i]);
        assert_int_equal(source_memory_add(src, name.data, text.data, text.len, &e), 0);
        buf_free(&text);
        buf_free(&name);
    }
}

/* Reads a spec with a little system whose charge is given, as a submission would; the message, or "" when it is fine. */
static struct err with_system(const char *text, const char *charge)
{
    struct err e = {0};
    struct spec *s = parsed(text);
    struct source *src = source_memory_new();
    struct system sys = {0};
    struct buf b = {0};
    const char *mark = strstr(top, "CHARGE");
    buf_printf(&b, "%.*s%s%s", (int)(mark - top), top, charge, mark + 6);
    assert_int_equal(source_memory_add(src, "a.top", b.data, b.len, &e), 0);
    assert_int_equal(source_memory_add(src, "a.gro", gro, sizeof gro - 1, &e), 0);
    add_boxes(src);
    int rc = spec_system(s, src, &sys, &e);
    if (!rc)
        rc = spec_check_windows(s, &sys, &e);
    assert_int_equal(rc, -(int)e.code);
    system_close(&sys);
    source_free(src);
    spec_free(s);
    buf_free(&b);
    return e;
}

#define CONSTRAINED(how)                                                                                               \
    "name: x\nsystem: {topology: a.top, coordinates: a.gro, defines: [PAIR, " how                                      \
    "]}\nalchemy: {decouple: TWO, windows: {vdw: [0, 0.5]}}\n"

static void test_system_errors(void **state)
{
    static const struct {
        const char *text, *charge, *message;
    } cases[] = {
        {HEAD, "0.1", ""},
        {HEAD "nonbonded: {cutoff: 1.25 nm}\n", "0",
         "s.yaml:3: nonbonded.cutoff: 1.25 nm: expected less than half the shortest box edge in a.gro, 2.5 nm"},
        {HEAD "alchemy: {decouple: MTE, windows: {vdw: [0]}}\n", "0",
         "s.yaml:3: alchemy.decouple: MTE: a.top has no molecules of this type; did you mean MET?"},
        {HEAD "alchemy: {decouple: water, windows: {vdw: [0]}}\n", "0",
         "s.yaml:3: alchemy.decouple: water: a.top has no molecules of this type; it has MET"},
        {HEAD "alchemy: {decouple: [{molecule: MET}, {molecule: MTE}], windows: {vdw: [0]}}\n", "0",
         "s.yaml:3: alchemy.decouple: MTE: a.top has no molecules of this type; did you mean MET?"},
        {HEAD
         "alchemy: {decouple: [{molecule: MET, from: none, to: vdw-q}], windows: {coulomb: [0, 1], vdw: [0, 0]}}\n",
         "0.1",
         "s.yaml:3: alchemy.windows: window 1 has charges (coulomb 1) without Lennard-Jones (vdw 0); expected coulomb "
         "0 "
         "before vdw ends, or soft-core.coulomb yes"},
        {HEAD "alchemy: {decouple: [{molecule: MET, to: vdw}], windows: {coulomb: [0, 1], vdw: [0, 1]}}\n", "0.1", ""},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}}\n", "0", ""},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}}\n", "0.1",
         "s.yaml:3: alchemy.windows: window 1 has charges (coulomb 0) without Lennard-Jones (vdw 1); expected coulomb "
         "1 before "
         "vdw ends, or soft-core.coulomb yes"},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}, soft-core: {coulomb: yes}}\n", "0.1", ""},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}, soft-core: {alpha: 0}}\n", "0",
         "s.yaml:3: alchemy.soft-core.alpha: 0: expected more than 0, as window 1 has vdw 1"},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}, soft-core: {function: gapsys}}\n", "0.1", ""},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}, soft-core: {function: gapsys, scale-linpoint-lj: 0}}\n",
         "0", "s.yaml:3: alchemy.soft-core.scale-linpoint-lj: 0: expected more than 0, as window 1 has vdw 1"},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}, soft-core: {function: gapsys, scale-linpoint-coulomb: "
              "0 nm}}\n",
         "0.1",
         "s.yaml:3: alchemy.windows: window 1 has charges (coulomb 0) without Lennard-Jones (vdw 1); expected coulomb "
         "1 "
         "before vdw ends, or soft-core.scale-linpoint-coulomb above 0"},
        {HEAD "alchemy: {perturb: b-states, windows: {vdw: [0, 1]}}\n", "0",
         "s.yaml:3: alchemy.perturb: b-states: nothing in a.top has a B state that differs from its A state"},
        {HEAD "alchemy: {perturb: b-states, windows: {coulomb: [0, 1]}}\n", "0 16.043 CH4 0.1", ""},
        {CONSTRAINED("RIGID") "exchange: {every: 1 ps}\n", "0", ""},
        {CONSTRAINED("STRETCH"), "0", ""},
        {CONSTRAINED("STRETCH") "exchange: {every: 1 ps}\n", "0",
         "s.yaml: exchange: atoms 1 and 2: a constraint whose length goes with lambda from 1.8 to 1.9 nm; replicas "
         "that "
         "exchange windows need it to stay: expected a bond there, or no exchange"},
        {HEAD "alchemy: {decouple: MET, finite-size: {dielectric: 97}, windows: {vdw: [0, 1]}}\n", "0",
         "s.yaml:3: alchemy.finite-size: expected a cubic box, a.gro has one of 3 x 3 x 2.5 nm"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(with_system(cases[i].text, cases[i].charge).msg, cases[i].message);
}

/* Coordinates of each window: of as many, of the same atoms, in boxes that the settings still fit. */
static void test_starts(void **state)
{
    static const char windows[] =
        "name: a\nsystem: {topology: a.top, coordinates: a.gro, window-coordinates: [%s]}\n"
        "alchemy: {decouple: MET, windows: {vdw: [0, 1]}}\n%s";
    static const struct {
        const char *files, *more, *message;
    } cases[] = {
        {"a.gro, 2.50.gro", "", ""},
        {"2.60.gro, 2.40.gro", "barostat: {}\n", ""},
        {"2.50.gro, 2.60.gro", "",
         "s.yaml:2: system.window-coordinates[1]: 2.60.gro has a box of 2.6 nm where a.gro has 2.5 nm; expected the "
         "same, as "
         "there is no barostat"},
        {"2.70.gro, 2.60.gro", "barostat: {}\n",
         "s.yaml:2: system.window-coordinates[0]: 2.70.gro has a box of 2.7 nm where a.gro has 2.5 nm; expected 5 % "
         "less to 5 "
         "% more"},
        {"2.50.gro, 2.40.gro", "barostat: {}\nnonbonded: {cutoff: 1.22 nm}\n",
         "s.yaml:5: nonbonded.cutoff: 1.22 nm: expected less than 1.2 nm in the box of 2.40.gro"},
        {"2.50.gro, none.gro", "", "there is no file \"none.gro\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = {0};
        buf_printf(&text, windows, cases[i].files, cases[i].more);
        assert_string_equal(with_system(text.data, "0").msg, cases[i].message);
        buf_free(&text);
    }
    refused(
        "name: a\nsystem:\n  topology: a.top\n  coordinates: a.gro\n  window-coordinates: [b.gro]\n"
        "alchemy: {decouple: MET, windows: {vdw: [0, 1]}}\n",
        SPEC("5: system.window-coordinates: 1 files; expected one for each of 2 windows"));
}

/* The systems of all phases are of the same atoms, and what moves keeps the same constraints. */
static void test_phase_systems(void **state)
{
    static const char staged[] =
        "name: a\nsystem: {topology: a.top, coordinates: a.gro%s}\nprotocol:\n"
        "  - minimize: {steps: 1, defines: [%s]}\n"
        "  - equilibrate: {time: 1 ps, defines: [%s]}\n"
        "  - produce: {time: 1 ps}\n";
    static const struct {
        const char *first, *second, *message;
    } cases[] = {
        {"HOLD", "HOLD=5", ""},
        {"PAIR, RIGID", "PAIR", ""},
        {"PAIR", "PAIR, RIGID",
         "s.yaml:5: protocol: with the stage's defines: other rigid waters or constraints than without them; that is "
         "for "
         "minimize only"},
        {"MORE", "HOLD",
         "s.yaml:4: protocol: with the stage's defines: a.gro:2: read 2 atoms, expected 3 as in the topology"},
        {"OTHER", "HOLD",
         "s.yaml:4: protocol: with the stage's defines: atom 1 is MET CH5; expected MET CH4, as without them"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = {0};
        const char *pair = strncmp(cases[i].first, "PAIR", 4) ? "" : ", defines: [PAIR]";
        buf_printf(&text, staged, pair, cases[i].first, cases[i].second);
        assert_string_equal(with_system(text.data, "0").msg, cases[i].message);
        buf_free(&text);
    }
}

static void test_allocate(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_printf(&text, "%sallocate: adaptive\n", whole);
    struct spec *s = parsed(text.data);
    assert_true(s->allocate.adaptive);
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
    assert_false(s->allocate.adaptive);
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
    assert_int_equal(spec_production(s, "2 ns", &steps, &e), 0);
    assert_int_equal(steps, 1000000);
    assert_int_equal(spec_production(s, "3 steps", &steps, &e), 0);
    assert_int_equal(steps, 3);
    static const char *const bad[] = {"", "2", "2 nm", "-1 ps", "0 steps", "1 fs", "2.5 steps", "2e9 ps", "ns"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(spec_production(s, bad[i], &steps, &e), -ERR_USAGE);
    s->stages[3].kind = STAGE_EQUILIBRATE;
    assert_int_equal(spec_production(s, "2 ns", &steps, &e), -ERR_CONFLICT);
    assert_int_equal(spec_retarget(s, stages, spec_steps(s, 4) + 7, &e), -ERR_CONFLICT);
    spec_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),          cmocka_unit_test(test_random_seed),
        cmocka_unit_test(test_defaults),       cmocka_unit_test(test_everything_else),
        cmocka_unit_test(test_soft_core),      cmocka_unit_test(test_decouple),
        cmocka_unit_test(test_reaction_field), cmocka_unit_test(test_words),
        cmocka_unit_test(test_units),          cmocka_unit_test(test_yaml_errors),
        cmocka_unit_test(test_sizes),          cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_key_errors),     cmocka_unit_test(test_value_errors),
        cmocka_unit_test(test_cross_errors),   cmocka_unit_test(test_run_errors),
        cmocka_unit_test(test_system_errors),  cmocka_unit_test(test_phases),
        cmocka_unit_test(test_starts),         cmocka_unit_test(test_phase_errors),
        cmocka_unit_test(test_phase_systems),  cmocka_unit_test(test_targets),
        cmocka_unit_test(test_stop_when),      cmocka_unit_test(test_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
