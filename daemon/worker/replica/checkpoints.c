/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints that a replica makes, and the files that go on from one. When a checkpoint is made changes no byte of any
 * output.
 */
#include "daemon/worker/files/checkpoint.h"
#include "daemon/worker/replica/exchange.h"
#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/clock.h"
#include "engine/series/xvg.h"
#include "engine/series/dhdl.h"
#include "engine/observe/observe.h"

struct keeping {
    struct replica *r;
    struct checkpoint c;
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
    int rc = replica_memory_for(k->r, "checkpoint", "a checkpoint", 2 * (REPLICA_STATE_HEAD + k->c.state.len), e);
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
                              .windows = (uint64_t)spec_windows(r->spec),
                              .walker = r->walker,
                              .exchanged = exchange_on(r),
                              .stage = r->stage,
                              .stage_step = over ? r->spec->stages[r->stage - 1].steps : r->stage_step,
                              .index = r->index + 1,
                              .salt = r->salt,
                              .switching = r->spec->walkers > 0,
                              .switches = r->switches,
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
        r->saved = clock_now();
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

int CO_FN replica_save_or_stop(struct replica *r, struct err *e)
{
    bool together = replica_exchanging(r, r->stage_step), stop = together ? r->agreed.stop : r->stop;
    r->agreed = (struct agreed){0};
    int rc = together ? replica_save_together(r, e) : replica_save(r, e);
    return !rc && (together ? stop : r->stop) ? REPLICA_STOPPED : rc;
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

void replica_go_on_from(struct replica *r, const struct checkpoint *c)
{
    r->stage = c->stage;
    r->stage_step = c->stage_step;
    r->index = c->index;
    r->salt = c->salt;
    r->switches = c->switches;
}

struct opening {
    struct replica *r;
    const uint64_t *offset; /* [OUTPUT_COUNT] */
};

static int open_job(void *arg, struct err *e)
{
    const struct opening *o = arg;
    return outputs_open(&o->r->outputs, o->offset, e);
}

int CO_FN replica_open_at(struct replica *r, const uint64_t *offset, struct err *e)
{
    struct opening o = {r, offset};
    return replica_on_disk(r, open_job, &o, e);
}

int CO_FN replica_open_files(struct replica *r, struct err *e)
{
    const uint64_t none[OUTPUT_COUNT] = {0};
    int rc = replica_open_at(r, none, e);
    if (rc)
        return rc;
    struct buf *rows = outputs_begin(&r->outputs, OUTPUT_DHDL);
    const char *stretched = model_stretched(r->shared->model);
    dhdl_header(rows, &r->spec->settings, replica_row(r), timeline_has_pv(r->spec));
    if (stretched)
        buf_printf(rows, XVG_STRETCHED "%s\n", stretched);
    outputs_end(&r->outputs, OUTPUT_DHDL);
    return 0;
}
