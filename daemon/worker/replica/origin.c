/* SPDX-License-Identifier: Apache-2.0
 *
 * What a window sampled before its ensemble had other windows, in a folder of its own that is only read: the replica
 * goes on from its checkpoint. Its rows lack energies at the new windows, so each frame of its trajectory is evaluated
 * at all of them, which makes the first rows of the new dhdl.xvg: as many as there are frames, of coordinates rounded
 * to 0.001 nm. energy.xvg and traj.xtc begin as copies.
 *
 * Nothing of that is kept until all of it is done: a replica that is interrupted meanwhile does it again, to the same
 * bytes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/worker/replica/exchange.h"
#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/number.h"
#include "engine/series/dhdl.h"
#include "engine/io/xtc_read.h"

#define PIECE ((size_t)1 << 20)

struct origin_reading {
    struct replica *r;
    struct checkpoint c;
    bool found;
    struct err damage[CHECKPOINT_FILES]; /* what is wrong with checkpoints that are there */
    int fd;                              /* of the trajectory */
    uint64_t left;                       /* bytes of it that were not read yet */
    struct buf bytes;                    /* that were */
    size_t at;                           /* of them were taken up */
    struct xtc_read frame;
    bool more;      /* frame holds one */
    uint64_t steps; /* of it, of which it says the last 31 bits */
};

/* ---- reading; jobs ---- */

/* Steps over all stages of a checkpoint, which is made at the end without the steps of the last stage where that is
 * old. */
static uint64_t steps_of(const struct replica *r, const struct checkpoint *c)
{
    const uint64_t last = (uint64_t)r->spec->nstages - 1;
    const bool over = c->stage > last;
    const uint64_t step = over && !c->stage_step ? r->shared->spec->stages[last].steps : c->stage_step;
    return timeline_steps(r->spec, over ? last : c->stage, step);
}

/* Where replicas exchange windows, the one that all of them have. */
static bool is_meant(const struct replica *r, const struct checkpoint *c)
{
    return r->origin_at == UINT64_MAX || steps_of(r, c) == r->origin_at;
}

static int find_job(void *arg, struct err *e)
{
    struct origin_reading *o = arg;
    const struct checkpoint_owner owner = replica_owner(o->r);
    for (int which = 0; which < CHECKPOINT_FILES; which++) {
        struct err why = {0};
        int rc = checkpoint_read(o->r->origin, which, &o->c, &why);
        if (!rc)
            rc = checkpoint_check_owner(&o->c, &owner, &why);
        o->found = rc == 0 && is_meant(o->r, &o->c);
        if (o->found)
            return 0;
        checkpoint_close(&o->c);
        o->c = (struct checkpoint){0};
        if (rc && rc != CHECKPOINT_NONE && why.code != ERR_CHECKPOINT) {
            *e = why;
            return rc;
        }
        o->damage[which] = why;
    }
    return 0;
}

static int open_origin(const struct origin_reading *o, enum output which, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", o->r->origin, output_names[which]);
    int fd = open(path.data, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        err_errno(e, "open %s", path.data);
    buf_free(&path);
    return fd;
}

/* The next piece of at most `most` bytes, which are there. */
static int read_piece(const struct origin_reading *o, int fd, enum output which, uint64_t most, struct buf *out,
                      struct err *e)
{
    size_t n = most < PIECE ? (size_t)most : PIECE;
    char *to = buf_extend(out, n);
    ssize_t got = read(fd, to, n);
    out->len -= n - (got > 0 ? (size_t)got : 0);
    if (got < 0)
        return err_errno(e, "read %s/%s", o->r->origin, output_names[which]);
    if (!got)
        return err_set(e, ERR_IO, "%s/%s: %" PRIu64 " %s less than its checkpoint counts on", o->r->origin,
                       output_names[which], most, number_word((int64_t)most, "byte", "bytes"));
    return 0;
}

static int copy_energies_job(void *arg, struct err *e)
{
    struct origin_reading *o = arg;
    int fd = open_origin(o, OUTPUT_ENERGY, e), rc = fd < 0 ? -(int)e->code : 0;
    struct buf *rows = &o->r->outputs.files[OUTPUT_ENERGY].rows;
    for (uint64_t left = o->c.offset[OUTPUT_ENERGY]; left && !rc;) {
        rc = read_piece(o, fd, OUTPUT_ENERGY, left, rows, e);
        left -= rc ? 0 : rows->len;
        rc = rc ? rc : outputs_flush_file(&o->r->outputs, OUTPUT_ENERGY, e);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

/* The next frame, whose bytes go into the new trajectory too. */
static int copy_frame_job(void *arg, struct err *e)
{
    struct origin_reading *o = arg;
    struct replica *r = o->r;
    size_t length;
    free(o->frame.grid);
    o->frame = (struct xtc_read){0};
    while (!(length = xtc_read_frame(&o->frame, (const unsigned char *)o->bytes.data + o->at, o->bytes.len - o->at))) {
        o->more = false;
        if (!o->left && o->at == o->bytes.len)
            return 0;
        if (!o->left)
            return err_set(e, ERR_IO, "%s/%s: its last frame is not whole", r->origin, output_names[OUTPUT_TRAJECTORY]);
        memmove(o->bytes.data, o->bytes.data + o->at, o->bytes.len - o->at);
        o->bytes.len -= o->at;
        o->at = 0;
        size_t before = o->bytes.len;
        int rc = read_piece(o, o->fd, OUTPUT_TRAJECTORY, o->left, &o->bytes, e);
        if (rc)
            return rc;
        o->left -= o->bytes.len - before;
    }
    if (o->frame.natoms != r->shared->system.natoms)
        return err_set(e, ERR_IO, "%s/%s: a frame of %d %s; expected %d", r->origin, output_names[OUTPUT_TRAJECTORY],
                       o->frame.natoms, number_word(o->frame.natoms, "atom", "atoms"), r->shared->system.natoms);
    buf_add(&r->outputs.files[OUTPUT_TRAJECTORY].rows, o->bytes.data + o->at, length);
    o->at += length;
    o->more = true;
    return 0;
}

/* ---- frames ---- */

static int CO_FN sample_here(struct replica *r, struct err *e)
{
    for (;;) {
        int rc = replica_submit(r, SIM_SAMPLE, 1, e);
        if (rc)
            return rc;
        replica_wait(r);
        rc = sim_outcome(r->sim, e);
        if (rc != SIM_GROW)
            return rc;
        rc = replica_grew(r, 0, e);
        if (rc)
            return rc;
    }
}

static int CO_FN evaluate(struct origin_reading *o, struct sample *out, struct err *e)
{
    struct replica *r = o->r;
    double box[BOX_SIZE];
    xtc_place(&o->frame, r->x, box);
    int rc = sim_put(r->sim, (const double(*)[3])r->x, NULL, box, e);
    if (!rc)
        rc = sample_here(r, e);
    if (rc)
        return rc;
    r->grown = 0;
    *out = (struct sample){.delta_u = r->delta_u, .walker = (int)r->walker};
    sim_sample(r->sim, out);
    out->time = timeline_time(r->spec, r->stage, r->stage_step);
    return isfinite(out->potential)
               ? 0
               : err_set(e, ERR_NONFINITE, "the potential energy of a frame at %g ps is %g", out->time, out->potential);
}

static int CO_FN take_frame(struct origin_reading *o, struct err *e)
{
    struct replica *r = o->r;
    struct sample sample;
    o->steps += ((uint64_t)o->frame.step - o->steps) & INT32_MAX;
    timeline_place(r->spec, o->steps, &r->stage, &r->stage_step);
    int rc = evaluate(o, &sample, e);
    if (rc)
        return rc;
    dhdl_row(outputs_begin(&r->outputs, OUTPUT_DHDL), &r->spec->settings, timeline_has_pv(r->spec), &sample);
    outputs_end(&r->outputs, OUTPUT_DHDL);
    if (r->outputs.files[OUTPUT_TRAJECTORY].rows.len > REPLICA_FLUSH_BYTES)
        rc = replica_flush(r, e);
    return rc ? rc : replica_progress(r, e);
}

/* Frames are of production alone, and so is the model that evaluates them. */
static int CO_FN take_frames(struct origin_reading *o, uint64_t *n, struct err *e)
{
    struct replica *r = o->r;
    o->left = o->c.offset[OUTPUT_TRAJECTORY];
    buf_add(&o->bytes, "", 0);
    if (!o->left)
        return 0;
    o->fd = open_origin(o, OUTPUT_TRAJECTORY, e);
    int rc = o->fd < 0 ? -(int)e->code : replica_on_disk(r, copy_frame_job, o, e);
    while (!rc && o->more) {
        if (r->stop)
            return REPLICA_STOPPED;
        rc = take_frame(o, e);
        ++*n;
        if (!rc)
            rc = replica_on_disk(r, copy_frame_job, o, e);
    }
    return rc;
}

/* ---- all of it ---- */

/* The simulation that the checkpoint is of, in the window that it was in, as the ladder has it now. */
static int place_walker(struct origin_reading *o, struct err *e)
{
    struct replica *r = o->r;
    if (!o->c.exchanged || !exchange_on(r))
        return 0;
    const int walker = exchange_moved(r, o->c.walker);
    if (walker < 0)
        return err_set(e, ERR_CHECKPOINT, "%s: a replica that began in window %" PRIu64 ", which is not here",
                       r->origin, o->c.walker);
    r->walker = (uint32_t)walker;
    replica_place(r);
    return 0;
}

static void tell_taken_up(const struct replica *r, uint64_t frames)
{
    struct err what = {0};
    err_set(&what, ERR_NONE, "goes on from step %" PRIu64 ", with %" PRIu64 " %s of %s evaluated at all windows",
            timeline_timesteps(r->spec, r->stage, r->stage_step), frames,
            number_word((int64_t)frames, "frame", "frames"), r->origin + strlen(r->directory) + 1);
    replica_report_event(r, "frames", &what);
}

static int CO_FN take(struct origin_reading *o, struct err *e)
{
    struct replica *r = o->r;
    uint64_t frames = 0;
    int rc = replica_on_disk(r, find_job, o, e);
    for (int i = 0; i < CHECKPOINT_FILES && !rc; i++)
        if (o->damage[i].code)
            replica_report_event(r, "checkpoint", &o->damage[i]);
    if (rc || !o->found)
        return rc;
    replica_fit_target(r, &o->c);
    rc = replica_enter(r, o->c.stage, e);
    if (!rc)
        rc = replica_open_files(r, e);
    if (!rc)
        rc = replica_on_disk(r, copy_energies_job, o, e);
    if (!rc)
        rc = sim_load(r->sim, o->c.state.data, o->c.state.len, e);
    if (!rc)
        rc = place_walker(o, e);
    if (!rc)
        rc = take_frames(o, &frames, e);
    if (!rc)
        rc = sim_load(r->sim, o->c.state.data, o->c.state.len, e);
    if (!rc)
        rc = place_walker(o, e);
    if (rc)
        return rc;
    replica_go_on_from(r, &o->c);
    tell_taken_up(r, frames);
    return replica_save(r, e);
}

int CO_FN replica_take_over(struct replica *r, bool *found, struct err *e)
{
    struct origin_reading o = {.r = r, .fd = -1};
    int rc = take(&o, e);
    *found = o.found;
    if (o.fd >= 0)
        close(o.fd);
    free(o.frame.grid);
    buf_free(&o.bytes);
    checkpoint_close(&o.c);
    return rc;
}

/* ---- together ---- */

struct origin_offer {
    struct replica *r;
    uint64_t steps[CHECKPOINT_FILES];
    int n;
};

/* What is wrong with checkpoints is said by who takes one up. */
static int offer_steps_job(void *arg, struct err *e)
{
    struct origin_offer *o = arg;
    const struct checkpoint_owner owner = replica_owner(o->r);
    for (int which = 0; which < CHECKPOINT_FILES && o->r->origin; which++) {
        struct checkpoint c = {0};
        struct err why = {0};
        int rc = checkpoint_read(o->r->origin, which, &c, &why);
        if (!rc)
            rc = checkpoint_check_owner(&c, &owner, &why);
        if (!rc) {
            o->steps[o->n++] = steps_of(o->r, &c);
            o->r->origin_window = (int)c.window;
        }
        checkpoint_close(&c);
        if (rc && rc != CHECKPOINT_NONE && why.code != ERR_CHECKPOINT) {
            *e = why;
            return rc;
        }
    }
    return 0;
}

int CO_FN replica_agree_on_origin(struct replica *r, struct err *e)
{
    struct origin_offer o = {.r = r};
    int rc = replica_on_disk(r, offer_steps_job, &o, e);
    return rc ? rc : exchange_origin(r, o.steps, o.n, e);
}
