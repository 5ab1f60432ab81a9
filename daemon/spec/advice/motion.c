/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of the motion of the center of mass, and of volume moves of few molecules.
 */
#include "daemon/spec/advice/internal.h"
#include "engine/system/volume_moves.h"

void advise_center(const struct advising *a)
{
    if (a->s->com_line && system_held_in_space(a->sys))
        advice_say(a, "center", a->s->com_line,
                   "integrator.com-removal: %d steps: position restraints hold atoms in space in production, so the "
                   "motion of the center of mass stays there; it is taken out in stages without such restraints alone",
                   a->s->settings.integrator.com_every);
}

void advise_shape(const struct advising *a)
{
    const enum volume_coupling coupling = a->s->settings.barostat.coupling;
    bool npt = false;
    for (int i = 0; i < a->s->nstages; i++)
        npt |= a->s->stages[i].kind == STAGE_PRODUCE && a->s->stages[i].npt;
    if (npt && coupling != VOLUME_ISOTROPIC && a->sys->nmolecules < VOLUME_SHAPE_FEWEST)
        advice_say(a, "barostat", a->s->protocol_line,
                   "barostat.coupling: %s: " VOLUME_SHAPE_BIAS "; this system has %d. Expected coupling: isotropic",
                   coupling == VOLUME_ANISOTROPIC ? "anisotropic" : "semi-isotropic", VOLUME_SHAPE_FEWEST,
                   a->sys->nmolecules);
}
