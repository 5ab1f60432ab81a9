/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves of state machines (engine/base/sm.h) as tests see them: the trace of those that are made, and the end of a
 * process that makes one that is not allowed. For cmocka tests.
 */
#ifndef SHOAL_TESTS_LIB_MOVES_H
#define SHOAL_TESTS_LIB_MOVES_H

#include <stddef.h>

#include "engine/base/sm.h"

/* From now on what the process logs, its moves too, goes to a file. */
void moves_begin(void);
/* Ends that. The states that machines of one kind moved to since, in their order, are in `to`: "started speaking
 * reaped". */
void moves_end(const char *kind, char *to, size_t size);

/* The moves that machines of the kind may make are these: "queued>running running>done". */
void assert_table(const struct sm_kind *kind, const char *moves);

/* f(arg) in a child process: its stderr holds `says`, and the signal `sig` ends it (0: it exits). */
void assert_child(void (*f)(void *arg), void *arg, int sig, const char *says);

#endif
