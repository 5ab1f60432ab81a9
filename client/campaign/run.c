/* SPDX-License-Identifier: Apache-2.0
 *
 * campaign run: submits, waits, hands out the budget in rounds and gathers. What there is to do next follows from what
 * the service has, and targets are said as how long production is to be in all: so it may end at any moment, and be run
 * again, by two at once too, and nothing is submitted or handed out twice. With --here the service is this command's
 * own, which stops when the command ends.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/http.h"
#include "client/ask/results.h"
#include "client/campaign/campaign.h"
#include "client/division/division.h"
#include "client/division/kept.h"
#include "client/ensembles/watch.h"
#include "client/gather/gather.h"
#include "client/need/shares.h"
#include "client/programs/here.h"
#include "engine/base/clock.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"

#define LOOK_LEAST_S 0.5
#define LOOK_MOST_S 10.0
#define LOOK_PART 0.02 /* of how long it has waited: then it looks again */
#define SAID_S 60.0
#define PATIENCE_S 60.0

struct running {
    const struct client *c;
    struct campaign_view *k;
    double deadline;       /* 0: none */
    struct keeper *keeper; /* of a share; NULL: none */
};

/* ---- waiting ---- */

struct states {
    size_t ended, paused, there;
    double progress; /* of all of them */
};

/* Of pilots alone while there are some. */
static struct states states_of(const struct campaign_view *k)
{
    struct states s = {0};
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one) {
        const json_t *there = campaign_present(k, one);
        const char *state = answer_text(there, "state");
        if (k->waiting && !json_object_get(one, "pilot"))
            continue;
        s.there += there != NULL;
        s.ended += ensemble_ended(state);
        s.paused += !strcmp(state, "paused");
        s.progress += answer_number(there, "progress");
    }
    s.progress /= (double)(s.there ? s.there : 1);
    return s;
}

/* A service of our own is to stop, has ended, or has no device that works; the campaign of a share was cancelled. */
static int is_over(const struct running *r, struct err *e)
{
    if (r->keeper && division_cancelled(r->c->division, e))
        return -(int)e->code;
    return !r->c->own ? 0 : here_over(r->c->own, e) ? -(int)e->code : here_works(r->c->own, r->c, e);
}

/* What the service has now; one that went away is asked for a while. */
static int look_again(struct running *r, struct err *e)
{
    double lost = 0;
    for (;;) {
        struct err why = {0};
        json_t *before = r->k->present;
        r->k->present = NULL;
        if (campaign_look(r->k, r->c, &why)) {
            r->k->present = before;
        } else {
            json_decref(before);
            if (r->keeper)
                keeper_look(r->keeper, r->c, r->k->present);
            return 0;
        }
        if (is_over(r, e))
            return -(int)e->code;
        if (lost == 0)
            lost = clock_now();
        if ((why.code != ERR_UNREACHABLE && why.code != ERR_BUSY) || clock_now() - lost > PATIENCE_S) {
            *e = why;
            return -(int)why.code;
        }
        here_sleep(LOOK_LEAST_S);
    }
}

/* At most so long, but not beyond the end of --for. */
static double until_over(const struct running *r, double seconds)
{
    return r->c->own && r->c->own->stops ? fmax(fmin(seconds, r->c->own->stops - clock_now()), 0) : seconds;
}

/* Until all have ended. ERR_BUSY: --timeout is over. */
static int wait_for_all(struct running *r, struct err *e)
{
    double began = clock_now(), said = 0;
    for (;;) {
        int rc = look_again(r, e);
        struct states s = rc ? (struct states){0} : states_of(r->k);
        double now = clock_now();
        if (rc || s.ended == s.there)
            return rc;
        if (is_over(r, e))
            return -(int)e->code;
        if (r->deadline && now >= r->deadline)
            return err_set(e, ERR_BUSY,
                           "%zu of %zu %s not ended after %.15g s; they go on, and so does run, "
                           "when it is said again",
                           s.there - s.ended, s.there, number_word((int64_t)s.there, "ensemble has", "ensembles have"),
                           r->c->timeout);
        if (said == 0 || now - said >= SAID_S) {
            client_say(r->c, "%zu of %zu %s ended, %zu %s paused, %d %% of all steps are done", s.ended, s.there,
                       r->k->waiting ? number_word((int64_t)s.there, "pilot has", "pilots have")
                                     : number_word((int64_t)s.there, "ensemble has", "ensembles have"),
                       s.paused, number_word((int64_t)s.paused, "is", "are"), (int)(100 * s.progress));
            said = now;
        }
        here_sleep(until_over(r, fmin(fmax((now - began) * LOOK_PART, LOOK_LEAST_S), LOOK_MOST_S)));
    }
}

/* ---- what they have made, and how good it is ---- */

/* Steps of production that each window is to make: an even share where the ensemble hands production out by need, else
 * the most that one window is to make, to which windows that were stopped before are brought up. */
static double steps_to_make(const json_t *ensemble, double before)
{
    const json_t *allocate = json_object_get(ensemble, "allocate"), *replicas = json_object_get(ensemble, "replicas"),
                 *one;
    double most = 0;
    size_t i;
    if (json_is_object(allocate))
        return answer_number(allocate, "share");
    json_array_foreach (replicas, i, one)
        most = fmax(most, answer_number(one, "steps") - before);
    return most;
}

static double fewest_rows(const json_t *results)
{
    const json_t *window;
    double fewest = INFINITY;
    size_t i;
    json_array_foreach (json_object_get(results, "windows"), i, window)
        fewest = fmin(fewest, answer_number(json_object_get(window, "samples"), "uncorrelated"));
    return isfinite(fewest) ? fewest : 0;
}

/* By its own stop-when. */
static bool good_enough(const json_t *ensemble, const json_t *results)
{
    const json_t *stop = json_object_get(ensemble, "stop_when"), *error = json_object_get(results, "uncertainty");
    if (!json_is_object(stop) || !json_is_object(error))
        return false;
    bool any = !strcmp(answer_text(stop, "verdict"), "any"),
         converged = !strcmp(answer_text(json_object_get(results, "verdict"), "verdict"), "converged");
    return (any || converged) && answer_number(error, "magnitude") <= answer_number(stop, "error");
}

/* One that is not there, or has failed, takes nothing. ERR_BUSY: it goes on, so someone else has extended it since all
 * had ended. */
static int look_at(struct running *r, const json_t *planned, struct shares_part *p, struct err *e)
{
    const json_t *production = json_object_get(planned, "production"), *present = campaign_present(r->k, planned);
    const char *id = answer_text(present, "id");
    double step = answer_number(production, "step_ns");
    struct buf path = {0};
    *p = (struct shares_part){.replicas = (int)answer_whole(planned, "replicas"),
                              .made = answer_number(production, "ns"),
                              .grain = step,
                              .square = NAN};
    if (!present || json_object_get(planned, "pilot")) /* of a leg that gets no windows */
        return 0;
    client_path(&path, id, "");
    json_t *ensemble = client_get(r->c, path.data, e), *results = NULL;
    bool done = !strcmp(answer_text(ensemble, "state"), "done");
    if (ensemble && !ensemble_ended(answer_text(ensemble, "state")))
        err_set(e, ERR_BUSY, "%s is %s again", answer_text(planned, "key"), answer_text(ensemble, "state"));
    if (ensemble) {
        p->replicas = (int)answer_replicas(ensemble); /* it may have more windows than were planned */
        p->made +=
            (steps_to_make(ensemble, answer_number(production, "before")) - answer_number(production, "steps")) * step;
    }
    if (done)
        results = results_get(r->c, id, false, NULL, e);
    double error = answer_number(json_object_get(results, "uncertainty"), "magnitude");
    p->square = error > 0 ? error * error : NAN;
    p->rows = fewest_rows(results);
    p->takes = done && !good_enough(ensemble, results);
    json_decref(results);
    json_decref(ensemble);
    buf_free(&path);
    return -(int)e->code;
}

static int look_at_all(struct running *r, struct shares_part *p, struct err *e)
{
    const json_t *one;
    size_t i;
    int rc = 0;
    json_array_foreach (json_object_get(r->k->plan, "ensembles"), i, one)
        if (!rc)
            rc = look_at(r, one, &p[i], e);
    return rc;
}

/* ---- a round ---- */

/* Production of so many steps in all. Someone else may have asked for more meanwhile. */
static int extend(struct running *r, const json_t *planned, const struct shares_part *p, struct err *e)
{
    const json_t *production = json_object_get(planned, "production");
    double more = (p->target - answer_number(production, "ns")) / p->grain;
    struct buf path = {0}, until = {0};
    client_path(&path, answer_text(campaign_present(r->k, planned), "id"), "/extend?until=");
    buf_printf(&until, "%lld steps", answer_whole(production, "steps") + (long long)floor(more + 1e-6));
    http_escape(&path, until.data);
    json_t *answer = client_ask(r->c, "POST", path.data, e);
    client_say(r->c, "%s: %s%.4g ns in every window", answer_text(planned, "key"), answer ? "" : "not ", p->target);
    json_decref(answer);
    buf_free(&until);
    buf_free(&path);
    return answer ? 0 : -(int)e->code;
}

static double sum_of_steps(const struct shares_part *p, size_t n, bool targets)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (targets ? p[i].target : p[i].made) * p[i].replicas;
    return sum;
}

/* Carries out what was found. How many were extended, or the last error, where there was one. */
static int hand_out(struct running *r, const struct shares_part *p, struct err *e)
{
    const json_t *one;
    size_t i;
    int longer = 0;
    json_array_foreach (json_object_get(r->k->plan, "ensembles"), i, one)
        if (p[i].target - p[i].made >= p[i].grain)
            longer += !extend(r, one, &p[i], e);
    return e->code ? -(int)e->code : longer;
}

/* How many ensembles the next round extended; 0: there is none left. */
static int round_next(struct running *r, struct err *e)
{
    const json_t *budget = json_object_get(r->k->plan, "budget");
    size_t n = json_array_size(json_object_get(r->k->plan, "ensembles"));
    struct shares_part *p = xcalloc(n + 1, sizeof *p);
    int rc = look_at_all(r, p, e), round = 0;
    struct shares_budget b = {
        .time = answer_number(budget, "ns"), .first = 0, .rounds = (int)answer_whole(budget, "rounds")};
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(r->k->plan, "ensembles"), i, one)
        b.first += answer_number(json_object_get(one, "production"), "ns") * p[i].replicas;
    if (!rc)
        round = shares_round(p, (int)n, &b);
    if (round) {
        client_say(r->c, "round %d of %d: from %.6g to %.6g of %.6g ns", round, b.rounds, sum_of_steps(p, n, false),
                   sum_of_steps(p, n, true), b.time);
        rc = hand_out(r, p, e);
    } else if (!rc) {
        client_say(r->c, "%.6g of %.6g ns were handed out", sum_of_steps(p, n, false), b.time);
    }
    free(p);
    return rc;
}

/* ---- all of it ---- */

/* What may be otherwise when it is looked at again: the service is away, or someone else has done something meanwhile.
 */
static bool may_pass(int rc)
{
    return rc == -ERR_UNREACHABLE || rc == -ERR_BUSY || rc == -ERR_CONFLICT;
}

static int spend(struct running *r, struct err *e)
{
    bool budget = json_is_object(json_object_get(r->k->plan, "budget")),
         ladder = json_is_object(json_object_get(r->k->plan, "ladder"));
    double since = 0; /* of rounds that came to nothing, with nothing to wait for between them */
    for (;;) {
        double began = clock_now();
        int rc = wait_for_all(r, e);
        since = clock_now() - began < LOOK_LEAST_S ? since : 0;
        if (rc)
            return rc;
        if (ladder)
            rc = campaign_grow(r->k, r->c, e);
        if (!rc && budget)
            rc = round_next(r, e);
        if (!rc)
            return 0;
        double now = clock_now();
        since = rc > 0 ? 0 : since > 0 ? since : now;
        if (rc < 0 && (!may_pass(rc) || now - since > PATIENCE_S))
            return rc;
        *e = (struct err){0};
        if (rc < 0)
            here_sleep(LOOK_LEAST_S);
    }
}

/* Prints the campaign's status at a stop. The same command goes on from there. */
static int say_stop(const struct running *r, const struct err *e)
{
    if (r->k->present)
        campaign_status_print(r->c, r->k);
    struct states s = r->k->present ? states_of(r->k) : (struct states){0};
    client_say(r->c, "%zu of %zu %s ended, %d %% of all steps are done", s.ended, s.there,
               number_word((int64_t)s.there, "ensemble has", "ensembles have"), (int)(100 * s.progress));
    printable_line(stderr, "shoal: %s", e->msg);
    return err_exit(e->code);
}

/* After an error; of a stop that was asked for, say_stop. */
static int say_end(const struct running *r, const struct err *e)
{
    struct err over = {0};
    return is_over(r, &over) ? say_stop(r, &over) : client_fail(r->c, e);
}

/* Submits what can be; where windows are placed by pilots, waits for these and submits what follows from them, until
 * all is there. */
static int send_turns(struct running *r, const char *file, json_t *said, struct err *e)
{
    for (;;) {
        json_t *submitted = NULL;
        int rc = campaign_send(r->k, (struct client *)r->c, file, said, &submitted);
        json_decref(submitted);
        if (rc == EXIT_OK && !r->k->waiting)
            campaign_say_ladders(r->k, r->c);
        if (rc != EXIT_OK || !r->k->waiting)
            return rc;
        if (wait_for_all(r, e))
            return say_end(r, e);
        campaign_close(r->k);
    }
}

static int send_all(struct running *r, const char *file, struct err *e)
{
    json_t *said = json_object();
    int rc = send_turns(r, file, said, e);
    json_decref(said);
    return rc;
}

int campaign_prove(struct campaign_view *k, struct client *c, const char *file)
{
    struct client silent = *c;
    struct err e = {0};
    struct running r = {.c = c, .k = k, .deadline = client_deadline(c)};
    silent.quiet = true;
    for (;;) {
        json_t *submitted = NULL;
        int rc = campaign_open(k, c, file, false);
        if (rc == EXIT_OK)
            rc = campaign_place(k, c, &e);
        if (e.code)
            return client_fail(c, &e);
        if (rc != EXIT_OK || (!k->waiting && !json_array_size(json_object_get(k->plan, "errors"))))
            return rc == EXIT_OK ? campaign_unplaced(k, true) : rc;
        campaign_close(k);
        rc = campaign_send(k, &silent, file, NULL, &submitted);
        json_decref(submitted);
        if (rc != EXIT_OK)
            return rc;
        if (wait_for_all(&r, &e)) {
            rc = client_fail(c, &e);
            return r.deadline && clock_now() >= r.deadline ? EXIT_TIMEOUT : rc;
        }
        campaign_close(k);
    }
}

static void say_part(const struct running *r)
{
    const json_t *budget = json_object_get(r->k->plan, "budget");
    if (json_object_get(budget, "all"))
        client_say(r->c, "this share's part of the budget is %.6g of %.6g ns", answer_number(budget, "ns"),
                   answer_number(budget, "all"));
}

/* Up to the end of all; the exit code. */
static int run_all(struct running *r, const char *file)
{
    struct err e = {0}, over = {0};
    int rc = send_all(r, file, &e);
    if (rc == EXIT_OK)
        say_part(r);
    if (rc == EXIT_OK && spend(r, &e))
        rc = say_end(r, &e);
    else if (rc != EXIT_OK && !e.code && is_over(r, &over)) /* a signal to all of a job ends what reads the file, too */
        rc = say_stop(r, &over);
    return r->deadline && e.code == ERR_BUSY && clock_now() >= r->deadline ? EXIT_TIMEOUT : rc;
}

int campaign_run(struct client *c, const char *file)
{
    struct campaign_view k;
    struct keeper keeper;
    struct running r = {.c = c, .k = &k, .deadline = client_deadline(c), .keeper = c->share.of ? &keeper : NULL};
    if (!c->here)
        watch_interruptible_run(file);
    if (r.keeper)
        keeper_open(&keeper);
    int rc = run_all(&r, file);
    json_t *present = json_incref(k.present);
    const int unplaced = rc == EXIT_OK ? campaign_unplaced(&k, true) : EXIT_OK;
    campaign_close(&k);
    if (rc == EXIT_OK)
        rc = campaign_gather(c, file);
    if (unplaced != EXIT_OK && (rc == EXIT_OK || rc == EXIT_TRY_LATER))
        rc = unplaced; /* not for want of time */
    if (r.keeper)
        keeper_close(&keeper, c, present, rc);
    json_decref(present);
    return rc;
}
