/* SPDX-License-Identifier: Apache-2.0
 *
 * The echo: what the device ran, heard from the kernels themselves. A graph's readback shows what it was made from, not
 * what is executed; so, when asked, each kernel writes its number, its shape and its argument bytes into a mapped ring
 * as it begins, and the host reads that as a tape. Every launch of a lane knows the lane's ring (struct args_head).
 *
 * This part is shared with the kernels: the CPU device calls echo_note() in its launch loop, CUDA kernels begin with
 * ECHO(args) of graphs/cuda/echo.cuh. What is not heard: library functions, whose kernels are not ours, and attributes.
 */
#ifndef SHOAL_GRAPHS_ECHO_H
#define SHOAL_GRAPHS_ECHO_H

#include <stdint.h>

/* In device memory. Records are taken in order of `used`, so they lie in the order in which kernels began. */
struct echo_ring {
    uint32_t on;
    uint32_t capacity;      /* bytes; what does not fit is not written */
    uint64_t used;          /* bytes asked for */
    unsigned char *records; /* device address of mapped memory */
};

enum { ECHO_ALIGN = 16 };

/* Followed by the argument bytes and filled up to ECHO_ALIGN. `bytes`: of all that; 0: no more records. */
struct echo_record {
    uint32_t bytes;
    uint32_t kernel;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared_bytes;
};

/* Bytes of the record of a launch. */
#define ECHO_RECORD_BYTES(args_size)                                                                                   \
    (((uint32_t)sizeof(struct echo_record) + (args_size) + ECHO_ALIGN - 1) / ECHO_ALIGN * ECHO_ALIGN)

#ifndef __cplusplus /* of the host, in C */
#include "graphs/check.h"
#include "graphs/dev.h"

/* echo_note.c: writes the record of a launch if its ring is on. For the CPU device. */
void echo_note(const struct launch *l, const void *args);

/* The ring of one lane, on the host's side. */
struct echo;

/* `kernels` and what the others borrow stay; DEV_FULL as dev_ops.alloc. */
int echo_new(struct echo **out, struct dev *d, struct lane *lane, struct err *e);
void echo_free(struct echo *echo);        /* before its lane; NULL is fine */
void *echo_ring(const struct echo *echo); /* device address, for tape.echo */

/* Room to hear `repeat` executions of the tape, so that neither echo_begin() nor echo_check() need allocate. While an
 * echo is outstanding it does nothing. */
int echo_reserve(struct echo *echo, const struct tape *t, uint32_t repeat, struct err *e);
/* What is submitted to the lane between these two, `repeat` executions of `live`, is heard. Only when idle. */
int echo_begin(struct echo *echo, const struct tape *live, uint32_t repeat, struct err *e);
int echo_end(struct echo *echo, uint32_t repeat, struct err *e);
bool echo_idle(const struct echo *echo); /* nothing is outstanding */
/* Waits until it has. */
int echo_wait(struct echo *echo, struct err *e);
/* If an echo is outstanding and the device has done with it: compares what was heard with what was submitted, and is
 * idle again. Every launch ran, in its shape, with its arguments, after those it had to; or ERR_DRIFT. Otherwise 0. */
int echo_check(struct echo *echo, struct err *e);
#endif

#endif
