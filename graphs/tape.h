/* SPDX-License-Identifier: Apache-2.0
 *
 * A tape is the launch records of one timestep, as plain data: what is launched, in which shape, with which arguments
 * (one struct per launch, as bytes), and after which earlier launches of the same step. Nothing here knows what is
 * computed.
 *
 * The launches of a step form a directed acyclic graph. A launch begins when those in its `after` mask have ended; one
 * with an empty mask begins when every launch of the step before it has. So steps never overlap, and tape order is one
 * of the orders that the edges allow.
 */
#ifndef SHOAL_GRAPHS_TAPE_H
#define SHOAL_GRAPHS_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

/* As many as an `after` mask can name. A longer timestep is several steps to a graph. */
enum { TAPE_LAUNCHES_MAX = 64 };

enum field_type {
    FIELD_PTR,
    FIELD_CONST = FIELD_PTR, /* differs in C's types alone */
    FIELD_I32,
    FIELD_U32,
    FIELD_I64,
    FIELD_U64,
    FIELD_F32,
    FIELD_F64
};

/* One field of a kernel's argument struct. FIELD_PTR holds a device address (on the CPU device a host address),
 * FIELD_CONST one of something that the kernel only reads. Fields follow one another without padding (kernels.h asserts
 * it), so a field's offset is the sum of the sizes before it. */
struct field {
    const char *name;
    enum field_type type;
    uint32_t count; /* elements, 1 unless it is an array */
};
uint32_t field_size(enum field_type type); /* bytes of an element */

/* Every argument struct begins with this (kernels.h puts it there, tape_add fills it in), so that a launch can say
 * where it was asked from: see graphs/echo.h. */
struct args_head {
    void *echo;      /* device address of a struct echo_ring; NULL: no echo */
    uint32_t launch; /* number of the launch in its tape */
    uint32_t pad_;
};

struct launch;
/* A kernel on the CPU device: does the whole grid's work itself, on the calling thread. */
typedef void kernel_cpu_fn(const struct launch *launch, const void *args);
/* A library function on a GPU: puts work of its own on `stream`, the device's (CUDA: a cudaStream_t), which may be
 * capturing: it allocates and waits for nothing. Plans and workspaces are the engine's, made before. *e: its code and
 * "call: what it said (in words)"; the device adds what it knows. */
typedef int enqueue_fn(void *stream, const void *args, struct err *e);

/* What a launch launches: our kernel, one node; or a function of a library (cuFFT), as many nodes as it likes. */
enum launch_kind { LAUNCH_KERNEL, LAUNCH_LIBRARY };

/* One row of a kernel table (made from a kernels.def by graphs/kernels_table.h). A kernel's number is its row. */
struct kernel {
    const char *name;
    enum launch_kind kind;
    uint32_t args_size;
    uint32_t nfields;
    const struct field *fields;
    kernel_cpu_fn *cpu;  /* NULL: not available on the CPU device */
    const void *gpu;     /* LAUNCH_KERNEL: host symbol of the GPU's function, NULL: not available there. It takes the
                           argument struct by value as its only parameter. */
    enqueue_fn *enqueue; /* LAUNCH_LIBRARY: NULL: not available on a GPU */
};

struct kernel_table {
    const struct kernel *kernels;
    uint32_t count;
};

/* Bits of launch.flags. EARLY (programmatic dependent launch): the launch may begin before those it comes after have
 * ended, of this step or of the one before; its kernel waits for them itself, with cudaGridDependencySynchronize(). */
enum launch_flags { LAUNCH_EARLY = 1 };

/* For shape.after: after the launch added before, or after the step before if there is none. */
#define AFTER_PREVIOUS UINT64_MAX

/* How a launch is launched. `after` 0: after the step before; in the first step of a graph, after its first launch. */
struct shape {
    uint32_t grid[3], block[3];
    uint32_t cluster[3];   /* blocks of a cluster; zeros: 1 x 1 x 1, no clusters */
    uint32_t shared_bytes; /* dynamic */
    uint32_t flags;        /* enum launch_flags */
    uint64_t after;        /* bit i: after launch i of this tape; see above */
};
/* One thread, launch after launch: what the CPU device needs. */
#define SHAPE_CHAIN ((struct shape){.grid = {1, 1, 1}, .block = {1, 1, 1}, .after = AFTER_PREVIOUS})

struct launch {
    uint32_t kernel;
    uint32_t kind; /* enum launch_kind, the row's */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared_bytes;
    uint32_t flags;
    uint32_t nodes;      /* LAUNCH_LIBRARY: graph nodes it is made of, 0 until dev_ops.trace() has counted them */
    uint64_t nodes_hash; /* of their functions, shapes and parameters */
    uint64_t after;
    uint32_t args_offset; /* into tape.args */
    uint32_t args_size;
};

/* Zeroed is valid and empty. The tape owns both arrays. */
struct tape {
    struct launch *launches;
    uint32_t count, cap;
    unsigned char *args;
    size_t args_len, args_cap;
    void *echo; /* device address of a struct echo_ring that goes into the launches added from now on, or NULL */
    /* For clocks (dev.h), never compared: the emitter's number for what this does, 0: none; and how many pieces of it,
     * for all replicas. */
    uint32_t work, pieces;
};

/* Appends one launch, copying args_size bytes of arguments that begin with a struct args_head, whose values are the
 * tape's to fill in. Returns the launch's bit for `after` masks; 0 beyond the last launch that has one (check_launches
 * refuses such a tape). The typed emit_<kernel>() of kernels.h are the way to call it. */
uint64_t tape_add(struct tape *t, uint32_t kernel, enum launch_kind kind, const struct shape *shape, const void *args,
                  uint32_t args_size);
/* Appends a launch as it is, arguments and all (l's offset is not used). */
void tape_append(struct tape *t, const struct launch *l, const void *args);
const void *tape_args(const struct tape *t, const struct launch *l);
uint64_t tape_sinks(const struct tape *t);                /* mask of the launches that no other comes after */
bool tape_has_library(const struct tape *t);              /* some launch is a LAUNCH_LIBRARY */
void tape_copy(struct tape *to, const struct tape *from); /* to must be zeroed or a tape; it becomes a deep copy */
void tape_clear(struct tape *t);                          /* empties, keeps memory, `echo`, `work` and `pieces` */
void tape_free(struct tape *t);

#endif
