/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker validate: reads a spec and its files as a submission would, and says what would run.
 */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>

#include "daemon/spec/advice.h"
#include "daemon/worker/commands.h"
#include "daemon/worker/input.h"
#include "engine/base/err_json.h"

enum { INCLUDES = 32 };

static const struct option options[] = {
    {"include", required_argument, NULL, 'I'}, {"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0}};

static uint64_t steps_of(const struct spec *s, bool minimize)
{
    uint64_t steps = 0;
    for (int i = 0; i < s->nstages; i++)
        if (minimize || s->stages[i].kind != STAGE_MINIMIZE)
            steps += s->stages[i].steps;
    return steps;
}

static void print(const struct spec *s, const struct system *sys, json_t *warnings, bool json)
{
    const struct settings *set = &s->settings;
    if (!json) {
        printf("%s: %d atoms, %d molecules, %d windows, %d stages, %.15g ns for each window\n", s->name, sys->natoms,
               sys->nmolecules, set->alchemy.nwindows, s->nstages,
               (double)steps_of(s, false) * set->integrator.timestep * 1e-3);
        fflush(stdout);
        size_t i;
        json_t *warning;
        json_array_foreach (warnings, i, warning)
            fprintf(stderr, "shoal validate: warning: %s\n", json_string_value(json_object_get(warning, "message")));
        return;
    }
    json_t *out = json_pack("{s:b,s:s,s:i,s:i,s:i,s:I,s:O}", "ok", 1, "name", s->name, "atoms", sys->natoms, "windows",
                            set->alchemy.nwindows, "stages", s->nstages, "steps_per_window",
                            (json_int_t)steps_of(s, true), "warnings", warnings);
    json_dumpf(out, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(out);
}

/* An error of the input is the answer: with --json it goes to stdout, shaped as the service's own. */
static int refuse(const struct err *e, bool json)
{
    if (json) {
        json_t *out = err_json(e);
        json_dumpf(out, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(out);
    }
    return exit_with("validate", e);
}

int validate_main(int argc, char **argv)
{
    const char *includes[INCLUDES];
    int ninclude = 0;
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, "I:j", options, NULL)) != -1;) {
        if (c == 'j')
            json = true;
        else if (c == 'I' && ninclude < INCLUDES)
            includes[ninclude++] = optarg;
        else
            return EXIT_USAGE;
    }
    if (argc - optind != 1) {
        fprintf(stderr, "shoal validate: expected one spec; shoal validate --help shows how\n");
        return EXIT_USAGE;
    }
    struct err e = {0};
    struct spec *spec = NULL;
    struct system sys = {0};
    json_t *warnings = NULL;
    int rc = input_read(argv[optind], includes, ninclude, &spec, &sys, &e);
    if (!rc)
        rc = spec_check_run(spec, &e);
    if (!rc)
        rc = spec_check_windows(spec, &sys, &e);
    if (!rc)
        rc = spec_advise(spec, &sys, &warnings, &e);
    if (!rc)
        print(spec, &sys, warnings, json);
    json_decref(warnings);
    system_close(&sys);
    spec_free(spec);
    return rc ? refuse(&e, json) : EXIT_OK;
}
