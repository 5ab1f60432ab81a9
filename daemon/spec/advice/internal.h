/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the adviser: what its files share.
 */
#ifndef SHOAL_DAEMON_SPEC_ADVICE_INTERNAL_H
#define SHOAL_DAEMON_SPEC_ADVICE_INTERNAL_H

#include "daemon/spec/advice/advice.h"
#include "engine/prepare/topology.h"

struct advising {
    const struct spec *s;
    const struct system *sys;
    json_t *list;
};

/* One more piece of advice, which begins with the file and `line`. */
void advice_say(const struct advising *a, const char *kind, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* timestep.c: of a timestep too long for the fastest bond or angle. */
void advise_timestep(const struct advising *a, const struct topology *t);
/* charge.c: of net charges; and of one atom of a decoupled molecule, charge in state B less that in state A, e. */
void advise_net_charge(const struct advising *a);
double advise_charge_change(const struct advising *a, int atom);
/* temper.c: of a spec with alchemy.temper. */
void advise_temper(const struct advising *a);
/* idle.c: of ladders that change nothing, and of what differs at lambda 1 and no ladder moves; whether a ladder changes
 * something. */
void advise_idle(const struct advising *a, const struct topology *t);
bool advise_changes(const struct advising *a, const struct topology *t, enum lambda ladder);
/* motion.c: of the center of mass, and of the shape of a box with few molecules. */
void advise_center(const struct advising *a);
void advise_shape(const struct advising *a);
/* hydrogens.c: of names by which constraints: h-bonds tells hydrogens. */
void advise_hydrogens(const struct advising *a);
/* gap.c: of neighbours that one atom's contact with the solvent keeps from overlapping. */
void advise_gaps(const struct advising *a);
/* states.c: of what in state B has another effect than its numbers suggest, or none. */
void advise_states(const struct advising *a, const struct topology *t);
/* split.c: of a split between pairs and mesh with a larger error than without it. */
void advise_split(const struct advising *a);
/* box.c: of a box that not every device takes. */
void advise_box(const struct advising *a);

#endif
