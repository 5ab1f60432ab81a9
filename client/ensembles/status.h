/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of devices, and what else is to be known of a service.
 */
#ifndef SHOAL_CLIENT_ENSEMBLES_STATUS_H
#define SHOAL_CLIENT_ENSEMBLES_STATUS_H

#include "client/command/client.h"
#include "client/show/show.h"

/* One row for each device, with memory in MiB. */
struct table status_devices(const struct client *c, const json_t *devices);
/* Appends lines: that administrators alone submit, if they do; why a GPU is not among the devices. */
void status_put_remarks(const json_t *version, struct buf *out);

#endif
