/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows added to a ladder that has been sampled.
 */
#ifndef SHOAL_DAEMON_SPEC_ADD_WINDOWS_H
#define SHOAL_DAEMON_SPEC_ADD_WINDOWS_H

#include <stdint.h>

#include "engine/base/buf.h"

struct added_windows {
    int windows; /* that there are then */
    int *origin; /* [windows] which one it was; -1: it is new. Owned */
};

/* Adds windows to the spec in *text, which is replaced (`made`: the most steps over all stages that a replica has made,
 * before which replicas that exchange windows do not meet again): `windows` says which, with semicolons between them,
 * as in "coulomb: 1, vdw: 0.65; vdw: 0.75". Each goes between the two neighbours that it lies between; components that
 * do not change there may be left out. The caller frees x->origin, whatever comes back. ERR_USAGE: no such place, or no
 * window; ERR_CONFLICT: the spec's samples could not be used with other windows. */
int spec_add_windows(struct buf *text, const char *file, const char *windows, uint64_t made, struct added_windows *x,
                     struct err *e);

#endif
