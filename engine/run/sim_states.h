/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the engine: the states of a replica, as two tables whose every move is checked (engine/base/sm.h).
 *
 * How its work goes:
 *
 *   told --submit--> underway --the outcome of the last of it was asked for--> told
 *   told, underway --failure--> failed, for ever
 *
 * What its device memory is like, once all that was submitted has been done:
 *
 *   any --the host writes to the control block--> edited --sent--> left
 *   left --timesteps--> ready --other work, or another way of the mesh--> left
 *   left, ready --fetched--> left and fetched, ready and fetched --work, or observables that change hands--> left,
 * ready
 *
 * Ready: the next timestep finds all that one before it leaves behind. Left: something has to prepare it (SIM_PREPARE).
 * Fetched: the host has the state of now, or will once what was submitted is done. Frames leave it ready where it was.
 */
#ifndef SHOAL_ENGINE_RUN_SIM_STATES_H
#define SHOAL_ENGINE_RUN_SIM_STATES_H

#include <stdbool.h>

#include "engine/base/err.h"
#include "engine/base/sm.h"

enum sim_work_state { WORK_TOLD, WORK_UNDERWAY, WORK_FAILED };
enum sim_memory_state { MEMORY_EDITED, MEMORY_LEFT, MEMORY_LEFT_FETCHED, MEMORY_READY, MEMORY_READY_FETCHED };

extern const struct sm_kind sim_work_states, sim_memory_states;

struct sim;

void sim_states_init(struct sim *s);

/* ---- how its work goes ---- */
void sim_count_submitted(struct sim *s); /* one more ticket is asked for */
void sim_count_heard(struct sim *s);     /* the outcome of one more was */
/* Nothing but sim_free is left. */
void sim_fail(struct sim *s, const struct err *why);
bool sim_failed(const struct sim *s);

/* ---- what its memory is like ---- */
void sim_memory_edited(struct sim *s);
bool sim_memory_is_edited(const struct sim *s);
void sim_memory_sent(struct sim *s);
/* By work that leaves it ready for a timestep, or not. */
void sim_memory_worked(struct sim *s, bool ready);
bool sim_memory_is_ready(const struct sim *s);
/* The next timestep finds not all that it needs. */
void sim_memory_unready(struct sim *s);
void sim_memory_fetched(struct sim *s);
bool sim_memory_is_fetched(const struct sim *s);
/* What was fetched is not the state of now any more. */
void sim_memory_changed(struct sim *s);

#endif
