/* SPDX-License-Identifier: Apache-2.0
 *
 * The system of one phase of a protocol (spec.h, spec_phase_system): its files, restraints, masses, tempering.
 */
#ifndef SHOAL_DAEMON_SPEC_PHASE_H
#define SHOAL_DAEMON_SPEC_PHASE_H

#include "daemon/spec/spec.h"

/* A molecule that `key` of alchemy names must be in the topology's molecules. ERR_SPEC. */
int spec_check_molecule(const struct spec *s, const struct system *sys, const char *key, const char *name,
                        struct err *e);
/* Whether anything has a B state that differs from its A state. */
bool spec_has_b_states(const struct system *sys);
/* Where *e says that the file `name` is missing, which the spec itself names as system.`key`: says where. Returns the
 * error of *e. */
int spec_missing(const struct spec *s, const struct source *src, const char *key, const char *name, struct err *e);

#endif
