/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the error of an observable can be believed: of the number that its line shows.
 */
#ifndef SHOAL_ENGINE_OBSERVE_VERDICT_H
#define SHOAL_ENGINE_OBSERVE_VERDICT_H

#include "engine/observe/observe.h"

enum { OBSERVE_REASONS = 4 };

/* word: converged, unconverged, or failed, where there is no number. */
struct observe_verdict {
    const char *word;
    bool number; /* there is one */
    int n;
    struct {
        const char *code; /* as estimates have them (schemas/results.schema.json) */
        char text[120];
    } reason[OBSERVE_REASONS];
};

/* Of a result of this kind. */
struct observe_verdict observe_verdict(const struct observe_kind *kind, const struct observe_result *r);
/* "verdict" of an open JSON object. */
void observe_verdict_json(const struct observe_kind *kind, const struct observe_result *r, struct writer *w);

#endif
