/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of a spec, one thing changed at a time from a spec of which nothing is said. For cmocka tests.
 */
#ifndef SHOAL_TESTS_LIB_ADVICE_PLAY_H
#define SHOAL_TESTS_LIB_ADVICE_PLAY_H

#include <jansson.h>

#include "engine/base/buf.h"
#include "engine/base/err.h"

/* What a test may change; NULL: as in the calm case. */
struct change {
    const char *constraints, *timestep, *windows, *soft_core, *change, *method, *protocol; /* of the spec */
    const char *charges[3], *hydrogen_mass, *b_states, *epsilon, *settles;                 /* of the topology */
    const char *hydrogens;         /* what their names begin with */
    const char *ion;               /* charge of each argon atom */
    const char *more;              /* sections at the end of the topology */
    const char *barostat, *masses; /* a line */
    const char *velocity;          /* of every atom */
    const char *terms;             /* of the molecule, beside what holds it together */
    const char *nonbonded;         /* a line */
    const char *box;               /* of the coordinates */
};

#define BAROSTAT "barostat: {method: monte-carlo, pressure: 1 bar, every: 25 steps}\n"

/* What is said of a spec with files a.top and a.gro, a new reference; NULL with *e: the system is refused. */
json_t *advice_of(const struct buf *spec, const struct buf *top, const struct buf *gro, struct err *e);
/* One piece of advice of this kind that holds this text; "" as kind: none at all. */
void expect(const char *kind, const char *text, struct change c);
/* No advice holds this text. */
void expect_none(const char *text, struct change c);
/* ERR_TOPOLOGY, with this text. */
void expect_error(const char *text, struct change c);

#endif
