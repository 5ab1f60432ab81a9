/* SPDX-License-Identifier: Apache-2.0
 *
 * What an experienced eye would say of a spec that is accepted: settings that will run but are likely not what was
 * meant. Shown by `shoal validate` and with the answer to a submission; never a reason to refuse. What a device refuses
 * that another takes is among it, too: who reads a spec does not know which devices will run it.
 */
#ifndef SHOAL_DAEMON_SPEC_ADVICE_ADVICE_H
#define SHOAL_DAEMON_SPEC_ADVICE_ADVICE_H

#include <jansson.h>

#include "daemon/spec/spec.h"

/* *out: a new array of {"kind": a word for programs, "message": a sentence with its place}, most telling first. The
 * kinds: topology, constraints, timestep, box, split, charge, soft-core, ladder, constraint, masses, temper, ensemble,
 * minimization, sampling, center, barostat. ERR_TOPOLOGY: what no run could begin with, such as a constraint on an atom
 * of a settle. */
int spec_advise(const struct spec *s, const struct system *sys, json_t **out, struct err *e);

#endif
