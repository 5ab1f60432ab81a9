/* SPDX-License-Identifier: Apache-2.0
 *
 * What results.json says of switches that become longer: the number of those before, which counts nowhere else, and how
 * long later ones are.
 */
#include <math.h>
#include <stdio.h>

#include "engine/base/json/json_writer.h"
#include "engine/estimate/output/output.h"
#include "engine/estimate/switching/switching.h"

static void earlier(struct writer *w, const struct switching *s)
{
    const struct switch_earlier *x = &s->earlier;
    if (!(x->length > 0))
        return;
    jw_begin(w, "earlier", '{');
    jw_quantity(w, "length", x->length * 1e-3, "nanosecond");
    for (int way = 0; way < SWITCH_WAYS; way++)
        jw_integer(w, switch_way_words[way], x->n[way]);
    report_energy(w, "free_energy", s->beta, &x->bar);
    report_energy(w, "hysteresis", s->beta,
                  &(struct range){.ok = isfinite(x->lag.value), .value = x->lag.value, .error = x->lag.error});
    jw_end(w, '}');
}

static void describe(const struct walkers_report *of, char text[400])
{
    const double length = ldexp(of->pace.length, of->choice.doublings), dissipated = of->choice.dissipated;
    char lost[60] = "less than can be told from its error";
    if (isfinite(dissipated))
        snprintf(lost, sizeof lost, "%.2g kT", dissipated);
    if (of->choice.doublings)
        snprintf(text, 400,
                 "after the first %zu of each walker switches take %.6g ps, %d times as long%s (one of the first "
                 "dissipates %s): works of the first are left out",
                 of->pace.first, length, 1 << of->choice.doublings,
                 of->choice.otherwise ? "" : ", because that cuts the error more", lost);
    else
        snprintf(text, 400, "after the first %zu of each walker switches still take %.6g ps%s (a switch dissipates %s)",
                 of->pace.first, length,
                 of->choice.otherwise ? "" : ", because longer ones would not cut the error more", lost);
}

void lengthened_write(struct writer *w, const struct switching *s, const struct walkers_report *of)
{
    char text[400];
    earlier(w, s);
    if (!of || !of->choice.made)
        return;
    describe(of, text);
    jw_begin(w, "lengthened", '{');
    jw_integer(w, "doublings", (size_t)of->choice.doublings);
    jw_integer(w, "after", of->pace.first);
    jw_quantity(w, "length", ldexp(of->pace.length, of->choice.doublings) * 1e-3, "nanosecond");
    jw_text(w, "text", text);
    jw_end(w, '}');
}
