/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service is now. States are those that clients are shown.
 */
#include "daemon/monitor/monitor.h"

#define STATES 64 /* of one kind at most: engine/base/sm.h */

static void set(const struct service *sv, enum metrics_family f, const char *value, double x)
{
    metrics_set(sv->config.metrics, f, &value, x);
}

/* What the worker told last; nothing of a device on which nothing ran yet. */
static void set_load(const struct service *sv, const char *device, const json_t *load)
{
    const json_t *busy = json_object_get(load, "busy"), *memory = json_object_get(load, "memory");
    if (busy)
        set(sv, METRICS_DEVICE_BUSY, device, json_number_value(busy));
    if (!memory)
        return;
    set(sv, METRICS_DEVICE_USED, device, json_number_value(json_object_get(memory, "used")));
    set(sv, METRICS_DEVICE_FREE, device, json_number_value(json_object_get(memory, "free")));
}

static void set_device(const struct service *sv, int worker)
{
    const struct sched_worker *w = &sv->sched.workers[worker];
    const char *const labels[] = {supervisor_device(sv->supervisor, worker), w->model ? w->model : ""};
    metrics_set(sv->config.metrics, METRICS_DEVICE, labels, 1);
    set(sv, METRICS_DEVICE_UP, labels[0],
        health_is_up(&w->health) && !health_is_sick(&w->health) && !health_is_drained(&w->health));
    set(sv, METRICS_DEVICE_SLOTS, labels[0], w->slots);
    set(sv, METRICS_DEVICE_RUNNING, labels[0], w->nrunning);
    set_load(sv, labels[0], sv->loads[worker]);
}

static void set_states(const struct service *sv)
{
    int64_t ensembles[STATES] = {0}, replicas[STATES] = {0};
    for (int i = 0; i < sv->sched.nensembles; i++) {
        const struct ensemble *en = sv->sched.ensembles[i];
        ensembles[en->shown.state]++;
        for (int k = 0; k < en->nreplicas; k++)
            replicas[en->replicas[k].shown.state]++;
    }
    for (uint32_t s = 0; s < ensemble_states.count; s++)
        set(sv, METRICS_ENSEMBLES, ensemble_states.states[s].name, (double)ensembles[s]);
    for (uint32_t s = 0; s < replica_states.count; s++)
        set(sv, METRICS_REPLICAS, replica_states.states[s].name, (double)replicas[s]);
}

static void set_queue(const struct service *sv)
{
    int64_t counts[WAIT_KINDS];
    sched_count_waiting(&sv->sched, service_clock(), counts);
    for (enum wait_kind kind = WAIT_NOT + 1; kind < WAIT_KINDS; kind++)
        set(sv, METRICS_WAITING, wait_name(kind), (double)counts[kind]);
}

void monitor_set_gauges(const struct service *sv)
{
    const char *const program[] = {SHOAL_VERSION, sv->config.build};
    metrics_set(sv->config.metrics, METRICS_PROGRAM, program, 1);
    for (int w = 0; w < sv->sched.nworkers; w++)
        set_device(sv, w);
    set_states(sv);
    set_queue(sv);
}
