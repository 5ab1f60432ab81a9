/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker estimate: free energies from the files of an ensemble, or from dhdl.xvg files of any origin. shoald runs
 * the first as a child, so that reading a user's files and estimating can neither block nor fell the service; the
 * second is `shoal estimate`.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/host/folder.h"
#include "daemon/spec/document/value.h"
#include "daemon/spec/split.h"
#include "daemon/worker/children/confine.h"
#include "daemon/worker/children/description.h"
#include "daemon/worker/children/earlier.h"
#include "daemon/worker/children/last_words.h"
#include "daemon/worker/children/newest.h"
#include "daemon/worker/children/own_limits.h"
#include "daemon/worker/children/placing.h"
#include "daemon/worker/children/switches.h"
#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/device/memory.h"
#include "daemon/worker/files/checkpoint.h"
#include "engine/estimate/estimate.h"
#include "engine/observe/observe.h"
#include "engine/run/sim.h"

struct estimate_options {
    const char *directory, *output, *seconds, *mib;
    bool json;    /* is what it prints */
    double begin; /* ps */
    struct switches_options switches;
};

static int take_begin(void *request, const char *value, struct err *e)
{
    struct estimate_options *o = request;
    struct quantity q;
    if (value_quantity(value, "ps", false, &q) != QUANTITY_OK)
        return err_set(e, ERR_USAGE, "--begin %s: expected a time (units: %s), such as '20 ps'", value,
                       value_units("ps"));
    o->begin = q.value;
    return 0;
}

static const struct arg rows[] = {
    ARG(TEXT, "ensemble", "DIR", struct estimate_options, directory),
    ARG(TEXT, "output", "FILE", struct estimate_options, output),
    ARG(FLAG, "json", NULL, struct estimate_options, json),
    ARG(LIST, "forward", "FILE", struct estimate_options, switches.forward),
    ARG(LIST, "backward", "FILE", struct estimate_options, switches.backward),
    ARG_CALL("begin", "TIME", .take = take_begin),
    ARG(TEXT, "temperature", "K", struct estimate_options, switches.temperature),
    ARG(TEXT, "unit", "UNIT", struct estimate_options, switches.unit),
    ARG(TEXT, "seconds", "N", struct estimate_options, seconds),
    ARG(TEXT, "mib", "N", struct estimate_options, mib),
};

static const char help[] =
    "Without --ensemble it prints what results.json would say of dhdl.xvg files (.gz too) of GROMACS or Shoal, "
    "without\n"
    "rows before --begin. Exit\n"
    "code: 0; 1 where they give no free energy; 66 a file cannot be read; 65 it cannot be used; 2 usage.\n"
    "With --forward and --backward it does so of the works of switches: files of works, or dhdl.xvg of slow growth, "
    "or\n"
    "patterns of such names; both are repeatable. Files of works are in UNIT (kJ/mol, kcal/mol or kT). Files named\n"
    "work.tsv, of the walkers of an ensemble, need no option: they say which way their works are of.\n"
    "\n"
    "With --ensemble, and a DESCRIPTION on stdin, it reads the replicas' dhdl.xvg and energy.xvg below DIR (and, for\n"
    "what restraints hold together, the system in DIR/input) and writes DIR/results.json\n"
    "(schemas/results.schema.json) whole or not at all, or FILE instead (- is stdout). Without FILE it writes\n"
    "walks.xvg of each repeat too, where replicas exchange windows, and integA.dat and integB.dat where walkers\n"
    "switch. With FILE, while windows that were added have no\n"
    "samples, the results are those of the revision before. Window KK of the only repeat is DIR/lambda_KK, of\n"
    "repeat RR of several DIR/repeat_RR/lambda_KK; both have two digits or more.\n"
    "Exit code: 0 written, whatever the result says; 65 bad description or spec; 66 DIR cannot be read; 73 FILE\n"
    "cannot be written; 75 a disk failed to read a file, nothing was written, try again later; 2 usage. With\n"
    "--seconds N and --mib N it takes no more processor time and memory. An error is the last line on stdout, too,\n"
    "as JSON:\n"
    "{\"error\": {\"code\": \"IO\", \"message\": \"...\"}}.\n"
    "\n"
    "DESCRIPTION is a JSON object on stdin:\n"
    "  spec        text of ensemble.yaml (required)\n"
    "  spec_name   its name, for messages (required)\n"
    "  replicas    array of repeats x windows objects, repeat 0 first (required):\n"
    "                state   done | partial | running | failed: what became of it; a failed one takes no part, of one\n"
    "                        that runs the rows up to its newest checkpoint count\n"
    "                reason  text, why it is not done (may be absent or null, like all below)\n"
    "                seed    integer; the spec's when absent\n"
    "                origin  text, folder in DIR of what it sampled before there were other windows\n"
    "  repeats     replicas of each window; 1 when absent\n"
    "  id, key, name, spec_hash   texts that results.json repeats\n"
    "  revision    of the ensemble, an integer from 1\n"
    "  labels      object of texts\n"
    "  ns_per_day  number, simulated time of all replicas in a day\n"
    "  running_seconds   number, time in which any replica had a place on a device\n"
    "  devices     array of texts, the models of device that it ran on\n"
    "  production  object, steps of production to be handed out to the windows that need them: share (of even "
    "sampling),\n"
    "              budget (of all, what was made included), every (they are multiples of), steps and replicas (arrays, "
    "of\n"
    "              every window); results then have production, the steps that each window is to have made, or null\n"
    "  doublings   integer, of walkers whose switches may become longer: how often later ones are twice as long, "
    "where\n"
    "              that is decided\n"
    "  placing     true: the spec asks for a pilot, of which these are the samples; in place of results it prints the\n"
    "              spec with the windows that they place, and what the service has to know of it (else they are in no\n"
    "              result)\n";

static void keep_held(struct estimate_request *q, const struct system *sys)
{
    struct estimate_held *h = &q->held;
    for (int i = 0; i < 2; i++) {
        snprintf(q->molecule[i], sizeof q->molecule[i], "%s",
                 sys->kinds[sys->molecules[h->state.molecule[i]].kind].name);
        h->molecule[i] = q->molecule[i];
    }
    q->ensemble.held = h;
}

static size_t bytes_of_all(const struct system *sys)
{
    size_t bytes = 0;
    for (int i = 0; i < sys->nobservables; i++)
        bytes += observe_bytes(&sys->observables[i]);
    return bytes;
}

static void write_observable(const struct estimate_ensemble *x, int replica, const struct observe_result *of,
                             struct writer *w)
{
    const int windows = estimate_windows(x);
    struct buf file = {0};
    if (!observe_begun(of))
        return;
    newest_folder(x, replica, &file);
    buf_printf(&file, "/%s.xvg", of->o->name);
    jw_begin(w, NULL, '{');
    jw_integer(w, "window", (size_t)(replica % windows));
    jw_integer(w, "repeat", (size_t)(replica / windows));
    jw_text(w, "file", file.data);
    observe_json(of, false, w);
    jw_end(w, '}');
    buf_free(&file);
}

/* As replicas' checkpoints have them. */
static void write_observables(void *request, struct writer *w)
{
    const struct estimate_request *q = request;
    const struct estimate_ensemble *x = &q->ensemble;
    for (int i = 0; i < x->repeats * estimate_windows(x); i++) {
        struct checkpoint c = {0};
        newest_own(x, i, &c);
        for (int k = 0; k < q->sys.nobservables && c.state.len > bytes_of_all(&q->sys); k++) {
            const struct observe_result r =
                observe_result(&q->sys, &q->sys.observables[k], sim_saved_observable(&q->sys, &c.state, k));
            write_observable(x, i, &r, w);
        }
        checkpoint_close(&c);
    }
}

/* Frames of at most so many bytes of all trajectories are looked at: seconds of a processor; and while replicas run and
 * results are made again and again. */
#define BYTES_OF_FRAMES (512.0 * (1 << 20))
#define BYTES_SO_FAR (64.0 * (1 << 20))

/* The frames in the first `bytes` of a trajectory: turns are counted from frame to frame. */
static void look_for_turns(struct estimate_request *q, struct trajectory *t, double part)
{
    struct trajectory_frame f;
    struct err unread = {0};
    while (trajectory_read_part(t) < part && trajectory_next(t, &f, &unread) == 0)
        watched_frame(&q->watched, &f);
}

/* Of all of it every n-th frame. */
static void look_at_fold(struct estimate_request *q, struct trajectory *t, uint64_t n)
{
    struct trajectory_frame f;
    struct err unread = {0};
    int rc = 0;
    for (uint64_t i = 0; !rc; i++) {
        rc = i % n ? trajectory_pass(t, &unread) : trajectory_next(t, &f, &unread);
        if (!rc && i % n == 0)
            folds_frame(&q->folds, &f);
    }
}

/* About so many bytes of the trajectory of a window for each question; a file that is not there, or that cannot be
 * read, has no frames. */
static void look_at_trajectory(struct estimate_request *q, const char *path, uint64_t bytes, bool turns, int repeat,
                               int window)
{
    struct trajectory *t;
    struct err unread = {0};
    struct stat st;
    if (stat(path, &st) || !st.st_size)
        return;
    if (turns && trajectory_open(&t, path, &q->sys, &unread) == 0) {
        watched_begin(&q->watched);
        look_for_turns(q, t, (double)bytes / (double)st.st_size);
        watched_end(&q->watched, repeat, window);
        trajectory_close(t);
    }
    if (q->folds.fold && trajectory_open(&t, path, &q->sys, &unread) == 0) {
        folds_begin(&q->folds, repeat, window);
        look_at_fold(q, t, ((uint64_t)st.st_size + bytes - 1) / bytes);
        trajectory_close(t);
    }
}

/* Of the replicas that take part, in `most` bytes; turns: of torsions too. */
static void look_at_frames(struct estimate_request *q, double most, bool turns)
{
    const struct estimate_ensemble *x = &q->ensemble;
    const int windows = estimate_windows(x), replicas = x->repeats * windows;
    for (int i = 0; i < replicas; i++) {
        struct buf path = {0};
        buf_printf(&path, "%s/", x->directory);
        newest_folder(x, i, &path);
        buf_printf(&path, "/%s", output_names[OUTPUT_TRAJECTORY]);
        if (x->replicas[i].kind != ESTIMATE_FAILED)
            look_at_trajectory(q, path.data, (uint64_t)(most / replicas), turns, i / windows, i % windows);
        buf_free(&path);
    }
    folds_warn(&q->folds, &q->fold_remark);
}

static void write_torsions(void *request, struct writer *w)
{
    struct estimate_request *q = request;
    watched_json(&q->watched, w);
}

static void write_fold(void *request, struct writer *w)
{
    const struct estimate_request *q = request;
    folds_json(&q->folds, w);
}

static void write_methods(void *request, struct writer *w)
{
    const struct estimate_request *q = request;
    methods_json(&q->methods, w);
}

/* What restraints hold at an end of the ladder, and what a net charge lacks. */
static void look_at_system(struct estimate_request *q, struct source *src)
{
    const struct settings *set = &q->spec->settings;
    const struct system *sys = &q->sys;
    q->watched = watched_of(sys, &set->alchemy);
    folds_open(&q->folds, q->spec, src, sys);
    if (set->alchemy.dielectric > 0) {
        q->finite_size = finite_size_of(sys, set);
        q->ensemble.finite_size = &q->finite_size;
    }
    q->ensemble.umbrella = spec_is_umbrella(q->spec, sys);
    json_t *split = spec_split_json(q->spec, sys);
    q->ensemble.split = q->split = split ? json_dumps(split, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    json_decref(split);
    int rc = standard_state_of_ladder(sys, set, &q->held.state, &q->remark);
    if (rc > 0)
        keep_held(q, sys);
    else if (rc < 0)
        err_prefix(&q->remark, "restraints between molecules have no standard state");
    if (!q->remark.code && q->ensemble.npt && set->barostat.coupling != VOLUME_ISOTROPIC &&
        sys->nmolecules < VOLUME_SHAPE_FEWEST)
        err_set(&q->remark, ERR_SPEC, VOLUME_SHAPE_BIAS, VOLUME_SHAPE_FEWEST);
}

/* Without inputs nobody knows what is in them: an ensemble may end before it has any. */
static void read_system(struct estimate_request *q)
{
    struct buf folder = {0};
    struct err unread = {0};
    buf_printf(&folder, "%s/input", q->ensemble.directory);
    struct source *src = source_disk_new(folder.data, true);
    if (memory_to_begin(BYTES_OF_TEXT * (uint64_t)folder_bytes(folder.data), "looking for restraints in the inputs",
                        &q->remark) == 0 &&
        spec_phase_system(q->spec, 0, src, &q->sys, &unread) == 0)
        look_at_system(q, src);
    methods_take(&q->methods, q->spec, &q->sys);
    q->ensemble.methods = write_methods;
    q->ensemble.observables = q->sys.nobservables ? write_observables : NULL;
    q->ensemble.observables_of = q;
    q->ensemble.remark = q->remark.code ? q->remark.msg : NULL;
    source_free(src);
    buf_free(&folder);
}

static int write_results(const char *directory, const char *output, const struct buf *json, struct err *e)
{
    struct buf path = {0};
    if (output && !strcmp(output, "-"))
        return fwrite(json->data, 1, json->len, stdout) == json->len && !fflush(stdout) ? 0 : err_errno(e, "stdout");
    buf_printf(&path, "%s%s", output ? output : directory, output ? "" : "/results.json");
    int rc = buf_write_file(path.data, json->data, json->len, e);
    buf_free(&path);
    return rc;
}

/* walks.xvg of every repeat that has one. */
static int write_walks(const struct estimate_ensemble *x, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < x->repeats && !rc; i++) {
        struct buf path = {0};
        buf_printf(&path, "%s/", x->directory);
        if (x->repeats > 1)
            buf_printf(&path, "repeat_%02d/", i);
        buf_printf(&path, "walks.xvg");
        if (x->walks[i].len)
            rc = buf_write_file(path.data, x->walks[i].data, x->walks[i].len, e);
        buf_free(&path);
    }
    return rc;
}

/* Works as pmx writes them, for its programs. */
static int write_integrals(const struct estimate_ensemble *x, struct err *e)
{
    static const char *const names[] = {"integA.dat", "integB.dat"};
    int rc = 0;
    for (int i = 0; i < 2 && !rc && x->integrals; i++) {
        struct buf path = {0};
        buf_printf(&path, "%s/%s", x->directory, names[i]);
        if (x->integrals[i].len)
            rc = buf_write_file(path.data, x->integrals[i].data, x->integrals[i].len, e);
        buf_free(&path);
    }
    return rc;
}

static int estimate_and_write(struct estimate_request *q, const char *output, struct err *e)
{
    struct estimate_ensemble *x = &q->ensemble;
    struct buf json = {0}, *walks = xcalloc((size_t)x->repeats, sizeof *walks);
    struct buf integrals[2] = {{0}};
    x->walks = output ? NULL : walks;
    x->integrals = output ? NULL : integrals;
    const bool turns = q->watched.n && !output; /* which take all frames, one after the other: not while replicas run */
    if (q->sys.natoms && (turns || q->folds.fold)) {
        look_at_frames(q, output ? BYTES_SO_FAR : BYTES_OF_FRAMES, turns);
        x->torsions = turns ? write_torsions : NULL;
        x->fold = q->folds.fold ? write_fold : NULL;
        x->fold_remark = q->fold_remark.data;
    }
    x->unread = e;
    estimate_ensemble(x, &json);
    int rc = -(int)e->code;
    if (!rc && q->placing)
        rc = placing_answer(q, &json, e);
    else if (!rc && output)
        earlier_results(q, &json);
    if (!rc && !output)
        rc = write_walks(x, e);
    if (!rc)
        rc = write_integrals(x, e);
    if (!rc)
        rc = write_results(x->directory, output, &json, e);
    for (int i = 0; i < x->repeats; i++)
        buf_free(&walks[i]);
    free(walks);
    buf_free(&integrals[0]);
    buf_free(&integrals[1]);
    buf_free(&json);
    return rc;
}

static int ensemble(const char *directory, const char *output, struct err *e)
{
    struct estimate_request q = {.ensemble.directory = directory};
    struct buf text = {0};
    int rc = buf_read_stream(&text, stdin, "stdin", e);
    if (!rc && access(directory, R_OK | X_OK))
        rc = err_set(e, ERR_MISSING_FILE, "%s: %s", directory, strerror(errno));
    if (!rc)
        rc = description_read(&q, &text, e);
    if (!rc) {
        newest_counts(&q);
        read_system(&q);
        rc = estimate_and_write(&q, output, e);
    }
    description_close(&q);
    buf_free(&text);
    return rc;
}

/* Of switches where o asks for them, else of windows. */
static int estimate_of_files(const struct estimate_options *o, int n, char **paths)
{
    struct buf json = {0};
    struct err e = {0};
    bool answered = false;
    int rc = switches_asked(&o->switches)    ? switches_estimate(&o->switches, &json, &answered, &e)
             : switches_of_walkers(paths, n) ? switches_of_tables(paths, n, &json, &answered, &e)
                                             : estimate_files(paths, n, o->begin, &json, &answered, &e);
    if (!rc)
        rc = write_results(NULL, "-", &json, &e);
    buf_free(&json);
    return rc ? exit_with("estimate", &e) : answered ? EXIT_OK : EXIT_FAILED;
}

static int estimate_of_ensemble(const struct estimate_options *o)
{
    struct err e = {0};
    last_words_of_memory();
    if (o->seconds && o->mib && own_limits(o->seconds, o->mib, &e))
        return last_words("estimate", &e);
    if (!o->output || !strcmp(o->output, "-"))
        confine_to(o->directory);
    return ensemble(o->directory, o->output, &e) ? last_words("estimate", &e) : EXIT_OK;
}

int estimate_main(int argc, char **argv)
{
    static const struct command_line line = {"estimate", "[FILE...]", 0, INT_MAX, rows, sizeof rows / sizeof *rows,
                                             help};
    struct estimate_options o = {.json = true, .begin = -INFINITY};
    struct err e = {0};
    int words, code;
    if (!command_line_read(&line, &o, argc, argv, &words, &code))
        return code;
    const bool switches = switches_asked(&o.switches);
    const bool begins = isfinite(o.begin), works = switches || (words && switches_of_walkers(argv + 1, words));
    if (!o.directory && !o.output && switches != (words > 0) && !(works && begins))
        return estimate_of_files(&o, words, argv + 1);
    if (o.directory && !words && !switches && !begins)
        return estimate_of_ensemble(&o);
    if (begins && (works || o.directory))
        err_set(&e, ERR_USAGE, "--begin is for dhdl.xvg files of windows, or of a run in which the state changes");
    else if (switches && words)
        err_set(&e, ERR_USAGE,
                "%s: expected no words beside --forward and --backward; put patterns in quotes, --forward 'A/*.xvg'",
                argv[1]);
    else
        err_set(&e, ERR_USAGE, "expected FILE... or --ensemble DIR; shoal estimate --help shows how");
    return exit_with("estimate", &e);
}
