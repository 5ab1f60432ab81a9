/* SPDX-License-Identifier: Apache-2.0
 *
 * What a replica keeps on disk. Every call that may wait for a disk, and whatever takes long on the way there (compressing,
 * sums), is a job. The coroutine yields meanwhile, but for frames: it goes on, and the next job waits for the frame. Files
 * belong to the job. When a checkpoint is made changes no byte of any output.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/worker/device/memory.h"
#include "daemon/worker/files/checkpoint.h"
#include "daemon/worker/replica/exchange.h"
#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/number.h"
#include "engine/base/xvg.h"
#include "engine/io/output.h"
#include "engine/observe/observe.h"

/* A worker that was killed may hold its lock until the kernel has finished its last write. */
#define LOCK_SECONDS 3.0
#define LOCK_NAP_NS 10000000

int CO_FN replica_on_disk(struct replica *r, int (*fn)(void *arg, struct err *e), void *arg, struct err *e)
{
    int rc = replica_finish_frame(r, e);
    return rc ? rc : job_run(r->setup.jobs, &r->job, JOB_DISK, fn, arg, e);
}

/* ---- lock ---- */

static int lock_job(void *arg, struct err *e)
{
    struct replica *r = arg;
    return outputs_lock(&r->outputs, r->folder, e);
}

static int lock_again_job(void *arg, struct err *e)
{
    nanosleep(&(struct timespec){0, LOCK_NAP_NS}, NULL);
    return lock_job(arg, e);
}

int CO_FN replica_lock(struct replica *r, struct err *e)
{
    double until = replica_now() + LOCK_SECONDS;
    int rc = replica_on_disk(r, lock_job, r, e);
    while (rc == -ERR_BUSY && replica_now() < until)
        rc = replica_on_disk(r, lock_again_job, r, e);
    return rc;
}

/* ---- memory ---- */

/* Of a replica, on the host, for each atom: its arrays, a checkpoint and its text, and on the CPU device its lists and mesh. */
#define REPLICA_BYTES_OF_ATOM 1024
#define STATE_BYTES_OF_ATOM 72 /* positions, velocities, the best forces */
#define OBSERVED_COPIES 4      /* of what observables accumulate: at work, fetched, in a checkpoint, and its text */
#define STATE_HEAD 4096
#define ROW_BYTES ((size_t)64 << 10) /* one more beside those that wait */

static const enum output row_files[] = {OUTPUT_DHDL, OUTPUT_ENERGY};
enum { ROW_FILES = sizeof row_files / sizeof *row_files };

int replica_memory(struct replica *r, struct err *e)
{
    const size_t rows = REPLICA_FLUSH_BYTES + ROW_BYTES;
    size_t observed = 0;
    for (int i = 0; i < r->shared->system.nobservables; i++)
        observed += observe_bytes(&r->shared->system.observables[i]);
    const size_t state = STATE_HEAD + STATE_BYTES_OF_ATOM * replica_atoms(r) + observed;
    int rc = memory_to_begin(REPLICA_BYTES_OF_ATOM * replica_atoms(r) + OBSERVED_COPIES * observed +
                                 model_host_work(r->shared->model) + 2 * ROW_FILES * rows,
                             "a replica", e);
    if (rc)
        return rc;
    for (int i = 0; i < ROW_FILES; i++) {
        struct buf *b = &r->outputs.files[row_files[i]].rows;
        buf_extend(b, rows);
        b->len = 0;
    }
    buf_extend(&r->state, state);
    r->state.len = 0;
    return 0;
}

int replica_memory_for(const struct replica *r, const char *file, const char *what, uint64_t bytes, struct err *e)
{
    int rc = memory_to_go_on(bytes, what, e);
    return rc ? err_prefix(e, "%s/%s", r->folder, file) : 0;
}

/* ---- phases ---- */

int CO_FN replica_enter(struct replica *r, uint64_t stage, struct err *e)
{
    struct shared_model *before = r->shared;
    if (models_fit(before, stage))
        return 0;
    sim_free(r->sim);
    r->sim = NULL;
    int rc = models_get(r->setup.models, r->setup.jobs, &r->job, r->directory, r->setup.ladder, stage, &r->shared, e);
    if (rc) { /* r->spec goes on being told of */
        models_put(r->setup.models, r->shared);
        r->shared = before;
        return rc;
    }
    rc = replica_take_spec(r, e);
    models_put(r->setup.models, before);
    return rc ? rc : sim_new(&r->sim, r->shared->model, r->setup.window, replica_random_key(r), e);
}

void replica_place(struct replica *r)
{
    sim_place(r->sim, r->setup.window, replica_random_key(r));
}

int CO_FN replica_next_phase(struct replica *r, struct err *e)
{
    int rc = replica_enter(r, r->stage, e);
    if (!rc)
        rc = sim_load(r->sim, r->state.data, r->state.len, e);
    if (!rc && r->salt)
        sim_salt(r->sim, (uint32_t)r->salt);
    return rc;
}

/* ---- checkpoints ---- */

/* Good ones, but: what follows from it was a failure; not of the meeting that all replicas go on from. */
enum { LEADS_ASTRAY = CHECKPOINT_NONE + 1, NOT_COMMON };

struct keeping {
    struct replica *r;
    struct checkpoint c;
    int which;
};

/* As they are in the checkpoint that is made: the files change with it, whole. */
static int write_observables(const struct keeping *k, struct err *e)
{
    const struct system *sys = &k->r->shared->system;
    int rc = 0;
    for (int i = 0; i < sys->nobservables && !rc; i++) {
        const struct observe_result of =
            observe_result(sys, &sys->observables[i], sim_saved_observable(sys, &k->c.state, i));
        struct buf path = {0}, text = {0};
        if (!observe_begun(&of))
            continue;
        buf_printf(&path, "%s/%s.xvg", k->r->folder, sys->observables[i].name);
        observe_file(&of, &text);
        rc = buf_write_file(path.data, text.data, text.len, e);
        buf_free(&path);
        buf_free(&text);
    }
    return rc;
}

static int write_job(void *arg, struct err *e)
{
    struct keeping *k = arg;
    sim_seal(&k->c.state);
    int rc = replica_memory_for(k->r, "checkpoint", "a checkpoint", 2 * (STATE_HEAD + k->c.state.len), e);
    if (!rc)
        rc = outputs_sync(&k->r->outputs, e);
    if (!rc)
        rc = write_observables(k, e);
    return rc ? rc : checkpoint_write(k->r->folder, &k->c, e);
}

int CO_FN replica_save(struct replica *r, struct err *e)
{
    int rc = replica_finish_frame(r, e);
    if (rc)
        return rc;
    r->state.len = 0;
    bool over = r->stage == (uint64_t)r->spec->nstages;
    struct keeping k = {.r = r,
                        .c = {.state = r->state,
                              .window = (uint64_t)r->setup.window,
                              .windows = (uint64_t)r->spec->settings.alchemy.nwindows,
                              .walker = r->walker,
                              .exchanged = exchange_on(r),
                              .stage = r->stage,
                              .stage_step = over ? r->spec->stages[r->stage - 1].steps : r->stage_step,
                              .index = r->index + 1,
                              .salt = r->salt,
                              .owner = replica_owner(r)}};
    for (int i = 0; i < OUTPUT_COUNT; i++)
        k.c.offset[i] = outputs_offset(&r->outputs, i);
    rc = replica_fetch(r, e);
    if (!rc)
        rc = sim_save(r->sim, &k.c.state, e);
    if (!rc)
        rc = replica_on_disk(r, write_job, &k, e);
    if (!rc) {
        r->index = k.c.index;
        r->saved = replica_now();
        r->kept_stage = r->stage;
        r->kept_step = r->stage_step;
        replica_report(r, (struct replica_report){.kind = REPORT_SEGMENT, .index = k.c.index, .bytes = k.c.offset});
    }
    r->state = k.c.state;
    return rc;
}

int CO_FN replica_save_together(struct replica *r, struct err *e)
{
    int rc = replica_save(r, e);
    return rc || !exchange_on(r) ? rc : exchange_kept(r, e);
}

bool replica_save_due(const struct replica *r, uint64_t step)
{
    if (r->spec->checkpoint_every)
        return timeline_due(r->spec->checkpoint_every, step);
    return replica_now() - r->saved >= r->spec->checkpoint_seconds;
}

void replica_fit_target(struct replica *r, struct checkpoint *c)
{
    const struct spec *spec = r->spec;
    uint64_t last = (uint64_t)spec->nstages - 1, step = c->stage_step;
    bool ended = c->stage == last + 1;
    if (!ended && c->stage != last)
        return;
    if (ended && !step) /* written when there was no other target than the spec's */
        step = r->shared->spec->stages[last].steps;
    if (r->stages && step > r->stages[last].steps) {
        r->stages[last].steps = step;
        r->setup.steps = spec_steps(spec, (int)last) + step;
    }
    if (!ended)
        return;
    bool more = step < spec->stages[last].steps;
    c->stage = more ? last : last + 1;
    c->stage_step = more ? step : 0;
}

/* One of the end is one of the last stage where the target has become later since. */
static uint64_t meetings_before(const struct spec *spec, const struct checkpoint *c)
{
    uint64_t last = (uint64_t)spec->nstages - 1;
    if (c->stage <= last)
        return timeline_meetings(spec, c->stage, c->stage_step);
    bool over = !c->stage_step || c->stage_step >= spec->stages[last].steps;
    return over ? timeline_meetings(spec, last + 1, 0) : timeline_meetings(spec, last, c->stage_step);
}

/* What follows from it was a failure that would come again. */
static bool leads_astray(const struct keeping *k)
{
    return k->which == CHECKPOINT_NEWEST && k->c.salt < k->r->setup.salt && k->c.stage < (uint64_t)k->r->spec->nstages;
}

static int read_own(struct keeping *k, struct err *e)
{
    const struct checkpoint_owner owner = replica_owner(k->r);
    int rc = checkpoint_read(k->r->folder, k->which, &k->c, e);
    if (!rc && k->c.window != (uint64_t)k->r->setup.window)
        rc = err_set(e, ERR_CHECKPOINT, "the checkpoint is of window %" PRIu64 ", not %d", k->c.window,
                     k->r->setup.window);
    return rc ? rc : checkpoint_check_owner(&k->c, &owner, e);
}

static int read_job(void *arg, struct err *e)
{
    struct keeping *k = arg;
    const struct spec *spec = k->r->spec;
    int rc = read_own(k, e);
    if (!rc && exchange_on(k->r) && !leads_astray(k) && meetings_before(spec, &k->c) != k->r->common)
        return NOT_COMMON;
    if (!rc)
        replica_fit_target(k->r, &k->c);
    if (!rc && (k->c.windows != (uint64_t)spec->settings.alchemy.nwindows || k->c.stage > (uint64_t)spec->nstages ||
                (k->c.stage < (uint64_t)spec->nstages && k->c.stage_step > spec->stages[k->c.stage].steps)))
        rc = err_set(e, ERR_CHECKPOINT, "the checkpoint is of another ladder or protocol");
    if (!rc && leads_astray(k))
        return LEADS_ASTRAY;
    return rc ? rc : outputs_reach(&k->r->outputs, k->c.offset, e);
}

void replica_go_on_from(struct replica *r, const struct checkpoint *c)
{
    r->stage = c->stage;
    r->stage_step = c->stage_step;
    r->index = c->index;
    r->salt = c->salt;
}

static int open_job(void *arg, struct err *e)
{
    struct keeping *k = arg;
    return outputs_open(&k->r->outputs, k->c.offset, e);
}

/* Takes up one of the checkpoint files, when there is one and it fits. CHECKPOINT_NONE as checkpoint_read; LEADS_ASTRAY. */
static int CO_FN load(struct replica *r, int which, struct err *e)
{
    struct keeping k = {.r = r, .which = which};
    int rc = replica_on_disk(r, read_job, &k, e);
    if (!rc)
        rc = replica_enter(r, k.c.stage, e);
    if (!rc)
        rc = sim_load(r->sim, k.c.state.data, k.c.state.len, e);
    if (!rc)
        rc = replica_on_disk(r, open_job, &k, e);
    if (!rc) {
        replica_go_on_from(r, &k.c);
        r->kept_stage = r->stage;
        r->kept_step = r->stage_step;
    }
    if (!rc && k.c.exchanged && exchange_on(r)) {
        r->walker = (uint32_t)k.c.walker;
        replica_place(r);
    }
    checkpoint_close(&k.c);
    return rc;
}

static int drop_job(void *arg, struct err *e)
{
    const struct keeping *k = arg;
    return checkpoint_drop(k->r->folder, k->which, e);
}

int CO_FN replica_open_files(struct replica *r, struct err *e)
{
    struct keeping k = {.r = r};
    int rc = replica_on_disk(r, open_job, &k, e);
    if (rc)
        return rc;
    struct buf *rows = outputs_begin(&r->outputs, OUTPUT_DHDL);
    const char *stretched = model_stretched(r->shared->model);
    dhdl_header(rows, &r->spec->settings, r->setup.window, timeline_has_pv(r->spec));
    if (stretched)
        buf_printf(rows, XVG_STRETCHED "%s\n", stretched);
    outputs_end(&r->outputs, OUTPUT_DHDL);
    return 0;
}

static int CO_FN begin(struct replica *r, struct err *e)
{
    int rc = replica_enter(r, 0, e);
    if (!rc)
        rc = replica_open_files(r, e);
    if (rc)
        return rc;
    energy_header(outputs_begin(&r->outputs, OUTPUT_ENERGY), &r->spec->settings, &r->shared->system);
    outputs_end(&r->outputs, OUTPUT_ENERGY);
    return replica_flush(r, e);
}

/* Replicas that start together do not all want the disk at the same time ever after: the first checkpoint comes after a
 * part of the interval, which parts spread evenly over (the golden ratio's multiples). */
static void spread_checkpoints(struct replica *r)
{
    double part = 0.6180339887498949 * r->setup.replica;
    r->saved = replica_now() - r->spec->checkpoint_seconds * (part - (double)(uint64_t)part);
}

/* The newest checkpoint that is good, else the beginning. */
static int CO_FN restore_any(struct replica *r, struct err *e)
{
    for (int which = 0; which < CHECKPOINT_FILES; which++) {
        struct err why = {0};
        int rc = load(r, which, &why);
        if (rc == 0)
            return 0;
        if (rc == CHECKPOINT_NONE)
            continue;
        if (rc == NOT_COMMON)
            err_set(&why, ERR_CHECKPOINT, "not after meeting %" PRIu64 ", from where all replicas go on", r->common);
        if (rc != LEADS_ASTRAY && why.code != ERR_CHECKPOINT) {
            *e = why;
            return rc;
        }
        if (rc != LEADS_ASTRAY)
            replica_report_event(r, "checkpoint", &why);
        struct keeping k = {.r = r, .which = which};
        rc = replica_on_disk(r, drop_job, &k, e);
        if (rc)
            return rc;
    }
    bool found = false;
    int rc = r->origin ? replica_take_over(r, &found, e) : 0;
    return rc || found ? rc : begin(r, e);
}

/* From here on the replica's noise is another one than the seed alone gives. Saved at once, so that the next start needs no
 * telling. */
static int CO_FN salt_anew(struct replica *r, struct err *e)
{
    struct err why = {0};
    r->salt = r->setup.salt;
    err_set(&why, ERR_NONE,
            "goes on from step %" PRIu64 " with noise of its own, salt %" PRIu64 ", so as not to fail again",
            timeline_timesteps(r->spec, r->stage, r->stage_step), r->salt);
    replica_report_event(r, "salt", &why);
    sim_salt(r->sim, (uint32_t)r->salt);
    return replica_save(r, e);
}

/* ---- together ---- */

struct offering {
    struct replica *r;
    uint64_t meetings[CHECKPOINT_FILES];
    int n;
};

/* Which checkpoints there are that it could go on from. What is wrong with others restore_any says. */
static int offer_job(void *arg, struct err *e)
{
    struct offering *o = arg;
    struct replica *r = o->r;
    int rc = 0;
    for (int which = 0; which < CHECKPOINT_FILES && rc >= 0; which++) {
        struct keeping k = {.r = r, .which = which};
        rc = read_own(&k, e);
        if (!rc && !leads_astray(&k))
            rc = outputs_reach(&r->outputs, k.c.offset, e);
        if (rc == -ERR_CHECKPOINT)
            rc = CHECKPOINT_NONE;
        if (!rc && !leads_astray(&k)) {
            if (!o->n) {
                r->kept_stage = k.c.stage;
                r->kept_step = k.c.stage < (uint64_t)r->spec->nstages ? k.c.stage_step : 0;
            }
            o->meetings[o->n++] = meetings_before(r->spec, &k.c);
        }
        checkpoint_close(&k.c);
    }
    return rc < 0 ? rc : 0;
}

/* Whether all that exchange windows are here, or there is nothing left to do. */
static int check_company(const struct replica *r, struct err *e)
{
    int here = exchange_members(r), windows = r->spec->settings.alchemy.nwindows;
    if (here == windows || r->stage == (uint64_t)r->spec->nstages)
        return 0;
    return err_set(e, ERR_CHECKPOINT,
                   "it is to go on, but of the %d windows that exchange replicas only %d %s: the others have come to "
                   "their end",
                   windows, here, number_word(here, "is", "are"));
}

static int CO_FN restore_together(struct replica *r, struct err *e)
{
    struct offering o = {.r = r};
    int rc = replica_on_disk(r, offer_job, &o, e);
    if (!rc)
        rc = exchange_common(r, o.meetings, o.n, e);
    if (!rc)
        rc = restore_any(r, e);
    return rc ? rc : check_company(r, e);
}

int CO_FN replica_restore(struct replica *r, struct err *e)
{
    spread_checkpoints(r);
    int rc = exchange_on(r) ? restore_together(r, e) : restore_any(r, e);
    if (!rc && r->salt < r->setup.salt && r->stage < (uint64_t)r->spec->nstages)
        return salt_anew(r, e);
    if (!rc && r->salt)
        sim_salt(r->sim, (uint32_t)r->salt);
    return rc;
}
