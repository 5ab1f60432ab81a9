/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/advice/internal.h"

#include "engine/derive/ewald_error.h"

#define LOOSER 1.05 /* by which an estimate may be above that of what was asked for */

void advise_split(const struct advising *a)
{
    const struct spec *s = a->s;
    struct ewald_charges c;
    if (s->split == SPLIT_NONE)
        return;
    ewald_charges_of(&c, a->sys, &s->settings.alchemy);
    const double is = ewald_error_of(&c, &s->settings.nonbonded).total, asked = ewald_error_of(&c, &s->asked).total;
    if (is > LOOSER * asked)
        advice_say(
            a, "split", s->nonbonded_line,
            "nonbonded.split: estimated error of Coulomb forces %.3g kJ/mol/nm (rms), where the settings without "
            "the split have %.3g; expected auto, or a finer grid",
            is, asked);
}
