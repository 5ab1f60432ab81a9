/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/nonbonded.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/cuda/device/warp.h"
#include "engine/cuda/kernels.h"
#include "engine/prepare/uniform.h"

struct nonbonded {
    struct dev *dev;
    struct readonly shared; /* all tables */
    int natoms;
    struct lambda_rows windows;   /* device addresses */
    struct uniform_table uniform; /* host copy */
    const struct uniform_table *uniform_at;
    struct mesh mesh;
    struct pairs pairs;
    struct tiny tiny;
};

/* ---- read-only tables ---- */

/* What the tables are made from. */
struct cuda_sources {
    struct nonbonded *nb;
    const struct alchemy_plan *plan;
    const struct lambda_rows *windows;
};

static void lay_out(void *sources, struct arena *a)
{
    const struct cuda_sources *from = sources;
    struct nonbonded *nb = from->nb;
    const struct alchemy_plan *plan = from->plan;
    nb->windows = lambda_rows_put(from->windows, a);
    nb->uniform_at = arena_put(a, &nb->uniform, sizeof nb->uniform);
    mesh_lay_out(&nb->mesh, plan, &nb->windows, a);
    nb->pairs.host.uniform = nb->uniform_at;
    pairs_lay_out(&nb->pairs, plan, &nb->windows, a);
    tiny_lay_out(&nb->tiny, &nb->pairs, &nb->mesh, a);
}

static int make(struct nonbonded *nb, const struct system *sys, const struct settings *set, const struct topology *t,
                const struct lambda_rows *windows, struct err *e)
{
    struct alchemy_plan plan;
    int rc = alchemy_plan_make(&plan, sys, set, t->unit_of, e);
    if (rc)
        return rc;
    nb->natoms = sys->natoms;
    uniform_table_make(&nb->uniform, &plan, &set->nonbonded);
    rc = pairs_make(&nb->pairs, &nb->dev->limits, sys, set, t, &plan, e);
    if (rc == 0)
        rc = mesh_make(&nb->mesh, &nb->dev->limits, sys, set, &plan, e);
    if (rc == 0)
        rc = tiny_make(&nb->tiny, sys, set, t, &plan, &nb->pairs, &nb->mesh, e);
    if (nb->tiny.on) /* its samples alone have a mesh: not worth memory for two ways */
        mesh_settle(&nb->mesh, set->replicas);
    if (rc == 0)
        rc = readonly_upload(&nb->shared, nb->dev, lay_out, &(struct cuda_sources){nb, &plan, windows}, e);
    alchemy_plan_close(&plan);
    return rc;
}

int cuda_nonbonded_new(struct nonbonded **out, struct dev *dev, const struct system *sys, const struct settings *set,
                       const struct topology *t, const struct lambda_rows *windows, struct err *e)
{
    struct nonbonded *nb = xcalloc(1, sizeof *nb);
    nb->dev = dev;
    int rc = make(nb, sys, set, t, windows, e);
    if (rc) {
        cuda_nonbonded_free(nb);
        return rc;
    }
    *out = nb;
    return 0;
}

void cuda_nonbonded_free(struct nonbonded *nb)
{
    if (!nb)
        return;
    readonly_free(&nb->shared);
    tiny_close(&nb->tiny);
    pairs_close(&nb->pairs);
    free(nb);
}

const struct readonly *cuda_nonbonded_tables(const struct nonbonded *nb)
{
    return &nb->shared;
}

const struct tiny *cuda_nonbonded_tiny(const struct nonbonded *nb)
{
    return nb->tiny.on ? &nb->tiny : NULL;
}

enum pme_form cuda_pme_form(const struct nonbonded *nb, int in_flight)
{
    return mesh_form(&nb->mesh, in_flight);
}

struct box_limits cuda_box_limits(const struct nonbonded *nb)
{
    return nb->pairs.least;
}

/* ---- a replica's block ---- */

void cuda_caps_guess(const struct nonbonded *nb, struct list_caps *caps)
{
    pairs_caps_guess(&nb->pairs, caps);
}

void cuda_caps_grow(struct list_caps *caps, const struct ctl *ctl)
{
    pairs_caps_grow(caps, ctl);
}

struct cuda_block {
    struct motion_tail *tail;
    uint32_t (*grid)[4]; /* fractions of the box edges, x, y, z */
    struct mesh_arrays mesh;
    struct pairs_arrays pairs;
};

static size_t lay_out_block(const struct nonbonded *nb, const struct list_caps *caps, void *base, struct cuda_block *b)
{
    struct arena a = {.base = base};
    const size_t blocks = blocks_of(3 * (uint64_t)nb->natoms, CUDA_BLOCK); /* of bodies and their free steps, at most */
    b->tail = arena_take(&a, sizeof *b->tail + blocks * MOTION_SUMS * sizeof(double));
    b->grid = arena_take(&a, (size_t)nb->natoms * sizeof *b->grid);
    mesh_lay_out_block(&nb->mesh, &a, &b->mesh);
    pairs_lay_out_block(&nb->pairs, caps, &a, &b->pairs);
    return a.used;
}

size_t cuda_block_bytes(const struct nonbonded *nb, const struct list_caps *caps)
{
    struct cuda_block b;
    return lay_out_block(nb, caps, NULL, &b);
}

void *cuda_block_tail(const struct nonbonded *nb, const struct nonbonded_arrays *r)
{
    struct cuda_block b;
    lay_out_block(nb, r->caps, r->block, &b);
    return b.tail;
}

static void emit_uniform_terms(const struct nonbonded *nb, enum evaluate mode, const struct nonbonded_arrays *r,
                               uint64_t after, struct tape *t)
{
    const struct shape warp = {.grid = {1, 1, 1}, .block = {WARP, 1, 1}, .after = after};
    emit_uniform(t, &warp,
                 &(struct args_uniform){.ctl = r->ctl,
                                        .uniform = nb->uniform_at,
                                        .windows = nb->windows.lambda,
                                        .energy_at_window = r->energy_at_window,
                                        .nwindows = (uint32_t)nb->windows.n,
                                        .mode = (uint32_t)mode});
}

static struct pairs_replica pairs_of(const struct nonbonded *nb, const struct nonbonded_arrays *r,
                                     const struct cuda_block *b)
{
    return (struct pairs_replica){r->ctl,
                                  r->x,
                                  r->v,
                                  r->f,
                                  r->energy_at_window,
                                  b->grid,
                                  b->mesh.charges,
                                  mesh_points(&nb->mesh, r->pme),
                                  r->caps,
                                  b->pairs,
                                  r->bonded,
                                  r->nbonded,
                                  r->nrare};
}

struct args_place cuda_place_args(const struct nonbonded *nb, const struct nonbonded_arrays *r)
{
    struct cuda_block b;
    lay_out_block(nb, r->caps, r->block, &b);
    const struct pairs_replica pairs = pairs_of(nb, r, &b);
    return pairs_place_args(&nb->pairs, &pairs);
}

uint64_t cuda_place_emit(const struct nonbonded *nb, const struct nonbonded_arrays *r, uint64_t after, struct tape *t)
{
    const struct args_place args = cuda_place_args(nb, r);
    const struct shape shape = {
        .grid = {blocks_of((uint64_t)nb->natoms, CUDA_BLOCK), 1, 1}, .block = {CUDA_BLOCK, 1, 1}, .after = after};
    return emit_place(t, &shape, &args);
}

void cuda_nonbonded_emit(const struct nonbonded *nb, enum evaluate mode, const struct nonbonded_arrays *r,
                         uint64_t placed, struct tape *t)
{
    struct cuda_block b;
    lay_out_block(nb, r->caps, r->block, &b);
    const struct mesh_replica mesh = {r->ctl, b.grid, r->f, r->energy_at_window, b.mesh, r->pme};
    const struct pairs_replica pairs = pairs_of(nb, r, &b);
    const uint64_t listed = pairs_emit_lists(&nb->pairs, &pairs, placed, t);
    pairs_emit(&nb->pairs, mode, &pairs, placed, listed, t);
    mesh_emit(&nb->mesh, mode, &mesh, placed, t);
    if (evaluates_energies(mode)) /* in a switch other kernels see to it */
        emit_uniform_terms(nb, mode, r, placed, t);
}
