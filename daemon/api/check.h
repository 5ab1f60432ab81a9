/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading of submissions and of extended specs: each in a process of its own (shoal-worker check-submission) with
 * limits, so many at once. While one user's are being read there is room for another's. A reader ends with its client,
 * and with the service.
 */
#ifndef SHOAL_DAEMON_API_CHECK_H
#define SHOAL_DAEMON_API_CHECK_H

#include <jansson.h>

#include "daemon/http/server.h"
#include "daemon/processes/child.h"
#include "daemon/schedule/sched.h"

struct check;

struct checks {
    uv_loop_t *loop;
    const char *worker; /* program */
    struct quota *quota;
    const struct sched *sched; /* its devices are those that the reader says sizes for */
    int seconds, mib;          /* of processor time, of memory; for one */
    int at_once;
    struct check *waiting; /* for their turn, oldest first */
    struct check *running;
    int nrunning;
    bool stopping; /* no more are taken */
};

/* On the loop thread. err: it could not be read, or (with the answer's "files" in `head`) is wrong; else `head` is what
 * spec/submission.h or spec/extension.h describes, borrowed, and `texts` the `len` bytes after it. */
typedef void check_done_fn(void *arg, const struct err *err, const json_t *head, const char *texts, size_t len);

/* A submission that is only looked at; one whose texts are wanted too; what is asked of an ensemble's spec
 * (spec/extension.h). */
enum check_kind { CHECK_VALIDATE, CHECK_SUBMIT, CHECK_EXTEND };

/* Reads a request's body, or `input`, which is taken, where there is one. `done` may be called at once. */
void check_begin(struct checks *c, struct request *r, enum check_kind kind, struct buf *input, check_done_fn *done,
                 void *arg);
/* "cuda=LIMITS;cpu=LIMITS": those of devices that are known, each once; what the reader says sizes for. Appended. */
void check_list_devices(const struct sched *s, struct buf *out);
/* Ends all of them; each is done with ERR_BUSY. */
void check_stop(struct checks *c);

#endif
