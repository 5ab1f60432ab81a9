/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs of coroutines, through the real runner with the CPU device: a turn waits without limit, so a wake-up that is
 * lost hangs the test.
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/worker/threads/runner.h"
#include "engine/run/sim.h"

enum { TASKS = 40, ROUNDS = 50 };

static struct runner runner;

struct task_state {
    struct job job;
    pthread_t owner; /* the thread of the coroutine */
    int number, done, fail_at;
    struct err e;
    sem_t *wait, *post; /* NULL: none */
    enum job_kind kind;
};

static bool ready(const void *task)
{
    return !job_pending(&((const struct task_state *)task)->job);
}

static void ended(void *task)
{
    (void)task;
}

static int one_round(void *task, struct err *e)
{
    struct task_state *t = task;
    assert(!pthread_equal(pthread_self(), t->owner));
    if (++t->done == t->fail_at)
        return err_set(e, ERR_IO, "task %d: round %d", t->number, t->done);
    return 0;
}

static void CO_FN many_rounds(void *task)
{
    struct task_state *t = task;
    t->owner = pthread_self();
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(t->done, i); /* what the job wrote is seen, and it ran once */
        int rc = job_run(runner.jobs, &t->job, i % 2 ? JOB_DISK : JOB_READ, one_round, t, &t->e);
        if (t->done == t->fail_at) {
            assert_int_equal(rc, -ERR_IO);
            return;
        }
        assert_int_equal(rc, 0);
    }
}

static void run_until_ended(void)
{
    struct err e = {0};
    while (runner.count)
        assert_int_equal(runner_turn(&runner, NULL, 0, -1, &e), 0);
}

static void add(struct task_state *t, void (*fn)(void *))
{
    struct err e = {0};
    assert_int_equal(runner_add(&runner, fn, ready, ended, t, &e), 0);
}

static void many_at_once(void **state)
{
    (void)state;
    static struct task_state tasks[TASKS];
    for (int i = 0; i < TASKS; i++) {
        tasks[i] = (struct task_state){.number = i, .fail_at = i == 7 ? 20 : 0};
        add(&tasks[i], many_rounds);
    }
    run_until_ended();
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(tasks[i].done, i == 7 ? 20 : ROUNDS);
    assert_string_equal(tasks[7].e.msg, "task 7: round 20");
}

static int wait_and_post(void *task, struct err *e)
{
    struct task_state *t = task;
    (void)e;
    if (t->wait)
        sem_wait(t->wait);
    t->done++;
    if (t->post)
        sem_post(t->post);
    return 0;
}

static void CO_FN once(void *task)
{
    struct task_state *t = task;
    assert_int_equal(job_run(runner.jobs, &t->job, t->kind, wait_and_post, t, &t->e), 0);
}

/* A long reading, and one slow disk, are waited for by nobody else. */
static void a_slow_one_holds_up_no_other(void **state)
{
    (void)state;
    sem_t quick;
    sem_init(&quick, 0, 0);
    struct task_state reading = {.kind = JOB_READ, .wait = &quick}, disk = {.kind = JOB_DISK, .wait = &quick};
    struct task_state others[10];
    add(&reading, once);
    add(&disk, once);
    for (int i = 0; i < 10; i++) {
        others[i] = (struct task_state){.kind = JOB_DISK, .post = i < 2 ? &quick : NULL};
        add(&others[i], once);
    }
    run_until_ended();
    assert_int_equal(reading.done + disk.done, 2);
    sem_destroy(&quick);
}

static void first_in_first_out(void **state)
{
    (void)state;
    static struct task_state tasks[3];
    sem_t one, two;
    sem_init(&one, 0, 0);
    sem_init(&two, 0, 0);
    /* There is one thread for reading: any other order would wait for ever. */
    tasks[0] = (struct task_state){.kind = JOB_READ, .post = &one};
    tasks[1] = (struct task_state){.kind = JOB_READ, .wait = &one, .post = &two};
    tasks[2] = (struct task_state){.kind = JOB_READ, .wait = &two};
    for (int i = 0; i < 3; i++)
        add(&tasks[i], once);
    run_until_ended();
    assert_int_equal(tasks[2].done, 1);
    sem_destroy(&one);
    sem_destroy(&two);
}

static int open_all(void **state)
{
    (void)state;
    struct err e = {0};
    return engine_open(&runner.dev[0], "cpu:1", &e) || jobs_new(&runner.jobs, &e);
}

static int close_all(void **state)
{
    (void)state;
    jobs_free(runner.jobs);
    jobs_free(NULL);
    dev_close(runner.dev[0]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(a_slow_one_holds_up_no_other),
        cmocka_unit_test(first_in_first_out),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
