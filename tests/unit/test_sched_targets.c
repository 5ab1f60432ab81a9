/* SPDX-License-Identifier: Apache-2.0
 *
 * How far replicas run: extensions, ensembles that are good enough, and production that is handed out by need.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

static int extend(struct play *p, struct ensemble *e, bool more, int64_t steps)
{
    return play_feed(
        p, (struct sched_event){.kind = SCHED_EXTEND, .ensemble = e, .more = more, .step = steps, .message = "longer"});
}

/* Done, running, waiting and failed replicas get a later target; only what has to goes on. */
static void an_extension_is_a_later_target(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 4, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    play_about(&p, SCHED_DONE, &e->replicas[0]);
    play_failed(&p, &e->replicas[1], ERR_SPEC, 0);
    assert_int_equal(e->replicas[1].sm.state, REPLICA_FAILED);
    assert_int_equal(e->replicas[2].sm.state, REPLICA_RUNNING);
    assert_int_equal(extend(&p, e, false, PLAY_STEPS - 1), -ERR_CONFLICT);
    assert_int_equal(extend(&p, e, false, PLAY_STEPS), 0);
    assert_int_equal(p.d.n, 0);
    assert_int_equal(extend(&p, e, true, 50), 0);
    assert_int_equal(play_count(&p, DECIDE_TARGET), 4);
    assert_int_equal(play_count(&p, DECIDE_NOTE), 1);
    assert_int_equal(play_count(&p, DECIDE_STOP), 0);
    assert_int_equal(e->revision, 2);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_QUEUED);
    assert_int_equal(e->replicas[0].saved_step, PLAY_STEPS);
    assert_int_equal(e->replicas[1].sm.state, REPLICA_FAILED);
    assert_int_equal(e->replicas[1].steps, PLAY_STEPS + 50);
    /* One whose worker was told the earlier target comes to it, and goes on as others do whose turn it is. */
    play_about(&p, SCHED_DONE, &e->replicas[2]);
    assert_int_equal(e->replicas[2].saved_step, PLAY_STEPS);
    assert_int_equal(ensemble_count(e, REPLICA_DONE), 0);
    while (ensemble_count(e, REPLICA_RUNNING))
        for (int i = 0; i < e->nreplicas; i++)
            if (e->replicas[i].held)
                play_about(&p, SCHED_DONE, &e->replicas[i]);
    assert_int_equal(ensemble_count(e, REPLICA_DONE), 3);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    assert_int_equal(extend(&p, e, true, 50), -ERR_BUSY);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true}), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_FAILED);
    assert_int_equal(extend(&p, e, false, PLAY_STEPS + 60), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_QUEUED);
    assert_null(e->reason);
    assert_int_equal(play_count(&p, DECIDE_PREPARE), 1);
    assert_int_equal(ensemble_count(e, REPLICA_QUEUED), 3);
    assert_int_equal(play_wish(&p, SCHED_CANCEL, e), 0);
    assert_int_equal(ensemble_count(e, REPLICA_CANCELLED), 3);
    assert_int_equal(extend(&p, e, true, 50), -ERR_CONFLICT);
    assert_int_equal(e->revision, 3);
    play_end(&p);
}

static void live(struct play *p, struct ensemble *e, double error, const char *verdict, int64_t step)
{
    struct sched_event ev = {
        .kind = SCHED_LIVE, .ensemble = e, .ok = true, .error = error, .ladder = 1, .message = verdict, .step = step};
    assert_int_equal(play_feed(p, ev), 0);
}

/* Many ensembles that may end early, few slots: in the time in which one window of each could have had a slice all
 * windows of each have been sampled alike, so that each can have an estimate. Ensembles have been served alike too. */
static void windows_are_sampled_alike_where_slots_are_few(void **state)
{
    enum { ENSEMBLES = 30, WINDOWS = 5, SLOTS = 6, SLICE = 60000, PART = SLICE / WINDOWS };
    struct play p;
    struct ensemble *e[ENSEMBLES];
    int64_t least_of_all = INT64_MAX, most_of_all = 0;
    play_begin(&p, 1);
    for (int i = 0; i < ENSEMBLES; i++) {
        e[i] = play_ensemble(1 + (uint32_t)i % 3, WINDOWS, 0);
        e[i]->stop = (struct stop_rule){.error = 0.5, .after = 20};
        play_endless(e[i]);
        play_add(&p, e[i]);
    }
    play_up(&p, 0, SLOTS, "m");                           /* nobody was alone, and nobody comes */
    play_run(&p, ENSEMBLES * SLICE / SLOTS + SLICE / 10); /* windows leave when they tell of it, a little late */
    for (int i = 0; i < ENSEMBLES; i++) {
        int64_t least = INT64_MAX, most = 0, sum = 0;
        for (int k = 0; k < WINDOWS; k++) {
            int64_t saved = e[i]->replicas[k].saved_step;
            least = saved < least ? saved : least;
            most = saved > most ? saved : most;
            sum += saved;
        }
        assert_in_range(least, PART / 2, SLICE);
        assert_in_range(most - least, 0, PART);
        least_of_all = sum < least_of_all ? sum : least_of_all;
        most_of_all = sum > most_of_all ? sum : most_of_all;
    }
    assert_in_range(most_of_all - least_of_all, 0, 2 * PART);
    play_end(&p);
}

/* Two good estimates in a row end an ensemble where its replicas are; an extension goes on and is not asked again. */
static void an_ensemble_that_is_good_enough_ends(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    e->stop = (struct stop_rule){.error = 0.5, .converged = true, .after = 20};
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    play_about(&p, SCHED_SEGMENT, &e->replicas[0]);
    e->replicas[2].saved_step = 20;
    live(&p, e, 0.4, "converged", 20);
    live(&p, e, 0.4, "unconverged", 20);
    live(&p, e, 0.4, "converged", 19);
    live(&p, e, 0.6, "converged", 20);
    live(&p, e, 0.4, "converged", 20);
    assert_null(e->stopped);
    live(&p, e, 0.5, "converged", 20);
    assert_string_equal(e->stopped, "stopped early: the error is 0.12 kcal/mol (stop-when: 0.12), verdict converged");
    assert_int_equal(play_count(&p, DECIDE_STOP), 2);
    assert_int_equal(play_count(&p, DECIDE_NOTE), 1);
    assert_int_equal(e->replicas[2].steps, 20);
    assert_int_equal(e->replicas[0].steps, PLAY_STEPS);
    play_feed(&p,
              (struct sched_event){.kind = SCHED_STOPPED, .worker = 0, .replica = e->replicas[0].number, .step = 30});
    assert_int_equal(e->replicas[0].steps, 30);
    play_feed(&p,
              (struct sched_event){.kind = SCHED_STOPPED, .worker = 0, .replica = e->replicas[1].number, .step = 5});
    assert_int_equal(e->replicas[1].steps, 20); /* taken back by a failure: no earlier than where it may end */
    play_about(&p, SCHED_DONE, &e->replicas[1]);
    assert_int_equal(e->replicas[1].sm.state, REPLICA_DONE);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_RUNNING); /* for its final files */
    play_about(&p, SCHED_DONE, &e->replicas[0]);
    struct sched_event beyond = {.kind = SCHED_DONE, .worker = 0, .replica = e->replicas[2].number, .step = 25};
    assert_int_equal(play_feed(&p, beyond), 0); /* its checkpoint was newer than was known */
    assert_int_equal(e->replicas[2].steps, 25);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    assert_string_equal(e->reason, e->stopped);
    assert_int_equal(extend(&p, e, true, 10), 0);
    assert_int_equal(e->replicas[0].steps, 40);
    assert_int_equal(e->replicas[2].steps, 35);
    assert_false(ensemble_stopping(e));
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    live(&p, e, 0.1, "converged", 30);
    live(&p, e, 0.1, "converged", 30);
    assert_int_equal(play_count(&p, DECIDE_STOP), 0);
    play_end(&p);
}

/* Where there are fewer slots than windows, one that may end at any time has them all sampled alike. */
static void windows_are_sampled_alike(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    e->stop.error = 1;
    play_begin(&p, 1);
    p.s.slice_ms = 1000;
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    for (int n = 0; n < 12; n++)
        for (int i = 0; i < 3; i++)
            if (e->replicas[i].held) {
                play_about(&p, SCHED_SEGMENT, &e->replicas[i]);
                play_until(&p, p.now + 1500, 0);
                break;
            }
    for (int i = 0; i < 3; i++)
        assert_in_range(e->replicas[i].saved_step, 30, 50);
    play_end(&p);
}

/* Replicas that exchange windows run together or not at all: those that are done wait for the one that failed, and for
 * its owner. */
static void a_set_that_failed_is_not_extended_in_part(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    e->nsets = 0;
    ensemble_add_set(e, 2);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    play_about(&p, SCHED_DONE, &e->replicas[0]);
    play_failed(&p, &e->replicas[1], ERR_SPEC, 10);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true}), 0);
    assert_int_equal(extend(&p, e, true, 50), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    assert_int_equal(e->replicas[0].sm.state, REPLICA_DONE);
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true}), 0);
    assert_int_equal(play_wish(&p, SCHED_RETRY, e), 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    assert_int_equal(ensemble_count(e, REPLICA_RUNNING), 2);
    assert_int_equal(e->replicas[0].told, PLAY_STEPS + 50);
    play_end(&p);
}

/* ---- production by need ---- */

/* One of three windows, and a worker with so many slots. */
static struct ensemble *begin_by_need(struct play *p, int slots)
{
    struct ensemble *e = play_ensemble(1, 3, 0);
    play_by_need(e);
    play_begin(p, 1);
    play_up(p, 0, slots, "m");
    play_add(p, e);
    return e;
}

/* All that are to run do so to their targets. */
static void run_all(struct play *p, struct ensemble *e)
{
    for (int i = 0; i < e->nreplicas; i++)
        if (e->replicas[i].held)
            play_about(p, SCHED_DONE, &e->replicas[i]);
}

/* What a look says: production of each window. */
static void looked(struct play *p, struct ensemble *e, int64_t a, int64_t b, int64_t c)
{
    struct sched_event ev = {
        .kind = SCHED_LOOKED, .ensemble = e, .targets = (const int64_t[]){a, b, c}, .message = "bad"};
    assert_int_equal(play_feed(p, ev), 0);
}

static void assert_targets(const struct ensemble *e, int64_t a, int64_t b, int64_t c)
{
    assert_int_equal(e->replicas[0].steps, a);
    assert_int_equal(e->replicas[1].steps, b);
    assert_int_equal(e->replicas[2].steps, c);
}

/* In rounds, each after a look at all there is; an extension is handed out likewise, alike where there is no estimate.
 */
static void production_goes_where_it_is_needed(void **state)
{
    struct play p;
    struct ensemble *e = begin_by_need(&p, 3);
    run_all(&p, e);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    assert_int_equal(e->sm.state, ENSEMBLE_RUNNING);
    live(&p, e, 1, "converged", 40); /* of fewer samples: it hands out nothing */
    assert_int_equal(play_count(&p, DECIDE_TARGET), 0);
    struct allocate_window w[3];
    assert_int_equal(sched_production(e, w), 120); /* half of all */
    assert_true(w[2].steps == 20 && w[2].replicas == 1);
    looked(&p, e, 30, 60, 30);
    assert_targets(e, 50, 80, 50);
    assert_int_equal(play_count(&p, DECIDE_TARGET), 3);
    assert_int_equal(play_count(&p, DECIDE_START), 3);
    assert_int_equal(play_count(&p, DECIDE_NOTE), 1);
    run_all(&p, e);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    looked(&p, e, 60, 120, 60);
    assert_targets(e, 80, 140, 80);
    assert_int_equal(ensemble_count(e, REPLICA_PAUSED), 3);
    assert_int_equal(play_wish(&p, SCHED_RESUME, e), 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    run_all(&p, e);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    assert_int_equal(extend(&p, e, false, 99), -ERR_CONFLICT);
    assert_int_equal(extend(&p, e, false, 100), 0);
    assert_int_equal(e->revision, 1);
    assert_int_equal(extend(&p, e, true, 40), 0);
    assert_int_equal(e->revision, 2);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    assert_targets(e, 80, 140, 80);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    play_feed(&p, (struct sched_event){.kind = SCHED_LOOKED, .ensemble = e, .message = "no estimator"});
    assert_targets(e, 140, 140, 140);
    play_end(&p);
}

/* Walkers make their first switches; a look says how long the others are, and all production is handed out. Later
 * extensions need no look. */
static void switches_become_longer(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    play_by_need(e);
    e->walkers = 1;
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    run_all(&p, e);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    assert_int_equal(extend(&p, e, true, 10), 0);
    assert_int_equal(play_count(&p, DECIDE_TARGET), 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_LOOKED, .ensemble = e, .doublings = 2});
    assert_int_equal(e->doublings, 2);
    assert_int_equal(play_count(&p, DECIDE_TARGET), 2);
    assert_int_equal(play_count(&p, DECIDE_REASON), 1); /* which saves the ensemble */
    assert_int_equal(play_count(&p, DECIDE_START), 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(e->replicas[i].steps, 20 + 80 + 10);
    run_all(&p, e);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 0);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(extend(&p, e, true, 50), 0);
    assert_int_equal(play_count(&p, DECIDE_TARGET), 2);
    assert_int_equal(e->replicas[1].steps, 20 + 80 + 10 + 50);
    assert_int_equal(e->doublings, 2);
    play_end(&p);
}

/* A walker that fails among its first switches comes to all of production when it is retried, though nothing is handed
 * out any more then; and where nobody knows how long switches are best, an event says why they stay as long. */
static void a_walker_that_failed_gets_its_production(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    play_by_need(e);
    e->walkers = 1;
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    play_failed(&p, &e->replicas[1], ERR_SPEC, 30);
    run_all(&p, e);
    play_feed(&p, (struct sched_event){
                      .kind = SCHED_LOOKED, .ensemble = e, .doublings = -1, .message = "a page cannot be read"});
    assert_int_equal(e->doublings, 0);
    bool said = false;
    for (int i = 0; i < p.d.n; i++)
        said |= p.d.item[i].kind == DECIDE_NOTE && strstr(p.d.item[i].text, "nobody knows") &&
                strstr(p.d.item[i].text, "a page cannot be read");
    assert_true(said);
    run_all(&p, e);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_FAILED);
    assert_int_equal(play_wish(&p, SCHED_RETRY, e), 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    assert_int_equal(e->replicas[1].told, 20 + 80);
    run_all(&p, e);
    assert_int_equal(e->replicas[1].saved_step, 20 + 80);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_end(&p);
}

/* Where there are fewer slots than windows, none is left to run alone in the end that could have begun before others.
 */
static void the_longest_goes_first(void **state)
{
    struct play p;
    struct ensemble *e = begin_by_need(&p, 1);
    for (int i = 0; i < 3; i++) { /* all alike: in their order */
        assert_true(e->replicas[i].held);
        play_about(&p, SCHED_DONE, &e->replicas[i]);
    }
    looked(&p, e, 30, 40, 50);
    for (int i = 0; i < 2; i++) {
        struct sched_wait w;
        play_explain(&p, &e->replicas[i], &w);
        assert_int_equal(w.place, 2 - i);
    }
    for (int i = 2; i >= 0; i--) {
        assert_true(e->replicas[i].held);
        play_about(&p, SCHED_DONE, &e->replicas[i]);
    }
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    play_end(&p);
}

/* A look that the machine failed hands out nothing: it is made again. */
static void a_look_that_failed_for_the_machine_is_made_again(void **state)
{
    struct play p;
    struct ensemble *e = begin_by_need(&p, 3);
    run_all(&p, e);
    play_feed(&p, (struct sched_event){.kind = SCHED_LOOKED, .ensemble = e, .code = ERR_BUSY, .message = "too many"});
    assert_int_equal(play_count(&p, DECIDE_TARGET), 0);
    assert_string_equal(e->reason, "too many");
    p.now = sched_wake(&p.s, p.now);
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    looked(&p, e, 30, 60, 30);
    assert_targets(e, 50, 80, 50);
    assert_null(e->reason);
    play_end(&p);
}

/* One that is good enough while it is looked at ends: nothing more is handed out. Its extension goes on from what it
 * has. */
static void what_is_good_enough_is_given_nothing(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    play_by_need(e);
    e->stop = (struct stop_rule){.error = 0.5, .after = 40};
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    play_add(&p, e);
    run_all(&p, e);
    live(&p, e, 0.4, "converged", 40);
    live(&p, e, 0.4, "converged", 40);
    assert_int_equal(e->sm.state, ENSEMBLE_RUNNING);
    looked(&p, e, 30, 60, 30);
    assert_targets(e, 40, 40, 40);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(extend(&p, e, true, 20), 0);
    assert_int_equal(e->allocation.share, 40);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    looked(&p, e, 20, 60, 40);
    assert_targets(e, 40, 80, 60);
    play_end(&p);
}

/* What the database has is enough to go on: a look that was lost is asked for again. One that fails leaves its steps to
 * no one. */
static void a_look_that_was_lost_is_made_again(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 3, 0);
    play_by_need(e);
    for (int i = 0; i < 3; i++) {
        e->replicas[i].saved_step = e->replicas[i].step = 40;
        sm_init(&e->replicas[i].sm, &replica_states, &e->replicas[i], REPLICA_DONE);
    }
    sm_init(&e->sm, &ensemble_states, e, ENSEMBLE_RUNNING);
    play_begin(&p, 1);
    play_up(&p, 0, 3, "m");
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ADD, .ensemble = e}), 0);
    assert_int_equal(play_count(&p, DECIDE_LOOK), 1);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    looked(&p, e, 30, 30, 60);
    assert_targets(e, 50, 50, 80);
    play_failed(&p, &e->replicas[0], ERR_SPEC, 45);
    run_all(&p, e);
    looked(&p, e, 0, 54, 108); /* more than there is for two: alike, then */
    assert_targets(e, 50, 100, 100);
    run_all(&p, e);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    play_end(&p);
}

/* Results of one that has ended are made again, and nothing runs; asked for twice they are made once. */
static void results_are_made_again(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    assert_int_equal(play_wish(&p, SCHED_REESTIMATE, e), -ERR_CONFLICT);
    assert_int_equal(play_wish(&p, SCHED_PAUSE, e), 0);
    assert_int_equal(play_wish(&p, SCHED_REESTIMATE, e), -ERR_CONFLICT);
    play_wish(&p, SCHED_RESUME, e);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    play_about(&p, SCHED_STOPPED, &e->replicas[0]);
    play_about(&p, SCHED_STOPPED, &e->replicas[1]);
    run_all(&p, e);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    assert_int_equal(play_wish(&p, SCHED_REESTIMATE, e), 0); /* they are being made */
    assert_int_equal(p.d.n, 0);
    assert_false(e->again);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(play_wish(&p, SCHED_REESTIMATE, e), 0);
        assert_int_equal(play_count(&p, DECIDE_ESTIMATE), i ? 0 : 1);
        assert_int_equal(play_count(&p, DECIDE_START), 0);
        assert_int_equal(play_count(&p, DECIDE_PREPARE), 0);
        assert_true(e->again);
    }
    /* What the machine lacks is waited for, as at the first end; what it cannot get over fails the ensemble. */
    play_feed(&p,
              (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .code = ERR_BUSY, .message = "too many"});
    assert_string_equal(e->reason, "too many");
    p.now = sched_wake(&p.s, p.now);
    play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    assert_int_equal(play_count(&p, DECIDE_ESTIMATE), 1);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .code = ERR_ESTIMATE, .message = "no"});
    assert_int_equal(e->sm.state, ENSEMBLE_FAILED);
    assert_int_equal(play_wish(&p, SCHED_REESTIMATE, e), 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    assert_null(e->reason);
    /* An end after that is one like any other. */
    extend(&p, e, true, 10);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    run_all(&p, e);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    assert_false(e->again);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_extension_is_a_later_target),
        cmocka_unit_test(windows_are_sampled_alike_where_slots_are_few),
        cmocka_unit_test(an_ensemble_that_is_good_enough_ends),
        cmocka_unit_test(windows_are_sampled_alike),
        cmocka_unit_test(a_set_that_failed_is_not_extended_in_part),
        cmocka_unit_test(production_goes_where_it_is_needed),
        cmocka_unit_test(switches_become_longer),
        cmocka_unit_test(a_walker_that_failed_gets_its_production),
        cmocka_unit_test(the_longest_goes_first),
        cmocka_unit_test(a_look_that_was_lost_is_made_again),
        cmocka_unit_test(what_is_good_enough_is_given_nothing),
        cmocka_unit_test(a_look_that_failed_for_the_machine_is_made_again),
        cmocka_unit_test(results_are_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
