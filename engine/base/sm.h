/* SPDX-License-Identifier: Apache-2.0
 *
 * State machines as tables: each state has a name and the states it may move to. Every move is checked, in release
 * builds too, and traced (a debug log line). A move that the table does not allow, or after which the owner's invariant
 * does not hold, is a bug in the program: the process prints what happened and aborts (the service is crash-only).
 */
#ifndef SHOAL_ENGINE_BASE_SM_H
#define SHOAL_ENGINE_BASE_SM_H

#include <stdbool.h>
#include <stdint.h>

#define SM_TO(state) (UINT64_C(1) << (state)) /* combine with | for `next` */

struct sm_state {
    const char *name;
    uint64_t next; /* states that may follow: SM_TO(A) | SM_TO(B); 0: a final state */
};

/* One kind of machine; static. A state's number is its row; at most 64. */
struct sm_kind {
    const char *name; /* "recorder", "replica" */
    const struct sm_state *states;
    uint32_t count;
    bool (*holds)(const void *owner, uint32_t state); /* invariant, asked after every move; NULL: none */
};

/* Embedded in its owner. */
struct sm {
    const struct sm_kind *kind;
    const void *owner; /* handed to kind->holds; its address tells machines apart in the trace */
    uint32_t state;
};

/* Starts in `state`, which may be any row: states come back from a database. */
void sm_init(struct sm *m, const struct sm_kind *kind, const void *owner, uint32_t state);
bool sm_may(const struct sm *m, uint32_t to);
void sm_move(struct sm *m, uint32_t to);
const char *sm_name(const struct sm *m); /* of the present state */

#endif
