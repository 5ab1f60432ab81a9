/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "engine/base/json/json_writer.h"
#include "engine/base/number.h"
#include "engine/estimate/output/output.h"

static const char *const ends[] = {"A", "B"};

void walkers_write(struct writer *w, const struct walkers_report *of)
{
    jw_begin(w, "walkers", '[');
    for (int i = 0; i < of->nwalkers; i++) {
        const struct walker_result *x = of->walkers + i;
        jw_begin(w, NULL, '{');
        jw_integer(w, "repeat", (size_t)x->repeat);
        jw_text(w, "end", ends[x->end]);
        jw_integer(w, "walker", (size_t)x->walker);
        jw_text(w, "status", estimate_status[x->status]);
        jw_text(w, "reason", x->reason[0] ? x->reason : NULL);
        if (x->seeded)
            jw_integer(w, "seed", x->seed);
        else
            jw_null(w, "seed");
        jw_integer(w, "works", x->works);
        report_waters(w, &x->waters);
        jw_end(w, '}');
    }
    jw_end(w, ']');
}

static void list(const struct walkers_report *of, enum estimate_kind status, const char *what, struct buf *out)
{
    struct buf names = {0};
    int n = 0;
    for (int i = 0; i < of->nwalkers; i++) {
        const struct walker_result *x = of->walkers + i;
        if (x->status != status)
            continue;
        buf_printf(&names, "%s%s %d", n++ ? ", " : "", ends[x->end], x->walker);
        if (of->nrepeats > 1)
            buf_printf(&names, " of repeat %d", x->repeat);
    }
    if (n)
        buf_printf(out, "%s%s %s %s", out->len ? "; " : "", number_word(n, "walker", "walkers"), names.data, what);
    buf_free(&names);
}

void walkers_list(const struct walkers_report *of, struct buf *reason)
{
    list(of, ESTIMATE_FAILED, "took no part", reason);
    list(of, ESTIMATE_PARTIAL, "stopped early", reason);
    list(of, ESTIMATE_RUNNING, "still running", reason);
    list(of, ESTIMATE_WAITS, "without works yet", reason);
}
