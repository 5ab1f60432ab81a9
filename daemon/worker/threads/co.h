/* SPDX-License-Identifier: Apache-2.0
 *
 * Coroutines: functions that stop in the middle (co_pause) and go on later (co_resume), each on its own stack with a
 * guard page below it. One thread resumes them; a coroutine stays on that thread. A switch makes no system call.
 *
 * Every function that may yield is marked CO_FN: its caller must not rely on anything that another coroutine may change
 * while it waits. Two things must never be open across a yield: a capture (a graph being built) and a borrow (a pointer
 * into something that may move). co_pause checks both, in every build.
 */
#ifndef SHOAL_DAEMON_WORKER_THREADS_CO_H
#define SHOAL_DAEMON_WORKER_THREADS_CO_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

#define CO_FN /* may yield: call it from a coroutine only */

#define CO_STACK (1u << 20) /* bytes; untouched pages cost nothing */

struct co;

/* A coroutine that will run fn(arg). `stack` bytes are rounded up to whole pages. ERR_MEMORY. */
int co_new(struct co **out, void(CO_FN *fn)(void *arg), void *arg, size_t stack, struct err *e);
/* Frees it; NULL is fine. One that has begun and not ended loses what its stack owns: let it end first. */
void co_free(struct co *c);

/* Runs it until it yields or ends. Only from outside of coroutines, and never after it ended. */
void co_resume(struct co *c);
bool co_ended(const struct co *c);

/* Back to the caller that resumed the running coroutine. */
void CO_FN co_pause(void);

enum co_hold { CO_CAPTURE, CO_BORROW, CO_HOLD_COUNT };
/* Opens and closes one of the things that must not be open across a yield; they nest. Outside of coroutines: nothing.
 */
void co_hold(enum co_hold what);
void co_release(enum co_hold what);

#endif
