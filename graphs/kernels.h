/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns an X-macro list of kernels into argument structs, field tables and typed emit functions. A list reads:
 *
 *   #define MY_KERNELS(K)                                                   \
 *       K(axpy, F(PTR, x) F(PTR, y) F(F64, a) F(U32, n) F(U32, pad_))       \
 *       K(zero, F(PTR, x) F(U64, bytes))
 *
 * The structs have no padding (static assert), so whole-struct comparison compares every byte; order fields by size.
 * How the pieces are used is shown in tests/graphs/toy_kernels.h and engine/kernels.h.
 */
#ifndef SHOAL_GRAPHS_KERNELS_H
#define SHOAL_GRAPHS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "graphs/tape.h"

#define FIELD_CTYPE_PTR void *
#define FIELD_CTYPE_I32 int32_t
#define FIELD_CTYPE_U32 uint32_t
#define FIELD_CTYPE_I64 int64_t
#define FIELD_CTYPE_U64 uint64_t
#define FIELD_CTYPE_F32 float
#define FIELD_CTYPE_F64 double

#endif
