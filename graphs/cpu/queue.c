/* SPDX-License-Identifier: Apache-2.0
 *
 *  1. A lane is a queue of jobs. It is idle (no jobs), waiting (for a mark of a lane that was submitted to before),
 * ready (in the ready queue) or running (on exactly one thread).
 *  2. One mutex guards all queues; jobs run without it. A job is a whole replay(n), so it is taken rarely.
 *  3. A thread takes one job from a lane, then puts the lane at the end of the ready queue: lanes share threads fairly.
 *  4. A graph is an immutable deep copy of its tape, counted: by its owner and by every job that replays it.
 *  5. A lane keeps its jobs and graphs that have ended for the next; it has jobs enough for what replicas queue from
 * the beginning.
 *  6. When a job ends, the eventfd is written unless it is readable already (`signalled`); draining reads it.
 */
#include "graphs/cpu/dev.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/base/buf.h"
#include "engine/base/clock.h"
#include "graphs/echo.h"

/* --- executing, on the pool's threads --- */

static void execute(const struct kernel_table *kernels, const struct tape *t, uint32_t number, double *seconds)
{
    const struct launch *l = &t->launches[number];
    const void *args = tape_args(t, l);
    const double begun = seconds ? clock_seconds(CLOCK_THREAD_CPUTIME_ID) : 0;
    echo_note(l, args);
    kernels->kernels[l->kernel].cpu(l, args);
    if (seconds)
        seconds[number] += clock_seconds(CLOCK_THREAD_CPUTIME_ID) - begun;
}

/* splitmix64 (Steele, Lea, Flood): enough to draw orders from. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* One of the launches that may begin now, every one as likely as the others. */
static uint32_t pick(const struct tape *t, uint64_t done, uint64_t *random)
{
    uint32_t ready[TAPE_LAUNCHES_MAX], n = 0;
    for (uint32_t i = 0; i < t->count; i++)
        if (!(done >> i & 1) && !(t->launches[i].after & ~done))
            ready[n++] = i;
    return ready[draw(random) % n];
}

static void step_shuffled(const struct kernel_table *kernels, const struct tape *t, uint64_t *random, double *seconds)
{
    uint64_t done = 0;
    for (uint32_t n = 0; n < t->count; n++) {
        uint32_t i = pick(t, done, random);
        execute(kernels, t, i, seconds);
        done |= UINT64_C(1) << i;
    }
}

static void step(const struct kernel_table *kernels, const struct tape *t, double *seconds)
{
    for (uint32_t i = 0; i < t->count; i++)
        execute(kernels, t, i, seconds);
}

static void do_job(const struct kernel_table *kernels, struct lane *lane, const struct lane_job *job)
{
    uint64_t random = job->order;
    for (uint64_t n = 0; n < job->steps; n++)
        if (job->order)
            step_shuffled(kernels, &job->graph->tape, &random, job->seconds);
        else
            step(kernels, &job->graph->tape, job->seconds);
    if (job->bytes)
        memmove(job->to, job->from, job->bytes);
    if (job->mark)
        __atomic_store_n(&lane->passed, job->mark, __ATOMIC_RELEASE);
}

/* --- queues; with the mutex --- */

/* Or waiting. */
static void make_ready(struct cpu_queue *q, struct lane *lane)
{
    if (!mark_passed(&lane->first->after)) {
        lane->ready_next = q->waiting;
        q->waiting = lane;
        return;
    }
    lane->ready_next = NULL;
    *q->ready_last = lane;
    q->ready_last = &lane->ready_next;
    pthread_cond_signal(&q->work);
}

/* A mark has passed. */
static void look_at_waiting(struct cpu_queue *q)
{
    struct lane *lane = q->waiting, *next;
    q->waiting = NULL;
    for (; lane; lane = next) {
        next = lane->ready_next;
        make_ready(q, lane);
    }
}

static struct lane *take_ready(struct cpu_queue *q)
{
    struct lane *lane = q->ready_first;
    q->ready_first = lane->ready_next;
    if (!q->ready_first)
        q->ready_last = &q->ready_first;
    return lane;
}

static struct lane_job *take_job(struct lane *lane)
{
    struct lane_job *job = lane->first;
    lane->first = job->next;
    if (!lane->first)
        lane->last = &lane->first;
    return job;
}

static void unref(struct graph *g)
{
    if (!g || --g->refs > 0)
        return;
    g->next = g->lane->graphs;
    g->lane->graphs = g;
}

static void signal_host(struct cpu_queue *q)
{
    uint64_t one = 1;
    if (q->signalled)
        return;
    q->signalled = true;
    while (write(q->fd, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

static void job_done(struct cpu_queue *q, struct lane *lane, struct lane_job *job)
{
    const bool marks = job->mark;
    unref(job->graph);
    job->next = lane->ended;
    lane->ended = job;
    if (marks)
        look_at_waiting(q);
    if (lane->first) {
        make_ready(q, lane);
    } else {
        lane->busy = false;
        pthread_cond_broadcast(&q->idle);
    }
    signal_host(q);
}

static void *pool_thread(void *arg)
{
    struct cpu_queue *q = arg;
    pthread_mutex_lock(&q->mutex);
    for (;;) {
        while (!q->ready_first && !q->stop)
            pthread_cond_wait(&q->work, &q->mutex);
        if (!q->ready_first)
            break;
        struct lane *lane = take_ready(q);
        struct lane_job *job = take_job(lane);
        pthread_mutex_unlock(&q->mutex);
        do_job(&q->kernels, lane, job);
        pthread_mutex_lock(&q->mutex);
        job_done(q, lane, job);
    }
    pthread_mutex_unlock(&q->mutex);
    return NULL;
}

/* --- on the host's thread --- */

void cpu_lane_open(struct lane *lane)
{
    lane->last = &lane->first;
    for (int i = 0; i < LANE_JOBS; i++) {
        struct lane_job *job = xcalloc(1, sizeof *job);
        job->next = lane->ended;
        lane->ended = job;
    }
}

void cpu_lane_close(struct lane *lane)
{
    for (struct lane_job *job = lane->ended, *next; job; job = next) {
        next = job->next;
        free(job);
    }
    for (struct graph *g = lane->graphs, *next; g; g = next) {
        next = g->next;
        tape_free(&g->tape);
        free(g);
    }
    free(lane);
}

struct graph *cpu_graph_new(struct cpu_queue *q, struct lane *lane, const struct tape *t, uint32_t repeat)
{
    pthread_mutex_lock(&q->mutex);
    struct graph *g = lane->graphs;
    if (g)
        lane->graphs = g->next;
    pthread_mutex_unlock(&q->mutex);
    if (!g)
        g = xcalloc(1, sizeof *g);
    g->lane = lane;
    g->refs = 1;
    g->repeat = repeat;
    tape_copy(&g->tape, t);
    return g;
}

void cpu_graph_unref(struct cpu_queue *q, struct graph *g)
{
    pthread_mutex_lock(&q->mutex);
    unref(g);
    pthread_mutex_unlock(&q->mutex);
}

void cpu_queue_submit(struct cpu_queue *q, struct lane *lane, const struct lane_job *job)
{
    pthread_mutex_lock(&q->mutex);
    struct lane_job *copy = lane->ended;
    if (copy)
        lane->ended = copy->next;
    else
        copy = xcalloc(1, sizeof *copy);
    *copy = *job;
    copy->next = NULL;
    if (job->graph)
        job->graph->refs++;
    lane->jobs++;
    *lane->last = copy;
    lane->last = &copy->next;
    if (!lane->busy) {
        lane->busy = true;
        make_ready(q, lane);
    }
    pthread_mutex_unlock(&q->mutex);
}

void cpu_queue_wait(struct cpu_queue *q, struct lane *lane)
{
    pthread_mutex_lock(&q->mutex);
    while (lane->busy)
        pthread_cond_wait(&q->idle, &q->mutex);
    pthread_mutex_unlock(&q->mutex);
}

int cpu_queue_poll(struct cpu_queue *q, int timeout_ms, struct err *e)
{
    pthread_mutex_lock(&q->mutex);
    bool waits = !q->signalled;
    pthread_mutex_unlock(&q->mutex);
    struct pollfd p = {.fd = q->fd, .events = POLLIN};
    if (waits && poll(&p, 1, timeout_ms) < 0 && errno != EINTR)
        return err_errno(e, "cpu: poll");
    return 0;
}

void cpu_queue_drain(struct cpu_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    if (q->signalled) {
        uint64_t count;
        q->signalled = false;
        while (read(q->fd, &count, sizeof count) < 0 && errno == EINTR) {
        }
    }
    pthread_mutex_unlock(&q->mutex);
}

/* Signals are the host thread's business, so the pool starts with all of them blocked. */
static int start_threads(struct cpu_queue *q, uint32_t threads)
{
    sigset_t all, before;
    int code = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (q->nthreads < threads && !(code = pthread_create(&q->threads[q->nthreads], NULL, pool_thread, q)))
        q->nthreads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

int cpu_queue_open(struct cpu_queue *q, uint32_t threads, struct kernel_table kernels, struct err *e)
{
    q->kernels = kernels;
    q->threads = xcalloc(threads, sizeof *q->threads);
    q->ready_last = &q->ready_first;
    pthread_mutex_init(&q->mutex, NULL);
    pthread_cond_init(&q->work, NULL);
    pthread_cond_init(&q->idle, NULL);
    q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (q->fd < 0)
        return err_errno(e, "cpu: eventfd");
    int code = start_threads(q, threads);
    return code ? err_set(e, ERR_DEVICE, "cpu: starting %u threads: %s", threads, strerror(code)) : 0;
}

void cpu_queue_close(struct cpu_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    q->stop = true;
    pthread_cond_broadcast(&q->work);
    pthread_mutex_unlock(&q->mutex);
    for (uint32_t i = 0; i < q->nthreads; i++)
        pthread_join(q->threads[i], NULL);
    if (q->fd >= 0)
        close(q->fd);
    pthread_cond_destroy(&q->idle);
    pthread_cond_destroy(&q->work);
    pthread_mutex_destroy(&q->mutex);
    free(q->threads);
}
