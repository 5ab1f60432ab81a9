/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/dev.h"

#include "engine/base/clock.h"

double dev_now(void)
{
    return 1e6 * clock_now();
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
