/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that several kinds of observables have.
 */
#include <math.h>
#include <stdio.h>

#include "daemon/spec/sections/reader.h"

void observable_place(char place[96], const struct observable_choice *c, const char *key)
{
    snprintf(place, 96, "observables[%d].%s.%s", c->index, c->kind, key);
}

int observable_bins(struct reader *r, const struct observable_choice *c, struct view max, struct view bin, int most)
{
    const double width = view_quantity(bin).value, all = view_quantity(max).value / width, bins = rint(all);
    char place[96];
    observable_place(place, c, "max");
    if (bins > most)
        return spec_bad(r, max, place, "%.0f bins of %s: expected %d at most", bins, view_text(bin), most);
    if (bins < 1 || fabs(all - bins) > 1e-6 * bins)
        return spec_bad(r, max, place, "%s: expected a whole number of bins of %s; the nearest is %.15g %s",
                        view_text(max), view_text(bin), fmax(bins, 1) * width, view_unit(max));
    return 0;
}
