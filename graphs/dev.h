/* SPDX-License-Identifier: Apache-2.0
 *
 * The seam between the engine and whatever executes tapes. A device runs tapes eagerly, or builds them into graphs of
 * several steps and replays those. Lanes are in-order queues; work on different lanes is concurrent. All calls on one
 * device come from one thread; kernels run elsewhere (CPU device: a pool of threads, a lane on one of them at a time;
 * CUDA: the GPU).
 *
 * Completion is not reported by calls. A word in mapped memory reaches a value: one that a kernel counts up (a
 * "ticket") or one of the device's own (a mark). The host compares it with what it submitted, and watch() has poll()
 * wait for it.
 *
 * No call waits for the device but those that say so (copy, lane_free, drop, close, and alloc but for growth that was
 * foreseen): they are for setting up and taking down.
 */
#ifndef SHOAL_GRAPHS_DEV_H
#define SHOAL_GRAPHS_DEV_H

#include "graphs/tape.h"

struct dev;
struct lane;
struct graph;

enum dev_memory {
    DEV_MEMORY, /* device memory; zeroed on allocation */
    DEV_MAPPED, /* pinned, visible to host and device at the same or different addresses; zeroed */
};

enum { DEV_FULL = 1 }; /* alloc: it does not fit now */

/* Reached when everything submitted to a lane before it has finished. Zeroed: reached. */
struct mark {
    const uint64_t *word;
    uint64_t target;
};

static inline bool mark_passed(const struct mark *m)
{
    return !m->word || __atomic_load_n(m->word, __ATOMIC_ACQUIRE) >= m->target;
}

/* Bytes of DEV_MEMORY. */
struct dev_usage {
    size_t total; /* of the device */
    size_t free;  /* that an allocation could still get, whatever else uses the device left aside */
    size_t used;  /* handed out by this dev */
    size_t lane;  /* of them, to the lane asked about */
    size_t slab;  /* memory is taken in pieces of so many; what needs more than half of one gets a piece to itself; 0:
                     any */
};

struct dev_ops {
    void (*close)(struct dev *);
    /* Allocates memory for one lane, or shared by all (lane NULL). *host is NULL for DEV_MEMORY on devices whose memory
     * the host cannot touch; on the CPU device host == device. Zeroed before any later work of the lane (lane NULL:
     * when the call returns). The pool keeps a reserve of 1.3 times the longest block of any lane, so that this block
     * can grow without a wait for the device unless memory is short. DEV_FULL: *e is an ERR_MEMORY with bytes asked,
     * free and total; the device is as it was. */
    int (*alloc)(struct dev *, struct lane *, enum dev_memory kind, size_t bytes, void **device, void **host,
                 struct err *e);
    /* Only its lane (if it had one) still uses it: it is reused when the work submitted to that lane has finished. */
    void (*free)(struct dev *, enum dev_memory kind, void *device);
    void (*usage)(struct dev *, struct lane *, struct dev_usage *out); /* lane may be NULL */
    /* Energy that the whole device has taken, whoever used it, since a time that stays the same until its driver is
     * loaded again, in millijoules. False: it does not tell. NULL: no device of the kind does. */
    bool (*energy)(struct dev *, uint64_t *millijoules);
    int (*lane_new)(struct dev *, struct lane **, struct err *);
    void (*lane_free)(struct dev *, struct lane *); /* waits for its work first; its graphs must be dropped before */
    /* Ordered after the lane's earlier work; returns when the bytes have moved. Either side may be device. */
    int (*copy)(struct dev *, struct lane *, void *to, const void *from, size_t bytes, struct err *e);
    /* The same without waiting. The host's side, if any, is DEV_MAPPED memory, not touched until a later mark is
     * passed. */
    int (*copy_async)(struct dev *, struct lane *, void *to, const void *from, size_t bytes, struct err *e);
    int (*mark)(struct dev *, struct lane *, struct mark *out, struct err *e);
    /* What is submitted to the lane from now on begins when all that was submitted to `before` until now has finished.
     */
    int (*follow)(struct dev *, struct lane *, struct lane *before, struct err *e);
    int (*run)(struct dev *, struct lane *, const struct tape *,
               struct err *); /* eager; asynchronous but for a clock */
    /* Fills in nodes and nodes_hash of the tape's library launches: what launching them now puts into a graph. */
    int (*trace)(struct dev *, struct lane *, struct tape *, struct err *);
    /* Makes *graph hold the tape `repeat` times over (1 or more); *graph NULL: new; else updated in place or replaced.
     * After a failure it is NULL or holds what it held. */
    int (*build)(struct dev *, struct lane *, const struct tape *, uint32_t repeat, struct graph **, struct err *);
    int (*replay)(struct dev *, struct lane *, struct graph *, uint32_t times, struct err *); /* asynchronous */
    /* What the graph holds as its repetition number `repetition` (from 0), as a tape. */
    int (*readback)(struct dev *, struct graph *, uint32_t repetition, struct tape *, struct err *);
    void (*drop)(struct dev *, struct graph *); /* replays already submitted still happen; NULL is fine */
    /* poll() is to return when *word (mapped memory, the host's address) has reached `target`. One watch a lane: a new
     * one replaces the old. */
    void (*watch)(struct dev *, struct lane *, const uint64_t *word, uint64_t target);
    /* Waits until a watched word may have reached its target, or timeout_ms passed (0: return at once, -1: no limit);
     * returns at once when nothing is watched. ERR_DEVICE: the device is lost. */
    int (*poll)(struct dev *, int timeout_ms, struct err *);
    /* A descriptor that becomes readable when poll would return early, for the host's event loop; -1: none, poll often.
     */
    int (*poll_fd)(struct dev *);
};

/* What launches on a GPU may ask for, and what a program chooses its launches by; zeros of other devices. */
struct dev_limits {
    uint32_t processors;       /* multiprocessors */
    uint32_t block_shared;     /* bytes of shared memory that a block may have, static and dynamic */
    uint32_t processor_shared; /* bytes of shared memory that a multiprocessor has for its blocks */
    uint32_t reserved_shared;  /* bytes of shared memory that each block takes beside its own */
    uint32_t queues;           /* lanes that do not wait for one another; 0: all */
    bool clusters;             /* of blocks */
};

/* Of one launch: its time, and the part of the device that its blocks fill (up to 1), so that seconds x part is what it
 * takes away from other lanes at least. */
struct launch_time {
    double seconds, part;
};

/* Hears what launches take; embedded in what belongs to its owner. times: of the tape's launches, in their order. A CPU
 * device says processor time, a GPU the time between marks before and behind the launch, less what two marks with
 * nothing between them are apart. */
struct dev_clock {
    void (*ran)(struct dev_clock *clock, const struct dev *d, const struct tape *t, const struct launch_time *times);
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
    struct dev_limits limits;
    struct build_cost build_cost;
    bool eager;     /* for recorders: graphs are not to be made */
    bool shuffle;   /* the CPU device: launches of a step in ever other orders, of those that the edges allow */
    uint32_t lanes; /* there are */
    struct dev_clock *clock; /* borrowed; NULL, or run() waits for the tape, whose launches go one after another, and
                                tells it what they took. Replays are not timed. */
    void *collector; /* not the device's: what its user collects launches in (engine/run/gang.h); NULL at first */
    struct err lost; /* code ERR_NONE, or why the device cannot be used any more: every call fails with this then */
};

/* The failure is the device's: no replica is to blame, the process that holds the device should end. */
static inline bool dev_lost(const struct dev *d)
{
    return d->lost.code != ERR_NONE;
}

/* Opens "cpu" (as many threads as cores this process may use), "cpu:N" (N threads), or a GPU by its kind and number, as
 * "cuda:0", or by its driver's id, as "cuda:GPU-3f6b" (graphs/kinds.def; then the process opens no other). ":shuffle"
 * behind the name of a CPU device sets dev.shuffle, ":eager" behind any name dev.eager. Tapes given to it use
 * `kernels`. ERR_USAGE: no such name; ERR_DEVICE: not built in, absent, or a kernel does not fit its declaration. */
int dev_open(struct dev **out, const char *name, struct kernel_table kernels, struct err *e);
/* Calls `gpu` with the name of each GPU that there is, usable or not, and `unknown` with why GPUs of a kind cannot be
 * counted: the driver does not tell, or has some and this program no way to them. */
void dev_gpus(void (*gpu)(void *ctx, const char *name), void (*unknown)(void *ctx, const struct err *e), void *ctx);
/* Monotonic clock, microseconds. */
double dev_now(void);
/* Waits for a mark of a lane. */
int dev_wait(struct dev *d, struct lane *lane, const struct mark *m, struct err *e);
/* Closes and frees; NULL is fine. Lanes, graphs and memory must be gone before. */
void dev_close(struct dev *d);

#endif
