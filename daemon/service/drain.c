/* SPDX-License-Identifier: Apache-2.0
 *
 * How the service ends: replicas make checkpoints, estimates end, workers leave.
 */
#include "daemon/service/service.h"
#include "engine/base/log.h"

static void on_drain_limit(uv_timer_t *t)
{
    struct service *sv = t->data;
    if (supervisor_alive(sv->supervisor) && !sv->late) {
        log_line(LOG_WARNING, "workers have not checkpointed in %d s: killing them", sv->tuning.drain_seconds);
        supervisor_kill(sv->supervisor);
    }
    sv->late = true;
}

void service_drain(struct service *sv)
{
    struct err e = {0};
    if (sv->draining)
        return;
    sv->draining = true;
    service_step(sv, &(struct sched_event){.kind = SCHED_DRAIN}, &e);
    service_stop_estimates(sv);
    supervisor_drain(sv->supervisor);
    uv_timer_start(&sv->drain_limit, on_drain_limit, (uint64_t)sv->tuning.drain_seconds * 1000, 0);
    service_tell_status(sv);
    service_stop_if_drained(sv);
}
