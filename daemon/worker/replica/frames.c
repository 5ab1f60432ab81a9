/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of a replica that users read, but for the making of rows (dynamics.c): frames while it goes on, rows with a
 * checkpoint, the final coordinates.
 */
#include "daemon/worker/replica/internal.h"
#include "daemon/worker/replica/timeline.h"
#include "engine/base/clock.h"
#include "engine/io/output.h"

#define PROGRESS_SECONDS 1.0

/* While a frame is made: whole numbers, bits and what is written, each growing by doubling. */
#define FRAME_BYTES_OF_ATOM 96
#define GRO_BYTES_OF_ATOM 256

static int write_frame_job(void *arg, struct err *e)
{
    struct replica *r = arg;
    int rc =
        replica_memory_for(r, output_names[OUTPUT_TRAJECTORY], "a frame", FRAME_BYTES_OF_ATOM * replica_atoms(r), e);
    if (rc)
        return rc;
    xtc_frame(&r->outputs.files[OUTPUT_TRAJECTORY].rows, r->shared->system.natoms, (const double(*)[3])r->x,
              r->frame.box, (uint64_t)r->frame.steps, r->frame.time);
    return outputs_flush_file(&r->outputs, OUTPUT_TRAJECTORY, e);
}

int CO_FN replica_frame(struct replica *r, struct err *e)
{
    int rc = replica_finish_frame(r, e);
    if (!rc)
        rc = replica_fetch(r, e);
    if (!rc)
        rc = sim_get(r->sim, r->x, NULL, r->frame.box, e);
    if (rc)
        return rc;
    r->frame.steps = replica_clock_steps(r);
    r->frame.time = timeline_time(r->spec, r->stage, r->stage_step);
    r->frame.begun = true;
    job_start(r->setup.jobs, &r->frame.job, JOB_DISK, write_frame_job, r);
    return 0;
}

static int flush_job(void *arg, struct err *e)
{
    struct replica *r = arg;
    return outputs_flush(&r->outputs, e);
}

int CO_FN replica_flush(struct replica *r, struct err *e)
{
    return replica_on_disk(r, flush_job, r, e);
}

int CO_FN replica_progress(struct replica *r, struct err *e)
{
    double t = clock_now();
    size_t pending = r->outputs.files[OUTPUT_DHDL].rows.len + r->outputs.files[OUTPUT_ENERGY].rows.len;
    bool due = t - r->reported >= PROGRESS_SECONDS;
    if (due || pending > REPLICA_FLUSH_BYTES) {
        int rc = replica_flush(r, e);
        if (rc)
            return rc;
    }
    if (due) {
        r->reported = t;
        replica_report(r, (struct replica_report){.kind = REPORT_PROGRESS});
    }
    return 0;
}

struct gro_file {
    const struct replica *r;
    const char *name;
    const double (*v)[3]; /* NULL: without velocities */
    const double *box;
};

/* Its text is long: it is not made on the thread that feeds the device. */
static int gro_job(void *arg, struct err *e)
{
    const struct gro_file *f = arg;
    const struct replica *r = f->r;
    struct buf path = {0}, title = {0}, text = {0};
    int rc = replica_memory_for(r, f->name, "coordinates", GRO_BYTES_OF_ATOM * replica_atoms(r), e);
    if (rc)
        return rc;
    buf_printf(&path, "%s/%s", r->folder, f->name);
    buf_printf(&title, "%s, window %d, t= %.5f", r->spec->name, r->setup.window,
               timeline_time(r->spec, r->stage, r->stage_step));
    gro_write(&text, &r->shared->system, (const double(*)[3])r->x, f->v, f->box, title.data);
    rc = buf_write_file(path.data, text.data, text.len, e);
    buf_free(&path);
    buf_free(&title);
    buf_free(&text);
    return rc;
}

int CO_FN replica_write_gro(struct replica *r, const char *name, bool velocities, const double box[BOX_SIZE],
                            struct err *e)
{
    struct gro_file f = {r, name, velocities ? (const double(*)[3])r->v : NULL, box};
    return replica_on_disk(r, gro_job, &f, e);
}

int CO_FN replica_write_final(struct replica *r, struct err *e)
{
    double box[BOX_SIZE];
    int rc = replica_finish_frame(r, e);
    if (!rc)
        rc = sim_get(r->sim, r->x, r->v, box, e);
    return rc ? rc : replica_write_gro(r, "confout.gro", true, box, e);
}
