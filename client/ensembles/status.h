/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of devices, and the GPUs that are none.
 */
#ifndef SHOAL_CLIENT_ENSEMBLES_STATUS_H
#define SHOAL_CLIENT_ENSEMBLES_STATUS_H

#include "client/command/client.h"
#include "client/show/show.h"

/* One row for each device, with memory in MiB. */
struct table status_devices(const struct client *c, const json_t *devices);
/* Appends a line for each GPU that is not among the devices: why. */
void status_put_left_out(const json_t *left_out, struct buf *out);

#endif
