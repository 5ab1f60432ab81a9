/* SPDX-License-Identifier: Apache-2.0
 *
 * When the results of ensembles are made, where that fails or nobody needs them yet.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

/* Estimates that the machine fails, from the one that is under way until `most` have failed or the ensemble has ended;
 * how many did. The pauses between them double, up to ten minutes. */
static int fail_estimates(struct play *p, struct ensemble *e, int most)
{
    static const char why[] = "lambda_03/dhdl.xvg: Input/output error";
    int failed = 0, notes = 0;
    for (int64_t pause = 2000; failed < most && e->sm.state == ENSEMBLE_FINISHING; failed++) {
        play_feed(p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .code = ERR_BUSY, .message = why});
        notes += play_count(p, DECIDE_NOTE);
        assert_int_equal(notes, e->sm.state == ENSEMBLE_FINISHING ? 1 : 2);
        if (e->sm.state != ENSEMBLE_FINISHING)
            continue;
        assert_string_equal(e->reason, why);
        assert_int_equal(sched_wake(&p->s, p->now), p->now + pause);
        p->now += pause;
        pause = pause < 300000 ? 2 * pause : 600000;
        play_feed(p, (struct sched_event){.kind = SCHED_TICK});
        assert_int_equal(play_count(p, DECIDE_ESTIMATE), 1);
    }
    return failed;
}

/* A file that cannot be read is tried ever less often, and for a day: then the ensemble has failed, until its owner
 * asks again. */
static void a_disk_that_does_not_read_is_given_up_after_a_day(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 1, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    play_about(&p, SCHED_DONE, &e->replicas[0]);
    assert_int_equal(fail_estimates(&p, e, 5), 5);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    assert_int_equal(play_count(&p, DECIDE_NOTE), 1);
    assert_string_equal(p.d.item[0].text, "the samples were read at try 6");
    assert_int_equal(play_wish(&p, SCHED_REESTIMATE, e), 0);
    assert_in_range(fail_estimates(&p, e, 1000), 140, 160); /* 144 times ten minutes, and a few before */
    assert_int_equal(e->sm.state, ENSEMBLE_FAILED);
    assert_non_null(strstr(e->reason, "lambda_03/dhdl.xvg: Input/output error; its samples are kept"));
    assert_non_null(strstr(e->reason, "shoal reestimate"));
    assert_int_equal(sched_wake(&p.s, p.now), INT64_MAX);
    assert_int_equal(play_wish(&p, SCHED_REESTIMATE, e), 0);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(e->sm.state, ENSEMBLE_DONE);
    play_end(&p);
}

/* What a cancelled ensemble has is estimated when somebody asks for it. */
static void a_cancelled_ensemble_stays_so(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0);
    play_begin(&p, 1);
    play_add(&p, e);
    play_wish(&p, SCHED_CANCEL, e);
    assert_int_equal(play_wish(&p, SCHED_REESTIMATE, e), 0);
    assert_int_equal(p.d.n, 0);
    assert_int_equal(e->sm.state, ENSEMBLE_CANCELLED);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disk_that_does_not_read_is_given_up_after_a_day),
        cmocka_unit_test(a_cancelled_ensemble_stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
