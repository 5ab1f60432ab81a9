/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns a list of kernels into argument structs, kernel numbers and typed emit functions, for C and for .cu files. A
 * list is a file, say engine/cpu/kernels.def, of lines such as
 *
 *   K(axpy, F(CONST, x) F(PTR, y) F(F64, a) F(U32, n) F(U32, pad_))
 *   V(axpy_twice, axpy)
 *   K(zero, F(PTR, x) F(U64, bytes))
 *   L(fft, F(PTR, mesh) F(PTR, workspace) F(U32, plan) F(U32, direction))
 *
 * K is a kernel of ours, V another one that takes the arguments of a K before it (a family of kernels has one struct),
 * L a function of a library (graphs/tape.h, enum launch_kind). Types: enum field_type; FLOATS(name, count) is an array.
 *
 * A header names it and includes this file; one C file makes the table (what each kernel does, see kernels_table.h):
 *
 *   #define KERNELS_DEF "engine/cpu/kernels.def"     in engine/cpu/kernels.h:
 *   #include "graphs/kernels.h"                  enum { KERNEL_axpy, .., KERNEL_COUNT }, struct args_axpy,
 *                                                emit_axpy(tape, &shape, &(struct args_axpy){...}),
 *                                                emit_axpy_twice(tape, &shape, &(struct args_axpy){...})
 *
 * Where one of a family is chosen, emit_axpy_fn is the type of all of its emit functions:
 *
 *   static emit_axpy_fn *const emit[] = {emit_axpy, emit_axpy_twice};
 *
 * The structs begin with a struct args_head, which tape_add fills in, and have no padding (static assert), so that
 * comparing a struct compares every byte: order fields by size and fill up with a pad_ field. No field may depend on
 * the step. emit_axpy() returns the launch's bit for the `after` masks of later ones.
 *
 * In .cu files every kernel has a struct of its own, a V's derived from that of its family and no larger: the type of
 * the struct says which kernel it is.
 */
#include <assert.h>
#include <stdint.h>

#include "graphs/tape.h"

#ifndef KERNELS_DEF
#error "define KERNELS_DEF before including graphs/kernels.h"
#endif

#ifndef FIELD_CTYPE_PTR
#define FIELD_CTYPE_PTR void *
#define FIELD_CTYPE_CONST const void *
#define FIELD_CTYPE_I32 int32_t
#define FIELD_CTYPE_U32 uint32_t
#define FIELD_CTYPE_I64 int64_t
#define FIELD_CTYPE_U64 uint64_t
#define FIELD_CTYPE_F32 float
#define FIELD_CTYPE_F64 double
#endif

/* kernel numbers */
enum {
#define V(kernel, base) KERNEL_##kernel,
#define K(kernel, fields) V(kernel, kernel)
#define L K
#include KERNELS_DEF
#undef L
#undef K
#undef V
    KERNEL_COUNT
};

/* argument structs */
#define F(type, name) FIELD_CTYPE_##type name;
#define FLOATS(name, count) float name[count];
#ifdef __cplusplus
#define V(kernel, base)                                                                                                \
    struct args_##kernel : args_##base {                                                                               \
    };
#else
#define V(kernel, base)
#endif
#define K(kernel, fields)                                                                                              \
    struct args_##kernel {                                                                                             \
        struct args_head head;                                                                                         \
        fields                                                                                                         \
    };
#define L K
#include KERNELS_DEF
#undef L
#undef K
#undef V
#undef FLOATS
#undef F

/* without padding */
#define F(type, name) +sizeof(FIELD_CTYPE_##type)
#define FLOATS(name, count) +(count) * sizeof(float)
#define V(kernel, base)
#define K(kernel, fields)                                                                                              \
    static_assert(sizeof(struct args_##kernel) == sizeof(struct args_head) fields, "args_" #kernel " has padding");
#define L K
#include KERNELS_DEF
#undef L
#undef K
#undef V
#undef FLOATS
#undef F

/* typed emit functions for the host code that writes tapes, and the CPU device's functions (each does a whole grid) */
#ifndef __cplusplus
#define EMIT_FUNCTION(kernel, base, kind)                                                                              \
    __attribute__((unused)) static inline uint64_t emit_##kernel(struct tape *t, const struct shape *shape,            \
                                                                 const struct args_##base *args)                       \
    {                                                                                                                  \
        return tape_add(t, KERNEL_##kernel, kind, shape, args, sizeof *args);                                          \
    }                                                                                                                  \
    void cpu_##kernel(const struct launch *launch, const struct args_##base *args);
#define V(kernel, base) EMIT_FUNCTION(kernel, base, LAUNCH_KERNEL)
#define K(kernel, fields)                                                                                              \
    typedef uint64_t emit_##kernel##_fn(struct tape *t, const struct shape *shape, const struct args_##kernel *args);  \
    V(kernel, kernel)
#define L(kernel, fields) EMIT_FUNCTION(kernel, kernel, LAUNCH_LIBRARY)
#include KERNELS_DEF
#undef L
#undef K
#undef V
#undef EMIT_FUNCTION
#else
/* the number of a kernel from the type of its arguments, for .cu files */
#ifndef KERNEL_NUMBER
#define KERNEL_NUMBER
template <class Args> struct kernel_number;
#endif
#define V(kernel, base)                                                                                                \
    template <> struct kernel_number<struct args_##kernel> {                                                           \
        enum { value = KERNEL_##kernel };                                                                              \
    };                                                                                                                 \
    static_assert(sizeof(struct args_##kernel) == sizeof(struct args_##base), "arguments of " #base);
#define K(kernel, fields) V(kernel, kernel)
#define L(kernel, fields)
#include KERNELS_DEF
#undef L
#undef K
#undef V
#endif
