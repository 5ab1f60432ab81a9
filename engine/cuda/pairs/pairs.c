/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda/pairs/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/units.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/pairs/region_counts.h"
#include "engine/cuda/lists/trios.h"
#include "engine/prepare/cutoffs.h"
#include "engine/prepare/dispersion.h"
#include "engine/prepare/ewald.h"

/* Buffers of two waters' hydrogens together, nm. Replicas that wait for their lists more than they have pairs to do
 * (pairs_alone) have larger ones, above all where one block could hold them. */
#define DEFAULT_BUFFER 0.12 /* of replicas without regions */
#define BUFFER_REGIONS 0.09 /* of replicas in regions */
#define BUFFER_ALONE 0.11   /* of few replicas, in regions */
#define BUFFER_WHOLE 0.28   /* of few replicas, without regions */
#define BUFFER_FIRST 0.38   /* times a hydrogen's: the buffer of waters' oxygens, which go less far */
#define BUFFER_OTHER 1.2    /* times a hydrogen's: that of other atoms, which lists take to be where they are */
#define AHEAD 0.004         /* ps, and AHEAD_STEPS: a water's hydrogen goes straight on for about so long */
#define AHEAD_STEPS 2       /* timesteps, as lists live for some of them */
#define SKIN 0.12           /* nm: first atoms go half of it in about 20 steps of 2 fs */
#define SKIN_WIDE 0.17      /* nm, of replicas without regions, whose searches take long, and under pressure */
#define SKIN_ALONE 0.20     /* nm, of a replica in regions that waits for its searches */
#define WATER_SLACK 0.002   /* nm, that coordinates of rigid waters may be off, as .gro files round them */
#define TRIO_ARM 0.35       /* nm: no atom is farther from the first of its trio where they are bonded otherwise */
#define WATER_SHRINKS 1.025 /* what a box's widths may come down by where all plain atoms are rigid waters' */
#define BOX_SHRINKS 1.05    /* what other boxes' widths may come down by */
#define IMAGE_SLACK 0.01    /* nm, by which trios in reach are less than a whole edge apart */
#define LEAST_ROOM 0.15     /* nm, of a list's buffer and skin; trios of one atom have more */
#define USUAL_EXTENT 0.11   /* nm, of trios, for the estimate of a pool's first size */
#define POOL_ROOM 1.1       /* times that estimate: a pool's first size */
#define EWALD_OFF 1e-7      /* of beta^3, that a force over distance and charges may be off */
#define EWALD_LEAST 1e-11   /* tolerance; with less, forces are off by what a mesh in single precision is */

enum {
    SLOTS_MOST = 1 << NEAR_MASK_SHIFT,
    LANES_LEAST = 4, /* for each trio; more load the device with shorter lists, and each block with all positions */
    LANES_MOST = 16,
    NEAR_USUAL = 96,     /* entries of the longest near list */
    LANES_WANTED = 1100, /* on each multiprocessor, of all replicas that can be at work at a time */
};

/* ---- a model ---- */

/* A polynomial of fewer terms by taking off Chebyshev polynomials from the top (Lanczos' economization); returns by how
 * much it may be off. */
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
static void set_ewald(struct pairs *p, const struct nonbonded_settings *set)
{
    static const int terms[] = {EWALD32_TERMS_USUAL, EWALD32_TERMS_LONG, EWALD32_TERMS};
    struct ewald_fit *fit = &p->host.ewald;
    double f[EWALD32_TERMS], v[EWALD32_TERMS];
    coulomb_fit_make(fit, set);
    const double allowed = EWALD_OFF * fit->beta * fit->beta * fit->beta;
    for (p->ewald_long = 0; economize(fit->f, terms[p->ewald_long], f) > allowed && p->ewald_long < 2;)
        p->ewald_long++;
    economize(fit->v, p->ewald_long == 2 ? EWALD32_TERMS : EWALD32_TERMS_LONG, v);
    v[0] += p->host.coulomb_shift;
    for (int k = 0; k < EWALD32_TERMS; k++) {
        p->ewald_f[k] = (float)f[k];
        p->ewald_v[k] = (float)v[k];
    }
    for (int k = 0; k < EWALD32_TERMS_REST; k++)
        p->ewald_w[k] = (float)(v[k] - p->ewald_v[k]);
}

/* Of the boxes that windows begin in. */
static double least_of(const struct system *sys, double (*measure)(const double box[BOX_SIZE]))
{
    double least = measure(sys->box);
    for (int w = 0; w < sys->nstarts; w++)
        least = fmin(least, measure(sys->starts[w].box));
    return least;
}

static int check(const struct system *sys, const struct nonbonded_settings *set, struct err *e)
{
    int rc = cutoffs_check(set, least_of(sys, box_gpu_cutoff_limit), "in this box, on a GPU", e);
    if (!rc && set->coulomb_method == COULOMB_PME && set->ewald_tolerance < EWALD_LEAST)
        rc = err_set(e, ERR_UNSUPPORTED,
                     "nonbonded: coulomb: tolerance %g: expected %g or more on a GPU, which computes pairs and mesh in "
                     "single precision; the device cpu accepts less",
                     set->ewald_tolerance, EWALD_LEAST);
    return rc;
}

static void set_cutoffs(struct pairs *p, const struct nonbonded_settings *set)
{
    struct pair_table *h = &p->host;
    h->modifier = (int32_t)set->vdw_modifier;
    h->coulomb_cutoff = set->coulomb_cutoff;
    h->vdw_cutoff = set->vdw_cutoff;
    h->cutoff = fmax(set->coulomb_cutoff, set->vdw_cutoff);
    lj_rule_make(&h->lj_rule, set);
    h->coulomb_shift = coulomb_shift_of(set);
    set_ewald(p, set);
}

/* ---- charges and exclusions ---- */

/* Pairs of two waters: oxygen and hydrogen are atoms of one of them, which are all alike. */
static void set_water(struct pairs *p, const struct alchemy_plan *plan, int32_t oxygen, int32_t hydrogen)
{
    int32_t type = plan->type[0][oxygen];
    p->water_charge[0] = plan->charge[oxygen];
    p->water_charge[1] = plan->charge[hydrogen];
    p->water_type[0] = type;
    p->water_type[1] = plan->type[0][hydrogen];
    p->water_lj = plan->lj[type * plan->ntypes + type];
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

/* How far the atoms of a trio may ever be from its first; *shrinks: what the box may come down by. */
static double longest_arm(const struct topology *t, const struct alchemy_plan *plan, double *shrinks)
{
    double longest = 0;
    *shrinks = BOX_SHRINKS;
    if (plan->nplain != 3 * t->nwaters)
        return TRIO_ARM;
    for (int k = 0; k < t->nwaters; k++) {
        const struct rigid_water *w = &t->waters[k];
        if (w->r_oh > TRIO_ARM || w->atom[0] > w->atom[1] || w->atom[0] > w->atom[2])
            return TRIO_ARM;
        longest = fmax(longest, w->r_oh);
    }
    *shrinks = WATER_SHRINKS;
    return longest + WATER_SLACK;
}

/* nm, unless the user says. */
static double buffer_of(const struct pairs *p)
{
    if (!pairs_alone(p))
        return p->host.whole ? DEFAULT_BUFFER : BUFFER_REGIONS;
    return p->host.whole ? BUFFER_WHOLE : BUFFER_ALONE;
}

/* nm */
static double skin_of(const struct pairs *p, const struct settings *set)
{
    if (p->host.whole)
        return SKIN_WIDE;
    return pairs_alone(p) ? SKIN_ALONE : set->barostat.on ? SKIN_WIDE : SKIN;
}

/* Lanes for each trio of a replica whose trios one block could hold: as many as fill the device. */
static uint32_t whole_lanes(const struct pair_table *h, uint32_t replicas, const struct dev_limits *device)
{
    const uint64_t trios =
        (uint64_t)(uint32_t)h->ntrios * (device->queues && replicas > device->queues ? device->queues : replicas);
    uint32_t lanes = LANES_MOST;
    while (lanes > LANES_LEAST && trios * lanes > (uint64_t)LANES_WANTED * device->processors)
        lanes /= 2;
    return lanes;
}

/* What first atoms of two trios in reach may be apart beside cut-off, buffer and skin, nm. */
static double extents_of(double arm)
{
    return 2 * (EXTENT_SLACK * arm + EXTENT_MORE) + IMAGE_SLACK;
}

/* What a list may have for buffer and skin, nm, where the nearest image is seen: two trios in its reach are less than a
 * whole edge apart along each edge, also once the box has come down to its least. arm: of trios */
static double room_for_lists(double cutoff, double arm, const struct system *sys)
{
    const double smallest = (cutoff + arm) * least_of(sys, box_thickness);
    return fmax(smallest - cutoff - extents_of(arm), 0);
}

/* Sets which images trios see; whether these may have more than one atom. */
static bool set_images(struct pair_table *h, const struct system *sys, double arm, double shrinks)
{
    const double reach = shrinks * (h->cutoff + arm);
    const bool rounded = 2 * reach < least_of(sys, box_least_width);
    h->box = box_triclinic(sys->box) ? TRICLINIC : RECTANGULAR;
    if (h->box == RECTANGULAR || rounded || least_of(sys, box_thickness) < BOX_FLAT)
        return rounded;
    h->box = ANY_IMAGE;
    return reach < least_of(sys, box_cutoff_limit) && room_for_lists(h->cutoff, arm, sys) > LEAST_ROOM;
}

/* Sets buffers, nm, by what two hydrogens of waters have together. All alike where lists see other images than pairs
 * do, if that what they see is not where it is taken to be. ahead: by which lists look ahead, ps; 0: not at all */
static void set_buffers(struct pair_table *h, double buffer, double ahead)
{
    static const double share[LIST_KINDS] = {BUFFER_FIRST, 1, BUFFER_OTHER};
    for (int kind = 0; kind < LIST_KINDS; kind++)
        h->buffer[kind] = 0.5 * buffer * (ahead > 0 ? share[kind] : 1);
    h->ahead = ahead;
    h->list_cutoff = h->cutoff + 2 * h->buffer[OTHER_ATOM];
}

/* How far lists reach, and what the box must not come down to for that: as much with any number of replicas. arm: of
 * trios, nm */
static void set_reach(struct pairs *p, const struct settings *set, const struct system *sys, double arm)
{
    struct pair_table *h = &p->host;
    const double asked = set->nonbonded.list_buffer;
    double buffer = asked > 0 ? asked : buffer_of(p);
    h->skin = skin_of(p, set);
    p->least = (struct box_limits){.width = 2 * (h->cutoff + arm)};
    if (h->box == ANY_IMAGE) {
        const double room = room_for_lists(h->cutoff, arm, sys), less = fmin(room / (buffer + h->skin), 1);
        buffer *= less;
        h->skin *= less;
        p->least.edge = 2 * (h->cutoff + arm);
        p->least.width = h->cutoff + fmin(room, (asked > 0 ? asked : BUFFER_WHOLE) + SKIN_ALONE) + extents_of(arm);
    }
    const bool rounded = 2 * (h->cutoff + BUFFER_OTHER * buffer + extents_of(arm)) < least_of(sys, box_least_width);
    set_buffers(h, buffer, rounded && h->nwaters ? AHEAD + AHEAD_STEPS * set->integrator.timestep : 0);
    p->lists_box = h->box == TRICLINIC && !rounded ? ANY_IMAGE : h->box;
}

static double sixth(double a)
{
    return a * a * a * a * a * a;
}

/* Once cut-offs and soft core are known. */
static void set_soft32(struct pairs *p)
{
    struct pair_table *h = &p->host;
    const struct soft_rule *soft = &h->soft;
    h->soft32 = (struct soft_rule32){
        .cutoff2 = (float)(h->cutoff * h->cutoff),
        .coulomb_cutoff2 = (float)(h->coulomb_cutoff * h->coulomb_cutoff),
        .vdw_cutoff2 = (float)(h->vdw_cutoff * h->vdw_cutoff),
        .ewald_scale = (float)h->ewald.scale,
        .ewald_long = p->ewald_long,
        .modifier = (uint32_t)h->modifier,
        .power = soft->power,
        .coulomb = soft->coulomb,
        .function = (int32_t)soft->function,
        .reach = (float)(soft->function == SOFT_GAPSYS ? soft_reach(soft, 1, 1) : soft->alpha),
        .sigma6 = (float)soft->sigma6,
        .alpha_coulomb = (float)soft->alpha_coulomb,
        .farthest6 = (float)soft->farthest6,
        .field = (float)soft->field,
        .start6 = (float)sixth(h->lj_rule.start),
    };
    memcpy(h->soft32.ewald_f, p->ewald_f, sizeof p->ewald_f);
#define OF_RULE(number) h->soft32.number = (float)h->lj_rule.number;
    LJ_RULE_OF_FORCES(OF_RULE)
#undef OF_RULE
}

/* What fits. Bits do not depend on any of it. */
static struct pair_limits limits_on(const struct dev_limits *device)
{
    const uint32_t half = device->processor_shared / 2 - device->reserved_shared;
    return (struct pair_limits){.whole = (device->block_shared - CUDA_STATIC_SHARED) / TRIO_BYTES,
                                .region = (half - CUDA_STATIC_SHARED) / TRIO_BYTES};
}

int pairs_make(struct pairs *p, const struct dev_limits *device, const struct system *sys, const struct settings *set,
               const struct topology *t, const struct alchemy_plan *plan, struct err *e)
{
    struct pair_table *h = &p->host;
    const struct pair_limits most = limits_on(device);
    int rc = check(sys, &set->nonbonded, e);
    if (rc)
        return rc;
    h->natoms = plan->natoms;
    h->nperturbed = plan->nperturbed;
    h->ntypes = plan->ntypes;
    h->nexcluded_perturbed = plan->nexcluded_perturbed;
    h->nalways = plan->nalways;
    h->soft = soft_rule_of(set, true);
    p->density = sys->natoms / box_volume(sys->box);
    set_cutoffs(p, &set->nonbonded);
    set_soft32(p);
    double shrinks, arm = longest_arm(t, plan, &shrinks);
    bool together = set_images(h, sys, arm, shrinks);
    p->atom = trios_make(sys, t, plan, together, &h->nwaters, &h->ntrios);
    h->whole = (uint32_t)h->ntrios <= most.whole;
    p->processors = device->processors;
    p->replicas = set->replicas > 1 ? (uint32_t)set->replicas : 1;
    set_reach(p, set, sys, together ? arm : 0);
    if (h->nwaters)
        set_water(p, plan, p->atom[0], p->atom[1]);
    pairs_set_force_unit(p, plan);
    sort_excluded(p, t, plan);
    h->nslots = TRIO * h->ntrios + h->nperturbed;
    if (h->ntrios >= SLOTS_MOST / TRIO)
        return err_set(e, ERR_UNSUPPORTED, "%d atoms: at most %d are supported", sys->natoms, SLOTS_MOST / TRIO);
    if (!h->whole)
        return regions_choose(p, &most, sys, e);
    p->lanes = whole_lanes(h, p->replicas, device);
    return 0;
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
    h->slot = arena_put(a, slot_of, (size_t)h->natoms * sizeof *slot_of);
    h->slot_type = arena_put(a, type, n * sizeof *type);
    h->lj32 = arena_put(a, lj, (types + 1) * types * sizeof *lj);
    put_partners(p, plan, slot_of, a);
    free(type);
    free(slot_of);
    free(lj);
}

static void put_states(struct pairs *p, const struct alchemy_plan *plan, struct arena *a)
{
    struct atom_states *states = xcalloc((size_t)plan->natoms, sizeof *states);
    for (int i = 0; i < plan->natoms; i++) {
        const float charge = (float)plan->charge[i]; /* zero in B is zero here too */
        states[i] =
            (struct atom_states){{charge, charge + (float)plan->change[i]}, {plan->type[0][i], plan->type[1][i]}};
    }
    p->host.states = arena_put(a, states, (size_t)plan->natoms * sizeof *states);
    free(states);
}

void pairs_lay_out(struct pairs *p, const struct alchemy_plan *plan, const struct lambda_rows *windows, struct arena *a)
{
    struct pair_table *h = &p->host;
    size_t n = (size_t)plan->natoms, types = (size_t)plan->ntypes;
    put_slots(p, plan, a);
    put_states(p, plan, a);
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
    h->window = windows->lambda;
    h->nwindows = windows->n;
    p->table = arena_put(a, h, sizeof *h);
}

/* ---- a replica's block ---- */

/* Of the lists of all rows, where so many trios are around each. In regions a trio has a row in each that it is a
 * member of, where less is around it: beyond a region's face, edge or corner the more so, and each row has room for
 * near pairs of its own. */
static double pool_words(const struct pairs *p, double around, uint32_t near)
{
    const double trios = p->host.ntrios, *f = p->halo, face = 0.6, edge = 0.25,
                 corner = 0.08; /* of a row's near pairs */
    const double members = (1 + f[0]) * (1 + f[1]) * (1 + f[2]), edges = f[0] * f[1] + f[1] * f[2] + f[2] * f[0];
    const double more = face * (f[0] + f[1] + f[2]) + edge * edges + corner * f[0] * f[1] * f[2];
    return trios * fmin(row_words((uint32_t)around, near, true) + more * near,
                        members * row_words((uint32_t)(around / members), near, true));
}

/* Trios around one, in the mean: each two in reach of each other are once around one of them. */
static double usual_around(const struct pairs *p)
{
    const struct pair_table *h = &p->host;
    const double waters = (double)h->nwaters / h->ntrios, both = waters * waters, more = h->skin + 2 * USUAL_EXTENT;
    const double reach3 = both * pow(h->cutoff + more, 3) + (1 - both) * pow(h->list_cutoff + more, 3);
    return 0.5 * fmin(4 * M_PI / 3 * p->density * h->ntrios / h->natoms * reach3, h->ntrios) + 1;
}

void pairs_caps_guess(const struct pairs *p, struct list_caps *caps)
{
    const struct pair_table *h = &p->host;
    const double around = usual_around(p);
    caps->near = NEAR_USUAL;
    caps->entries = (uint32_t)(POOL_ROOM * pool_words(p, around, caps->near));
    caps->pairs = list_cap_perturbed(h->nperturbed, h->natoms, h->list_cutoff, p->density);
    memcpy(caps->regions, p->regions, sizeof caps->regions);
}

void pairs_caps_grow(struct list_caps *caps, const struct ctl *ctl)
{
    uint32_t *cap[] = {&caps->entries, &caps->pairs, NULL, &caps->near};
    if (cap[ctl->where[0]])
        *cap[ctl->where[0]] = list_cap_grown(ctl);
    else
        regions_more(caps->regions);
}

void pairs_lay_out_block(const struct pairs *p, const struct list_caps *caps, struct arena *a, struct pairs_arrays *out)
{
    const struct pair_table *h = &p->host;
    size_t slots = (size_t)h->nslots, trios = (size_t)h->ntrios, rows = trios;
    out->lists = arena_take(a, sizeof *out->lists);
    out->grid = arena_take(a, slots * 4 * sizeof(uint32_t));
    out->built = arena_take(a, slots * 4 * sizeof(uint32_t));
    out->regions = out->members = out->parts = out->seen = NULL;
    if (!h->whole) {
        const size_t n = regions_count(caps);
        const size_t bits = (p->region_cap + 31) / 32 * WARP * BUILD_WARPS * sizeof(uint32_t);
        rows = n * p->region_cap;
        out->regions = arena_take(a, n * sizeof(struct region));
        out->members = arena_take(a, rows * sizeof(struct member));
        out->parts = arena_take(a, region_blocks(p, caps) * sizeof(struct region_part));
        out->seen = arena_take(a, pairs_build_blocks(p, caps) * bits);
    }
    for (int d = 0; d < 3; d++)
        out->first[d] = arena_take(a, trios * sizeof(uint32_t));
    out->counts = arena_take(a, rows * sizeof(struct trio_counts));
    out->places = arena_take(a, rows * sizeof(struct row_place));
    out->listed = arena_take(a, rows * sizeof(struct listed_row));
    out->pool = arena_take(a, (size_t)caps->entries * sizeof(uint32_t));
    out->perturbed = arena_take(a, (size_t)caps->pairs * 2 * sizeof(uint32_t));
}
