/* SPDX-License-Identifier: Apache-2.0
 *
 * Work for the thread pool.
 */
#include "daemon/service/service.h"

#include <stdlib.h>

struct offloaded {
    uv_work_t work;
    struct service *sv;
    offload_fn *fn, *done;
    void *arg;
};

static void offload_work(uv_work_t *w)
{
    struct offloaded *j = w->data;
    j->fn(j->arg);
}

static void offload_done(uv_work_t *w, int status)
{
    struct offloaded *j = w->data;
    j->sv->offloaded--;
    j->done(j->arg);
    free(j);
}

void service_offload(struct service *sv, offload_fn *work, offload_fn *done, void *arg)
{
    struct offloaded *j = xcalloc(1, sizeof *j);
    *j = (struct offloaded){.sv = sv, .fn = work, .done = done, .arg = arg};
    j->work.data = j;
    sv->offloaded++;
    uv_queue_work(sv->loop, &j->work, offload_work, offload_done);
}
