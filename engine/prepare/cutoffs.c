/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/cutoffs.h"

#include <math.h>

#include "engine/system/vdw_modifiers.h"

int cutoffs_check(const struct nonbonded_settings *set, double limit, const char *where, struct err *e)
{
    const double cutoff = fmax(set->coulomb_cutoff, set->vdw_cutoff);
    const bool switched = vdw_modifiers[set->vdw_modifier].switches;
    if (!(set->coulomb_cutoff > 0 && set->vdw_cutoff > 0))
        return err_set(e, ERR_SPEC, "nonbonded: cut-offs %g and %g nm: positive ones are needed", set->coulomb_cutoff,
                       set->vdw_cutoff);
    if (!(cutoff < limit))
        return err_set(e, ERR_SPEC, "nonbonded: cut-off %g nm: must be less than %g nm %s", cutoff, limit, where);
    if (switched && !(set->vdw_switch > 0 && set->vdw_switch < set->vdw_cutoff))
        return err_set(e, ERR_SPEC, "nonbonded: vdw: switch-start %g nm: expected between 0 and the cut-off %g nm",
                       set->vdw_switch, set->vdw_cutoff);
    return 0;
}
