/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/spec_read.h"

const char whole[] =
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

struct spec *parsed(const char *text)
{
    struct err e = {0};
    struct spec *s = NULL;
    if (spec_parse(&s, "s.yaml", text, strlen(text), &e))
        fail_msg("%s", e.msg);
    assert_non_null(s);
    return s;
}

void refused(const char *text, enum err_code code, const char *message)
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

void assert_is(double a, double b)
{
    if (a != b)
        fail_msg("%.17g is not %.17g", a, b);
}

struct err system_made(const char *text, const char *top, const char *gro, const char *ndx, struct system *sys)
{
    struct err e = {0};
    struct spec *s = NULL;
    struct source *src = source_memory_new();
    *sys = (struct system){0};
    assert_int_equal(source_memory_add(src, "a.top", top, strlen(top), &e), 0);
    assert_int_equal(source_memory_add(src, "a.gro", gro, strlen(gro), &e), 0);
    assert_int_equal(source_memory_add(src, "a.ndx", ndx, strlen(ndx), &e), 0);
    int rc = spec_parse(&s, "s.yaml", text, strlen(text), &e);
    if (!rc)
        rc = spec_system(s, src, sys, &e);
    assert_int_equal(rc, -(int)e.code);
    source_free(src);
    spec_free(s);
    return e;
}
