/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the CPU device: lanes are queues of jobs, carried out by a pool of threads (queue.c); the rest is what a
 * device does around them (dev.c).
 */
#ifndef SHOAL_GRAPHS_CPU_DEV_H
#define SHOAL_GRAPHS_CPU_DEV_H

#include <pthread.h>

#include "graphs/dev_open.h"
#include "graphs/pool.h"

struct graph {
    struct graph *next; /* of its lane's that have ended */
    struct lane *lane;
    struct tape tape;
    uint32_t repeat;
    uint32_t refs; /* under the queue's mutex */
};

/* One of: steps of a graph, a copy, a mark, a wait for another lane's mark. */
struct lane_job {
    struct lane_job *next;
    struct graph *graph; /* a reference of its own; or NULL */
    uint64_t steps;
    void *to;
    const void *from;
    size_t bytes;
    uint64_t mark;     /* the lane's `passed` becomes this; 0: it stays */
    uint64_t order;    /* seed of the order of launches within a step; 0: tape order */
    double *seconds;   /* borrowed: of each launch of the graph, processor time is added; NULL: nobody asks */
    struct mark after; /* it begins when that has passed */
};

enum { LANE_JOBS = 32 }; /* kept from the beginning */

struct lane {
    struct lane_job *first, **last;
    struct lane_job *ended;  /* for the next */
    struct graph *graphs;    /* the same */
    struct lane *ready_next; /* of those that are ready, or that wait for others */
    bool busy;               /* ready, waiting or running */
    uint64_t passed;         /* stored by the pool's threads, read by the host */
    uint64_t marked;         /* the last mark asked for */
    uint64_t jobs;           /* submitted so far */
    struct mark watched;
    struct lane *next;
};

struct cpu_queue {
    struct kernel_table kernels;
    pthread_t *threads;
    uint32_t nthreads;
    pthread_mutex_t mutex;
    pthread_cond_t work; /* a lane became ready, or stop */
    pthread_cond_t idle; /* a lane became idle */
    struct lane *ready_first, **ready_last;
    struct lane *waiting; /* whose first job waits for another lane's mark */
    bool stop;
    bool signalled; /* the eventfd is readable */
    int fd;
};

/* Zeroed before; cpu_queue_close() is due after a failure too. */
int cpu_queue_open(struct cpu_queue *q, uint32_t threads, struct kernel_table kernels, struct err *e);
void cpu_queue_close(struct cpu_queue *q); /* what was submitted is done first */
/* Takes over what the job points to; copies the job itself. */
void cpu_queue_submit(struct cpu_queue *q, struct lane *lane, const struct lane_job *job);
void cpu_queue_wait(struct cpu_queue *q, struct lane *lane); /* until it is idle */
/* Waits until a job ended since the last drain, at most timeout_ms. */
int cpu_queue_poll(struct cpu_queue *q, int timeout_ms, struct err *e);
void cpu_queue_drain(struct cpu_queue *q);

void cpu_lane_open(struct lane *lane);  /* zeroed before */
void cpu_lane_close(struct lane *lane); /* idle, its graphs dropped; frees it */
/* Replayed in this lane only. */
struct graph *cpu_graph_new(struct cpu_queue *q, struct lane *lane, const struct tape *t, uint32_t repeat);
void cpu_graph_unref(struct cpu_queue *q, struct graph *g); /* NULL is fine */

#endif
