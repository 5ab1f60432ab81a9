/* SPDX-License-Identifier: Apache-2.0
 *
 * Free energies of an ensemble: the dhdl.xvg of its windows -> results.json (schemas/results.schema.json). MBAR, BAR
 * and TI with errors, equilibration cut and decorrelation, overlap matrix, forward/backward convergence.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATE_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATE_H

#include "engine/base/buf.h"
#include "engine/system/settings.h"

enum estimate_window { ESTIMATE_DONE, ESTIMATE_PARTIAL, ESTIMATE_FAILED };

/* What became of a window. A partial one (stopped early, as in a cancelled ensemble) takes part; a failed one does not.
 */
struct estimate_state {
    enum estimate_window kind;
    const char *reason; /* why it is not done; may be NULL */
};

/* Reads DIRECTORY/lambda_NN/dhdl.xvg and energy.xvg (NN = window, two digits or more) and appends the JSON of
 * results.json to `json`. states: [set->alchemy.nwindows]. It cannot fail: a window that cannot be read, or an
 * estimator that does not converge, is reported in the result with its reason and the others go on. A pure function of
 * the files and arguments: equal input, equal bytes. Runs for seconds on large ensembles: call it off the event loop.
 */
void estimate_ensemble(const char *directory, const struct settings *set, const struct estimate_state *states,
                       struct buf *json);

#endif
