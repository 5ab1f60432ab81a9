/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/poll_pace.h"

void pace_news(struct pace *p, double now)
{
    p->news = now;
}

void pace_waited(struct pace *p, double wait)
{
    p->mean += (wait - p->mean) / PACE_MEMORY;
}

double pace_sleep(const struct pace *p, double now)
{
    const double waited = now - p->news, sleep = (waited > p->mean ? waited : p->mean) / PACE_PART;
    if (sleep < PACE_LEAST)
        return 0;
    return sleep < PACE_SLEEP ? sleep : PACE_SLEEP;
}
