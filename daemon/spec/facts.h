/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service has to know of a spec: it reads none itself.
 */
#ifndef SHOAL_DAEMON_SPEC_FACTS_H
#define SHOAL_DAEMON_SPEC_FACTS_H

#include <jansson.h>

#include "daemon/spec/spec.h"

/* {windows, repeats, replicas (that there will be, at most), stages, steps (of a replica), retries, exchange (not 0:
 * replicas exchange windows), walkers, switching, stop: {error (kJ/mol, 0: none), converged (0 or 1), after},
 * allocation: {share, before, every}, pilot (not 0: the windows are a pilot's), placed (the windows that one placed,
 * name to numbers; or null)}. New reference. */
json_t *spec_facts(const struct spec *s);
/* The member `placed` of these. New reference. */
json_t *spec_placed_json(const struct spec *s);

#endif
