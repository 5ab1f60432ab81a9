/* SPDX-License-Identifier: Apache-2.0
 *
 * What an administrator has taken out of use until an administrator lifts that.
 */
#ifndef SHOAL_DAEMON_SCHEDULE_HEALTH_HOLD_H
#define SHOAL_DAEMON_SCHEDULE_HEALTH_HOLD_H

#include <stdint.h>

/* Zeroed: nothing is held. */
struct hold {
    char *by;      /* name of the administrator, owned; NULL: it is in use */
    char *reason;  /* owned; NULL: none was given */
    int64_t since; /* ms since 1970 */
};

/* Copies the texts. */
void hold_set(struct hold *h, const struct hold *what);
void hold_clear(struct hold *h);

#endif
