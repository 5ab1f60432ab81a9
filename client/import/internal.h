/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `shoal import`: the parts of a spec, each made from the options that it comes from. What cannot be said in a
 * spec is said of the option (mdp_say).
 */
#ifndef SHOAL_CLIENT_IMPORT_INTERNAL_H
#define SHOAL_CLIENT_IMPORT_INTERNAL_H

#include "client/import/mdp.h"

void import_nonbonded(struct mdp *m, struct buf *out);
void import_alchemy(struct mdp *m, struct buf *out);
bool import_pulls(const struct mdp *m); /* whether its groups are wanted */
void import_pull(struct mdp *m, struct buf *out);
bool import_perturbs(const struct mdp *m); /* whether there is any alchemy */
/* masses, integrator, barostat, protocol */
void import_dynamics(struct mdp *m, struct buf *out);

#endif
