/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker validate: reads a spec and its files as a submission would, and says what would run, what it would take,
 * and what in it is likely not meant.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/spec/advice/advice.h"
#include "daemon/spec/predict.h"
#include "daemon/spec/split.h"
#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/device/sizes.h"
#include "daemon/worker/offline/input.h"
#include "daemon/worker/offline/measure.h"
#include "engine/base/json/err_json.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"
#include "engine/base/room_line.h"
#include "engine/base/units.h"
#include "engine/derive/standard_state.h"

struct validate_options {
    struct args_list includes;
    bool json;
};

/* What is said of a spec that is accepted. */
struct findings {
    json_t *warnings;
    json_t *fits, *not_asked; /* of GPUs (sizes.h) */
    struct prediction needs;
    struct measured_cost cost;
    long cores;
    struct standard_state held; /* at an end of the ladder; no terms: nothing is */
};

/* On all cores of this machine, seconds. */
static double wall_time(const struct findings *f)
{
    double at_once = fmin((double)f->cores, f->needs.replicas);
    return f->needs.evaluations * f->cost.seconds * ceil(f->needs.replicas / at_once);
}

static const char *held_name(const struct system *sys, const struct findings *f, int k)
{
    return sys->kinds[sys->molecules[f->held.molecule[k]].kind].name;
}

static void print_findings_json(const struct spec *s, const struct system *sys, const struct findings *f)
{
    json_t *about = json_pack("{s:f, s:I}", "ns_per_window", f->needs.ns, "disk_bytes",
                              (json_int_t)(f->needs.replica_bytes * f->needs.replicas));
    if (f->cost.seconds > 0)
        json_object_update_new(about, json_pack("{s:f, s:I, s:f, s:I}", "us_per_step", f->cost.seconds * 1e6, "cores",
                                                (json_int_t)f->cores, "wall_seconds", wall_time(f),
                                                "replica_memory_bytes", (json_int_t)f->cost.bytes));
    json_t *out = json_pack("{s:b,s:s,s:i,s:i,s:i,s:i,s:I,s:o,s:o*,s:O,s:O}", "ok", 1, "name", s->name, "atoms",
                            sys->natoms, "windows", spec_windows_placed(s), "repeats", s->repeats, "stages", s->nstages,
                            "steps_per_window", (json_int_t)spec_steps(s, s->nstages), "about", about, "split",
                            spec_split_json(s, sys), "warnings", f->warnings, "fits", f->fits);
    if (s->walkers)
        json_object_set_new(out, "switching", spec_switching_json(s, &f->needs));
    if (f->held.nterms)
        json_object_set_new(out, "standard_state",
                            json_pack("{s:[s,s], s:i, s:i, s:f, s:f}", "molecules", held_name(sys, f, 0),
                                      held_name(sys, f, 1), "terms", f->held.nterms, "window", f->held.window,
                                      "volume_nm3", f->held.volume, "release_kcal_per_mol",
                                      f->held.release / UNIT_KCAL));
    json_dumpf(out, stdout, JSON_COMPACT | JSON_REAL_PRECISION(4));
    putchar('\n');
    json_decref(out);
}

/* "2 h 10 min" */
static const char *time_text(double seconds, char text[32])
{
    double minutes = floor(seconds / 60), hours = floor(seconds / 3600), days = floor(seconds / 86400);
    if (seconds < 90)
        snprintf(text, 32, "%.0f s", seconds);
    else if (hours < 1)
        snprintf(text, 32, "%.0f min", minutes);
    else if (days < 2)
        snprintf(text, 32, "%.0f h %.0f min", hours, minutes - 60 * hours);
    else
        snprintf(text, 32, "%.0f days", seconds / 86400);
    return text;
}

/* A line for each GPU. */
static void print_fits(const struct findings *f)
{
    const json_t *fit, *text;
    size_t i;
    json_array_foreach (f->fits, i, fit) {
        struct buf line = {0};
        room_line(&line, json_string_value(json_object_get(fit, "device")),
                  json_number_value(json_object_get(fit, "memory_bytes")),
                  json_integer_value(json_object_get(fit, "replicas")),
                  json_number_value(json_object_get(fit, "replica_bytes")));
        puts(line.data);
        buf_free(&line);
    }
    json_array_foreach (f->not_asked, i, text)
        printable_line(stdout, "%s", json_string_value(text));
}

static void print_split(const struct spec *s, const struct system *sys)
{
    const struct nonbonded_settings *nb = &s->settings.nonbonded;
    struct buf text = {0};
    if (s->split == SPLIT_NONE)
        return;
    spec_split_sentence(s, sys, &text);
    printf("Coulomb: cut-off %.6g nm, grid %d x %d x %d, order %d, tolerance %.3g; %s\n", nb->coulomb_cutoff,
           nb->pme_grid[0], nb->pme_grid[1], nb->pme_grid[2], nb->pme_order, nb->ewald_tolerance, text.data);
    buf_free(&text);
}

/* How many, how long, and what they take beside the production that they begin from. */
static void print_switches(const struct spec *s, const struct prediction *p)
{
    const double each = (double)s->walkers * s->repeats * p->switches;
    printf(
        "%.0f switches from end A and as many from end B, %.6g ps each, in which lambda changes every %d %s; of the "
        "time of a walker %.3g ns are switches\n",
        each, p->switch_ns * 1e3, s->settings.switching.every,
        number_word(s->settings.switching.every, "timestep", "timesteps"), p->switches * p->switch_ns);
    const double longer = ldexp(p->switch_ns, s->settings.switching.doublings), first = (double)s->lengthen.after;
    if (first > 0)
        printf(
            "after the first %.0f of a walker switches may take up to %.6g ps each, if that cuts the error more: "
            "then up to %.3g ns of the time of a walker are switches\n",
            first, longer * 1e3, first * p->switch_ns + (p->switches - first) * longer);
}

static void print_text(const struct spec *s, const struct system *sys, const struct findings *f)
{
    const uint32_t cycle = mesh_cycle(&s->settings.integrator);
    char time[32], repeats[32] = "";
    struct buf text = {0};
    if (s->repeats > 1)
        snprintf(repeats, sizeof repeats, " of %d repeats", s->repeats);
    const int windows = spec_windows_placed(s);
    printf("%s: %d %s, %d %s, %d %s%s, %d %s, %.15g ns for each %s\n", s->name, sys->natoms,
           number_word(sys->natoms, "atom", "atoms"), sys->nmolecules,
           number_word(sys->nmolecules, "molecule", "molecules"), windows,
           s->walkers ? "walkers" : number_word(windows, "window", "windows"), repeats, s->nstages,
           number_word(s->nstages, "stage", "stages"), f->needs.ns, s->walkers ? "walker" : "window");
    if (s->ladder.automatic)
        printf("a pilot of the spec's %d windows, %.15g ps of production each, places them first\n",
               s->settings.alchemy.nwindows, s->ladder.pilot);
    if (s->walkers)
        print_switches(s, &f->needs);
    if (cycle > 1)
        printf("the mesh is computed every %u timesteps, %.6g fs\n", cycle,
               1000 * cycle * s->settings.integrator.timestep);
    buf_printf(&text, "about ");
    number_bytes(&text, f->needs.replica_bytes * f->needs.replicas);
    buf_printf(&text, " of disk");
    if (f->cost.seconds > 0) {
        buf_printf(&text, ", %s on the %ld %s of this machine (%.3g ms a step), ", time_text(wall_time(f), time),
                   f->cores, number_word(f->cores, "core", "cores"), f->cost.seconds * 1e3);
        number_bytes(&text, f->cost.bytes);
        buf_printf(&text, " of memory for each %s that runs", s->walkers ? "walker" : "window");
    }
    puts(text.data);
    buf_free(&text);
    print_split(s, sys);
    print_fits(f);
    if (f->held.nterms)
        printable_line(stdout,
                       "%d %s %s and %s together, in window %d within %.3g nm^3: from there to 1 mol/l is %.2f "
                       "kcal/mol",
                       f->held.nterms, number_word(f->held.nterms, "restraint holds", "restraints hold"),
                       held_name(sys, f, 0), held_name(sys, f, 1), f->held.window, f->held.volume,
                       f->held.release / UNIT_KCAL);
    fflush(stdout);
    size_t i;
    json_t *warning;
    json_array_foreach (f->warnings, i, warning)
        printable_line(stderr, "shoal validate: warning: %s", json_string_value(json_object_get(warning, "message")));
}

static void warn(struct findings *f, const char *kind, json_t *message)
{
    json_array_insert_new(f->warnings, 0, json_pack("{s:s, s:o}", "kind", kind, "message", message));
}

/* Where no GPU holds a single replica. */
static void find_fits(const struct spec *spec, const struct system *sys, struct findings *f)
{
    const json_t *fit;
    size_t i;
    bool any = false;
    f->fits = sizes_here(spec, sys, &f->not_asked);
    json_array_foreach (f->fits, i, fit)
        any |= json_integer_value(json_object_get(fit, "replicas")) > 0;
    if (json_array_size(f->fits) && !any)
        warn(f, "memory",
             json_sprintf("%s:1: system: no GPU of this machine has memory for one replica now: expected a smaller "
                          "system, or a device with more memory",
                          spec->file));
}

static void find_held(const struct spec *spec, const struct system *sys, struct findings *f)
{
    struct err why = {0};
    if (standard_state_of_ladder(sys, &spec->settings, &f->held, &why) < 0)
        warn(
            f, "standard-state",
            json_sprintf("%s:1: system: restraints between molecules have no standard state: %s", spec->file, why.msg));
}

static int find(const struct spec *spec, const struct system *sys, struct findings *f, struct err *e)
{
    int rc = spec_check_run(spec, e);
    if (!rc)
        rc = spec_check_windows(spec, sys, e);
    if (!rc)
        rc = spec_advise(spec, sys, &f->warnings, e);
    if (rc)
        return rc;
    find_held(spec, sys, f);
    f->needs = spec_predict(spec, sys);
    find_fits(spec, sys, f);
    f->cores = sysconf(_SC_NPROCESSORS_ONLN);
    rc = measure_cost(spec, sys, &f->cost, e);
    if (rc == MEASURE_FAILED)
        warn(f, "start",
             json_sprintf("%s:1: system: not even the first steps of a minimization work: %s", spec->file, e->msg));
    return rc < 0 ? rc : 0;
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
    static const struct arg rows[] = {
        ARG(LIST, "include", "DIR", struct validate_options, includes),
        ARG(FLAG, "json", NULL, struct validate_options, json),
    };
    static const struct command_line line = {"validate", "SPEC", 1, 1, rows, sizeof rows / sizeof *rows, NULL};
    struct validate_options o = {.json = false};
    int words, code;
    if (!command_line_read(&line, &o, argc, argv, &words, &code))
        return code;
    struct err e = {0};
    struct spec *spec = NULL;
    struct system sys = {0};
    struct findings found = {0};
    int rc = input_read(argv[1], o.includes.items, o.includes.n, &spec, &sys, &e);
    if (!rc)
        rc = find(spec, &sys, &found, &e);
    if (!rc && o.json)
        print_findings_json(spec, &sys, &found);
    else if (!rc)
        print_text(spec, &sys, &found);
    json_decref(found.warnings);
    json_decref(found.fits);
    json_decref(found.not_asked);
    system_close(&sys);
    spec_free(spec);
    return rc ? refuse(&e, o.json) : EXIT_OK;
}
