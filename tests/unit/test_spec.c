/* SPDX-License-Identifier: Apache-2.0
 *
 * What a spec becomes when it is read: keys, words, units and defaults; and how what is wrong with one is refused.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/spec/document/node.h"
#include "engine/base/buf.h"
#include "tests/lib/spec_read.h"

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

static void test_reaction_field(void **state)
{
    struct spec *s = parsed(HEAD "nonbonded: {cutoff: 1.2 nm, coulomb: {method: reaction-field}}\n");
    const struct nonbonded_settings *nb = &s->settings.nonbonded;
    assert_int_equal(nb->coulomb_method, COULOMB_REACTION_FIELD);
    assert_is(nb->epsilon_rf, 0);
    assert_is(nb->coulomb_cutoff, 1.2);
    spec_free(s);
    s = parsed(HEAD
               "nonbonded: {coulomb: {method: reaction-field, epsilon-rf: 61.5, epsilon-r: 2.5, cutoff: 1.4 nm}}\n");
    nb = &s->settings.nonbonded;
    assert_is(nb->epsilon_r, 2.5);
    assert_is(nb->epsilon_rf, 61.5);
    assert_is(nb->coulomb_cutoff, 1.4);
    spec_free(s);
    s = parsed(HEAD);
    assert_int_equal(s->settings.nonbonded.coulomb_method, COULOMB_PME);
    assert_is(s->settings.nonbonded.epsilon_r, 1);
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
                         "restraints, biases, integrator, barostat, water-exchange, "
                         "repeats, exchange, switch, stop-when, allocate, protocol, run, fold or observables"));
    refused(HEAD "nonbonded:\n  vdw: {modifer: cutoff}\n",
            SPEC("4: nonbonded.vdw.modifer: unknown key; did you mean modifier?"));
    refused(HEAD "nonbonded:\n  vdw: {switch_start: 1 nm}\n",
            SPEC("4: nonbonded.vdw.switch_start: unknown key; did you mean switch-start?"));
    refused(HEAD "nonbonded: {pressure: 1 bar}\n", SPEC("3: nonbonded.pressure: unknown key; expected cutoff, "
                                                        "list-buffer, vdw, coulomb or split; pressure belongs into "
                                                        "barostat"));
    refused(HEAD "zebra: 1\n", SPEC("3: zebra: unknown key; expected name, system, nonbonded, constraints, masses, "
                                    "alchemy, restraints, biases, integrator, "
                                    "barostat, water-exchange, repeats, exchange, switch, stop-when, allocate, "
                                    "protocol, run, fold or observables"));
    refused("name: x\n", SPEC("1: system: missing; expected a mapping with topology, coordinates, reference, "
                              "window-coordinates, index or defines"));
    refused("name: x\nsystem: {topology: a.top}\n",
            SPEC("2: system.coordinates: missing; expected text of 1 to 255 bytes, such as toluene.gro"));
    refused(HEAD "alchemy: {windows: {vdw: [0]}}\n",
            SPEC("3: alchemy: expected exactly one of decouple, perturb and temper"));
    refused(HEAD "alchemy: {decouple: A, perturb: b-states, windows: {vdw: [0]}}\n",
            SPEC("3: alchemy: expected exactly one of decouple, perturb and temper"));
    refused(HEAD "alchemy: {decouple: A, windows: {}}\n",
            SPEC("3: alchemy.windows: 0 keys; expected at least one of coulomb, vdw, bonded, restraint or mass"));
    refused(HEAD "protocol: [{produce: {time: 1 ps}, minimize: {steps: 1}}]\n",
            SPEC("3: protocol[0]: 2 keys; expected exactly one of minimize, equilibrate or produce"));
    refused(HEAD "observables:\n  - rdf: {between: [OW, OW]}\n",
            SPEC("4: observables[0].rdf.max: missing; expected a quantity above 0 nm, at most 100 nm (units: nm, A, "
                 "angstrom), such as 1.0 nm"));
    refused(HEAD "observables:\n  - rdf: {between: [OW, []], max: 1 nm}\n",
            SPEC("4: observables[0].rdf.between[1]: a list of 0: expected text of 1 to 255 bytes or a mapping with "
                 "molecule, atoms, group, name or resname, such as OW"));
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
    refused(
        HEAD "nonbonded: {coulomb: {method: reaction-field, epsilon-rf: 0.5}}\n",
        SPEC("3: nonbonded.coulomb.epsilon-rf: 0.5: expected at least epsilon-r, 1, or 0 for an infinite constant"));
    refused(HEAD "nonbonded: {coulomb: {method: reaction-field, epsilon-r: 15, epsilon-rf: 5}}\n",
            SPEC("3: nonbonded.coulomb.epsilon-rf: 5: expected at least epsilon-r, 15, or 0 for an infinite constant"));
    refused(HEAD
            "nonbonded: {coulomb: {epsilon-r: 15}}\n"
            "alchemy: {decouple: A, finite-size: {dielectric: 97}, windows: {vdw: [0]}}\n",
            SPEC("4: alchemy.finite-size: the correction is that of epsilon-r 1; expected none"));
    refused(HEAD
            "nonbonded: {coulomb: {epsilon-r: 15}}\n"
            "alchemy: {decouple: A, soft-core: {function: gapsys}, windows: {vdw: [0]}}\n",
            SPEC("4: alchemy.soft-core: gapsys softens charges by their product at epsilon-r 1; expected "
                 "scale-linpoint-coulomb 0, or beutler"));
    refused(HEAD "alchemy: {decouple: [{molecule: A, from: none}], windows: {vdw: [0]}}\n",
            SPEC("3: alchemy.decouple[0]: A: from none to none: nothing changes; expected another end, or a ladder "
                 "bonded or "
                 "restraint"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),           cmocka_unit_test(test_random_seed),    cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_everything_else), cmocka_unit_test(test_reaction_field), cmocka_unit_test(test_words),
        cmocka_unit_test(test_units),           cmocka_unit_test(test_yaml_errors),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_key_errors),      cmocka_unit_test(test_value_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
