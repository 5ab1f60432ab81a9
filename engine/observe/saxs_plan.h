/* SPDX-License-Identifier: Apache-2.0
 *
 * What X-ray scattering needs on a device: the tables of engine/observe/saxs_frame.h, made on the host.
 */
#ifndef SHOAL_ENGINE_OBSERVE_SAXS_PLAN_H
#define SHOAL_ENGINE_OBSERVE_SAXS_PLAN_H

#include "engine/base/arena.h"
#include "engine/observe/saxs_frame.h"
#include "engine/system/observables.h"
#include "engine/system/system.h"

/* Zeroed is valid; saxs_plan_close frees. */
struct saxs_plan {
    struct saxs_table table; /* without its pointers, which are: */
    int32_t *atom, *chain, *member;
    struct saxs_species *species;
    double *inverse_w[3];
    bool has_fft; /* a device's program made it, and takes it back */
    int32_t fft;
    size_t fft_bytes; /* of its working memory */
};

uint32_t saxs_bins(const struct saxs_choice *s);
/* ERR_SPEC: a grid that cannot hold the largest |q|, or has too many points; ERR_TOPOLOGY: an atom whose element is not
 * known. */
int saxs_plan_make(struct saxs_plan *p, const struct observable *o, const struct system *sys, struct err *e);
void saxs_plan_close(struct saxs_plan *p);
/* Its table and what that points to, into an arena; the device's address. */
const struct saxs_table *saxs_plan_put(const struct saxs_plan *p, struct arena *a);
/* Edges of a box that its grid is for, nm, at most. */
void saxs_most_edges(const struct observable *o, const struct system *sys, double edge[3]);
/* Launches of a frame: so many for each element with atoms, one for others, and three beside. */
uint32_t saxs_plan_launches(const struct saxs_plan *p, uint32_t each);
/* Wave vectors that there is room for. */
size_t saxs_plan_waves(const struct saxs_plan *p);

#endif
