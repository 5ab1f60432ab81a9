/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways of the mesh of all models of a device: decided by mesh_choice.h, one model after the other, since what all
 * replicas do together is what is measured; carried out by the models.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_MESHES_H
#define SHOAL_DAEMON_WORKER_DEVICE_MESHES_H

#include "daemon/worker/device/models.h"

/* A period of load (load.h) of one device. */
struct meshes_view {
    unsigned running, company; /* as in struct mesh_view */
    double rate;               /* work per second: steps x atoms, of all replicas */
    bool steady;               /* all of them have done timesteps, and nothing has come, gone or begun a stage */
    bool at_rest;              /* nobody else is changing anything to see what comes of it */
};

/* Whether nobody is changing anything to see what comes of it afterwards either. */
bool meshes_look(struct models *m, const struct meshes_view *v);

#endif
