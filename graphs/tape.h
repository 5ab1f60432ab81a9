/* SPDX-License-Identifier: Apache-2.0
 *
 * A tape is the launch records of one timestep, as plain data: kernel number, grid, block, shared bytes, and one
 * argument struct per launch as bytes. Nothing here knows what the kernels compute.
 */
#ifndef SHOAL_GRAPHS_TAPE_H
#define SHOAL_GRAPHS_TAPE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

enum field_type { FIELD_PTR, FIELD_I32, FIELD_U32, FIELD_I64, FIELD_U64, FIELD_F32, FIELD_F64 };

/* One field of a kernel's argument struct. FIELD_PTR holds a device address (on the CPU device a host address). Fields
 * follow one another without padding (kernels.h asserts it), so a field's offset is the sum of the sizes before it. */
struct field {
    const char *name;
    enum field_type type;
};
uint32_t field_size(enum field_type type); /* bytes */

struct launch;
/* A kernel on the CPU device: does the whole grid's work itself, on the calling thread. */
typedef void kernel_cpu_fn(const struct launch *launch, const void *args);

/* One row of a kernel table (made from a kernels.def by graphs/kernels_table.h). A kernel's number is its row. */
struct kernel {
    const char *name;
    uint32_t args_size;
    uint32_t nfields;
    const struct field *fields;
    kernel_cpu_fn *cpu; /* NULL: not available on the CPU device */
    const void *cuda;   /* host symbol of the __global__ function, NULL: not available on CUDA. The function takes the
                           argument struct by value as its only parameter. */
};

struct kernel_table {
    const struct kernel *kernels;
    uint32_t count;
};

struct launch {
    uint32_t kernel;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t args_offset; /* into tape.args */
    uint32_t args_size;
};

/* Zeroed is valid and empty. The tape owns both arrays. */
struct tape {
    struct launch *launches;
    uint32_t count, cap;
    unsigned char *args;
    size_t args_len, args_cap;
};

/* Appends one launch, copying args_size bytes of arguments. The typed emit_<kernel>() of kernels.h are the way to call
 * it. */
void tape_add(struct tape *t, uint32_t kernel, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes,
              const void *args, uint32_t args_size);
const void *tape_args(const struct tape *t, const struct launch *l);
void tape_copy(struct tape *to, const struct tape *from); /* to must be zeroed or a tape; it becomes a deep copy */
void tape_clear(struct tape *t);                          /* empties, keeps memory */
void tape_free(struct tape *t);

#endif
