/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is run once, as a child: bytes go to its standard input, what it says on standard output is the
 * answer, or as its last line an error. How it ends harms nobody else.
 */
#ifndef SHOAL_DAEMON_PROCESSES_CHILD_H
#define SHOAL_DAEMON_PROCESSES_CHILD_H

#include <stdbool.h>
#include <uv.h>

#include "engine/base/buf.h"

struct child;

struct child_run {
    const char *const *argv; /* argv[0] is the program's path; NULL ends it */
    const void *input;       /* must live until it is done */
    size_t input_len;
    void (*fed)(void *arg); /* not NULL: in place of `input` it is fed piece by piece, and has read all pieces now */
    size_t output_max;      /* more ends it */
    uint64_t limit_ms;      /* of wall time; more ends it */
};

struct child_result {
    int status, signal;  /* exit status; not 0: the signal that ended it */
    bool late, too_much; /* killed for it */
    int64_t worked_ms;   /* processor time of its threads; wall time where the system does not tell that */
    struct buf out;      /* what it said */
    struct buf log;      /* the beginning of what it said on standard error */
};

/* On the loop thread, when it has ended and all was read. May take r->out away (and zero it). */
typedef void child_done_fn(void *arg, struct child_result *r);
/* NULL when it cannot be started, ERR_BUSY: for want of descriptors, processes or memory, else ERR_INTERNAL; `done` is
 * not called then. */
struct child *child_start(uv_loop_t *loop, const struct child_run *run, child_done_fn *done, void *arg, struct err *e);
/* Of one that is fed: the next piece, which is copied. After child_fed_all, or when it reads no more, nothing. Returns
 * the bytes that it has not read yet: `fed` is called when those have become 0. */
size_t child_feed(struct child *c, const void *data, size_t len);
void child_fed_all(struct child *c);
/* The error that it ended with, the last line on its standard output (worker/children/last_words.h); e->code stays 0
 * where there is none. */
void child_error(const struct child_result *r, struct err *e);
/* Ends it; `done` is called all the same, later. */
void child_kill(struct child *c);

#endif
