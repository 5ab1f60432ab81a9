/* SPDX-License-Identifier: Apache-2.0
 *
 * Two distributions over one axis: of forward works, and of backward works with the other sign. They meet at the free
 * energy.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/json/json_writer.h"
#include "engine/estimate/output/output.h"
#include "engine/estimate/switching/switching.h"

enum { BINS = 30 };

static double sign_of(int way)
{
    return way == SWITCH_FORWARD ? 1 : -1;
}

static void counts(struct writer *w, const char *key, const struct switch_works *works, double sign, double from,
                   double width)
{
    size_t n[BINS] = {0};
    for (size_t i = 0; i < works->n; i++) {
        const int at = (int)((sign * works->w[i] - from) / width);
        n[at < 0 ? 0 : at < BINS ? at : BINS - 1]++;
    }
    jw_begin(w, key, '[');
    for (int i = 0; i < BINS; i++)
        jw_integer(w, NULL, n[i]);
    jw_end(w, ']');
}

void distributions_write(struct writer *w, const struct switching *s)
{
    double low = INFINITY, high = -INFINITY;
    for (int way = 0; way < SWITCH_WAYS; way++)
        for (size_t i = 0; i < s->works[way].n; i++) {
            low = fmin(low, sign_of(way) * s->works[way].w[i]);
            high = fmax(high, sign_of(way) * s->works[way].w[i]);
        }
    if (!(low < high)) {
        jw_null(w, "distributions");
        return;
    }
    const double width = (high - low) / BINS;
    jw_begin(w, "distributions", '{');
    jw_text(w, "unit", "kJ/mol");
    jw_real(w, "from", low / s->beta);
    jw_real(w, "width", width / s->beta);
    for (int way = 0; way < SWITCH_WAYS; way++)
        counts(w, switch_way_words[way], s->works + way, sign_of(way), low, width);
    jw_end(w, '}');
}
