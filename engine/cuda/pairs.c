/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/units.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/regions.h"
#include "engine/cuda/trios.h"
#include "engine/system/dispersion.h"
#include "engine/system/ewald.h"

#define DEFAULT_BUFFER 0.12 /* nm */
#define SKIN 0.12           /* nm: first atoms go half of it in about 20 steps of 2 fs */
#define WATER_ARM 0.12      /* nm: no atom is farther from the first of its trio, in rigid waters.. */
#define TRIO_ARM 0.35       /* ..and where they are bonded otherwise */
#define SCAN 0.002          /* nm, steps in which forces are looked at */
#define EWALD_OFF 1e-7      /* of beta^3, that a force over distance and charges may be off */

enum {
    PAIR_BLOCK = 1024, /* threads; less where kernels hold more */
    PAIR_BLOCK_ENERGY = 512,
    BUILD_BLOCKS_MOST = 132, /* each costs a little in every step, asked to build or not */
    SLOTS_MOST = 1 << NEAR_MASK_SHIFT,
    FORCE_BITS = 14, /* pair forces are rounded to 2^-14 kJ/mol/nm, if what an atom can meet allows it */
};

struct pair_limits pair_limits = {226 * 1024 / TRIO_BYTES, 112 * 1024 / TRIO_BYTES};

/* ---- a model ---- */

/* A polynomial of fewer terms by taking off Chebyshev polynomials from the top (Lanczos' economization); returns by how much
 * it may be off. */
static double economize(const double full[EWALD_TERMS], int terms, double out[EWALD32_TERMS])
{
    double off = 0, c[EWALD_TERMS], chebyshev[EWALD_TERMS][EWALD_TERMS] = {{1}, {0, 1}};
    memcpy(c, full, sizeof c);
    for (int n = 2; n < EWALD_TERMS; n++)
        for (int k = 0; k <= n; k++)
            chebyshev[n][k] = (k ? 2 * chebyshev[n - 1][k - 1] : 0) - chebyshev[n - 2][k];
    for (int n = EWALD_TERMS - 1; n >= terms; n--) {
        double top = c[n] / chebyshev[n][n];
        off += fabs(top);
        for (int k = 0; k <= n; k++)
            c[k] -= top * chebyshev[n][k];
    }
    for (int k = 0; k < EWALD32_TERMS; k++)
        out[k] = k < terms ? c[k] : 0;
    return off;
}

/* Forces in as few terms as keep them within 2e-6 of the rms force of liquid water. */
static void set_ewald(struct pairs *p, double beta, double cutoff)
{
    struct ewald_fit *fit = &p->host.ewald;
    double f[EWALD32_TERMS], v[EWALD32_TERMS];
    ewald_fit_make(fit, beta, cutoff);
    if (economize(fit->f, EWALD32_TERMS_USUAL, f) > EWALD_OFF * beta * beta * beta)
        economize(fit->f, EWALD32_TERMS, f);
    economize(fit->v, EWALD32_TERMS, v);
    for (int k = 0; k < EWALD32_TERMS; k++) {
        p->ewald_f[k] = (float)f[k];
        p->ewald_v[k] = (float)v[k];
    }
    for (int k = 0; k < 4; k++)
        p->ewald_w[k] = (float)(v[k] - p->ewald_v[k]);
}

static int check(const struct system *sys, const struct nonbonded_settings *set, struct err *e)
{
    double cutoff = fmax(set->coulomb_cutoff, set->vdw_cutoff);
    bool switched = set->vdw_modifier == VDW_POTENTIAL_SWITCH || set->vdw_modifier == VDW_FORCE_SWITCH;
    if (!(set->coulomb_cutoff > 0 && set->vdw_cutoff > 0))
        return err_set(e, ERR_SPEC, "nonbonded: cut-offs %g and %g nm: positive ones are needed", set->coulomb_cutoff,
                       set->vdw_cutoff);
    const double half = 0.5 * box_least_width(sys->box);
    if (!(cutoff < half))
        return err_set(
            e, ERR_SPEC,
            "nonbonded: cut-off %g nm: must be less than half the distance of opposite faces of the box, %g nm, "
            "on a GPU",
            cutoff, half);
    if (switched && !(set->vdw_switch > 0 && set->vdw_switch < set->vdw_cutoff))
        return err_set(e, ERR_SPEC, "nonbonded: vdw: switch-start %g nm: expected between 0 and the cut-off %g nm",
                       set->vdw_switch, set->vdw_cutoff);
    return 0;
}

static void set_cutoffs(struct pairs *p, const struct nonbonded_settings *set)
{
    struct pair_table *h = &p->host;
    double beta = ewald_beta(set->coulomb_cutoff, set->ewald_tolerance);
    h->modifier = (int32_t)set->vdw_modifier;
    h->coulomb_cutoff = set->coulomb_cutoff;
    h->vdw_cutoff = set->vdw_cutoff;
    h->cutoff = fmax(set->coulomb_cutoff, set->vdw_cutoff);
    h->list_cutoff = h->cutoff + (set->list_buffer > 0 ? set->list_buffer : DEFAULT_BUFFER);
    h->skin = SKIN;
    lj_rule_make(&h->lj_rule, set);
    set_ewald(p, beta, set->coulomb_cutoff);
    if (set->coulomb_modifier == COULOMB_POTENTIAL_SHIFT)
        h->coulomb_shift = erfc(beta * set->coulomb_cutoff) / set->coulomb_cutoff;
}

/* ---- how strong forces can be ---- */

struct strength {
    const struct pair_table *h;
    const struct alchemy_plan *plan;
    bool *used;     /* [ntypes] by some plain atom; NULL: no LJ */
    double product; /* largest of two charges, kJ nm/mol */
};

/* No pair of plain atoms at distance r has a stronger force, kJ/mol/nm. */
static double strongest(const struct strength *s, double r)
{
    const struct pair_table *h = s->h;
    double r2 = r * r, coulomb = 0, lj = 0, v;
    if (r < h->coulomb_cutoff)
        coulomb = s->product * fabs(1 / (r * r2) - ewald_long_f(&h->ewald, EWALD_TERMS, r2)) * r;
    for (int a = 0; s->used && a < h->ntypes; a++)
        for (int b = a; s->used[a] && b < h->ntypes; b++) {
            const struct lj *pair = &s->plan->lj[a * h->ntypes + b];
            if (s->used[b] && r < h->vdw_cutoff)
                lj = fmax(
                    lj,
                    fabs(lj_pair((enum vdw_modifier)h->modifier, &h->lj_rule, pair->c6, pair->c12, r2, 1 / r, &v)) * r);
        }
    return coulomb + lj;
}

/* From which distance on all forces stay below the limit. */
static double strong_reach(const struct strength *s, double limit)
{
    double r = s->h->cutoff;
    while (r > SCAN && strongest(s, r) < limit)
        r -= SCAN;
    return r + SCAN;
}

/* What the 32-bit sums of one atom may have to hold, kJ/mol/nm: everything beyond `reach` pulling one way in a liquid half as
 * dense again, and as much as the sums take of each pair that is closer (PAIR_LIMIT). */
static double crowd(const struct strength *s, double reach, double density)
{
    double far = 0, packed = 1.5 * fmax(density, 100);
    for (double r = reach; r < s->h->cutoff; r += 0.01)
        far += 4 * M_PI * r * r * 0.01 * packed * strongest(s, r);
    return far + 4 * M_PI / 3 * pow(reach, 3) * packed * PAIR_LIMIT;
}

static void set_force_unit(struct pairs *p, const struct alchemy_plan *plan)
{
    struct pair_table *h = &p->host;
    struct strength s = {h, plan, xcalloc((size_t)h->ntypes, sizeof *s.used), 0};
    double charge = 0;
    for (int k = 0; k < plan->nplain; k++) {
        s.used[plan->type[0][plan->plain[k]]] = true;
        charge = fmax(charge, fabs(plan->charge[plan->plain[k]]));
    }
    s.product = UNIT_COULOMB * charge * charge;
    const double *water = p->water_charge;
    const struct strength hydrogens = {h, plan, NULL,
                                       UNIT_COULOMB * fabs(water[1]) * fmax(fabs(water[0]), fabs(water[1]))};
    for (int bits = FORCE_BITS; bits > 0; bits--) {
        const double limit = 0.95 * exp2(22 - bits), moved = h->list_cutoff - h->cutoff + 1e-4;
        const double reach = strong_reach(&s, limit);
        h->force_shift = 32 - bits;
        h->near = reach + moved;
        h->near_hydrogen = strong_reach(&hydrogens, limit) + moved;
        if (crowd(&s, reach, p->density) < exp2(31 - bits))
            break;
    }
    free(s.used);
}

/* As the kernels multiply them, so that a pair has the same bits whether its charges come from the table or from here. */
static float product32(double q, double o)
{
    return (float)UNIT_COULOMB * ((float)q * (float)o);
}

static struct lj32 lj32_of(const struct lj *lj)
{
    return (struct lj32){(float)(6 * lj->c6), (float)(12 * lj->c12)};
}

/* Pairs of two waters: oxygen and hydrogen are atoms of one of them, which are all alike. */
static void set_water(struct pairs *p, const struct alchemy_plan *plan, int32_t oxygen, int32_t hydrogen)
{
    int32_t type = plan->type[0][oxygen];
    p->water_charge[0] = plan->charge[oxygen];
    p->water_charge[1] = plan->charge[hydrogen];
    p->water_lj = lj32_of(&plan->lj[type * plan->ntypes + type]);
}

/* Excluded pairs of constant charges, those within rigid waters last. */
static void sort_excluded(struct pairs *p, const struct topology *t, const struct alchemy_plan *plan)
{
    struct pair_table *h = &p->host;
    int32_t *water = xcalloc((size_t)plan->natoms + 1, sizeof *water); /* of an atom, from 1 */
    for (int w = 0; w < t->nwaters; w++)
        for (int k = 0; k < 3; k++)
            water[t->waters[w].atom[k]] = w + 1;
    p->excluded = xcalloc((size_t)plan->nexcluded + 1, sizeof *p->excluded);
    for (int k = 0; k < plan->nexcluded; k++) {
        const struct nb_excluded *pair = &plan->excluded[k];
        bool rigid = water[pair->atom[0]] && water[pair->atom[0]] == water[pair->atom[1]];
        p->excluded[rigid ? plan->nexcluded - ++h->nrigid : h->nexcluded++] = *pair;
    }
    free(water);
}

/* How far the atoms of a trio may ever be from its first. */
static double longest_arm(const struct topology *t, const struct alchemy_plan *plan)
{
    if (plan->nplain != 3 * t->nwaters)
        return TRIO_ARM;
    for (int k = 0; k < t->nwaters; k++) {
        const struct rigid_water *w = &t->waters[k];
        if (w->r_oh > WATER_ARM || w->atom[0] > w->atom[1] || w->atom[0] > w->atom[2])
            return TRIO_ARM;
    }
    return WATER_ARM;
}

int pairs_make(struct pairs *p, const struct system *sys, const struct settings *set, const struct topology *t,
               const struct alchemy_plan *plan, struct err *e)
{
    struct pair_table *h = &p->host;
    const struct soft_core *soft = &set->alchemy.soft_core;
    int rc = check(sys, &set->nonbonded, e);
    if (rc)
        return rc;
    h->natoms = plan->natoms;
    h->nperturbed = plan->nperturbed;
    h->ntypes = plan->ntypes;
    h->nexcluded_perturbed = plan->nexcluded_perturbed;
    h->nalways = plan->nalways;
    h->nwindows = set->alchemy.nwindows > 0 && set->alchemy.lambda ? set->alchemy.nwindows : 1;
    h->soft = (struct soft_rule){.alpha = soft->alpha,
                                 .sigma6 = pow(soft->sigma, 6),
                                 .power = soft->power == 2 ? 2 : 1,
                                 .coulomb = soft->coulomb};
    p->density = sys->natoms / (sys->box[0] * sys->box[1] * sys->box[2]);
    set_cutoffs(p, &set->nonbonded);
    double width = box_least_width(sys->box), arm = longest_arm(t, plan);
    bool together = 1.05 * 2 * (h->cutoff + arm) < width;
    /* boxes are scaled evenly: what their width may be as what their cut-offs' limit may be */
    p->min_edge = 2 * (h->cutoff + (together ? arm : 0)) * (2 * box_cutoff_limit(sys->box) / width);
    h->triclinic = box_triclinic(sys->box);
    p->atom = trios_make(sys, t, plan, together, &h->nwaters, &h->ntrios);
    if (h->nwaters)
        set_water(p, plan, p->atom[0], p->atom[1]);
    set_force_unit(p, plan);
    sort_excluded(p, t, plan);
    h->nslots = TRIO * h->ntrios + h->nperturbed;
    if (h->ntrios >= SLOTS_MOST / TRIO)
        return err_set(e, ERR_UNSUPPORTED, "%d atoms: at most %d are supported", sys->natoms, SLOTS_MOST / TRIO);
    h->whole = (uint32_t)h->ntrios <= pair_limits.whole;
    return h->whole ? 0 : regions_choose(p, sys, set->replicas, e);
}

void pairs_close(struct pairs *p)
{
    free(p->atom);
    free(p->excluded);
    p->atom = NULL;
    p->excluded = NULL;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Excluded partners of the slots of trios that are no waters, as slots. */
static void put_partners(struct pairs *p, const struct alchemy_plan *plan, const int32_t *slot_of, struct arena *a)
{
    struct pair_table *h = &p->host;
    int32_t first = TRIO * h->nwaters, plain = TRIO * h->ntrios;
    size_t used = 0;
    int32_t *start = xcalloc((size_t)(plain - first) + 1, sizeof *start);
    int32_t *partner = xcalloc((size_t)plan->exclusion_start[plan->natoms] + 1, sizeof *partner);
    for (int32_t slot = first; slot < plain; slot++) {
        int32_t atom = p->atom[slot];
        size_t from = used;
        for (int32_t k = atom < 0 ? 0 : plan->exclusion_start[atom]; atom >= 0 && k < plan->exclusion_start[atom + 1];
             k++)
            if (slot_of[plan->exclusion[k]] < plain)
                partner[used++] = slot_of[plan->exclusion[k]];
        qsort(partner + from, used - from, sizeof *partner, by_number);
        start[slot - first + 1] = (int32_t)used;
    }
    h->partner_start = arena_put(a, start, ((size_t)(plain - first) + 1) * sizeof *start);
    h->partner = arena_put(a, partner, used * sizeof *partner);
    free(start);
    free(partner);
}

static void put_slots(struct pairs *p, const struct alchemy_plan *plan, struct arena *a)
{
    struct pair_table *h = &p->host;
    size_t n = (size_t)h->nslots, types = (size_t)h->ntypes;
    int32_t *type = xcalloc(n, sizeof *type), *slot_of = xcalloc((size_t)h->natoms, sizeof *slot_of);
    struct lj32 *lj = xcalloc((types + 1) * types, sizeof *lj);
    for (size_t s = 0; s < n; s++) {
        int32_t atom = p->atom[s];
        type[s] = atom < 0 ? h->ntypes : plan->type[0][atom];
        if (atom >= 0)
            slot_of[atom] = (int32_t)s;
    }
    for (size_t k = 0; k < types * types; k++)
        lj[k] = lj32_of(&plan->lj[k]);
    h->atom = arena_put(a, p->atom, n * sizeof *p->atom);
    h->slot_type = arena_put(a, type, n * sizeof *type);
    h->lj32 = arena_put(a, lj, (types + 1) * types * sizeof *lj);
    put_partners(p, plan, slot_of, a);
    free(type);
    free(slot_of);
    free(lj);
}

void pairs_lay_out(struct pairs *p, const struct alchemy_plan *plan, const double (*window)[LAMBDA_COUNT],
                   struct arena *a)
{
    struct pair_table *h = &p->host;
    size_t n = (size_t)plan->natoms, types = (size_t)plan->ntypes;
    put_slots(p, plan, a);
#define PUT(field, source, count) h->field = arena_put(a, source, (size_t)(count) * sizeof *h->field)
    PUT(charge, plan->charge, n);
    PUT(change, plan->change, n);
    PUT(type[0], plan->type[0], n);
    PUT(type[1], plan->type[1], n);
    PUT(lj, plan->lj, types * types);
    PUT(exclusion_start, plan->exclusion_start, n + 1);
    PUT(exclusion, plan->exclusion, plan->exclusion_start[n]);
    PUT(excluded, p->excluded, plan->nexcluded);
    PUT(excluded_perturbed, plan->excluded_perturbed, plan->nexcluded_perturbed);
    PUT(always, plan->always, plan->nalways);
#undef PUT
    h->window = window;
    p->table = arena_put(a, h, sizeof *h);
}

/* ---- a replica's block ---- */

static uint32_t cap_of(const struct list_caps *caps)
{
    return (caps->entries + 7) / 8 * 8;
}

/* Half of the hydrogens in reach of one of a water's atoms, or of the trios around a trio: each pair is listed once. */
void pairs_caps_guess(const struct pairs *p, struct list_caps *caps)
{
    const struct pair_table *h = &p->host;
    double sphere = 4 * M_PI / 3 * p->density;
    double around = fmin(sphere * pow(h->list_cutoff + 0.1, 3), h->natoms);
    double trios = fmin(sphere * h->ntrios / h->natoms * pow(h->list_cutoff + h->skin + 0.2, 3), h->ntrios);
    caps->entries = (uint32_t)(0.5 * fmax(around, trios)) + 64;
    caps->pairs = (uint32_t)(h->nperturbed * fmin(1.2 * sphere * pow(h->list_cutoff, 3) + 32, h->natoms)) + 64;
    memcpy(caps->regions, p->regions, sizeof caps->regions);
}

void pairs_caps_grow(struct list_caps *caps, const struct ctl *ctl)
{
    uint32_t *cap = ctl->where[0] == 0 ? &caps->entries : &caps->pairs;
    if (ctl->where[0] == 2) {
        regions_more(caps->regions);
        return;
    }
    *cap = (uint32_t)(1.2 * ctl->value) + 64;
}

void pairs_lay_out_block(const struct pairs *p, const struct list_caps *caps, struct arena *a, struct pairs_arrays *out)
{
    const struct pair_table *h = &p->host;
    uint32_t cap = cap_of(caps);
    size_t slots = (size_t)h->nslots, trios = (size_t)h->ntrios, waters = (size_t)h->nwaters, rows = trios,
           water_rows = waters, other_rows = trios - waters;
    out->lists = arena_take(a, sizeof *out->lists);
    out->grid = arena_take(a, slots * 4 * sizeof(uint32_t));
    out->built = arena_take(a, slots * 4 * sizeof(uint32_t));
    out->regions = out->members = out->cell_start = NULL;
    if (!h->whole) {
        const size_t n = regions_count(caps);
        rows = water_rows = n * p->region_cap;
        other_rows = n * region_other_rows(p->region_cap, (uint32_t)(trios - waters));
        out->regions = arena_take(a, n * sizeof(struct region));
        out->members = arena_take(a, rows * sizeof(struct member));
        out->cell_start = arena_take(a, n * (2 * REGION_CELLS + 1) * sizeof(uint16_t));
    }
    for (int d = 0; d < 3; d++)
        out->first[d] = arena_take(a, trios * sizeof(uint32_t));
    out->around = arena_take(a, rows * cap * sizeof(uint16_t));
    out->naround = arena_take(a, rows * sizeof(uint32_t));
    out->order = arena_take(a, rows * sizeof(uint32_t));
    out->counts = arena_take(a, rows * sizeof(struct trio_counts));
    out->near = arena_take(a, rows * list_near_cap(cap) * sizeof(uint32_t));
    out->oxygen = arena_take(a, water_rows * list_near_cap(cap) * sizeof(uint16_t));
    out->hydrogen = arena_take(a, water_rows * cap * sizeof(uint16_t));
    out->other = arena_take(a, other_rows * list_other_cap(cap) * sizeof(uint16_t));
    out->perturbed = arena_take(a, (size_t)caps->pairs * 2 * sizeof(uint32_t));
}

/* ---- launches ---- */

static uint32_t blocks_of(uint64_t items, uint32_t size)
{
    return (uint32_t)((items + size - 1) / size);
}

/* after: launches of the tape that come before, a bit each. */
#define EMIT(kernel, blocks, threads, after_, ...)                                                                     \
    emit_##kernel(t, &(struct shape){.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .after = after_},               \
                  &(struct args_##kernel){__VA_ARGS__})

struct pairs_ready pairs_emit_lists(const struct pairs *p, const struct pairs_replica *r, uint64_t after,
                                    struct tape *t)
{
    const struct pair_table *h = &p->host;
    const struct pairs_arrays *b = &r->arrays;
    void *table = (void *)(uintptr_t)p->table;
    uint32_t parts = blocks_of((uint64_t)h->nslots, 1024);
    uint32_t groups = h->whole ? list_groups((uint32_t)h->ntrios) : regions_count(r->caps) * list_groups(p->region_cap);
    uint32_t blocks = groups + blocks_of(parts * (uint64_t)h->nperturbed, BUILD_WARPS);
    struct pairs_ready ready;
    ready.placed =
        EMIT(place, blocks_of((uint64_t)h->nslots, CUDA_BLOCK), CUDA_BLOCK, after, .ctl = r->ctl, .x = r->x,
             .table = table, .lists = b->lists, .grid = b->grid, .built = b->built, .atom_grid = r->atom_grid,
             .first_x = b->first[0], .first_y = b->first[1], .first_z = b->first[2], .f = r->f,
             .energy_at_window = r->energy_at_window, .charges = r->charges, .points = r->points);
    ready.listed = EMIT(
        list_build, blocks < BUILD_BLOCKS_MOST ? blocks : BUILD_BLOCKS_MOST, 32 * BUILD_WARPS, ready.placed,
        .ctl = r->ctl, .table = table, .lists = b->lists, .grid = b->grid, .built = b->built, .first_x = b->first[0],
        .first_y = b->first[1], .first_z = b->first[2], .regions = b->regions, .members = b->members,
        .cell_start = b->cell_start, .around = b->around, .naround = b->naround, .order = b->order, .counts = b->counts,
        .near = b->near, .oxygen = b->oxygen, .hydrogen = b->hydrogen, .other = b->other, .pairs = b->perturbed,
        .cap = cap_of(r->caps), .pair_cap = r->caps->pairs, .regions_x = r->caps->regions[0],
        .regions_y = r->caps->regions[1], .regions_z = r->caps->regions[2], .region_cap = p->region_cap);
    return ready;
}

static struct args_pairs_shared plain_args(const struct pairs *p, const struct pairs_replica *r)
{
    const struct pair_table *h = &p->host;
    const struct pairs_arrays *b = &r->arrays;
    const struct lj_rule *rule = &h->lj_rule;
    const float *f = p->ewald_f, *v = p->ewald_v, *w = p->ewald_w;
    const double o = p->water_charge[0], q = p->water_charge[1];
    float unit = (float)exp2(h->force_shift - 32); /* kJ/mol/nm */
    return (struct args_pairs_shared){
        .ctl = r->ctl,
        .f = r->f,
        .table = (void *)(uintptr_t)p->table,
        .lists = b->lists,
        .grid = b->grid,
        .slot_atom = (void *)(uintptr_t)h->atom,
        .slot_type = (void *)(uintptr_t)h->slot_type,
        .regions = b->regions,
        .members = b->members,
        .order = b->order,
        .counts = b->counts,
        .near = b->near,
        .oxygen = b->oxygen,
        .hydrogen = b->hydrogen,
        .other = b->other,
        .ntrios = (uint32_t)h->ntrios,
        .nwaters = (uint32_t)h->nwaters,
        .cap = cap_of(r->caps),
        .region_cap = p->region_cap,
        .parts = h->whole ? 1 : region_parts(p, r->caps),
        .modifier = (uint32_t)h->modifier,
        .force_shift = (uint32_t)h->force_shift,
        .coulomb_cutoff2 = (float)(h->coulomb_cutoff * h->coulomb_cutoff),
        .vdw_cutoff2 = (float)(h->vdw_cutoff * h->vdw_cutoff),
        .round_fine = 1.5f * 8388608.0f * unit,
        .round_coarse = 1.5f * 8388608.0f * unit * (1 << COARSE_SHIFT),
        .oxygen_oxygen = UNIT_COULOMB * o * o,
        .oxygen_hydrogen = UNIT_COULOMB * o * q,
        .hydrogen_hydrogen = UNIT_COULOMB * q * q,
        .oxygen_oxygen32 = product32(o, o),
        .oxygen_hydrogen32 = product32(o, q),
        .hydrogen_hydrogen32 = product32(q, q),
        .water_c6 = p->water_lj.c6,
        .water_c12 = p->water_lj.c12,
        .ewald_scale = (float)h->ewald.scale,
        .ewald_long = f[13] != 0 || f[14] != 0,
        .f0 = f[0],
        .f1 = f[1],
        .f2 = f[2],
        .f3 = f[3],
        .f4 = f[4],
        .f5 = f[5],
        .f6 = f[6],
        .f7 = f[7],
        .f8 = f[8],
        .f9 = f[9],
        .f10 = f[10],
        .f11 = f[11],
        .f12 = f[12],
        .f13 = f[13],
        .f14 = f[14],
        .v0 = v[0],
        .v1 = v[1],
        .v2 = v[2],
        .v3 = v[3],
        .v4 = v[4],
        .v5 = v[5],
        .v6 = v[6],
        .v7 = v[7],
        .v8 = v[8],
        .v9 = v[9],
        .v10 = v[10],
        .v11 = v[11],
        .v12 = v[12],
        .v13 = v[13],
        .v14 = v[14],
        .w0 = w[0],
        .w1 = w[1],
        .w2 = w[2],
        .w3 = w[3],
        .coulomb_shift = (float)h->coulomb_shift,
        .switch_start = (float)rule->start,
        .inverse_width = (float)rule->inverse_width,
        .a6 = (float)rule->a6,
        .b6 = (float)rule->b6,
        .a12 = (float)rule->a12,
        .b12 = (float)rule->b12,
    };
}

/* Four lanes a trio of the replica, or blocks of a fixed size for each region. */
static struct shape plain_shape(const struct pairs *p, bool energy, const struct pairs_replica *r, uint64_t after)
{
    const struct pair_table *h = &p->host;
    uint64_t lanes = TRIO_LANES * (uint64_t)h->ntrios;
    uint32_t most = energy ? PAIR_BLOCK_ENERGY : PAIR_BLOCK;
    uint32_t least = (uint32_t)(lanes + 31) / 32 * 32, threads = most < least ? most : least;
    if (h->whole)
        return (struct shape){.grid = {blocks_of(lanes, threads), 1, 1},
                              .block = {threads, 1, 1},
                              .shared_bytes = (uint32_t)h->ntrios * TRIO_BYTES,
                              .after = after};
    return (struct shape){.grid = {regions_count(r->caps) * region_parts(p, r->caps), 1, 1},
                          .block = {REGION_BLOCK, 1, 1},
                          .shared_bytes = p->region_cap * TRIO_BYTES,
                          .after = after};
}

/* The plain kernels have the same arguments (kernels.def). */
static void emit_plain(const struct pairs *p, enum evaluate mode, const struct pairs_replica *r, uint64_t after,
                       struct tape *t)
{
    const struct pair_table *h = &p->host;
    const struct args_pairs_shared args = plain_args(p, r);
    const void *same = &args;
    const bool energy = mode != EVALUATE_STEP;
    const struct shape shape = plain_shape(p, energy, r, after);
    if (h->triclinic && h->whole && energy)
        emit_pairs_shared_energy_triclinic(t, &shape, same);
    else if (h->triclinic && h->whole)
        emit_pairs_shared_triclinic(t, &shape, same);
    else if (h->triclinic && energy)
        emit_pairs_regions_energy_triclinic(t, &shape, same);
    else if (h->triclinic)
        emit_pairs_regions_triclinic(t, &shape, same);
    else if (h->whole && energy)
        emit_pairs_shared_energy(t, &shape, same);
    else if (h->whole)
        emit_pairs_shared(t, &shape, same);
    else if (energy)
        emit_pairs_regions_energy(t, &shape, same);
    else
        emit_pairs_regions(t, &shape, same);
}

/* Bonded terms, pairs outside the lists and perturbed pairs: a launch for all of them. */
static void emit_other_terms(const struct pairs *p, enum evaluate mode, const struct pairs_replica *r,
                             struct pairs_ready ready, struct tape *t)
{
    const struct pair_table *h = &p->host;
    uint32_t unlisted =
        (uint32_t)(h->nexcluded + h->nexcluded_perturbed + h->nalways + (mode == EVALUATE_STEP ? 0 : h->nrigid));
    uint32_t bonded_blocks = blocks_of(r->nbonded, CUDA_BLOCK), unlisted_blocks = blocks_of(unlisted, CUDA_BLOCK);
    uint32_t blocks = bonded_blocks + unlisted_blocks + (h->nperturbed ? blocks_of(r->caps->pairs, CUDA_BLOCK) : 0);
    const struct shape shape = {
        .grid = {blocks, 1, 1}, .block = {CUDA_BLOCK, 1, 1}, .after = h->nperturbed ? ready.listed : ready.placed};
    const struct args_terms args = {.ctl = r->ctl,
                                    .x = r->x,
                                    .f = r->f,
                                    .table = (void *)(uintptr_t)p->table,
                                    .lists = r->arrays.lists,
                                    .atom_grid = r->atom_grid,
                                    .pairs = r->arrays.perturbed,
                                    .bonded_terms = (void *)(uintptr_t)r->bonded,
                                    .energy_at_window = r->energy_at_window,
                                    .bonded = r->nbonded,
                                    .unlisted = unlisted,
                                    .bonded_blocks = bonded_blocks,
                                    .unlisted_blocks = unlisted_blocks,
                                    .mode = (uint32_t)mode};
    if (blocks && mode == EVALUATE_STEP)
        emit_terms(t, &shape, &args);
    else if (blocks)
        emit_terms_energy(t, &shape, (const void *)&args);
}

void pairs_emit(const struct pairs *p, enum evaluate mode, const struct pairs_replica *r, struct pairs_ready ready,
                struct tape *t)
{
    if (p->host.ntrios)
        emit_plain(p, mode, r, ready.listed, t);
    emit_other_terms(p, mode, r, ready, t);
}
