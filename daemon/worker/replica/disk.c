/* SPDX-License-Identifier: Apache-2.0
 *
 * A replica and its disk. Every call that may wait for a disk, and whatever takes long on the way there (compressing,
 * sums), is a job. The coroutine yields meanwhile, but for frames: it goes on, and the next job waits for the frame.
 * Files belong to the job. And memory, which is asked for before it is taken.
 */
#include <time.h>

#include "daemon/worker/device/memory.h"
#include "daemon/worker/replica/internal.h"
#include "engine/base/clock.h"
#include "engine/observe/observe.h"

/* A worker that was killed may hold its lock until the kernel has finished its last write. */
#define LOCK_SECONDS 3.0
#define LOCK_NAP_NS 10000000

int CO_FN replica_finish_frame(struct replica *r, struct err *e)
{
    if (!r->frame.begun)
        return 0;
    r->frame.awaited = true;
    int rc = job_finish(&r->frame.job, e);
    r->frame.begun = r->frame.awaited = false;
    return rc;
}

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
    double until = clock_now() + LOCK_SECONDS;
    int rc = replica_on_disk(r, lock_job, r, e);
    while (rc == -ERR_BUSY && clock_now() < until)
        rc = replica_on_disk(r, lock_again_job, r, e);
    return rc;
}

/* ---- memory ---- */

/* Of a replica, on the host, for each atom: its arrays, a checkpoint and its text, and on the CPU device its lists and
 * mesh. */
#define REPLICA_BYTES_OF_ATOM 1024
#define STATE_BYTES_OF_ATOM 72 /* positions, velocities, the best forces */
#define OBSERVED_COPIES 4      /* of what observables accumulate: at work, fetched, in a checkpoint, and its text */
#define ROW_BYTES ((size_t)64 << 10) /* one more beside those that wait */

static const enum output row_files[] = {OUTPUT_DHDL, OUTPUT_ENERGY};
enum { ROW_FILES = sizeof row_files / sizeof *row_files };

int replica_memory(struct replica *r, struct err *e)
{
    const size_t rows = REPLICA_FLUSH_BYTES + ROW_BYTES;
    size_t observed = 0;
    for (int i = 0; i < r->shared->system.nobservables; i++)
        observed += observe_bytes(&r->shared->system.observables[i]);
    const size_t states = r->spec->walkers ? 2 : 1; /* within a switch that which is held, too */
    const size_t state = states * (REPLICA_STATE_HEAD + STATE_BYTES_OF_ATOM * replica_atoms(r) + observed);
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
