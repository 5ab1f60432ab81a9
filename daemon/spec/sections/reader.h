/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the reader of specs: what its files share.
 */
#ifndef SHOAL_DAEMON_SPEC_SECTIONS_READER_H
#define SHOAL_DAEMON_SPEC_SECTIONS_READER_H

#include "daemon/spec/document/schema.h"
#include "daemon/spec/spec.h"

struct reader {
    const char *file;
    int line;        /* of the mapping at hand, for what is absent */
    double timestep; /* that times are multiples of, ps */
    uint32_t cycle;  /* timesteps from one with the mesh to the next: what comes between timesteps, comes after these */
    struct err *e;
};

/* ERR_SPEC: "file:line: place: text". */
int spec_bad(struct reader *r, struct view v, const char *place, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A time or a step count as whole timesteps. */
int spec_steps_of(struct reader *r, struct view v, const char *place, uint64_t *out);
/* The same for what comes after whole cycles alone. What the spec does not give becomes the next multiple. */
int spec_cycles_of(struct reader *r, struct view v, const char *place, uint64_t *out);
/* ERR_SPEC: cycles of r->timestep are too long for impulses of the mesh. */
int spec_check_impulse(struct reader *r, struct view v, const char *place);
/* seed.c: the byte of a text at which character number `at` begins; a byte order mark counts as one. */
size_t spec_byte_of(const char *text, size_t len, size_t at);
/* ERR_SPEC: a friction is given, and the integrator has none. */
int spec_check_friction(struct reader *r, enum integrator kind, struct view v, const char *place);
/* ERR_SPEC: the integrator has no thermostat, which what the view asks for goes by. */
int spec_check_thermostat(struct reader *r, enum integrator kind, struct view v, const char *place);
void spec_read_defines(struct phase *p, struct view v);
void spec_phase_close(struct phase *p);

/* selection.c */
/* Of a checked view, text or mapping. ERR_SPEC: a group is asked for and there is no `index`, the name of the file of
 * groups. */
int selection_read(struct reader *r, struct selection *out, struct view v, const char *place, const char *index);

/* nonbonded.c */
int spec_read_nonbonded(struct reader *r, struct spec *s, struct view v);

/* alchemy.c */
int spec_read_alchemy(struct reader *r, struct alchemy_settings *a, struct view v);
/* After all sections: whether a pilot can place other windows for this spec. ERR_SPEC. */
int spec_read_ladder(struct reader *r, struct spec *s, struct view root);
/* After the integrator. ERR_SPEC: not above its temperature; no ladder that it has. */
int spec_check_temper(struct reader *r, const struct settings *set, struct view v);

/* b_states.c: in a system. ERR_SPEC: beside decouple an atom or a 1-4 pair has a state B that no entry makes. */
int spec_check_b_states(const struct spec *s, const struct system *sys, struct err *e);

/* restraints.c: between centers; system and alchemy have been read. The same in a system that is whole but for them. */
int spec_read_restraints(struct reader *r, struct spec *s, struct view v);
int spec_make_restraints(const struct spec *s, struct source *src, struct system *sys, struct err *e);
void spec_restraints_close(struct spec *s);

/* observables.c: after the integrator, whose timestep it needs; and their atoms in a system. */
int spec_read_observables(struct reader *r, struct spec *s, struct view v);
int spec_make_observables(const struct spec *s, struct source *src, struct system *sys, struct err *e);
void spec_observables_close(struct spec *s);
/* waters.c: after integrator and observables; and the atoms of the center in a system. */
int spec_read_waters(struct reader *r, struct spec *s, struct view v);
int spec_make_waters(const struct spec *s, struct source *src, struct system *sys, struct err *e);
/* observable_numbers.c: "observables[1].rdf.max"; and that max is a whole number of bins, `most` at most. ERR_SPEC. */
void observable_place(char place[96], const struct observable_choice *c, const char *key);
int observable_bins(struct reader *r, const struct observable_choice *c, struct view max, struct view bin, int most);

/* fold.c */
int spec_read_fold(struct reader *r, struct spec *s, struct view v);
void spec_fold_close(struct spec *s);

/* saxs.c */
int spec_read_saxs(struct reader *r, struct observable_choice *c, struct view v);
/* Reads its background. ERR_SPEC, ERR_MISSING_FILE. */
int spec_make_saxs(const struct spec *s, const struct observable_choice *c, struct source *src, struct observable *o,
                   struct err *e);

/* biases.c: after the protocol, whose times schedules have; and their atoms in a system. */
/* A coordination, wherever there is one: `mapping` is where, for messages. And its atoms: ERR_SPEC, where they are none
 * for it. */
int spec_read_coordination(struct reader *r, struct coordination *c, struct selection group[2], struct view v,
                           const char *mapping, const char *index);
int spec_check_coordination(const struct coordination *c, const struct selection group[2], int *const atoms[2],
                            const int n[2], struct err *e);
int spec_read_biases(struct reader *r, struct spec *s, struct view v);
int spec_make_biases(const struct spec *s, struct source *src, struct system *sys, struct err *e);
void spec_biases_close(struct spec *s);

/* switching.c: how many walkers each end has, once alchemy has been read; all else of `switch` after the protocol. */
void spec_read_walkers(struct spec *s, struct view v);
int spec_read_switching(struct reader *r, struct spec *s, struct view root);

/* protocol.c: the stages and their phases; everything else has been read. */
int spec_read_protocol(struct reader *r, struct spec *s, struct view v);
/* What steps of production are multiples of, for all that comes between them (struct settings). */
uint64_t spec_stride(const struct spec *s);

#endif
