/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of the motion of the center of mass, of volume moves of few molecules, and of exchanges that come often.
 */
#include "daemon/spec/advice/internal.h"
#include "engine/base/number.h"
#include "engine/system/volume_moves.h"

#define EXCHANGE_APART 100 /* steps from one to the next, from which on nothing was seen of free energies */

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

/* What an exchange does to velocities goes as one over the timesteps between two (docs/theory.md). */
void advise_exchange(const struct advising *a)
{
    const struct spec *s = a->s;
    uint64_t least = 0;
    for (int i = 0; i < s->nstages; i++)
        if (s->stages[i].exchange_every && (!least || s->stages[i].exchange_every < least))
            least = s->stages[i].exchange_every;
    if (least && least < EXCHANGE_APART)
        advice_say(a, "sampling", s->protocol_line,
                   "exchange.every: %llu %s: replicas hand on velocities that lack half a kick, which moves free "
                   "energies the more the more often they exchange windows; expected %d steps or more",
                   (unsigned long long)least, number_word((int64_t)least, "step", "steps"), EXCHANGE_APART);
}
