/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cpu/nonbonded.h"

#include <math.h>
#include <stdlib.h>

#include "engine/prepare/alchemy.h"
#include "engine/prepare/cutoffs.h"
#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/units.h"
#include "engine/prepare/dispersion.h"
#include "engine/prepare/uniform.h"
#include "engine/prepare/ewald.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/nonbonded_tables.h"

#define DEFAULT_BUFFER 0.14 /* nm */

struct nonbonded {
    struct dev *dev;
    struct readonly shared;         /* params and what they point to */
    struct nb_params host;          /* sizes and constants of it; its pointers are device addresses */
    const struct nb_params *params; /* device address */
    double density;                 /* atoms per nm^3 at the start */
    bool meshed; /* PME, and some atom has a charge in some state: without, there is nothing for the mesh to do */
};

/* ---- read-only parameters ---- */

static void set_cutoffs(struct nb_params *p, const struct nonbonded_settings *set)
{
    p->modifier = set->vdw_modifier;
    p->coulomb_cutoff = set->coulomb_cutoff;
    p->vdw_cutoff = set->vdw_cutoff;
    p->cutoff = fmax(set->coulomb_cutoff, set->vdw_cutoff);
    p->list_cutoff = p->cutoff + (set->list_buffer > 0 ? set->list_buffer : DEFAULT_BUFFER);
    lj_rule_make(&p->lj_rule, set);
    coulomb_fit_make(&p->ewald, set);
    p->coulomb_shift = coulomb_shift_of(set);
}

static bool has_charges(const struct alchemy_plan *plan)
{
    for (int i = 0; i < plan->natoms; i++)
        if (plan->charge[i] != 0 || plan->change[i] != 0)
            return true;
    return false;
}

/* Columns whose width is the edge of a cube that holds one cluster. */
static void set_columns(struct nb_params *p, const struct system *sys)
{
    double edge = cbrt(box_volume(sys->box) * NB_WIDTH / fmax(p->nplain, 1));
    for (int d = 0; d < 2; d++)
        p->columns[d] = (int32_t)fmax(1, floor(sys->box[d] / edge));
}

static void has_lj(int32_t *out, const struct alchemy_plan *plan)
{
    for (int k = 0; k < plan->nplain; k++)
        out[plan->type[0][plan->plain[k]]] = 2; /* in use */
    for (int s = 0; s < plan->ntypes; s++)
        for (int t = 0; t < plan->ntypes; t++) {
            const struct lj *lj = &plan->lj[s * plan->ntypes + t];
            if (out[s] && out[t] && (lj->c6 != 0 || lj->c12 != 0))
                out[s] |= 1;
        }
    for (int s = 0; s < plan->ntypes; s++)
        out[s] &= 1;
}

/* What the tables are made from. */
struct cpu_sources {
    struct nonbonded *f;
    const struct alchemy_plan *plan;
    const struct lambda_rows *windows;
};

/* Everything the kernels only read. */
static void lay_out(void *sources, struct arena *a)
{
    const struct cpu_sources *from = sources;
    struct nonbonded *f = from->f;
    const struct alchemy_plan *plan = from->plan;
    struct nb_params *p = &f->host;
    const struct lambda_rows windows = lambda_rows_put(from->windows, a);
    size_t n = (size_t)plan->natoms, types = (size_t)plan->ntypes;
#define PUT(field, source, count) p->field = arena_put(a, source, (size_t)(count) * sizeof *p->field)
    PUT(charge, plan->charge, n);
    PUT(change, plan->change, n);
    PUT(type[0], plan->type[0], n);
    PUT(type[1], plan->type[1], n);
    PUT(lj, plan->lj, types * types);
    PUT(plain, plan->plain, plan->nplain);
    PUT(perturbed, plan->perturbed, plan->nperturbed);
    PUT(exclusion_start, plan->exclusion_start, n + 1);
    PUT(exclusion, plan->exclusion, plan->exclusion_start[n]);
    PUT(excluded, plan->excluded, plan->nexcluded);
    PUT(excluded_perturbed, plan->excluded_perturbed, plan->nexcluded_perturbed);
    PUT(always, plan->always, plan->nalways);
    int32_t *lj_types = xcalloc(types, sizeof *lj_types);
    has_lj(lj_types, plan);
    PUT(has_lj, lj_types, types);
    free(lj_types);
    for (int d = 0; d < 3; d++) {
        double *modulus = xcalloc((size_t)p->mesh.size[d], sizeof *modulus);
        mesh_modulus(modulus, p->mesh.size[d], p->mesh.order);
        PUT(mesh.modulus[d], modulus, p->mesh.size[d]);
        free(modulus);
    }
#undef PUT
    p->window = windows.lambda;
    p->nwindows = windows.n;
    f->params = arena_put_named(a, "parameters", p, sizeof *p);
}

static int make(struct nonbonded *f, const struct system *sys, const struct settings *set, const int32_t *unit,
                const struct lambda_rows *windows, struct err *e)
{
    struct alchemy_plan plan;
    struct nb_params *p = &f->host;
    int rc = cutoffs_check(&set->nonbonded, box_cutoff_limit(sys->box), "in this box", e);
    if (rc || (rc = alchemy_plan_make(&plan, sys, set, unit, e)))
        return rc;
    *p = (struct nb_params){.natoms = sys->natoms,
                            .nplain = plan.nplain,
                            .nperturbed = plan.nperturbed,
                            .ntypes = plan.ntypes,
                            .nexcluded = plan.nexcluded,
                            .nexcluded_perturbed = plan.nexcluded_perturbed,
                            .nalways = plan.nalways};
    p->nclusters = (plan.nplain + NB_WIDTH - 1) / NB_WIDTH;
    p->nslots = p->nclusters * NB_WIDTH;
    f->density = sys->natoms / box_volume(sys->box);
    set_cutoffs(p, &set->nonbonded);
    uniform_table_make(&p->uniform, &plan, &set->nonbonded);
    f->meshed = set->nonbonded.coulomb_method == COULOMB_PME && has_charges(&plan);
    p->soft = soft_rule_of(set, true);
    set_columns(p, sys);
    p->mesh.order = set->nonbonded.pme_order;
    p->mesh.impulse = mesh_cycle(&set->integrator);
    if (p->nclusters >= (int32_t)NB_MAX_CLUSTERS)
        rc = err_set(e, ERR_UNSUPPORTED, "%d atoms: at most %u are supported", sys->natoms,
                     NB_MAX_CLUSTERS * NB_WIDTH - 1);
    if (rc == 0)
        rc = mesh_sizes(p->mesh.size, sys->box, &set->nonbonded, e);
    if (rc == 0)
        rc = readonly_upload(&f->shared, f->dev, lay_out, &(struct cpu_sources){f, &plan, windows}, e);
    alchemy_plan_close(&plan);
    return rc;
}

int nonbonded_new(struct nonbonded **out, struct dev *dev, const struct system *sys, const struct settings *set,
                  const struct topology *t, const struct lambda_rows *windows, struct err *e)
{
    struct nonbonded *f = xcalloc(1, sizeof *f);
    f->dev = dev;
    int rc = make(f, sys, set, t->unit_of, windows, e);
    if (rc) {
        nonbonded_free(f);
        return rc;
    }
    *out = f;
    return 0;
}

void nonbonded_free(struct nonbonded *f)
{
    if (!f)
        return;
    readonly_free(&f->shared);
    free(f);
}

const struct readonly *nonbonded_tables(const struct nonbonded *f)
{
    return &f->shared;
}

/* ---- a replica's block ---- */

#define CLUSTER_REACH 0.3 /* nm, by which clusters reach beyond the sphere around an atom: about their size */

/* Each pair of atoms is in one list. */
void nonbonded_caps_guess(const struct nonbonded *f, struct list_caps *caps)
{
    const struct nb_params *p = &f->host;
    double reach = p->list_cutoff + CLUSTER_REACH, sphere = 4 * M_PI / 3 * f->density;
    double clusters = 0.5 * sphere * pow(reach, 3) / NB_WIDTH + 8;
    double all = 0.5 * p->nclusters * 27; /* no more than every image of every cluster */
    caps->entries = (uint32_t)(p->nslots * fmin(clusters, all)) + 64;
    caps->pairs = list_cap_perturbed(p->nperturbed, p->natoms, p->list_cutoff, f->density);
}

void nonbonded_caps_grow(struct list_caps *caps, const struct ctl *ctl)
{
    uint32_t *cap = ctl->where[0] == 0 ? &caps->entries : &caps->pairs;
    *cap = list_cap_grown(ctl);
}

struct cpu_block {
    void *list, *grid, *grid_built, *slots, *ranges, *entries, *pairs, *scratch, *mesh, *spectrum;
};

static size_t lay_out_block(const struct nonbonded *f, const struct list_caps *caps, void *base, struct cpu_block *b)
{
    const struct nb_params *p = &f->host;
    struct arena a = {.base = base};
    size_t n = (size_t)p->natoms, nx = (size_t)p->mesh.size[0], ny = (size_t)p->mesh.size[1],
           nz = (size_t)p->mesh.size[2];
    b->list = arena_take(&a, sizeof(struct nb_list));
    b->grid = arena_take(&a, 3 * n * sizeof(double));
    b->grid_built = arena_take(&a, 3 * n * sizeof(double));
    b->slots = arena_take(&a, nb_slots_bytes(p->nslots));
    b->ranges = arena_take(&a, (size_t)p->nslots * sizeof(struct nb_range));
    b->entries = arena_take(&a, (size_t)caps->entries * sizeof(uint32_t));
    b->pairs = arena_take(&a, (size_t)caps->pairs * 2 * sizeof(int32_t));
    b->scratch = arena_take(&a, nb_scratch_bytes(p));
    b->mesh = arena_take(&a, nx * ny * nz * sizeof(double));
    b->spectrum = arena_take(&a, nx * ny * (nz / 2 + 1) * 2 * sizeof(double));
    return a.used;
}

size_t nonbonded_bytes(const struct nonbonded *f, const struct list_caps *caps)
{
    struct cpu_block b;
    return lay_out_block(f, caps, NULL, &b);
}

#define EMIT(kernel, ...) emit_##kernel(t, &SHAPE_CHAIN, &(struct args_##kernel){__VA_ARGS__})

static void emit_pairs_all(const struct nonbonded *f, enum evaluate mode, const struct cpu_nonbonded_arrays *r,
                           const struct list_caps *caps, const struct cpu_block *b, struct tape *t)
{
    const void *params = f->params;
    EMIT(list_check, .ctl = r->ctl, .x = r->x, .params = params, .list = b->list, .grid = b->grid,
         .grid_built = b->grid_built);
    EMIT(list_build, .ctl = r->ctl, .params = params, .list = b->list, .grid = b->grid, .grid_built = b->grid_built,
         .slots = b->slots, .ranges = b->ranges, .entries = b->entries, .pairs = b->pairs, .scratch = b->scratch,
         .entry_cap = caps->entries, .pair_cap = caps->pairs);
    EMIT(pairs, .ctl = r->ctl, .f = r->f, .params = params, .grid = b->grid, .slots = b->slots, .ranges = b->ranges,
         .entries = b->entries, .mode = (uint32_t)evaluate_unperturbed(mode));
    if (f->host.nperturbed)
        EMIT(pairs_perturbed, .ctl = r->ctl, .f = r->f, .params = params, .list = b->list, .grid = b->grid,
             .pairs = b->pairs, .energy_at_window = r->energy_at_window, .mode = (uint32_t)mode);
    EMIT(pairs_apart, .ctl = r->ctl, .f = r->f, .params = params, .grid = b->grid,
         .energy_at_window = r->energy_at_window, .mode = (uint32_t)mode);
}

/* At samples the change of charge goes through the mesh too: the energy is quadratic in the Coulomb lambda. */
static void emit_mesh(const struct nonbonded *f, enum evaluate mode, const struct cpu_nonbonded_arrays *r,
                      const struct cpu_block *b, struct tape *t)
{
    const void *params = f->params;
    uint32_t passes = mode == EVALUATE_SAMPLE && f->host.nperturbed ? 2 : 1;
    for (uint32_t change = 0; change < passes; change++) {
        EMIT(mesh_spread, .ctl = r->ctl, .params = params, .grid = b->grid, .mesh = b->mesh, .change = change);
        EMIT(mesh_forward, .ctl = r->ctl, .params = params, .mesh = b->mesh, .spectrum = b->spectrum);
        EMIT(mesh_solve, .ctl = r->ctl, .params = params, .spectrum = b->spectrum,
             .energy_at_window = r->energy_at_window, .change = change, .mode = (uint32_t)evaluate_unperturbed(mode));
        if (change)
            break;
        EMIT(mesh_backward, .ctl = r->ctl, .params = params, .spectrum = b->spectrum, .mesh = b->mesh);
        EMIT(mesh_gather, .ctl = r->ctl, .f = r->f, .params = params, .grid = b->grid, .mesh = b->mesh,
             .energy_at_window = r->energy_at_window, .mode = (uint32_t)mode);
    }
}

void nonbonded_emit(const struct nonbonded *f, enum evaluate mode, bool mesh, const struct cpu_nonbonded_arrays *arrays,
                    const struct list_caps *caps, void *block, struct tape *t)
{
    struct cpu_block b;
    lay_out_block(f, caps, block, &b);
    emit_pairs_all(f, mode, arrays, caps, &b, t);
    if (mesh && f->meshed)
        emit_mesh(f, mode, arrays, &b, t);
    if (mode != EVALUATE_STEP)
        EMIT(uniform, .ctl = arrays->ctl, .params = f->params, .energy_at_window = arrays->energy_at_window,
             .mode = (uint32_t)mode);
}
