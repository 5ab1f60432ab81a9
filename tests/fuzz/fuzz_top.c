/* SPDX-License-Identifier: Apache-2.0
 *
 * top_read on any bytes: an error that names its place, or a system that the engine can trust. A line "%%" ends the
 * topology; what follows is the file a.itp.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/gzip.h"
#include "engine/io/io.h"
#include "engine/system/rare_kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_atoms(const struct system *s, const int *atoms, int n)
{
    for (int i = 0; i < n; i++) {
        assert(atoms[i] >= 0 && atoms[i] < s->natoms);
        for (int j = 0; j < i; j++)
            assert(atoms[i] != atoms[j]);
    }
}

/* Terms that cannot stand in [ intermolecular_interactions ]. */
static void check_within(const struct system *s, const int *atoms, int n)
{
    check_atoms(s, atoms, n);
    for (int i = 0; i < n; i++)
        assert(s->atoms[atoms[i]].molecule == s->atoms[atoms[0]].molecule);
}

static void check_exclusions(const struct system *s)
{
    assert(s->exclusion_start[0] == 0);
    for (int i = 0; i < s->natoms; i++) {
        assert(s->exclusion_start[i] <= s->exclusion_start[i + 1]);
        for (int k = s->exclusion_start[i]; k < s->exclusion_start[i + 1]; k++) {
            int j = s->exclusion[k], symmetric = 0;
            assert(j >= 0 && j < s->natoms && j != i && (k == s->exclusion_start[i] || s->exclusion[k - 1] < j));
            for (int m = s->exclusion_start[j]; m < s->exclusion_start[j + 1]; m++)
                symmetric |= s->exclusion[m] == i;
            assert(symmetric);
        }
    }
}

static void check_terms(const struct system *s)
{
    for (int i = 0; i < s->nbonds; i++)
        check_within(s, s->bonds[i].atom, 2);
    for (int i = 0; i < s->nangles; i++)
        check_atoms(s, s->angles[i].atom, 3);
    for (int i = 0; i < s->ndihedrals; i++)
        check_atoms(s, s->dihedrals[i].atom, 4);
    for (int i = 0; i < s->nrb_dihedrals; i++)
        check_atoms(s, s->rb_dihedrals[i].atom, 4);
    for (int i = 0; i < s->nimpropers; i++)
        check_atoms(s, s->impropers[i].atom, 4);
    for (int i = 0; i < s->npairs14; i++)
        check_atoms(s, s->pairs14[i].atom, 2);
    for (int i = 0; i < s->npairs_nb; i++)
        check_atoms(s, s->pairs_nb[i].atom, 2);
    for (int i = 0; i < s->nconstraints; i++) {
        check_within(s, s->constraints[i].atom, 2);
        assert(s->constraints[i].r0[0] > 0 && s->constraints[i].r0[1] > 0);
    }
    for (int i = 0; i < s->nsettles; i++) {
        const struct settle *w = &s->settles[i];
        check_within(s, (int[]){w->oxygen, w->hydrogen[0], w->hydrogen[1]}, 3);
    }
}

/* A restraint of several pairs has all of them behind one another, with the same numbers. */
static void check_pairs(const struct system *s, int i)
{
    const int own = (int)s->rare[i].c[0][4], n = (int)s->rare[i].c[0][5];
    assert(own >= 0 && (own < n || (own == 0 && n == 0)) && i - own >= 0 && i - own + n <= s->nrare);
    for (int k = 0; k < n; k++) {
        const struct rare_term *pair = &s->rare[i - own + k];
        assert(pair->kind == RARE_DISTANCE_RESTRAINT && pair->c[0][4] == k && pair->c[0][5] == n);
        assert(!memcmp(pair->c[0], s->rare[i].c[0], 4 * sizeof(double)));
    }
}

static void check_rare(const struct system *s)
{
    for (int i = 0; i < s->nharmonics; i++)
        check_atoms(s, s->harmonics[i].atom, 2);
    for (int i = 0; i < s->nrare; i++) {
        assert(s->rare[i].kind >= 0 && s->rare[i].kind < RARE_KINDS);
        if (s->rare[i].kind == RARE_ANGLE_RESTRAINT) { /* of two vectors, which may share atoms */
            check_atoms(s, s->rare[i].atom, 2);
            check_atoms(s, s->rare[i].atom + 2, 2);
        } else {
            check_atoms(s, s->rare[i].atom, rare_kinds[s->rare[i].kind].natoms);
        }
        for (int k = 0; k < 12; k++)
            assert(isfinite(s->rare[i].c[k / 6][k % 6]));
        if (s->rare[i].kind == RARE_DISTANCE_RESTRAINT)
            check_pairs(s, i);
    }
    for (int i = 0; i < s->ncmaps; i++) {
        const struct cmap *c = &s->cmaps[i];
        check_within(s, c->atom, 5);
        assert(c->side >= 2 && c->first >= 0 && c->first + c->side * c->side <= s->ncmap_points);
    }
}

static void check_sites(const struct system *s)
{
    for (int i = 0; i < s->nsites; i++) {
        const struct virtual_site *v = &s->sites[i];
        assert(v->count > 0 && v->first + v->count <= (uint32_t)s->nsite_atoms);
        check_within(s, s->site_atoms + v->first, (int)v->count);
        assert(s->atoms[v->atom].mass[0] == 0 && s->atoms[s->site_atoms[v->first]].mass[0] > 0);
    }
}

static void check_system(const struct system *s)
{
    assert(s->natoms > 0 && s->nmolecules > 0 && s->ntypes > 0);
    for (int i = 0; i < s->natoms; i++) {
        const struct atom *a = &s->atoms[i];
        for (int k = 0; k < 2; k++)
            assert(a->type[k] >= 0 && a->type[k] < s->ntypes && a->mass[k] >= 0 && isfinite(a->charge[k]));
        assert(a->molecule >= 0 && a->molecule < s->nmolecules);
        assert(strlen(a->name) < sizeof a->name && strlen(a->resname) < sizeof a->resname);
    }
    for (int i = 0; i < s->ntypes * s->ntypes; i++)
        assert(isfinite(s->lj[i].c6) && isfinite(s->lj[i].c12));
    check_exclusions(s);
    check_terms(s);
    check_rare(s);
    check_sites(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source *src = source_memory_new();
    struct system s;
    struct err e = {0};
    const uint8_t *cut = size ? memmem(data, size, "\n%%\n", 4) : NULL;
    size_t first = cut ? (size_t)(cut - data) + 1 : size;
    assert(!source_memory_add(src, "x.top", first ? (const void *)data : "", first, &e));
    if (cut)
        assert(!source_memory_add(src, "a.itp", data + first + 3, size - first - 3, &e));
    if (top_read(&s, src, "x.top", NULL, 0, &e) && e.code == ERR_IO) {
        assert(gzip_is(data, first) || (cut && gzip_is(data + first + 3, size - first - 3))); /* and not all of it */
    } else if (e.code) {
        assert(e.code == ERR_TOPOLOGY || e.code == ERR_UNSUPPORTED || e.code == ERR_MISSING_FILE);
        assert(!strncmp(e.msg, "x.top:", 6) || !strncmp(e.msg, "a.itp:", 6));
        assert(e.code != ERR_MISSING_FILE || src->wanted[0]);
    } else {
        check_system(&s);
    }
    system_close(&s);
    source_free(src);
    return 0;
}
