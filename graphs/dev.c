/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/dev.h"

#include <time.h>

double dev_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

int dev_wait(struct dev *d, struct lane *lane, const struct mark *m, struct err *e)
{
    int rc = 0;
    while (!rc && !mark_passed(m)) {
        d->ops->watch(d, lane, m->word, m->target);
        rc = d->ops->poll(d, 100, e);
    }
    return rc;
}

void dev_close(struct dev *d)
{
    if (d)
        d->ops->close(d);
}
