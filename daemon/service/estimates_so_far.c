/* SPDX-License-Identifier: Apache-2.0
 *
 * Live estimates: what the samples of ensembles that have not ended say so far, for users who ask.
 *
 * 1. They are of rows that checkpoints vouch for (daemon/worker/children/estimate.c): none of them is ever taken back.
 * The first is made when all windows have such rows.
 * 2. An ensemble's next one is made when its replicas have checkpointed a tenth more steps than at the last: that
 * changes its error by a twentieth. So their number grows as the logarithm of what was sampled.
 * 3. One is made at a time, by a process of its own (estimates.c), and read on the thread pool. Then nothing is
 * estimated for three times the processor time that it took: all of them together take a quarter of a core at most.
 * Wall time does not count: on a busy machine, where it is long, ensembles would end late by stop-when.
 * 4. An ensemble whose next steps depend on it (schedule/allocation.c, finishing.c) has one made at once, of all
 * that there is. What a pilot has sampled is for that alone.
 */
#include "daemon/service/service.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/service/stored.h"
#include "engine/base/units.h"

#define REST 3            /* times the processor time that an estimate took */
#define REST_OF_ONE 20    /* the same of one ensemble */
#define UNASKED_SECONDS 5 /* for those that may end by it, where none is made for people to look at */
#define FAILED_MS 60000   /* until one that could not be made is tried again */
#define LOOK_MS 1000      /* until it is looked again whether one is due */

struct live_estimation {
    struct service *sv;
    struct ensemble *ensemble; /* held */
    int64_t steps, worked_ms;
    int64_t least; /* steps of the replica that has fewest */
    int ladder;    /* of the ensemble when it was begun */
    bool look;     /* the scheduler waits for it */
    bool pilot;    /* it is of a pilot, to place windows */
    struct buf text;
    struct ensemble_estimate estimate;
    int64_t *targets; /* [windows of the ensemble], of a look; NULL: nobody knows */
    json_t *placing;  /* of a look at a pilot, what daemon/worker/children/placing.h answers; NULL: nothing */
    int doublings;    /* of later switches, of a look; -1 where nobody knows */
    bool failed;
    struct err err; /* why */
};

static bool read_estimate(const json_t *results, struct ensemble_estimate *x)
{
    const json_t *value = json_object_get(json_object_get(results, "estimate"), "magnitude");
    const json_t *error = json_object_get(json_object_get(results, "uncertainty"), "magnitude");
    const json_t *revision = json_object_get(json_object_get(results, "ensemble"), "revision");
    const char *verdict = json_string_value(json_object_get(json_object_get(results, "verdict"), "verdict"));
    *x = (struct ensemble_estimate){.revision = (int)json_integer_value(revision),
                                    .number = json_is_number(value) && json_is_number(error),
                                    .value = json_number_value(value),
                                    .error = json_number_value(error)};
    snprintf(x->verdict, sizeof x->verdict, "%s", verdict ? verdict : "");
    return verdict != NULL;
}

bool service_read_estimate(const struct buf *results, struct ensemble_estimate *x)
{
    json_t *json = json_loadb(results->data, results->len, 0, NULL);
    bool read = read_estimate(json, x);
    json_decref(json);
    return read;
}

static void look_again(struct service *sv, int64_t ms);

static int64_t interval(const struct service *sv)
{
    return 1000 * (int64_t)(sv->tuning.live_seconds ? sv->tuning.live_seconds : UNASKED_SECONDS);
}

static int64_t saved_steps(const struct ensemble *en)
{
    int64_t sum = 0;
    for (int i = 0; i < en->nsets; i++)
        sum += set_saved(&en->sets[i]);
    return sum;
}

static int64_t least_steps(const struct ensemble *en)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < en->nreplicas; i++)
        least = en->replicas[i].saved_step < least ? en->replicas[i].saved_step : least;
    return least;
}

/* Whether every window has samples, but for windows that failed. Before that there is no number. */
static bool is_sampled(const struct ensemble *en)
{
    for (int k = 0; k < en->windows; k++) {
        bool sampled = false, failed = true;
        for (int i = k; i < en->nreplicas; i += en->windows) {
            sampled |= en->replicas[i].saved_step > en->allocation.before;
            failed &= en->replicas[i].sm.state == REPLICA_FAILED;
        }
        if (!sampled && !failed)
            return false;
    }
    return true;
}

/* Those that nobody wants to look at are estimated where they may end by it. */
static bool is_due(const struct service *sv, const struct ensemble *en, int64_t now)
{
    return (sv->tuning.live_seconds || en->stop.error > 0) && en->windows > 1 && !en->pilot && !ensemble_ended(en) &&
           en->sm.state != ENSEMBLE_FINISHING && now >= en->live_after &&
           saved_steps(en) > en->live_steps + en->live_steps / 10 && is_sampled(en);
}

/* Users take turns; of a user's ensembles the one that has waited longest. */
static bool live_before(const struct service *sv, const struct ensemble *en, const struct ensemble *best)
{
    int64_t mine = sv->sched.users[en->user].looked, other = best ? sv->sched.users[best->user].looked : 0;
    return !best || mine < other || (mine == other && en->live_after < best->live_after);
}

static struct ensemble *choose_live(const struct service *sv, int64_t now)
{
    struct ensemble *best = NULL;
    for (int i = 0; i < sv->sched.nactive; i++) {
        struct ensemble *en = sv->sched.active[i];
        if (is_due(sv, en, now) && live_before(sv, en, best))
            best = en;
    }
    return best;
}

/* ---- its end ---- */

static void take_estimate(struct live_estimation *j)
{
    struct ensemble *en = j->ensemble;
    struct err e = {0};
    en->estimate = j->estimate;
    struct sched_event ev = {.kind = SCHED_LIVE,
                             .ensemble = en,
                             .ok = j->estimate.number,
                             .error = j->estimate.error * UNIT_KCAL,
                             .message = j->estimate.verdict,
                             .ladder = j->ladder,
                             .step = j->least};
    if (!ensemble_ended(en) && !j->sv->draining)
        service_step(j->sv, &ev, &e);
}

static void tell_of_look(struct live_estimation *j)
{
    struct err e = {0};
    struct sched_event ev = {.kind = SCHED_LOOKED,
                             .ensemble = j->ensemble,
                             .targets = j->failed ? NULL : j->targets,
                             .doublings = j->failed ? -1 : j->doublings,
                             .code = (int)j->err.code,
                             .message = j->err.code            ? j->err.msg
                                        : j->ensemble->walkers ? "not every walker has made its first switches"
                                                               : "its samples carry no free energy"};
    if (!j->sv->draining) /* else the next service looks again */
        service_step(j->sv, &ev, &e);
}

/* The scheduler gets windows in place of the pilot's; the ensemble's owner is charged for what rows they take. */
static void tell_of_pilot(struct live_estimation *j)
{
    struct service *sv = j->sv;
    struct ensemble *en = j->ensemble;
    struct err e = {0};
    const json_t *facts = json_object_get(j->placing, "facts");
    const int before = en->nreplicas;
    struct ensemble *placed = facts ? ensemble_of_facts(facts, sv->next_replica) : NULL;
    struct sched_event ev = {.kind = SCHED_LOOKED,
                             .ensemble = en,
                             .placed = placed,
                             .spec = json_string_value(json_object_get(j->placing, "spec")),
                             .code = (int)j->err.code,
                             .message = facts         ? json_string_value(json_object_get(j->placing, "message"))
                                        : j->err.code ? j->err.msg
                                                      : "no windows can be placed: the estimator said nothing"};
    if (placed)
        sv->next_replica += placed->nreplicas;
    if (!sv->draining) /* else the next service looks again */
        service_step(sv, &ev, &e);
    if (placed && !en->pilot && !en->removed) {
        const int64_t grown = json_integer_value(json_object_get(j->placing, "grown"));
        en->row_bytes += grown;
        quota_set(&en->peopled, en->nreplicas);
        quota_set(&en->stored, en->stored.amount + grown + (int64_t)(en->nreplicas - before) * USAGE_REPLICA);
    }
    ensemble_free(placed);
}

static void finish_live(struct live_estimation *j)
{
    struct service *sv = j->sv;
    struct ensemble *en = j->ensemble;
    int64_t now = service_clock(), took = j->worked_ms, pause = j->failed ? FAILED_MS : interval(sv);
    /* Else windows were added meanwhile, or have no samples yet: their first is still to come. */
    bool of_these = !j->pilot && j->ladder == en->ladder && (j->failed || j->estimate.revision >= en->ladder);
    en->live_steps = of_these ? j->steps : 0;
    en->live_after = now + (REST_OF_ONE * took > pause ? REST_OF_ONE * took : pause);
    if (!j->failed && of_these)
        take_estimate(j);
    if (j->look && j->pilot)
        tell_of_pilot(j);
    else if (j->look)
        tell_of_look(j);
    else
        look_again(sv, REST * took + 1);
    ensemble_free(en);
    buf_free(&j->text);
    free(j->targets);
    json_decref(j->placing);
    free(j);
}

/* NULL stays where the samples do not say what windows need. */
static void read_targets(struct live_estimation *j, const json_t *results)
{
    const json_t *list = json_object_get(results, "production");
    size_t n = (size_t)j->ensemble->windows;
    if (json_array_size(list) != n)
        return;
    j->targets = xcalloc(n, sizeof *j->targets);
    for (size_t k = 0; k < n; k++)
        j->targets[k] = json_integer_value(json_array_get(list, k));
}

static void read_work(void *arg)
{
    struct live_estimation *j = arg;
    json_t *results = json_loadb(j->text.data, j->text.len, 0, NULL);
    if (j->pilot) {
        j->placing = results;
        return;
    }
    j->failed = !read_estimate(results, &j->estimate);
    j->estimate.made = service_now();
    if (j->look) {
        const json_t *longer = json_object_get(json_object_get(results, "switching"), "lengthened");
        read_targets(j, results);
        j->doublings = longer ? (int)json_integer_value(json_object_get(longer, "doublings")) : -1;
    }
    json_decref(results);
}

static void read_done(void *arg)
{
    finish_live(arg);
}

static void made(void *arg, const struct err *err, const struct buf *text, int64_t worked_ms)
{
    struct live_estimation *j = arg;
    j->worked_ms = worked_ms;
    j->failed = err != NULL;
    if (j->failed) {
        j->err = *err;
        finish_live(j);
        return;
    }
    buf_add(&j->text, text->data, text->len);
    service_offload(j->sv, read_work, read_done, j);
}

/* ---- its turn ---- */

static void begin_live(struct service *sv, struct ensemble *en, bool look)
{
    struct live_estimation *j = xcalloc(1, sizeof *j);
    *j = (struct live_estimation){.sv = sv,
                                  .ensemble = ensemble_hold(en),
                                  .steps = saved_steps(en),
                                  .least = least_steps(en),
                                  .ladder = en->ladder,
                                  .look = look,
                                  .pilot = en->pilot};
    if (look)
        service_results_of_look(sv, en, made, j);
    else
        service_results(sv, en, true, made, j);
}

void service_look(struct service *sv, struct ensemble *en)
{
    en->owner_acts++; /* a live estimate that is being made is of less */
    begin_live(sv, en, true);
}

static void on_live_time(uv_timer_t *t)
{
    struct service *sv = t->data;
    struct ensemble *en = sv->draining ? NULL : choose_live(sv, service_clock());
    if (!en) {
        look_again(sv, LOOK_MS);
        return;
    }
    sv->sched.users[en->user].looked = ++sv->turns;
    begin_live(sv, en, false);
}

static void look_again(struct service *sv, int64_t ms)
{
    if (!sv->draining && !sv->stopped)
        uv_timer_start(&sv->live, on_live_time, (uint64_t)ms, 0);
}

void service_estimate_live(struct service *sv)
{
    look_again(sv, interval(sv));
}
