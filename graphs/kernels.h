/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns a list of kernels into argument structs, kernel numbers and typed emit functions, for C and for .cu files. A
 * list is a file, say engine/cpu/kernels.def, of lines such as
 *
 *   K(axpy, F(PTR, x) F(PTR, y) F(F64, a) F(U32, n) F(U32, pad_))
 *   K(zero, F(PTR, x) F(U64, bytes))
 *
 * A header names it and includes this file; one C file makes the table (what each kernel does, see kernels_table.h):
 *
 *   #define KERNELS_DEF "engine/cpu/kernels.def"     in engine/cpu/kernels.h:
 *   #include "graphs/kernels.h"                  enum { KERNEL_axpy, .., KERNEL_COUNT }, struct args_axpy,
 *                                                emit_axpy(tape, grid, block, shared_bytes, &(struct args_axpy){...})
 *
 * The structs have no padding (static assert), so that comparing a struct compares every byte: order fields by size and
 * fill up with a pad_ field. No field may depend on the step.
 */
#include <assert.h>
#include <stdint.h>

#include "graphs/tape.h"

#ifndef KERNELS_DEF
#error "define KERNELS_DEF before including graphs/kernels.h"
#endif

#ifndef FIELD_CTYPE_PTR
#define FIELD_CTYPE_PTR void *
#define FIELD_CTYPE_I32 int32_t
#define FIELD_CTYPE_U32 uint32_t
#define FIELD_CTYPE_I64 int64_t
#define FIELD_CTYPE_U64 uint64_t
#define FIELD_CTYPE_F32 float
#define FIELD_CTYPE_F64 double
#endif

/* kernel numbers */
enum {
#define F(type, name)
#define K(kernel, fields) KERNEL_##kernel,
#include KERNELS_DEF
#undef K
#undef F
    KERNEL_COUNT
};

/* argument structs */
#define F(type, name) FIELD_CTYPE_##type name;
#define K(kernel, fields)                                                                                              \
    struct args_##kernel {                                                                                             \
        fields                                                                                                         \
    };
#include KERNELS_DEF
#undef K
#undef F

/* without padding */
#define F(type, name) +sizeof(FIELD_CTYPE_##type)
#define K(kernel, fields) static_assert(sizeof(struct args_##kernel) == 0 fields, "args_" #kernel " has padding");
#include KERNELS_DEF
#undef K
#undef F

/* typed emit functions for the host code that writes tapes, and the CPU device's functions (each does a whole grid) */
#ifndef __cplusplus
#define F(type, name)
#define K(kernel, fields)                                                                                              \
    __attribute__((unused)) static inline void emit_##kernel(struct tape *t, const uint32_t grid[3],                   \
                                                             const uint32_t block[3], uint32_t shared_bytes,           \
                                                             const struct args_##kernel *args)                         \
    {                                                                                                                  \
        tape_add(t, KERNEL_##kernel, grid, block, shared_bytes, args, sizeof *args);                                   \
    }                                                                                                                  \
    void cpu_##kernel(const struct launch *launch, const struct args_##kernel *args);
#include KERNELS_DEF
#undef K
#undef F
#endif
