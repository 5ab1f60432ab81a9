/* SPDX-License-Identifier: Apache-2.0
 *
 * The service manager's two protocols, as sd_notify(3) and sd_listen_fds(3) document them: state messages to the
 * datagram socket named by NOTIFY_SOCKET, and listening sockets handed over as descriptors from 3 on. Without a service
 * manager nothing happens.
 */
#ifndef SHOAL_DAEMON_HOST_NOTIFY_H
#define SHOAL_DAEMON_HOST_NOTIFY_H

#include <stdint.h>

#include "engine/base/err.h"

/* Sends "READY=1", "STATUS=..."; drops it when the receiver has not read the earlier ones: the loop must not wait. */
void notify(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* How often to send "WATCHDOG=1", ms; 0: not asked for. Half of what WATCHDOG_USEC allows. */
uint64_t notify_watchdog_ms(void);
/* The listening Unix socket that was handed over; -1: none. ERR_USAGE when something else was. Forgets the environment,
 * so that children do not find it. */
int notify_listen_fd(int *fd, struct err *e);

#endif
