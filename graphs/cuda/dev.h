/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the CUDA device: dev.c opens it, failed.c words its errors, memory.c gives memory, lanes.c lanes, launch.c
 * launches, run.c does tapes without graphs and times launches, graph.c captures and replays, readback.c reads graphs
 * back, wait.c has marks and waiting.
 */
#ifndef SHOAL_GRAPHS_CUDA_DEV_H
#define SHOAL_GRAPHS_CUDA_DEV_H

#include <cuda_runtime_api.h>
#include <cudaTypedefs.h>

#include "engine/base/buf.h"
#include "graphs/cuda/nvml/energy.h"
#include "graphs/dev_open.h"
#include "graphs/poll_pace.h"
#include "graphs/pool.h"

/* A stream, and a word in mapped memory that says which marks have passed. */
struct lane {
    cudaStream_t stream;
    cudaEvent_t reached; /* for lanes that follow it: where it was when the last of them was told to */
    uint64_t *passed;    /* host address */
    void *passed_device;
    uint64_t marked; /* the last mark asked for */
    struct mark watched;
    double watched_since; /* microseconds */
    struct lane *next;
};

struct node_list {
    cudaGraphNode_t *at;
    uint32_t count, cap;
};

/* A captured graph, and which of its nodes each launch became. Piece number = repetition x launches + launch. */
struct capture {
    cudaGraph_t graph;
    uint32_t launches, pieces;
    struct node_list nodes;            /* in order of capture */
    struct node_list tails;            /* what comes after a piece comes after these */
    uint32_t *nodes_from, *tails_from; /* [pieces + 1] */
    size_t cap;                        /* of both */
};

struct graph {
    struct lane *lane;
    struct capture captured;
    cudaGraphExec_t exec;
    struct tape held; /* what was captured, `repeat` times */
    uint32_t repeat;
};

struct cuda_kernel {
    cudaFunction_t handle; /* NULL: the kernel is not available here */
    size_t static_shared;  /* bytes */
    uint32_t shared_limit; /* dynamic shared memory allowed so far, bytes */
    bool any_cluster;      /* clusters of more than eight blocks are allowed */
};

/* Functions of the driver that the runtime does not have. */
struct cuda_driver {
    PFN_cuFuncGetParamInfo_v12040 function_parameter;
    PFN_cuKernelGetParamInfo_v12040 kernel_parameter;
    PFN_cuGraphKernelNodeGetParams_v12000 kernel_node;
    PFN_cuStreamWriteValue64_v11070 write_value;
};

/* An executable that was replaced while replays of it were in flight: destroyed when they are done. */
struct retired {
    struct retired *next;
    cudaGraphExec_t exec;
    struct mark done;
};

/* Buffers that capture and check use again; they only grow. */
struct cuda_scratch {
    cudaGraphNode_t *from;   /* nodes of a graph, or the sources of a node's edges */
    cudaGraphEdgeData *data; /* data of a node's edges */
    size_t cap;              /* of both */
    struct node_list after;  /* nodes that the next launch depends on */
    struct buf hashed;       /* what the nodes of a library launch are hashed from */
    struct capture traced;   /* the graph of a tape with library launches, to count their nodes */
};

/* Two before the first launch of a tape, and one behind each. */
enum { CUDA_TICKS = TAPE_LAUNCHES_MAX + 2 };

struct cuda_dev {
    struct dev base;
    char name[DEV_NAME]; /* as it was given */
    int ordinal;
    struct cudaDeviceProp properties;
    size_t free_bytes, total_bytes; /* as last seen */
    struct cuda_driver driver;
    cudaStream_t own; /* for zeroing memory that belongs to no lane */
    struct cuda_kernel *kernels;
    struct pool *pools[2]; /* by enum dev_memory */
    struct lane *lanes;
    struct retired *retired;
    struct cuda_scratch scratch;
    struct pace pace;
    struct gpu_energy energy; /* opened when it is first asked for */
    bool energy_asked;
    double looked_at;   /* when the streams were last asked about errors, microseconds */
    cudaEvent_t *ticks; /* [CUDA_TICKS], for clocks; NULL: none was asked for so far */
};

static inline struct cuda_dev *cuda(struct dev *d)
{
    return (struct cuda_dev *)d;
}

/* CUDA's own calls of this thread are for that device from now on. */
cudaError_t cuda_set_current(int ordinal);
/* The same at the beginning of an operation: CUDA's own calls of this thread are for this device from now on, whichever
 * of several the thread had called before. Where that fails the device is lost. */
struct cuda_dev *cuda_enter(struct dev *dev);

/* Whether launches may begin before those they come after have ended; where not, LAUNCH_EARLY says nothing. */
static inline bool cuda_begins_early(const struct cuda_dev *d)
{
    return d->properties.major >= 9;
}

/* ERR_DEVICE in words. After most failures of the GPU itself nothing works any more: the device is lost then. */
int cuda_failed(struct cuda_dev *d, cudaError_t rc, const char *call, struct err *e);
/* For calls that cannot report: what the device holds is not known any more, so it counts as lost. */
void cuda_note(struct cuda_dev *d, cudaError_t rc, const char *call);
/* 0, or why the device is lost. */
int cuda_lost(struct cuda_dev *d, struct err *e);
/* The same of what was met while waiting: an error of earlier work. */
int cuda_failed_late(struct cuda_dev *d, cudaError_t rc, const char *call, struct err *e);

/* Names the call that failed: `return` from an int function with struct cuda_dev *d and struct err *e in scope. */
#define TRY(function, ...)                                                                                             \
    do {                                                                                                               \
        cudaError_t try_rc = function(__VA_ARGS__);                                                                    \
        if (try_rc != cudaSuccess)                                                                                     \
            return cuda_failed(d, try_rc, #function, e);                                                               \
    } while (0)

void cuda_memory_open(struct cuda_dev *d);
void cuda_memory_close(struct cuda_dev *d);
int cuda_alloc(struct dev *dev, struct lane *lane, enum dev_memory kind, size_t bytes, void **device, void **host,
               struct err *e);
void cuda_free(struct dev *dev, enum dev_memory kind, void *device);
void cuda_usage(struct dev *dev, struct lane *lane, struct dev_usage *out);
int cuda_copy(struct dev *dev, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e);
int cuda_copy_async(struct dev *dev, struct lane *lane, void *to, const void *from, size_t bytes, struct err *e);

int cuda_open_kernels(struct cuda_dev *d, struct err *e);
/* Before a tape is launched or captured: its kernels exist, fit their declaration, and may use what they ask for. */
int cuda_admit(struct cuda_dev *d, const struct tape *t, struct err *e);
/* `first`: it is the first of a graph, or of a tape where it comes after none of it, so that there is nothing to begin
 * early after. */
int cuda_launch(struct cuda_dev *d, struct lane *lane, const struct tape *t, uint32_t number, bool first,
                struct err *e);

/* A tape without a graph; where the device has a clock each launch is timed, and the tape waited for. */
int cuda_run(struct dev *dev, struct lane *lane, const struct tape *t, struct err *e);
void cuda_ticks_free(struct cuda_dev *d);

void cuda_scratch_reserve(struct cuda_scratch *s, size_t nodes);
/* Mask of the launches in the same repetition that launch `number` depends on; 0: it depends on the whole repetition
 * before. A graph has one root: any launch without a dependency is made to depend on the first, because each root
 * occupies a hardware queue, and lanes that share a queue wait for each other. */
uint64_t cuda_after(const struct tape *t, uint32_t number, uint32_t repetition);
/* *out is zeroed, or was dropped: its memory is used again. After a failure it has no graph. */
int cuda_capture(struct cuda_dev *d, struct lane *lane, const struct tape *t, uint32_t repeat, struct capture *out,
                 struct err *e);
void cuda_capture_drop(struct cuda_dev *d, struct capture *c); /* its graph alone */
void cuda_capture_free(struct cuda_dev *d, struct capture *c); /* zeroed is fine, and it is zeroed */
int cuda_build(struct dev *dev, struct lane *lane, const struct tape *t, uint32_t repeat, struct graph **graph,
               struct err *e);
/* Destroys those that were replaced and are done with. */
void cuda_reap(struct cuda_dev *d);
int cuda_replay(struct dev *dev, struct lane *lane, struct graph *g, uint32_t times, struct err *e);
void cuda_drop(struct dev *dev, struct graph *g);

int cuda_trace(struct dev *dev, struct lane *lane, struct tape *t, struct err *e);
int cuda_readback(struct dev *dev, struct graph *g, uint32_t repetition, struct tape *t, struct err *e);

int cuda_lane_new(struct dev *dev, struct lane **out, struct err *e);
void cuda_lane_free(struct dev *dev, struct lane *lane);
int cuda_mark(struct dev *dev, struct lane *lane, struct mark *out, struct err *e);
int cuda_follow(struct dev *dev, struct lane *lane, struct lane *before, struct err *e);
void cuda_watch(struct dev *dev, struct lane *lane, const uint64_t *word, uint64_t target);
int cuda_poll(struct dev *dev, int timeout_ms, struct err *e);
int cuda_poll_fd(struct dev *dev);

#endif
