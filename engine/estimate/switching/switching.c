/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/estimate/switching/switching.h"

void switching_solve(struct switching *s)
{
    for (int way = 0; way < SWITCH_WAYS; way++)
        works_scale(s->works + way, s->beta);
    switching_crooks(s);
    switching_walkers(s);
    switching_one_way(s, SWITCH_FORWARD);
    switching_one_way(s, SWITCH_BACKWARD);
    switching_gaussian(s);
    switching_judge(s);
    switching_longer(s);
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
