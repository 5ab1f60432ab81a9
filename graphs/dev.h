/* SPDX-License-Identifier: Apache-2.0
 *
 * The seam between the engine and whatever executes tapes. A device runs tapes eagerly, or builds them into graphs and
 * replays those. Lanes are in-order queues; work on different lanes is concurrent. All calls on one device come from
 * one thread; kernels run elsewhere (CPU device: a pool of threads, a lane on one of them at a time; CUDA: the GPU).
 *
 * Completion is not reported by calls: a tape's last launch bumps a counter in mapped memory (a "ticket"), and the host
 * compares it with what it submitted.
 */
#ifndef SHOAL_GRAPHS_DEV_H
#define SHOAL_GRAPHS_DEV_H

#include "graphs/tape.h"

struct dev;
struct lane;
struct graph;

enum dev_memory {
    DEV_MEMORY, /* device memory; zeroed on allocation */
    DEV_MAPPED, /* visible to host and device at the same or different addresses; zeroed */
};

struct dev_ops {
    void (*close)(struct dev *);
    /* *host is NULL for DEV_MEMORY on devices whose memory the host cannot touch; on the CPU device host == device. */
    int (*alloc)(struct dev *, enum dev_memory kind, size_t bytes, void **device, void **host, struct err *);
    void (*free)(struct dev *, enum dev_memory kind, void *device);
    int (*lane_new)(struct dev *, struct lane **, struct err *);
    void (*lane_free)(struct dev *, struct lane *); /* waits for its work first; its graphs must be dropped before */
    /* Ordered after the lane's earlier work; returns when the bytes have moved (synchronous). Either side may be
     * device. */
    int (*copy)(struct dev *, struct lane *, void *to, const void *from, size_t bytes, struct err *);
    int (*run)(struct dev *, struct lane *, const struct tape *, struct err *); /* eager, asynchronous */
    /* Makes *graph hold the tape; *graph NULL: new; else updated in place or replaced. After a failure it is NULL or holds
     * what it held. */
    int (*build)(struct dev *, struct lane *, const struct tape *, struct graph **, struct err *);
    int (*replay)(struct dev *, struct lane *, struct graph *, uint32_t times, struct err *); /* asynchronous */
    int (*readback)(struct dev *, struct graph *, struct tape *, struct err *); /* what the graph holds, as a tape */
    void (*drop)(struct dev *, struct graph *); /* replays already submitted still happen; NULL is fine */
    /* Waits until something may have finished since the last poll, or timeout_ms passed (0: return at once, -1: no
     * limit); returns at once when no work is outstanding. ERR_DEVICE: the device is lost. */
    int (*poll)(struct dev *, int timeout_ms, struct err *);
    /* A descriptor that becomes readable when poll would return early, for the host's event loop; -1: none, poll often.
     */
    int (*poll_fd)(struct dev *);
};

/* What the last build took, in microseconds: the copy or capture, and the making or updating of what is executed. */
struct build_cost {
    double capture, instantiate, update;
};

/* Every device starts with this. */
struct dev {
    const struct dev_ops *ops;
    struct kernel_table kernels; /* borrowed, static */
    const char *model;           /* "cpu avx512", "NVIDIA H200": results are bitwise reproducible within one model */
    struct build_cost build_cost;
};

/* Opens "cpu" (as many threads as cores this process may use), "cpu:N" (N threads), "cuda:K". Tapes given to it use
 * `kernels`. ERR_USAGE: no such name; ERR_DEVICE: not built in, absent, or a kernel does not fit its declaration. */
int dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e);
/* Closes and frees; NULL is fine. Lanes, graphs and memory must be gone before. */
void dev_close(struct dev *d);

#endif
