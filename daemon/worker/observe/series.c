/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/observe/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool observe_series_of(const struct observable *o)
{
    return observe_kinds[o->kind]->series_title != NULL;
}

int observe_series_check(const struct system *sys, struct err *e)
{
    char name[80];
    for (int i = 0; i < sys->nobservables; i++)
        for (int k = 0; k < sys->nobservables && observe_series_of(&sys->observables[i]); k++) {
            snprintf(name, sizeof name, OBSERVE_SERIES_NAME, sys->observables[i].name);
            if (!strcmp(sys->observables[k].name, name))
                return err_set(e, ERR_SPEC, "%s: %s.xvg is %s frame by frame; expected another name", name, name,
                               sys->observables[i].name);
        }
    return 0;
}

void observe_series_add(struct observe_series *s, const struct observe_result *r, double time)
{
    double *sums = observe_total_reals(r);
    if (s->n == s->cap) {
        s->cap = 2 * s->cap + 64;
        s->time = xrealloc(s->time, (size_t)s->cap, sizeof *s->time);
        s->value = xrealloc(s->value, (size_t)s->cap, sizeof *s->value);
    }
    s->not_times |= isnan(time) || (s->n && !(time > s->time[s->n - 1]));
    s->time[s->n] = time;
    s->value[s->n++] = sums[0] - s->sum;
    s->sum = sums[0];
    free(sums);
}

void observe_series_file(const struct observe_series *s, const struct observe_result *r, struct buf *out)
{
    const struct observe_kind *kind = observe_kinds[r->o->kind];
    buf_printf(out, "# " OBSERVE_SERIES_NAME ".xvg, written by Shoal\n", r->o->name);
    observe_header(out, kind->series_title, s->not_times ? "frame" : "Time (ps)", kind->series_column,
                   &kind->series_column, 1);
    for (int i = 0; i < s->n; i++)
        buf_printf(out, "%.10g %.9g\n", s->not_times ? i + 1.0 : s->time[i], s->value[i]);
}

void observe_series_json(const struct observe_series *s, struct writer *w)
{
    if (!s->not_times)
        observe_list(w, "time_ps", s->time, (size_t)s->n);
    observe_list(w, "value_of_frame", s->value, (size_t)s->n);
}

void observe_series_close(struct observe_series *s)
{
    free(s->time);
    free(s->value);
}
