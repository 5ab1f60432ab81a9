/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/advice/internal.h"

#include <math.h>

#include "engine/math/box.h"

void advise_box(const struct advising *a)
{
    const struct nonbonded_settings *set = &a->s->settings.nonbonded;
    const double cutoff = fmax(set->vdw_cutoff, set->coulomb_cutoff), limit = box_gpu_cutoff_limit(a->sys->box);
    if (!(cutoff < limit))
        advice_say(a, "box", a->s->nonbonded_line,
                   "nonbonded.cutoff: %.6g nm: no GPU takes it, and on one the ensemble will fail: the box of %s is so "
                   "flat that there it has to be less than half the least distance of its opposite faces, %.6g nm. CPU "
                   "devices take less than %.6g nm. For a GPU expected a larger box or a shorter cut-off",
                   cutoff, a->s->coordinates, limit, box_cutoff_limit(a->sys->box));
}
