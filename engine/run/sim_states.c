/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/sim_states.h"

#include "engine/run/sim_parts.h"

#define W(state) SM_TO(WORK_##state)
#define M(state) SM_TO(MEMORY_##state)

static const struct sm_state work_table[] = {
    [WORK_TOLD] = {"told", W(UNDERWAY) | W(FAILED)},                   /* submit; failure */
    [WORK_UNDERWAY] = {"underway", W(UNDERWAY) | W(TOLD) | W(FAILED)}, /* submit or an outcome; the last; failure */
    [WORK_FAILED] = {"failed", W(FAILED)},                             /* submit, another failure */
};

static const struct sm_state memory_table[] = {
    /* edited again; sent */
    [MEMORY_EDITED] = {"edited", M(EDITED) | M(LEFT)},
    /* edited; other work; timesteps; fetched */
    [MEMORY_LEFT] = {"left", M(EDITED) | M(LEFT) | M(READY) | M(LEFT_FETCHED)},
    /* edited; other work, changed; timesteps; fetched again */
    [MEMORY_LEFT_FETCHED] = {"left+fetched", M(EDITED) | M(LEFT) | M(READY) | M(LEFT_FETCHED)},
    /* edited; other work, unready; timesteps, a frame; fetched */
    [MEMORY_READY] = {"ready", M(EDITED) | M(LEFT) | M(READY) | M(READY_FETCHED)},
    /* edited; other work; timesteps, a frame, changed; fetched again; unready */
    [MEMORY_READY_FETCHED] = {"ready+fetched", M(EDITED) | M(LEFT) | M(READY) | M(READY_FETCHED) | M(LEFT_FETCHED)},
};

static bool work_holds(const void *owner, uint32_t state)
{
    const struct sim *s = owner;
    if (state == WORK_FAILED)
        return s->failure.code != ERR_NONE;
    return s->failure.code == ERR_NONE && (s->submitted > s->heard) == (state == WORK_UNDERWAY);
}

const struct sm_kind sim_work_states = {"work of replica", work_table, 3, work_holds};
const struct sm_kind sim_memory_states = {"memory of replica", memory_table, 5, NULL};

void sim_states_init(struct sim *s)
{
    sm_init(&s->work, &sim_work_states, s, WORK_TOLD);
    sm_init(&s->memory, &sim_memory_states, s, MEMORY_LEFT);
}

/* ---- how its work goes ---- */

void sim_count_submitted(struct sim *s)
{
    s->submitted++;
    sm_move(&s->work, sim_failed(s) ? WORK_FAILED : WORK_UNDERWAY);
}

void sim_count_heard(struct sim *s)
{
    s->heard++;
    sm_move(&s->work, s->heard < s->submitted ? WORK_UNDERWAY : WORK_TOLD);
}

void sim_fail(struct sim *s, const struct err *why)
{
    s->failure = *why;
    sm_move(&s->work, WORK_FAILED);
}

bool sim_failed(const struct sim *s)
{
    return s->work.state == WORK_FAILED;
}

/* ---- what its memory is like ---- */

void sim_memory_edited(struct sim *s)
{
    sm_move(&s->memory, MEMORY_EDITED);
}

bool sim_memory_is_edited(const struct sim *s)
{
    return s->memory.state == MEMORY_EDITED;
}

void sim_memory_sent(struct sim *s)
{
    sm_move(&s->memory, MEMORY_LEFT);
}

void sim_memory_worked(struct sim *s, bool ready)
{
    sm_move(&s->memory, ready ? MEMORY_READY : MEMORY_LEFT);
}

bool sim_memory_is_ready(const struct sim *s)
{
    return s->memory.state == MEMORY_READY || s->memory.state == MEMORY_READY_FETCHED;
}

void sim_memory_unready(struct sim *s)
{
    if (sim_memory_is_ready(s))
        sm_move(&s->memory, s->memory.state == MEMORY_READY ? MEMORY_LEFT : MEMORY_LEFT_FETCHED);
}

void sim_memory_fetched(struct sim *s)
{
    sm_move(&s->memory, sim_memory_is_ready(s) ? MEMORY_READY_FETCHED : MEMORY_LEFT_FETCHED);
}

bool sim_memory_is_fetched(const struct sim *s)
{
    return s->memory.state == MEMORY_LEFT_FETCHED || s->memory.state == MEMORY_READY_FETCHED;
}

void sim_memory_changed(struct sim *s)
{
    if (sim_memory_is_fetched(s))
        sm_move(&s->memory, sim_memory_is_ready(s) ? MEMORY_READY : MEMORY_LEFT);
}
