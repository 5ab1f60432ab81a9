/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/sm.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/log.h"

static const char *state_name(const struct sm_kind *kind, uint32_t state)
{
    return state < kind->count ? kind->states[state].name : "unknown";
}

static _Noreturn void die(const struct sm *m, uint32_t to, const char *why)
{
    fprintf(stderr, "shoal: %s %p: %s -> %s (%u -> %u): %s\n", m->kind->name, m->owner, sm_name(m),
            state_name(m->kind, to), m->state, to, why);
    abort();
}

static void enter(struct sm *m, uint32_t from)
{
    if (m->kind->holds && !m->kind->holds(m->owner, m->state)) {
        uint32_t to = m->state;
        m->state = from;
        die(m, to, "the invariant of the new state does not hold");
    }
}

void sm_init(struct sm *m, const struct sm_kind *kind, const void *owner, uint32_t state)
{
    *m = (struct sm){.kind = kind, .owner = owner, .state = state};
    if (state >= kind->count || kind->count > 64)
        die(m, state, "no such state");
    enter(m, state);
}

bool sm_may(const struct sm *m, uint32_t to)
{
    return to < m->kind->count && m->kind->states[m->state].next & SM_TO(to);
}

void sm_move(struct sm *m, uint32_t to)
{
    if (!sm_may(m, to))
        die(m, to, "not an allowed move");
    uint32_t from = m->state;
    log_line(LOG_DEBUG, "%s %p: %s -> %s", m->kind->name, m->owner, state_name(m->kind, from), state_name(m->kind, to));
    m->state = to;
    enter(m, from);
}

const char *sm_name(const struct sm *m)
{
    return state_name(m->kind, m->state);
}
