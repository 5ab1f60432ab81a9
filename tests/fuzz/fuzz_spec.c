/* SPDX-License-Identifier: Apache-2.0
 *
 * spec_parse on any bytes: an error that begins with the file's name, or settings within the schema's ranges.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "daemon/spec/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spec *s = NULL;
    struct err e = {0};
    if (spec_parse(&s, "s.yaml", (const char *)data, size, &e)) {
        assert(!s && (e.code == ERR_SPEC || e.code == ERR_UNSUPPORTED));
        assert(!strncmp(e.msg, "s.yaml:", 7));
        return 0;
    }
    const struct settings *set = &s->settings;
    const struct nonbonded_settings *nb = &set->nonbonded;
    assert(strlen(s->name) <= 64 && *s->topology && *s->coordinates);
    assert(nb->vdw_cutoff >= 0.2 && nb->vdw_cutoff <= 5 && nb->coulomb_cutoff >= 0.2 && nb->coulomb_cutoff <= 5);
    assert(nb->pme_order >= 4 && nb->pme_order <= 6 && nb->ewald_tolerance > 0);
    assert(set->integrator.timestep > 0 && set->integrator.temperature > 0 && set->integrator.friction > 0);
    assert(set->integrator.com_every >= 0 && set->barostat.every > 0 && set->check_every > 0);
    assert((s->checkpoint_every > 0) != (s->checkpoint_seconds > 0) && s->retries >= 0 && set->alchemy.nwindows >= 1);
    for (int i = 0; i < set->alchemy.nwindows; i++)
        for (int c = 0; c < LAMBDA_COUNT; c++)
            assert(set->alchemy.lambda[i][c] >= 0 && set->alchemy.lambda[i][c] <= 1);
    for (int i = 0; i < s->nstages; i++) {
        assert(s->stages[i].steps > 0);
        assert(!s->stages[i].npt || set->barostat.on);
        assert(s->stages[i].kind != STAGE_PRODUCE || s->stages[i].sample_every > 0);
    }
    (void)spec_check_run(s, &e);
    spec_free(s);
    return 0;
}
