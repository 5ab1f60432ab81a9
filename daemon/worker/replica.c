/* SPDX-License-Identifier: Apache-2.0
 *
 * The story of a replica. It yields in wait_ticket and wait_gate only, with nothing captured or borrowed.
 *
 * 1. The bytes of the output files depend on spec, seed and device model alone: what is submitted in one batch, when a
 * stop comes and how often the replica was started changes none of them.
 * 2. A checkpoint is made between steps, after every event of its step (sample, frame, volume move) was carried out,
 * and after the outputs up to it are on disk.
 */
#include "daemon/worker/replica.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/worker/checkpoint.h"
#include "daemon/worker/stages.h"
#include "engine/io/output.h"

#define BATCH_SECONDS 0.25 /* a stop is noticed after about so long */
#define PROGRESS_SECONDS 1.0
#define FLUSH_BYTES (256u << 10)
#define GROW_LIMIT 32 /* buffers grown without a step done in between */

enum { STOPPED = 1 };

struct replica {
    struct replica_setup setup;
    char *directory, *folder;
    struct shared_model *shared;
    const struct spec *spec;
    struct sim *sim;
    struct results results;
    uint64_t stage, stage_step, index; /* index: of the last checkpoint */
    double *delta_u;                   /* [windows] */
    double (*x)[3], (*v)[3];           /* [atoms], for frames and the final file */
    bool stop, at_gate;
    double step_seconds; /* wall clock of a step in the last batch, 0: not known */
    double reported;     /* wall clock of the last progress report */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Steps from the start of production to where the replica is; negative during equilibration. */
static int64_t clock_steps(const struct replica *r)
{
    return (int64_t)(protocol_timesteps(r->spec, r->stage, r->stage_step) - protocol_clock_zero(r->spec));
}

static void report(const struct replica *r, struct report what)
{
    if (r->spec) {
        const struct stage *stages = r->spec->stages;
        for (int i = 0; i < r->spec->nstages; i++) {
            what.steps += stages[i].steps;
            what.step += (uint64_t)i < r->stage ? stages[i].steps : 0;
        }
        what.step += r->stage_step;
        what.time =
            (double)protocol_timesteps(r->spec, r->stage, r->stage_step) * r->spec->settings.integrator.timestep;
    }
    what.stage = r->stage;
    r->setup.report(r->setup.ctx, r, &what);
}

static int report_progress(struct replica *r, struct err *e)
{
    double t = now();
    size_t pending = 0;
    for (int i = 0; i < OUTPUT_COUNT; i++)
        pending += r->results.files[i].rows.len;
    bool due = t - r->reported >= PROGRESS_SECONDS;
    if (due || pending > FLUSH_BYTES) {
        int rc = results_flush(&r->results, e);
        if (rc)
            return rc;
    }
    if (due) {
        r->reported = t;
        report(r, (struct report){.kind = REPORT_PROGRESS});
    }
    return 0;
}

static void report_event(const struct replica *r, const char *kind, const struct err *why)
{
    report(r, (struct report){.kind = REPORT_EVENT, .event = kind, .why = why});
}

static void CO_FN wait_ticket(struct replica *r)
{
    while (!sim_done(r->sim))
        co_pause();
}

static void CO_FN wait_gate(struct replica *r)
{
    r->at_gate = true;
    while (!replica_ready(r))
        co_pause();
    r->at_gate = false;
}

static int submit(struct replica *r, enum sim_work kind, uint32_t n, struct err *e)
{
    co_hold(CO_CAPTURE);
    int rc = sim_submit(r->sim, kind, n, e);
    co_release(CO_CAPTURE);
    return rc;
}

/* Submits n units of work and waits for them, again for what is left when a buffer had to grow. */
static int CO_FN work(struct replica *r, enum sim_work kind, uint32_t n, struct err *e)
{
    bool counted = kind == SIM_STEP || kind == SIM_MINIMIZE;
    for (int grown = 0; n;) {
        int rc = submit(r, kind, n, e);
        if (rc)
            return rc;
        wait_ticket(r);
        rc = sim_outcome(r->sim, e);
        if (rc != SIM_GROW)
            return rc;
        uint32_t done = counted ? sim_steps_done(r->sim) : 0;
        n -= done;
        grown = done ? 0 : grown + 1;
        if (grown > GROW_LIMIT)
            return err_set(e, ERR_OVERFLOW, "a buffer overflows however often it is grown");
        struct err why = {0};
        err_set(&why, ERR_OVERFLOW, "a pair list or buffer was grown at step %" PRIu64, sim_step_number(r->sim));
        report_event(r, "grow", &why);
    }
    return 0;
}

/* As many steps as fit into a batch, at most `most`. */
static uint32_t batch(const struct replica *r, uint64_t most)
{
    double fit = r->step_seconds > 0 ? BATCH_SECONDS / r->step_seconds : 4;
    uint64_t n = fit < 1 ? 1 : fit > 1e6 ? 1000000 : (uint64_t)fit;
    return (uint32_t)(n < most ? n : most);
}

static int CO_FN timed_work(struct replica *r, enum sim_work kind, uint32_t n, struct err *e)
{
    double start = now();
    int rc = work(r, kind, n, e);
    r->step_seconds = (now() - start) / n;
    return rc;
}

/* Makes a checkpoint here. */
static int save(struct replica *r, struct err *e)
{
    int rc = results_sync(&r->results, e);
    if (rc)
        return rc;
    struct checkpoint c = {.window = (uint64_t)r->setup.window,
                           .windows = (uint64_t)r->spec->settings.alchemy.nwindows,
                           .stage = r->stage,
                           .stage_step = r->stage_step,
                           .index = r->index + 1};
    for (int i = 0; i < OUTPUT_COUNT; i++)
        c.offset[i] = results_offset(&r->results, i);
    rc = sim_save(r->sim, &c.state, e);
    if (!rc)
        rc = checkpoint_write(r->folder, &c, e);
    if (!rc) {
        r->index = c.index;
        report(r, (struct report){.kind = REPORT_SEGMENT, .index = c.index, .bytes = c.offset});
    }
    checkpoint_close(&c);
    return rc;
}

/* Takes up one of the checkpoint files, when there is one and it fits. CHECKPOINT_NONE as checkpoint_read. */
static int load(struct replica *r, int which, struct err *e)
{
    struct checkpoint c = {0};
    int rc = checkpoint_read(r->folder, which, &c, e);
    if (!rc && (c.window != (uint64_t)r->setup.window || c.windows != (uint64_t)r->spec->settings.alchemy.nwindows ||
                c.stage > (uint64_t)r->spec->nstages ||
                (c.stage < (uint64_t)r->spec->nstages && c.stage_step > r->spec->stages[c.stage].steps)))
        rc = err_set(e, ERR_CHECKPOINT, "the checkpoint is of another window or protocol");
    if (!rc && !results_reach(&r->results, c.offset))
        rc = err_set(e, ERR_CHECKPOINT, "an output file is shorter than the checkpoint says");
    if (!rc)
        rc = sim_load(r->sim, c.state.data, c.state.len, e);
    if (!rc)
        rc = results_open(&r->results, c.offset, e);
    if (!rc) {
        r->stage = c.stage;
        r->stage_step = c.stage_step;
        r->index = c.index;
    }
    checkpoint_close(&c);
    return rc;
}

static int begin(struct replica *r, struct err *e)
{
    static const uint64_t empty[OUTPUT_COUNT];
    const struct settings *set = &r->spec->settings;
    int rc = results_open(&r->results, empty, e);
    if (rc)
        return rc;
    dhdl_header(results_begin(&r->results, OUTPUT_DHDL), set, r->setup.window, protocol_has_pv(r->spec));
    results_end(&r->results, OUTPUT_DHDL);
    energy_header(results_begin(&r->results, OUTPUT_ENERGY), set);
    results_end(&r->results, OUTPUT_ENERGY);
    return results_flush(&r->results, e);
}

/* The newest good checkpoint, else the beginning, which gives the same bytes. */
static int restore(struct replica *r, struct err *e)
{
    for (int which = 0; which < CHECKPOINT_FILES; which++) {
        struct err why = {0};
        int rc = load(r, which, &why);
        if (rc == 0)
            return 0;
        if (rc == CHECKPOINT_NONE)
            continue;
        if (why.code != ERR_CHECKPOINT) {
            *e = why;
            return rc;
        }
        report_event(r, "checkpoint", &why);
        rc = checkpoint_drop(r->folder, which, e);
        if (rc)
            return rc;
    }
    return begin(r, e);
}

static int CO_FN minimize(struct replica *r, const struct stage *stage, struct err *e)
{
    sim_minimize_setup(r->sim, stage->force_tolerance);
    for (r->stage_step = 0; r->stage_step < stage->steps;) {
        uint32_t n = batch(r, stage->steps - r->stage_step);
        int rc = timed_work(r, SIM_MINIMIZE, n, e);
        if (rc)
            return rc;
        r->stage_step += n;
        double max_force, potential;
        if (sim_minimized(r->sim, &max_force, &potential))
            break;
        if (r->stop) {
            r->stage_step = 0; /* begins again: there is no checkpoint inside a minimization */
            return STOPPED;
        }
        rc = report_progress(r, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* Energies of the current state, into the files named. */
static int CO_FN sample(struct replica *r, bool dhdl, bool energy, struct err *e)
{
    int rc = work(r, SIM_SAMPLE, 1, e);
    if (rc)
        return rc;
    const struct settings *set = &r->spec->settings;
    struct sample s = {.delta_u = r->delta_u};
    sim_sample(r->sim, &s);
    if (!isfinite(s.potential))
        return err_set(e, ERR_NONFINITE, "the potential energy is %g at step %" PRIu64, s.potential,
                       sim_step_number(r->sim));
    if (dhdl) {
        dhdl_row(results_begin(&r->results, OUTPUT_DHDL), set, protocol_has_pv(r->spec), &s);
        results_end(&r->results, OUTPUT_DHDL);
    }
    if (energy) {
        energy_row(results_begin(&r->results, OUTPUT_ENERGY), set, &r->shared->system, &s);
        results_end(&r->results, OUTPUT_ENERGY);
    }
    return 0;
}

static int frame(struct replica *r, struct err *e)
{
    double box[3];
    int rc = sim_get(r->sim, r->x, NULL, box, e);
    if (rc)
        return rc;
    int64_t steps = clock_steps(r);
    struct buf *out = results_begin(&r->results, OUTPUT_TRAJECTORY);
    xtc_frame(out, r->shared->system.natoms, (const double(*)[3])r->x, box, (uint64_t)steps,
              (double)steps * r->spec->settings.integrator.timestep);
    results_end(&r->results, OUTPUT_TRAJECTORY);
    return 0;
}

static int CO_FN write_rows(struct replica *r, struct rows rows, struct err *e)
{
    int rc = rows.dhdl || rows.energy ? sample(r, rows.dhdl, rows.energy, e) : 0;
    return rc || !rows.frame ? rc : frame(r, e);
}

/* New velocities, unless the coordinates brought some that are to be continued: then nothing has moved the atoms yet
 * and no thermostat would replace them anyway. */
static int start_moving(struct replica *r, struct err *e)
{
    const struct spec *spec = r->spec;
    bool first = protocol_timesteps(spec, r->stage, 0) == 0;
    bool continued =
        r->stage == 0 && r->shared->system.v && spec->settings.integrator.kind == INTEGRATOR_VELOCITY_VERLET;
    return first && !continued ? sim_thermalize(r->sim, e) : 0;
}

static int CO_FN dynamics(struct replica *r, const struct stage *stage, struct err *e)
{
    int rc = 0;
    if (r->stage_step == 0) {
        rc = start_moving(r, e);
        if (!rc)
            rc = write_rows(r, protocol_rows(r->spec, r->stage, 0), e);
    }
    while (!rc && r->stage_step < stage->steps) {
        uint32_t n = batch(r, protocol_next_event(r->spec, r->stage, r->stage_step) - r->stage_step);
        rc = timed_work(r, SIM_STEP, n, e);
        if (rc)
            return rc;
        r->stage_step += n;
        uint64_t step = r->stage_step;
        rc = write_rows(r, protocol_rows(r->spec, r->stage, step), e);
        if (!rc && protocol_volume_move(r->spec, r->stage, step))
            rc = work(r, SIM_BAROSTAT, 1, e);
        if (!rc && step < stage->steps && (r->stop || protocol_due(r->spec->checkpoint_every, step))) {
            rc = save(r, e);
            if (!rc && r->stop)
                return STOPPED;
        }
        if (!rc)
            rc = report_progress(r, e);
    }
    return rc;
}

static int CO_FN run_stages(struct replica *r, struct err *e)
{
    while (r->stage < (uint64_t)r->spec->nstages) {
        const struct stage *stage = &r->spec->stages[r->stage];
        wait_gate(r);
        if (r->stop)
            return STOPPED;
        int rc = stage->kind == STAGE_MINIMIZE ? minimize(r, stage, e) : dynamics(r, stage, e);
        if (rc)
            return rc;
        r->stage++;
        r->stage_step = 0;
        /* The checkpoint that says that all is done comes after the final coordinates. */
        rc = r->stage < (uint64_t)r->spec->nstages ? save(r, e) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

/* The final coordinates. */
static int write_final(struct replica *r, struct err *e)
{
    double box[3];
    struct buf text = {0}, path = {0}, title = {0};
    int rc = sim_get(r->sim, r->x, r->v, box, e);
    if (rc)
        return rc;
    buf_printf(&path, "%s/confout.gro", r->folder);
    buf_printf(&title, "%s, window %d, t= %.5f", r->spec->name, r->setup.window,
               (double)clock_steps(r) * r->spec->settings.integrator.timestep);
    gro_write(&text, &r->shared->system, (const double(*)[3])r->x, (const double(*)[3])r->v, box, title.data);
    rc = buf_write_file(path.data, text.data, text.len, e);
    buf_free(&title);
    buf_free(&path);
    buf_free(&text);
    return rc;
}

static int CO_FN story(struct replica *r, struct err *e)
{
    struct models *models = r->setup.models;
    int rc = models_get(models, r->directory, &r->shared, e);
    if (rc)
        return rc;
    r->spec = r->shared->spec;
    int natoms = r->shared->system.natoms, windows = r->spec->settings.alchemy.nwindows;
    if (r->setup.window < 0 || r->setup.window >= windows)
        return err_set(e, ERR_PROTOCOL, "window %d of an ensemble of %d", r->setup.window, windows);
    r->delta_u = xcalloc((size_t)windows, sizeof *r->delta_u);
    r->x = xcalloc((size_t)natoms, sizeof *r->x);
    r->v = xcalloc((size_t)natoms, sizeof *r->v);
    struct buf folder = {0};
    buf_printf(&folder, "%s/lambda_%02" PRIu32, r->directory, r->setup.replica);
    r->folder = folder.data;
    rc = results_lock(&r->results, r->folder, e);
    if (!rc)
        rc = sim_new(&r->sim, r->shared->model, r->setup.window, r->setup.replica, e);
    if (!rc) {
        sim_set_clock(r->sim, protocol_clock_zero(r->spec));
        rc = restore(r, e);
    }
    bool finished = !rc && r->stage == (uint64_t)r->spec->nstages;
    if (!rc)
        rc = run_stages(r, e);
    if (!rc)
        rc = write_final(r, e);
    return rc || finished ? rc : save(r, e);
}

void CO_FN replica_run(void *replica)
{
    struct replica *r = replica;
    struct err e = {0};
    int rc = story(r, &e);
    if (rc == STOPPED)
        report(r, (struct report){.kind = REPORT_STOPPED});
    else if (rc)
        report(r, (struct report){.kind = REPORT_FAILED, .why = &e});
    else
        report(r, (struct report){.kind = REPORT_DONE});
    results_close(&r->results);
    sim_free(r->sim);
    r->sim = NULL;
    r->spec = NULL;
    if (r->shared)
        models_put(r->setup.models, r->shared);
    r->shared = NULL;
}

bool replica_ready(const void *replica)
{
    const struct replica *r = replica;
    if (r->at_gate)
        return r->stop || !r->setup.gate || r->setup.gate(r->setup.ctx, r, r->stage);
    return !r->sim || sim_done(r->sim);
}

struct replica *replica_new(const struct replica_setup *setup)
{
    struct replica *r = xcalloc(1, sizeof *r);
    r->setup = *setup;
    r->directory = xstrdup(setup->directory);
    r->setup.directory = r->directory;
    return r;
}

void replica_free(struct replica *r)
{
    if (!r)
        return;
    free(r->delta_u);
    free(r->x);
    free(r->v);
    free(r->folder);
    free(r->directory);
    free(r);
}

void replica_stop(struct replica *r)
{
    r->stop = true;
}

const struct sim *replica_sim(const struct replica *r)
{
    return r->sim;
}
