/* SPDX-License-Identifier: Apache-2.0
 *
 * Thermodynamic integration. Free energies and reduced potentials are in kT.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_TI_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_TI_H

#include "engine/base/err.h"
#include "engine/estimate/estimators/solution.h"

struct ti {
    struct solution solution; /* trapezoid along the path of lambda vectors; unsampled states are stepped over */
    double *mean;             /* [nstates][ncomponents], kT; NAN: unsampled */
};

/* ERR_ESTIMATE: no derivatives, or fewer than two sampled states. */
int ti_solve(struct ti *t, const struct sampling *s, struct err *e);
/* Gauss-Legendre quadrature over the whole of [0, 1] when exactly one component moves, every state has samples and the
 * states are the nodes to 4 decimals (the precision of dhdl.xvg); else ok is false. */
void ti_gauss(const struct ti *t, const struct sampling *s, struct range *r);
void ti_close(struct ti *t);

#endif
