/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of each kind of observable, see struct observe_kind.
 */
#ifndef SHOAL_ENGINE_OBSERVE_KINDS_H
#define SHOAL_ENGINE_OBSERVE_KINDS_H

#include "engine/observe/observe.h"

/* sums.c: the particles of its first group, atoms or molecules: how many, and where each begins in the group: *first is the
 * caller's, [n + 1]. */
uint32_t observe_particles(const struct observable *o, const struct system *sys, bool molecules, int32_t **first);

/* rdf.c */
struct observe_size rdf_size(const struct observable *o);
double rdf_least_width(const struct observable *o);
int rdf_check(const struct observable *o, const struct system *sys, struct err *e);
const void *rdf_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a);
void rdf_file(const struct observe_result *r, struct buf *out);
void rdf_json(const struct observe_result *r, bool curves, struct writer *w);
void rdf_summary(const struct observe_result *r, struct buf *out);
int rdf_of_blocks(const struct observe_result *r, double *value);

/* coordination.c */
struct observe_size coordination_size(const struct observable *o);
const void *coordination_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a);
void coordination_file(const struct observe_result *r, struct buf *out);
void coordination_json(const struct observe_result *r, bool curves, struct writer *w);
void coordination_summary(const struct observe_result *r, struct buf *out);
int coordination_of_blocks(const struct observe_result *r, double *value);

/* msd.c */
bool msd_needs_cube(const struct observable *o);
void msd_file(const struct observe_result *r, struct buf *out);
void msd_json(const struct observe_result *r, bool curves, struct writer *w);
void msd_summary(const struct observe_result *r, struct buf *out);
int msd_of_blocks(const struct observe_result *r, double *value);

/* vacf.c */
int vacf_check(const struct observable *o, const struct system *sys, struct err *e);
void vacf_file(const struct observe_result *r, struct buf *out);
void vacf_json(const struct observe_result *r, bool curves, struct writer *w);
void vacf_summary(const struct observe_result *r, struct buf *out);
int vacf_of_blocks(const struct observe_result *r, double *value);

/* pressure.c */
struct observe_size pressure_size(const struct observable *o);
const void *pressure_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a);
void pressure_file(const struct observe_result *r, struct buf *out);
void pressure_json(const struct observe_result *r, bool curves, struct writer *w);
void pressure_summary(const struct observe_result *r, struct buf *out);
int pressure_of_blocks(const struct observe_result *r, double *value);

/* saxs.c */
struct observe_size saxs_size(const struct observable *o);
int saxs_plan(void **plan, const struct observable *o, const struct system *sys, const struct settings *set,
              struct err *e);
void saxs_plan_free(void *plan);
int saxs_check(const struct observable *o, const struct system *sys, struct err *e);
void saxs_most_edges(const struct observable *o, const struct system *sys, double edge[3]);
const void *saxs_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a);
void saxs_file(const struct observe_result *r, struct buf *out);
void saxs_json(const struct observe_result *r, bool curves, struct writer *w);
void saxs_summary(const struct observe_result *r, struct buf *out);
int saxs_of_blocks(const struct observe_result *r, double *value);

/* dielectric.c */
struct observe_size dielectric_size(const struct observable *o);
int dielectric_check(const struct observable *o, const struct system *sys, struct err *e);
int dielectric_plan(void **plan, const struct observable *o, const struct system *sys, const struct settings *set,
                    struct err *e);
const void *dielectric_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a);
void dielectric_file(const struct observe_result *r, struct buf *out);
void dielectric_json(const struct observe_result *r, bool curves, struct writer *w);
void dielectric_summary(const struct observe_result *r, struct buf *out);
int dielectric_of_blocks(const struct observe_result *r, double *value);
double dielectric_independent(const struct observe_result *r);

#endif
