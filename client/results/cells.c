/* SPDX-License-Identifier: Apache-2.0 */
#include "client/results/cells.h"

#include "client/ask/answer.h"

void results_window(struct table *t, const json_t *object, bool repeats)
{
    if (repeats)
        table_cell(t, "%lld.%lld", answer_whole(object, "repeat"), answer_whole(object, "window"));
    else
        table_cell(t, "%lld", answer_whole(object, "window"));
}
