/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/tiny/tiny.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/cuda/device/warp.h"
#include "engine/cuda/kernels.h"

enum { FOUR = 4 * sizeof(float) };

/* ---- pairs ---- */

/* All pairs (i, i + d) for each distance d in turn, around the end: neighbours in the lists share few atoms, so that
 * the threads of a warp add to different places. */
static void list_pairs(struct tiny *t, const struct alchemy_plan *plan)
{
    const int32_t n = plan->natoms;
    const size_t most = (size_t)n * (size_t)n / 2 + 1;
    bool *perturbed = xcalloc((size_t)n, sizeof *perturbed);
    for (int k = 0; k < plan->nperturbed; k++)
        perturbed[plan->perturbed[k]] = true;
    t->plain = xcalloc(most, sizeof *t->plain);
    t->perturbed = xcalloc(most, sizeof *t->perturbed);
    for (int32_t d = 1; 2 * d <= n; d++)
        for (int32_t i = 0; i < (2 * d == n ? d : n); i++) {
            int32_t j = (i + d) % n;
            if (alchemy_excludes(plan, i, j))
                continue;
            const bool soft = perturbed[i] || perturbed[j];
            uint32_t *pair = soft ? t->perturbed[t->nperturbed++] : t->plain[t->nplain++];
            pair[0] = (uint32_t)(perturbed[i] ? i : j);
            pair[1] = (uint32_t)(perturbed[i] ? j : i);
        }
    free(perturbed);
}

static int32_t apart(const int32_t atom[2])
{
    return atom[1] > atom[0] ? atom[1] - atom[0] : atom[0] - atom[1];
}

static int by_distance(const int32_t *x, const int32_t *y)
{
    return apart(x) != apart(y) ? apart(x) - apart(y) : (x[0] > y[0]) - (x[0] < y[0]);
}

static int excluded_order(const void *a, const void *b)
{
    return by_distance(((const struct nb_excluded *)a)->atom, ((const struct nb_excluded *)b)->atom);
}

static int always_order(const void *a, const void *b)
{
    return by_distance(((const struct nb_always *)a)->atom, ((const struct nb_always *)b)->atom);
}

static void list_unlisted(struct tiny *t, const struct alchemy_plan *plan, const struct pairs *pairs)
{
    const size_t plain = (size_t)pairs->host.nexcluded, changing = (size_t)plan->nexcluded_perturbed;
    t->nexcluded = (uint32_t)(plain + changing);
    t->nalways = (uint32_t)plan->nalways;
    t->excluded = xcalloc(t->nexcluded + 1, sizeof *t->excluded);
    t->always = xcalloc(t->nalways + 1, sizeof *t->always);
    memcpy(t->excluded, pairs->excluded, plain * sizeof *t->excluded);
    if (changing)
        memcpy(t->excluded + plain, plan->excluded_perturbed, changing * sizeof *t->excluded);
    if (t->nalways)
        memcpy(t->always, plan->always, t->nalways * sizeof *t->always);
    qsort(t->excluded, t->nexcluded, sizeof *t->excluded, excluded_order);
    qsort(t->always, t->nalways, sizeof *t->always, always_order);
}

/* ---- what the warps take ---- */

static void add_chunks(struct tiny *t, enum tiny_kind kind, uint32_t first, uint32_t count)
{
    for (uint32_t from = 0; from < count; from += WARP)
        t->chunk[t->host.nchunks++] =
            (struct tiny_chunk){kind, first + from, count - from < WARP ? count - from : WARP};
}

/* The dearest first: a warp that has done with one takes the next. */
static void list_chunks(struct tiny *t, const struct topology *top, bool charged)
{
    const struct term_list *const terms[] = {
        &top->nbonds,     &top->nangles,  &top->ndihedrals,          &top->nrb_dihedrals,
        &top->nimpropers, &top->npairs14, &top->nposition_restraints};
    static const int order[] = {2, 3, 4, 1, 5, 0, 6};
    enum { LISTS = sizeof terms / sizeof *terms, DEAR = 4 };
    const uint32_t n = t->host.natoms;
    uint32_t first[LISTS] = {0}, all = 0;
    for (int k = 0; k < LISTS; k++) {
        first[k] = all;
        all += terms[k]->count;
    }
    const uint32_t rare = top->nrare.count + top->ncmaps.count;
    const uint32_t items = all + rare + 7 * n + t->nplain + t->nperturbed + t->nexcluded + t->nalways;
    t->chunk = xcalloc(items / WARP + LISTS + 7 + top->ncenters.count, sizeof *t->chunk);
    for (int k = 0; k < DEAR; k++)
        add_chunks(t, TINY_BONDED, first[order[k]], terms[order[k]]->count);
    add_chunks(t, TINY_RARE, 0, rare);
    for (uint32_t k = 0; k < top->ncenters.count; k++)
        t->chunk[t->host.nchunks++] = (struct tiny_chunk){TINY_CENTERS, k, WARP};
    add_chunks(t, TINY_WAVES, 0, charged ? 6 * n : 0);
    add_chunks(t, TINY_NOISE, 0, n);
    add_chunks(t, TINY_PERTURBED, 0, t->nperturbed);
    for (int k = DEAR; k < LISTS; k++)
        add_chunks(t, TINY_BONDED, first[order[k]], terms[order[k]]->count);
    add_chunks(t, TINY_PLAIN, 0, t->nplain);
    add_chunks(t, TINY_EXCLUDED, 0, t->nexcluded);
    add_chunks(t, TINY_ALWAYS, 0, t->nalways);
}

/* ---- shared memory ---- */

static uint32_t take(uint32_t *used, size_t bytes)
{
    uint32_t at = *used;
    *used += (uint32_t)((bytes + 15) / 16 * 16);
    return at;
}

static void place(struct tiny *t, const struct topology *top, const struct mesh *mesh)
{
    struct tiny_table *h = &t->host;
    struct tiny_places *p = &h->places;
    const size_t n = h->natoms, bodies = (size_t)(top->nwaters + top->nclusters) + top->nlone;
    uint32_t used = 0;
    p->ctl = take(&used, sizeof(struct ctl));
    p->x = take(&used, n * 3 * sizeof(double));
    p->v = take(&used, n * 3 * sizeof(double));
    p->x_old = take(&used, n * 3 * sizeof(double));
    p->v_old = take(&used, n * 3 * sizeof(double));
    p->noise = take(&used, n * 3 * sizeof(float));
    p->inverse_mass = take(&used, n * sizeof(float));
    p->f = take(&used, n * 3 * sizeof(int64_t));
    p->grid = take(&used, n * 4 * sizeof(uint32_t));
    p->charge = take(&used, n * sizeof(float));
    p->held = take(&used, bodies * TINY_HELD_BYTES);
    p->slot = take(&used, n * sizeof(uint32_t));
    p->chunk = take(&used, h->nchunks * sizeof(struct tiny_chunk));
    for (int d = 0; d < 3 && mesh->meshed; d++) {
        const size_t bytes = d < 2 ? (size_t)h->functions[d] * h->stride * sizeof(float)
                                   : (n * h->quads + TINY_QUADS) * FOUR; /* as many are read from any place */
        p->wave[d] = take(&used, bytes);
        p->slope[d] = take(&used, bytes);
        p->turn[d] = take(&used, (size_t)mesh->host.axis[d].size * 2 * sizeof(float));
    }
    p->column = take(&used, h->ncolumns * sizeof(struct tiny_column));
    p->green = take(&used, (h->noctets ? h->noctets : h->nvalues) * (size_t)FOUR);
    p->value = take(&used, h->nvalues * (size_t)FOUR);
    p->bytes = used;
}

/* ---- a model ---- */

/* ERR_UNSUPPORTED: it is not for one block of this device. */
static int plan_block(struct tiny *t, const struct system *sys, const struct settings *set,
                      const struct topology *topology, const struct alchemy_plan *plan, const struct pairs *pairs,
                      const struct mesh *mesh, struct err *e)
{
    struct tiny_table *h = &t->host;
    if (sys->natoms > TINY_ATOMS_MOST)
        return err_set(e, ERR_UNSUPPORTED, "%d atoms: expected at most %d", sys->natoms, TINY_ATOMS_MOST);
    if (sys->nsites)
        return err_set(e, ERR_UNSUPPORTED, "%d virtual %s: expected none", sys->nsites,
                       number_word(sys->nsites, "site", "sites"));
    if (sys->ncoordinations)
        return err_set(e, ERR_UNSUPPORTED, "biases along %d %s: expected none", sys->ncoordinations,
                       number_word(sys->ncoordinations, "coordination", "coordinations"));
    if (mesh_cycle(&set->integrator) > 1)
        return err_set(e, ERR_UNSUPPORTED, "mesh-every %d: expected 1", set->integrator.mesh_every);
    h->natoms = (uint32_t)sys->natoms;
    h->groups = (h->natoms + WARP - 1) / WARP;
    h->stride = WARP * h->groups + 1;
    int rc = tiny_columns_make(t, sys, set, mesh, e);
    if (rc)
        return rc;
    h->quads = (h->functions[2] + 3) / 4 | 1;
    list_pairs(t, plan);
    list_unlisted(t, plan, pairs);
    list_chunks(t, topology, mesh->meshed);
    place(t, topology, mesh);
    if (h->places.bytes > mesh->shared_most)
        return err_set(
            e, ERR_UNSUPPORTED,
            "a block of %u bytes of shared memory for %u atoms and %u waves: expected at most %u on this GPU",
            h->places.bytes, h->natoms, 4 * h->nvalues, mesh->shared_most);
    return 0;
}

/* A block takes the longer the more atoms there are, however many replicas beside it; a graph takes about the same, but
 * graphs share the multiprocessors. */
static bool tiny_pays(const struct system *sys, const struct settings *set)
{
    return 3 * (sys->natoms - TINY_ATOMS_ALONE) <= TINY_THIRDS_MORE * (set->replicas - 1);
}

int tiny_make(struct tiny *t, const struct system *sys, const struct settings *set, const struct topology *topology,
              const struct alchemy_plan *plan, const struct pairs *pairs, const struct mesh *mesh, struct err *e)
{
    struct err why;
    *t = (struct tiny){0};
    if (set->switching.changes || set->form == FORM_GRAPH || (set->form == FORM_AUTO && !tiny_pays(sys, set)))
        return 0;
    int rc = plan_block(t, sys, set, topology, plan, pairs, mesh, &why);
    t->on = !rc;
    if (!rc || set->form == FORM_AUTO)
        return 0;
    *e = why;
    return err_prefix(e, "form gang");
}

void tiny_close(struct tiny *t)
{
    free(t->plain);
    free(t->perturbed);
    free(t->excluded);
    free(t->always);
    free(t->chunk);
    free(t->column);
    free(t->octet);
    *t = (struct tiny){0};
}

void tiny_lay_out(struct tiny *t, const struct pairs *pairs, const struct mesh *mesh, struct arena *a)
{
    struct tiny_table *h = &t->host;
    if (!t->on)
        return;
    h->pairs = pairs->table;
    h->mesh = mesh->table;
#define PUT(field, count) h->field = arena_put(a, t->field, (size_t)(count) * sizeof *t->field)
    PUT(plain, t->nplain);
    PUT(perturbed, t->nperturbed);
    PUT(excluded, t->nexcluded);
    PUT(always, t->nalways);
    PUT(chunk, h->nchunks);
    PUT(column, h->ncolumns);
    PUT(octet, h->noctets);
#undef PUT
    t->table = arena_put(a, h, sizeof *h);
}
