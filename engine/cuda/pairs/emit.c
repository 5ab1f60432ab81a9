/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches of the forces that go by pairs: their shapes and arguments.
 */
#include <math.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/pairs/pairs.h"
#include "engine/cuda/pairs/region_counts.h"

enum {
    PAIR_BLOCK = 1024, /* threads; less where kernels hold more */
    PAIR_BLOCK_ENERGY = 512,
    PAIR_BLOCK_SPREAD = 512, /* of a replica that has much of the device */
    GROUP_ALONE = 16,        /* trios whose lists a block makes at a time, of a replica that waits for them */
    LANES_ALONE = WARP,      /* lanes that make a trio's lists, where a block has few trios */
    BUILD_LANES = 8,         /* lanes that make a trio's lists, where a block has many trios */
    BUILD_SHARED = 3,        /* blocks that make lists for each multiprocessor, of all replicas that share it */
    BUILD_LEAST = 8,         /* of a replica */
    PERTURBED_EACH = 12,     /* perturbed pairs of a thread: memory is asked for one ahead, so many wait once */
};

/* Blocks that make lists, at most: each costs a little in every step, asked to build or not, and those that load a
 * region's positions more. Replicas that wait for their lists have two on each multiprocessor; of many that share them
 * each has its part. */
static uint32_t build_blocks(const struct pairs *p)
{
    const uint32_t part = BUILD_SHARED * p->processors / p->replicas;
    if (pairs_alone(p))
        return 2 * p->processors;
    return !p->host.whole ? (p->processors + 1) / 2 : part > BUILD_LEAST ? part : BUILD_LEAST;
}

/* Trios whose lists a block makes at a time. A block that has a region's positions in shared memory makes the lists of
 * as many of its members as leave work for all blocks. */
static uint32_t build_group(const struct pairs *p, const struct list_caps *caps, bool alone, uint32_t blocks)
{
    if (p->host.whole)
        return alone ? GROUP_ALONE : LIST_GROUP;
    const uint32_t share = blocks / regions_count(caps);
    return blocks_of(p->region_cap, share > 1 ? share : 1);
}

uint32_t pairs_build_blocks(const struct pairs *p, const struct list_caps *caps)
{
    const struct pair_table *h = &p->host;
    const bool alone = pairs_alone(p);
    const uint32_t most = build_blocks(p), group = build_group(p, caps, alone, most);
    const uint32_t groups =
        h->whole ? list_groups((uint32_t)h->ntrios, group) : regions_count(caps) * list_groups(p->region_cap, group);
    const uint32_t parts = blocks_of((uint64_t)h->nslots, PERTURBED_SLOTS);
    const uint32_t perturbed = blocks_of(parts * (uint64_t)h->nperturbed, BUILD_WARPS);
    const uint32_t blocks = groups + (h->whole || alone ? perturbed : 0); /* else by blocks that have done a region */
    return blocks < most ? blocks : most;
}

struct args_place pairs_place_args(const struct pairs *p, const struct pairs_replica *r)
{
    const struct pairs_arrays *b = &r->arrays;
    return (struct args_place){.ctl = r->ctl,
                               .x = r->x,
                               .f = r->f,
                               .table = p->table,
                               .lists = b->lists,
                               .grid = b->grid,
                               .built = b->built,
                               .atom_grid = r->atom_grid,
                               .first_x = b->first[0],
                               .first_y = b->first[1],
                               .first_z = b->first[2],
                               .energy_at_window = r->energy_at_window,
                               .charges = r->charges,
                               .points = r->points};
}

uint64_t pairs_emit_lists(const struct pairs *p, const struct pairs_replica *r, uint64_t placed, struct tape *t)
{
    static emit_list_build_fn *const emit[BOX_KINDS] = {[RECTANGULAR] = emit_list_build,
                                                        [TRICLINIC] = emit_list_build_triclinic,
                                                        [ANY_IMAGE] = emit_list_build_any_image};
    const struct pair_table *h = &p->host;
    const struct pairs_arrays *b = &r->arrays;
    const void *table = p->table;
    const bool alone = pairs_alone(p);
    const uint32_t group = build_group(p, r->caps, alone, build_blocks(p));
    const struct shape build = {.grid = {pairs_build_blocks(p, r->caps), 1, 1},
                                .block = {WARP * BUILD_WARPS, 1, 1},
                                .shared_bytes = h->whole ? (uint32_t)h->ntrios * TRIO_PLACE_BYTES
                                                         : region_places(p->region_cap) * MEMBER_PLACE_BYTES,
                                .after = placed};
    const struct args_list_build args = {.ctl = r->ctl,
                                         .v = r->v,
                                         .table = table,
                                         .lists = b->lists,
                                         .grid = b->grid,
                                         .built = b->built,
                                         .first_x = b->first[0],
                                         .first_y = b->first[1],
                                         .first_z = b->first[2],
                                         .regions = b->regions,
                                         .members = b->members,
                                         .counts = b->counts,
                                         .places = b->places,
                                         .listed = b->listed,
                                         .pool = b->pool,
                                         .seen = b->seen,
                                         .parts = b->parts,
                                         .pairs = b->perturbed,
                                         .cap = r->caps->entries,
                                         .near_cap = r->caps->near,
                                         .pair_cap = r->caps->pairs,
                                         .regions_x = r->caps->regions[0],
                                         .regions_y = r->caps->regions[1],
                                         .regions_z = r->caps->regions[2],
                                         .region_cap = p->region_cap,
                                         .group = group,
                                         .lanes = h->whole && alone ? LANES_ALONE : BUILD_LANES,
                                         .at_a_time = 2 * p->lanes,
                                         .region_blocks = h->whole ? 0 : region_blocks(p, r->caps)};
    return emit[p->lists_box](t, &build, &args);
}

/* As the kernels multiply them, so that a pair has the same bits whether its charges come from the table or from here.
 */
static float product32(double q, double o)
{
    return (float)UNIT_COULOMB * ((float)q * (float)o);
}

static struct args_pairs_shared plain_args(const struct pairs *p, const struct pairs_replica *r)
{
    const struct pair_table *h = &p->host;
    const struct pairs_arrays *b = &r->arrays;
    const double o = p->water_charge[0], q = p->water_charge[1];
    const struct lj32 water = lj32_of(&p->water_lj);
    float unit = (float)exp2(h->force_shift - 32); /* kJ/mol/nm */
    struct args_pairs_shared args = {
        .ctl = r->ctl,
        .f = r->f,
        .table = p->table,
        .lists = b->lists,
        .grid = b->grid,
        .slot_atom = h->atom,
        .slot_type = h->slot_type,
        .regions = b->regions,
        .members = b->members,
        .listed = b->listed,
        .pool = b->pool,
        .parts = b->parts,
        .ntrios = (uint32_t)h->ntrios,
        .nwaters = (uint32_t)h->nwaters,
        .region_cap = p->region_cap,
        .lanes = p->lanes,
        .modifier = (uint32_t)h->modifier,
        .force_shift = (uint32_t)h->force_shift,
        .coulomb_cutoff2 = (float)(h->coulomb_cutoff * h->coulomb_cutoff),
        .vdw_cutoff2 = (float)(h->vdw_cutoff * h->vdw_cutoff),
        .round_fine = 1.5f * 8388608.0f * unit,
        .round_coarse = 1.5f * 8388608.0f * unit * (1 << COARSE_SHIFT),
        .oxygen_oxygen = UNIT_COULOMB * o * o,
        .oxygen_hydrogen = UNIT_COULOMB * o * q,
        .hydrogen_hydrogen = UNIT_COULOMB * q * q,
        .oxygen_c6 = p->water_lj.c6,
        .oxygen_c12 = p->water_lj.c12,
        .shift6 = h->lj_rule.shift6,
        .shift12 = h->lj_rule.shift12,
        .oxygen_oxygen32 = product32(o, o),
        .oxygen_hydrogen32 = product32(o, q),
        .hydrogen_hydrogen32 = product32(q, q),
        .oxygen_charge = (float)o,
        .hydrogen_charge = (float)q,
        .oxygen_type = (uint32_t)p->water_type[0],
        .hydrogen_type = (uint32_t)p->water_type[1],
        .water_c6 = water.c6,
        .water_c12 = water.c12,
        .ewald_scale = (float)h->ewald.scale,
        .ewald_long = p->ewald_long,
    };
    memcpy(args.ewald_f, p->ewald_f, sizeof args.ewald_f);
    memcpy(args.ewald_v, p->ewald_v, sizeof args.ewald_v);
    memcpy(args.ewald_w, p->ewald_w, sizeof args.ewald_w);
#define OF_RULE(number) args.number = (float)h->lj_rule.number;
    LJ_RULE_OF_FORCES(OF_RULE)
#undef OF_RULE
    return args;
}

/* Some lanes for each trio of the replica, or blocks of a fixed size for regions. */
static struct shape plain_shape(const struct pairs *p, enum evaluate mode, const struct pairs_replica *r,
                                uint64_t after)
{
    const struct pair_table *h = &p->host;
    const uint32_t trio_bytes = mode == EVALUATE_POTENTIAL ? TRIO_BYTES / 2 : TRIO_BYTES; /* no forces */
    const uint64_t lanes =
        WARP * (list_groups((uint32_t)h->nwaters, WARP / p->lanes) +
                (uint64_t)list_groups((uint32_t)(h->ntrios - h->nwaters), WARP / other_lanes(p->lanes)));
    uint32_t most = mode != EVALUATE_STEP ? PAIR_BLOCK_ENERGY : p->lanes > 4 ? PAIR_BLOCK_SPREAD : PAIR_BLOCK;
    const uint32_t threads = most < lanes ? most : (uint32_t)lanes;
    if (h->whole)
        return (struct shape){.grid = {blocks_of(lanes, threads), 1, 1},
                              .block = {threads, 1, 1},
                              .shared_bytes = (uint32_t)h->ntrios * trio_bytes,
                              .after = after};
    return (struct shape){.grid = {region_blocks(p, r->caps), 1, 1},
                          .block = {REGION_BLOCK, 1, 1},
                          .shared_bytes = p->region_cap * trio_bytes,
                          .after = after};
}

static void emit_plain(const struct pairs *p, enum evaluate mode, const struct pairs_replica *r, uint64_t after,
                       struct tape *t)
{
#define EACH(kernel)                                                                                                   \
    {                                                                                                                  \
        [RECTANGULAR] = emit_pairs_##kernel, [TRICLINIC] = emit_pairs_##kernel##_triclinic,                            \
        [ANY_IMAGE] = emit_pairs_##kernel##_any_image                                                                  \
    }
    static emit_pairs_shared_fn *const emit[2][EVALUATE_COUNT][BOX_KINDS] = {
        {[EVALUATE_STEP] = EACH(regions),
         [EVALUATE_POTENTIAL] = EACH(regions_potential),
         [EVALUATE_ENERGY] = EACH(regions_energy),
         [EVALUATE_SAMPLE] = EACH(regions_energy)},
        {[EVALUATE_STEP] = EACH(shared),
         [EVALUATE_POTENTIAL] = EACH(shared_potential),
         [EVALUATE_ENERGY] = EACH(shared_energy),
         [EVALUATE_SAMPLE] = EACH(shared_energy)}};
#undef EACH
    const struct pair_table *h = &p->host;
    const struct args_pairs_shared args = plain_args(p, r);
    const struct shape shape = plain_shape(p, mode, r, after);
    emit[h->whole != 0][mode][h->box](t, &shape, &args);
}

/* Bonded terms, pairs outside the lists and perturbed pairs: a launch for all of them. */
static void emit_other_terms(const struct pairs *p, enum evaluate mode, const struct pairs_replica *r, uint64_t placed,
                             uint64_t listed, struct tape *t)
{
    const struct pair_table *h = &p->host;
    const bool energies = evaluates_energies(mode);
    uint32_t unlisted = (uint32_t)(h->nexcluded + h->nexcluded_perturbed + h->nalways + (energies ? h->nrigid : 0));
    const uint32_t each = !energies && h->ntrios ? PERTURBED_EACH : 1; /* plain pairs take longer */
    const uint32_t bonded_warps = blocks_of(r->nbonded, WARP), unlisted_warps = blocks_of(unlisted, WARP),
                   perturbed_warps = h->nperturbed ? blocks_of(r->caps->pairs, each * WARP) : 0;
    const uint32_t threads = WARP * (bonded_warps + unlisted_warps + perturbed_warps);
    if (!threads)
        return;
    const uint32_t most = !energies && !pairs_alone(p) ? TERMS_BLOCK : CUDA_BLOCK; /* alone, many are faster */
    const uint32_t block = threads < most ? threads : most;
    const struct shape shape = {
        .grid = {blocks_of(threads, block), 1, 1}, .block = {block, 1, 1}, .after = h->nperturbed ? listed : placed};
    const struct args_terms args = {.ctl = r->ctl,
                                    .x = r->x,
                                    .f = r->f,
                                    .table = p->table,
                                    .lists = r->arrays.lists,
                                    .atom_grid = r->atom_grid,
                                    .pairs = r->arrays.perturbed,
                                    .bonded_terms = r->bonded,
                                    .energy_at_window = r->energy_at_window,
                                    .bonded = r->nbonded,
                                    .unlisted = unlisted,
                                    .bonded_warps = bonded_warps,
                                    .unlisted_warps = unlisted_warps,
                                    .perturbed_warps = perturbed_warps,
                                    .mode = (uint32_t)mode};
    static emit_terms_fn *const emit[2][EVALUATE_COUNT] = {{[EVALUATE_STEP] = emit_terms,
                                                            [EVALUATE_POTENTIAL] = emit_terms_energy,
                                                            [EVALUATE_ENERGY] = emit_terms_energy,
                                                            [EVALUATE_SAMPLE] = emit_terms_energy,
                                                            [EVALUATE_SWITCH] = emit_terms_switch},
                                                           {[EVALUATE_STEP] = emit_terms_rare,
                                                            [EVALUATE_POTENTIAL] = emit_terms_rare_energy,
                                                            [EVALUATE_ENERGY] = emit_terms_rare_energy,
                                                            [EVALUATE_SAMPLE] = emit_terms_rare_energy,
                                                            [EVALUATE_SWITCH] = emit_terms_rare_switch}};
    emit[r->nrare || p->host.soft.function != SOFT_BEUTLER][mode](t, &shape, &args);
}

void pairs_emit(const struct pairs *p, enum evaluate mode, const struct pairs_replica *r, uint64_t placed,
                uint64_t listed, struct tape *t)
{
    if (p->host.ntrios)
        emit_plain(p, evaluate_unperturbed(mode), r, listed, t);
    emit_other_terms(p, mode, r, placed, listed, t);
}
