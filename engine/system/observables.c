/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/system/observables.h"

#include <stdlib.h>

const char *const observable_words[OBSERVE_KINDS] = {
#define OBSERVABLE(KIND, word, launch) #word,
#include "engine/system/observables.def"
};

void observable_close(struct observable *o)
{
    for (int g = 0; g < OBSERVABLE_GROUPS; g++) {
        free(o->group[g].label);
        free(o->group[g].atom);
    }
    free(o->saxs.background.name);
    free(o->saxs.background.q);
    free(o->saxs.background.i);
    free(o->saxs.background.error);
    free(o->name);
    *o = (struct observable){0};
}
