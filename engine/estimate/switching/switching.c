/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/estimate/switching/switching.h"

#include <math.h>

/* That both ways have: those of one way alone wait for the other's. */
static double length_of_both(const struct switching *s)
{
    const double f = works_length(s->works + SWITCH_FORWARD), b = works_length(s->works + SWITCH_BACKWARD);
    return f > 0 && b > 0 ? fmin(f, b) : fmax(f, b);
}

static double shortest(const struct switch_works *w, double least)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->walker[i] && isfinite(w->w[i]))
            least = fmin(least, w->length[i]);
    return least;
}

static void scale(struct switching *s, double length)
{
    for (int way = 0; way < SWITCH_WAYS; way++)
        works_scale(s->works + way, s->beta, length);
}

static void solve_earlier(struct switching *s, double length)
{
    const double least = shortest(s->works + SWITCH_FORWARD, shortest(s->works + SWITCH_BACKWARD, length));
    struct switching x = {.temperature = s->temperature, .beta = s->beta};
    if (!(least < length))
        return;
    for (int way = 0; way < SWITCH_WAYS; way++)
        works_add_of_length(x.works + way, s->works + way, least);
    scale(&x, least);
    switching_crooks(&x);
    switching_walkers(&x);
    s->earlier = (struct switch_earlier){least, {x.works[0].n, x.works[1].n}, x.bar, x.lag};
    switching_close(&x);
}

void switching_solve(struct switching *s)
{
    const double length = length_of_both(s);
    solve_earlier(s, length);
    scale(s, length);
    switching_crooks(s);
    switching_walkers(s);
    switching_one_way(s, SWITCH_FORWARD);
    switching_one_way(s, SWITCH_BACKWARD);
    switching_gaussian(s);
    switching_judge(s);
    switching_longer(s);
}

struct switch_choice switching_choose(struct switching *first, const struct switch_pace *pace)
{
    scale(first, length_of_both(first));
    switching_crooks(first);
    const struct switch_choice choice = switching_doublings(&first->lag, pace);
    switching_close(first);
    return choice;
}

void switching_close(struct switching *s)
{
    for (int way = 0; way < SWITCH_WAYS; way++) {
        works_close(s->works + way);
        verdict_close(&s->way[way].verdict);
    }
    verdict_close(&s->bar_verdict);
    verdict_close(&s->gaussian_verdict);
    *s = (struct switching){0};
}
