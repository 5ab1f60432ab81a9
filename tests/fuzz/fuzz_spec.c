/* SPDX-License-Identifier: Apache-2.0
 *
 * spec_parse on any bytes: an error that begins with the file's name, or settings within the schema's ranges; then what
 * the spec asks of a small system, whose atoms it selects by index file too: a line "%%" ends the spec, what follows is
 * x.ndx.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "daemon/spec/split.h"
#include "engine/io/io.h"
#include "engine/observe/observe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A pair, whose bond is another in B, and two waters. */
static const char topology[] =
    "[ defaults ]\n1 2\n[ atomtypes ]\nC 6 16 0 A 0.3 0.5\nOW 8 16 0 A 0.3 0.6\nHW 1 1 0 A 0 0\n"
    "[ moleculetype ]\nPAR 3\n[ atoms ]\n1 C 1 PAR C1 1 0 16\n2 C 1 PAR C2 2 0 16\n"
    "[ bonds ]\n1 2 1 0.2 500 0.3 900\n"
    "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 OW 1 SOL OW 1 -0.8 16\n2 HW 1 SOL HW1 1 0.4 1\n3 HW 1 SOL HW2 1 0.4 1\n"
    "[ settles ]\n1 1 0.1 0.16\n[ system ]\nt\n[ molecules ]\nPAR 1\nSOL 2\n";
static const char coordinates[] =
    "t\n8\n"
    "    1PAR     C1    1   1.000   1.000   1.000\n"
    "    1PAR     C2    2   1.200   1.000   1.000\n"
    "    2SOL     OW    3   2.000   1.000   1.000\n"
    "    2SOL    HW1    4   2.060   1.080   1.000\n"
    "    2SOL    HW2    5   1.940   1.080   1.000\n"
    "    3SOL     OW    6   2.000   2.000   2.000\n"
    "    3SOL    HW1    7   2.060   2.080   2.000\n"
    "    3SOL    HW2    8   1.940   2.080   2.000\n"
    "3.0 3.0 3.0\n";

static void check_group(const struct atom_group *g, const struct system *sys)
{
    for (int i = 0; i < g->n; i++)
        assert(g->atom[i] >= 0 && g->atom[i] < sys->natoms);
}

static void check_system(const struct spec *s, const struct system *sys)
{
    struct err e = {0};
    for (int i = 0; i < sys->nobservables; i++) {
        const struct observable *o = &sys->observables[i];
        assert(o->name[0] && !strchr(o->name, '/') && o->ngroups <= OBSERVABLE_GROUPS);
        for (int k = 0; k < o->ngroups; k++)
            check_group(&o->group[k], sys);
    }
    for (int i = 0; i < sys->ncoordinations; i++)
        assert(sys->coordinations[i].count[0] > 0);
    if (spec_check_windows(s, sys, &e))
        assert(e.msg[0]);
    else
        for (int i = 0; i < sys->nobservables; i++)
            assert(observe_bytes(&sys->observables[i]) % 8 == 0);
}

/* Where one is chosen it is as the schema wants it. */
static void check_split(struct spec *s, const struct system *sys)
{
    struct err e = {0};
    const struct nonbonded_settings *nb = &s->settings.nonbonded;
    if (s->split != SPLIT_AUTO || spec_choose_split(s, sys, &e))
        return;
    assert(s->split == SPLIT_GIVEN && nb->pme_order >= 4 && nb->pme_order <= 6);
    assert(nb->coulomb_cutoff <= 5 && nb->ewald_tolerance >= 1e-12 && nb->ewald_tolerance <= 0.01);
    for (int d = 0; d < 3; d++)
        assert(nb->pme_grid[d] >= 6 && nb->pme_grid[d] <= 4096);
}

static void read_system(struct spec *s, const void *index, size_t size)
{
    struct source *src = source_memory_new();
    struct system sys = {0};
    struct err e = {0};
    assert(!source_memory_add(src, "x.top", topology, sizeof topology - 1, &e));
    assert(!source_memory_add(src, "x.gro", coordinates, sizeof coordinates - 1, &e));
    assert(!source_memory_add(src, "x.ndx", index, size, &e));
    if (spec_system(s, src, &sys, &e)) {
        assert(e.msg[0] && e.code != ERR_INTERNAL && !sys.natoms);
    } else {
        check_split(s, &sys);
        check_system(s, &sys);
    }
    system_close(&sys);
    source_free(src);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spec *s = NULL;
    struct err e = {0};
    const uint8_t *cut = size ? memmem(data, size, "\n%%\n", 4) : NULL;
    size_t first = cut ? (size_t)(cut - data) + 1 : size;
    if (spec_parse(&s, "s.yaml", (const char *)data, first, &e)) {
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
    read_system(s, cut ? (const void *)(cut + 4) : "", cut ? size - first - 3 : 0);
    spec_free(s);
    return 0;
}
