/* SPDX-License-Identifier: Apache-2.0
 *
 * Work for the thread pool.
 */
#include "daemon/service/service.h"

#include <stdlib.h>

struct job {
    uv_work_t work;
    struct service *sv;
    job_fn *fn, *done;
    void *arg;
};

static void job_work(uv_work_t *w)
{
    struct job *j = w->data;
    j->fn(j->arg);
}

static void job_done(uv_work_t *w, int status)
{
    struct job *j = w->data;
    j->sv->jobs--;
    j->done(j->arg);
    free(j);
}

void service_job(struct service *sv, job_fn *work, job_fn *done, void *arg)
{
    struct job *j = xcalloc(1, sizeof *j);
    *j = (struct job){.sv = sv, .fn = work, .done = done, .arg = arg};
    j->work.data = j;
    sv->jobs++;
    uv_queue_work(sv->loop, &j->work, job_work, job_done);
}
