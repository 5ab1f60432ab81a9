/* SPDX-License-Identifier: Apache-2.0
 *
 * One queue for each kind of job, first in, first out. `pending` falls with release order after the job's last write,
 * and the descriptor is signalled after that: a reader that takes the signal and then looks misses nothing. The same
 * with `errand`.
 */
#include "daemon/worker/threads/jobs.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/base/buf.h"

static const unsigned thread_counts[JOB_KINDS] = {[JOB_DISK] = 2, [JOB_READ] = 1};
enum { THREADS_MAX = 3 };

/* Lives on the stack of the job that asks. */
struct job_errand {
    int (*fn)(void *arg, struct err *e);
    void *arg;
    struct err *e;
    int rc;
    sem_t done;
};

struct queue {
    struct jobs *jobs;
    struct job *first, **last;
    pthread_cond_t filled;
};

struct jobs {
    pthread_mutex_t mutex;
    struct queue queues[JOB_KINDS];
    pthread_t threads[THREADS_MAX];
    unsigned count; /* of threads */
    bool closing;
    int fd;
};

static void signal_fd(struct jobs *j)
{
    (void)!write(j->fd, &(uint64_t){1}, sizeof(uint64_t));
}

static void run(struct jobs *j, struct job *job)
{
    job->rc = job->fn(job->arg, &job->err);
    __atomic_store_n(&job->pending, false, __ATOMIC_RELEASE);
    signal_fd(j);
}

int job_ask(struct job *job, int (*fn)(void *arg, struct err *e), void *arg, struct err *e)
{
    struct job_errand errand = {.fn = fn, .arg = arg, .e = e};
    sem_init(&errand.done, 0, 0);
    __atomic_store_n(&job->errand, &errand, __ATOMIC_RELEASE);
    signal_fd(job->jobs);
    while (sem_wait(&errand.done)) /* interrupted */
        ;
    sem_destroy(&errand.done);
    return errand.rc;
}

/* What the job asks for, if anything; on the thread of its coroutine. */
static void answer(struct job *job)
{
    struct job_errand *errand = __atomic_exchange_n(&job->errand, NULL, __ATOMIC_ACQUIRE);
    if (!errand)
        return;
    errand->rc = errand->fn(errand->arg, errand->e);
    sem_post(&errand->done);
}

static void *serve(void *queue)
{
    struct queue *q = queue;
    struct jobs *j = q->jobs;
    pthread_mutex_lock(&j->mutex);
    for (;;) {
        while (!q->first && !j->closing)
            pthread_cond_wait(&q->filled, &j->mutex);
        struct job *job = q->first;
        if (!job)
            break;
        q->first = job->next;
        if (!q->first)
            q->last = &q->first;
        pthread_mutex_unlock(&j->mutex);
        run(j, job);
        pthread_mutex_lock(&j->mutex);
    }
    pthread_mutex_unlock(&j->mutex);
    return NULL;
}

int jobs_new(struct jobs **out, struct err *e)
{
    struct jobs *j = xcalloc(1, sizeof *j);
    pthread_mutex_init(&j->mutex, NULL);
    j->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = j->fd < 0 ? err_errno(e, "eventfd") : 0;
    for (int k = 0; k < JOB_KINDS; k++) {
        struct queue *q = &j->queues[k];
        *q = (struct queue){.jobs = j, .last = &q->first};
        pthread_cond_init(&q->filled, NULL);
        for (unsigned i = 0; !rc && i < thread_counts[k]; i++) {
            if (pthread_create(&j->threads[j->count], NULL, serve, q))
                rc = err_set(e, ERR_MEMORY, "no thread for reading and writing files");
            else
                j->count++;
        }
    }
    if (rc) {
        jobs_free(j);
        return rc;
    }
    *out = j;
    return 0;
}

void jobs_free(struct jobs *j)
{
    if (!j)
        return;
    pthread_mutex_lock(&j->mutex);
    j->closing = true;
    for (int k = 0; k < JOB_KINDS; k++)
        pthread_cond_broadcast(&j->queues[k].filled);
    pthread_mutex_unlock(&j->mutex);
    for (unsigned i = 0; i < j->count; i++)
        pthread_join(j->threads[i], NULL);
    for (int k = 0; k < JOB_KINDS; k++)
        pthread_cond_destroy(&j->queues[k].filled);
    pthread_mutex_destroy(&j->mutex);
    if (j->fd >= 0)
        close(j->fd);
    free(j);
}

int jobs_fd(const struct jobs *j)
{
    return j->fd;
}

void jobs_heard(struct jobs *j)
{
    uint64_t n;
    (void)!read(j->fd, &n, sizeof n);
}

bool job_pending(const struct job *job)
{
    return __atomic_load_n(&job->pending, __ATOMIC_ACQUIRE) && !__atomic_load_n(&job->errand, __ATOMIC_ACQUIRE);
}

void job_start(struct jobs *j, struct job *job, enum job_kind kind, int (*fn)(void *arg, struct err *e), void *arg)
{
    struct queue *q = &j->queues[kind];
    *job = (struct job){.fn = fn, .arg = arg, .pending = true, .jobs = j};
    pthread_mutex_lock(&j->mutex);
    *q->last = job;
    q->last = &job->next;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&j->mutex);
}

int CO_FN job_finish(struct job *job, struct err *e)
{
    while (__atomic_load_n(&job->pending, __ATOMIC_ACQUIRE)) {
        answer(job);
        co_pause();
    }
    if (job->rc < 0)
        *e = job->err;
    return job->rc;
}

int CO_FN job_run(struct jobs *j, struct job *job, enum job_kind kind, int (*fn)(void *arg, struct err *e), void *arg,
                  struct err *e)
{
    job_start(j, job, kind, fn, arg);
    return job_finish(job, e);
}
