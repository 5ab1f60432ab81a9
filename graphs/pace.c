/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/pace.h"

void pace_news(struct pace *p, double now)
{
    p->news = now;
}

double pace_sleep(const struct pace *p, double now)
{
    const double waited = now - p->news, sleep = waited / PACE_PART;
    if (waited < PACE_SPIN)
        return 0;
    return sleep < PACE_SLEEP ? sleep : PACE_SLEEP;
}
