/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles of umbrella windows along their coordinations.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_PROFILES_PROFILES_H
#define SHOAL_ENGINE_ESTIMATE_PROFILES_PROFILES_H

#include "engine/estimate/result/result.h"

struct writer;

/* profile.c: coordinations and biases of a window's rows, which are of these times, from its energy.xvg; of all
 * windows' rows and their free energies g the profiles, where they are wanted. Room for the bins first to last. */
void profile_take(struct result *r, int k, const double *time, const struct xvg *x, struct sampling *s);
void profiles_find(struct result *r, const struct sampling *s, const double *g);
void profile_bins(struct free_energy_profile *p, int first, int last, int nwindows);

/* profile_repeats.c: report->profiles, once all repeats are judged; their part of results.json. */
void report_profiles(struct report *r);
void profiles_write(struct writer *w, const struct report *r);

#endif
