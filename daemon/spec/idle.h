/* SPDX-License-Identifier: Apache-2.0
 *
 * State B of a topology that no window has: a spec that leaves it out runs, and its free energy lacks what was to come with it.
 */
#ifndef SHOAL_DAEMON_SPEC_IDLE_H
#define SHOAL_DAEMON_SPEC_IDLE_H

#include "engine/system/settings.h"
#include "engine/system/topology.h"

enum { IDLE_MOST = 3, IDLE_TEXT = 240 };

/* A sentence for each part of it. Returns how many. */
int idle_states(const struct alchemy_settings *al, const struct system *sys, const struct topology *t,
                char text[IDLE_MOST][IDLE_TEXT]);

#endif
