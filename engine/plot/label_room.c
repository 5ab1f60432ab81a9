/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "engine/plot/figure.h"

bool plot_is_free(const struct plot_taken *t, struct plot_place p, double width)
{
    for (int i = 0; i < t->n; i++)
        if (fabs(t->middle[i].x - p.x) < (t->width[i] + width) / 2 + 4 && fabs(t->middle[i].y - p.y) < PLOT_LINE)
            return false;
    return true;
}

void plot_take(struct plot_taken *t, struct plot_place p, double width)
{
    t->middle = xrealloc(t->middle, (size_t)t->n + 1, sizeof *t->middle);
    t->width = xrealloc(t->width, (size_t)t->n + 1, sizeof *t->width);
    t->middle[t->n] = p;
    t->width[t->n++] = width;
}

void plot_taken_free(struct plot_taken *t)
{
    free(t->middle);
    free(t->width);
}
