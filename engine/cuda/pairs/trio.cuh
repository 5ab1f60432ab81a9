/* SPDX-License-Identifier: Apache-2.0
 *
 * A trio of atoms and the entries of its lists (lists/layout.h), with positions and forces in the block's shared
 * memory: what a lane does with its share of them. For each entry it computes the three pairs of the trio with one
 * atom.
 *
 * Sums do not depend on their order. The force s d of a pair (s = force over distance) is rounded once, to a multiple
 * of a unit 2^(shift - 32) kJ/mol/nm, and what is summed are whole numbers modulo 2^32:
 *   - Where |s d| < 2^22 units, fma(s, d, R) with R = 1.5 2^23 units is s d + R rounded to a multiple of the unit,
 * because every float near R is one. Its bits minus those of R are that multiple, and bits can be summed as integers.
 *   - A pair of the near list may be stronger. First t = fma(s, d, C) - C with C = 2^13 R is s d rounded to a multiple
 * of 2^13 units; then fma(s, d, R - t) is again rounded once, to a multiple of the unit (R - t is exact), and its bits
 * minus those of R are the rest. t plus the rest is s d to the nearest multiple of the unit, ties to even, as in the
 * first case: a pair gives the same number whichever list it is in. The host chooses the unit so that what one atom can
 * meet stays below 2^31 units (fixed_range.c); a force above PAIR_LIMIT, of atoms in close contact, goes to the 64-bit
 * sums at once. Energies and the virial are summed as 64-bit integers too: an entry's energy rounded to fixed point,
 * the virial as exact products of grid positions and rounded forces.
 */
#ifndef SHOAL_ENGINE_CUDA_PAIRS_TRIO_CUH
#define SHOAL_ENGINE_CUDA_PAIRS_TRIO_CUH

#include "engine/base/units.h"
#include "engine/cuda/lists/images.cuh"
#include "engine/cuda/pairs/virial.cuh"

enum far_kind { OXYGEN, HYDROGEN, OTHER };
enum pass_sums { FORCES, ENERGIES, BOTH }; /* BOTH: and the virial */

#define TRIOS_AT_ONCE 4 /* by a thread, of memory that is far */
#define WORDS_AT_ONCE 4 /* of forces, by a thread */

/* The rows of a replica or a region: where those of either kind are in the order. Warps take those of others than
 * waters first. */
struct kinds {
    uint32_t water, water_end, other, other_end;
};

/* The trios that a block works with. In shared memory, as registers are short. */
struct ground {
    const struct member *members;    /* of a region */
    uint32_t ntrios, first, nwaters; /* first: row of the first of them in arrays */
    struct kinds kinds;
    uint32_t taken, step; /* bundles, and from one to the next */
};

static __device__ __forceinline__ struct ground &ground(void)
{
    __shared__ struct ground ground;
    return ground;
}

/* An atom's charge, e, and its type. */
struct partner {
    float charge;
    int32_t type;
};

/* What entries need of the atoms of a trio that is no water: charges, e, and rows of the table of Lennard-Jones.
 * Without those of rows that are waters. */
struct own_atoms {
    float charge[TRIO];
    const struct lj32 *lj[TRIO];
};

template <bool REGIONS, pass_sums SUMS, box_kind BOX, int OF, class A> struct trio_pass {
    using way = struct way_in<BOX>;
    static constexpr bool FORCE = SUMS != ENERGIES;
    static constexpr bool ENERGY = SUMS != FORCES;
    static constexpr bool VIRIAL = SUMS == BOTH;
    const A &a;
    int32_t *positions; /* shared memory, [slots][3] */
    uint32_t to_forces; /* bytes from the positions to the forces on them */
    struct cell32 cell;
    uint32_t lanes; /* that share the entries of a trio, of the warp's trios now */
    uint32_t first; /* slot */
    struct point own;
    struct vec32 arm[TRIO]; /* from the first atom, nm */
    uint32_t sum[9];        /* forces on the trio, units */
    uint32_t bias;          /* what each entry has added to each sum beside its forces */
    uint32_t beyond;        /* forces that were clamped */
    int64_t coulomb, lj, virial[6];

    __device__ __forceinline__ trio_pass(const A &args) : a(args)
    {
    }

    __device__ __forceinline__ const struct pair_table *table() const
    {
        return (const struct pair_table *)a.table;
    }

    __device__ __forceinline__ const uint4 *grid() const
    {
        return (const uint4 *)a.grid;
    }

    /* By bytes, so that the three words of a slot need one address. */
    __device__ __forceinline__ int32_t *words_of(uint32_t slot) const
    {
        return (int32_t *)((char *)positions + 12 * slot);
    }

    __device__ __forceinline__ uint32_t *forces_of(uint32_t slot) const
    {
        return (uint32_t *)((char *)positions + (12 * slot + to_forces));
    }

    __device__ __forceinline__ struct point at(uint32_t slot) const
    {
        const int32_t *q = words_of(slot);
        struct point p = {q[0], q[1], q[2]};
        return p;
    }

    /* Grid positions wrap. */
    static __device__ __forceinline__ struct point difference(struct point p, struct point q)
    {
        struct point d = {(int32_t)((uint32_t)p.x - (uint32_t)q.x), (int32_t)((uint32_t)p.y - (uint32_t)q.y),
                          (int32_t)((uint32_t)p.z - (uint32_t)q.z)};
        return d;
    }

    __device__ __forceinline__ way from(struct point p) const
    {
        const struct point d = difference(own, p);
        if constexpr (BOX == ANY_IMAGE)
            return {d, shortest32_of(&cell, (float)d.x, (float)d.y, (float)d.z)};
        else
            return {d};
    }

    __device__ __forceinline__ uint32_t whole_trio(uint32_t trio) const
    {
        return REGIONS ? __ldg(&ground().members[trio].trio) & ((1u << MEMBER_OWN_SHIFT) - 1) : trio;
    }

    __device__ __forceinline__ uint32_t whole_slot(uint32_t slot) const
    {
        return REGIONS ? TRIO * whole_trio(slot / TRIO) + slot % TRIO : slot;
    }

    __device__ __forceinline__ float charge_of(uint32_t slot) const
    {
        return __ldg((const float *)(grid() + whole_slot(slot)) + 3);
    }

    __device__ __forceinline__ int32_t type_of(uint32_t slot) const
    {
        return __ldg((const int32_t *)a.slot_type + whole_slot(slot));
    }

    /* The same of an atom that a trio has an entry of, mostly a water's: of those nothing has to be looked up. */
    __device__ __forceinline__ struct partner partner_of(uint32_t slot) const
    {
        if (slot >= TRIO * ground().nwaters)
            return {charge_of(slot), type_of(slot)};
        return slot % TRIO ? partner{a.hydrogen_charge, (int32_t)a.hydrogen_type}
                           : partner{a.oxygen_charge, (int32_t)a.oxygen_type};
    }

    static __device__ __forceinline__ struct lj32 lj_of(const struct lj32 *row, int32_t type)
    {
        const float2 v = __ldg((const float2 *)(row + type));
        return {v.x, v.y};
    }

    /* Of own atom k: by the types of others. */
    __device__ __forceinline__ const struct lj32 *lj_row_of(int k) const
    {
        return table()->lj32 + (size_t)type_of(first + k) * (size_t)table()->ntypes;
    }

    /* Looked up once a list: each is a chain of reads. */
    __device__ __forceinline__ struct own_atoms own_atoms_of(void) const
    {
        struct own_atoms own;
#pragma unroll
        for (int k = 0; k < TRIO; k++) {
            own.charge[k] = charge_of(first + k);
            own.lj[k] = lj_row_of(k);
        }
        return own;
    }

    /* From the trio's first atom to the k-th, nm. */
    __device__ __forceinline__ struct vec32 arm_of(int k) const
    {
        const struct point p = difference(at(first + k), own);
        const struct vec32 none = {0, 0, 0};
        return k ? cell32_vector<BOX != RECTANGULAR>(&cell, (float)p.x, (float)p.y, (float)p.z, none) : none;
    }

    /* The trio's positions. For each list anew, or they would lie in memory while others are gone through. */
    __device__ __forceinline__ void load()
    {
        own = at(first);
#pragma unroll
        for (int k = 0; k < TRIO; k++)
            arm[k] = arm_of(k);
    }

    /* Of own atom k with the atom of a slot, as energies need it; of no atom nothing. */
    __device__ __forceinline__ struct lj exact_lj(int k, uint32_t slot) const
    {
        const struct pair_table *t = table();
        const int32_t type = type_of(first + k), other = type_of(slot);
        if (type >= t->ntypes || other >= t->ntypes)
            return {0, 0};
        const struct lj *lj = t->lj + (size_t)type * (size_t)t->ntypes + other;
        return {__ldg(&lj->c6), __ldg(&lj->c12)};
    }

    __device__ __forceinline__ struct lj oxygen_lj(void) const
    {
        return {a.oxygen_c6, a.oxygen_c12};
    }

    /* Energies of an entry into the sums. Those of the far lists are within their limit, as forces are. */
    __device__ __forceinline__ void add_far_energies(struct entry_energies e)
    {
        coulomb += fixed_within(e.coulomb);
        lj += fixed_within(e.lj);
    }

    __device__ __forceinline__ void add_near_energies(struct entry_energies e)
    {
        coulomb += fixed_clamped(e.coulomb, FIXED_ENERGY_LIMIT);
        lj += fixed_clamped(e.lj, FIXED_ENERGY_LIMIT);
    }

    __device__ __forceinline__ void add_virial(way d, int64_t x, int64_t y, int64_t z)
    {
        int64_t dx = d.along(0) >> VIRIAL_SHIFT, dy = d.along(1) >> VIRIAL_SHIFT, dz = d.along(2) >> VIRIAL_SHIFT;
        virial[0] += dx * x;
        virial[1] += dx * y;
        virial[2] += dx * z;
        virial[3] += dy * y;
        virial[4] += dy * z;
        virial[5] += dz * z;
    }

    /* Units to an atom's 64-bit sum. */
    __device__ __forceinline__ void add_global(uint32_t slot, int c, int64_t units)
    {
        int32_t atom = __ldg((const int32_t *)a.slot_atom + whole_slot(slot));
        if (atom >= 0)
            acc_add((int64_t *)a.f + 3 * atom + c, (int64_t)((uint64_t)units << a.force_shift));
    }

    __device__ __forceinline__ void add_shared(uint32_t slot, uint32_t x, uint32_t y, uint32_t z)
    {
        uint32_t *f = forces_of(slot);
        atomicAdd(f, x);
        atomicAdd(f + 1, y);
        atomicAdd(f + 2, z);
    }

    template <int KIND> __device__ __forceinline__ float product(int k, float q, float charge) const
    {
        if (KIND == OTHER)
            return __fmul_rn((float)UNIT_COULOMB, __fmul_rn(q, charge));
        if (KIND == OXYGEN)
            return k ? a.oxygen_hydrogen32 : a.oxygen_oxygen32;
        return k ? a.hydrogen_hydrogen32 : a.oxygen_hydrogen32;
    }

    /* e */
    __device__ __forceinline__ double exact_charge(uint32_t slot) const
    {
        int32_t atom = __ldg((const int32_t *)a.slot_atom + whole_slot(slot));
        return atom < 0 ? 0 : __ldg(table()->charge + atom);
    }

    /* Of own atom k, one of a water's, with an oxygen or a hydrogen of another. */
    template <int KIND> __device__ __forceinline__ struct charge_product water_product(int k) const
    {
        if (KIND == OXYGEN)
            return {k ? a.oxygen_hydrogen : a.oxygen_oxygen, product<OXYGEN>(k, 0, 0)};
        return {k ? a.hydrogen_hydrogen : a.oxygen_hydrogen, product<HYDROGEN>(k, 0, 0)};
    }

    /* Coulomb of own atom k with a slot: of two waters to `water`. */
    template <bool WATER>
    __device__ __forceinline__ void add_coulomb(int k, uint32_t slot, struct energy32 one, bool within,
                                                struct water_energies *water, struct entry_energies *entry) const
    {
        if (WATER)
            add_energy32(k ? &water->hydrogens : &water->oxygen, one, within);
        else if (within)
            entry->coulomb += UNIT_COULOMB * exact_charge(first + k) * exact_charge(slot) * whole32(one);
    }

    template <int KIND> __device__ __forceinline__ double water_coulomb(const struct water_energies &e) const
    {
        return coulomb_of_water(e, water_product<KIND>(0), water_product<KIND>(1));
    }

    /* The three pairs with an atom that is far enough away. An entry that is not valid adds nothing; it names a slot
     * all the same. */
    template <int KIND>
    __device__ __forceinline__ void far_entry(uint32_t slot, bool valid, const struct own_atoms &own)
    {
        const uint32_t fine = __float_as_uint(a.round_fine);
        const float coulomb_cutoff2 = valid ? a.coulomb_cutoff2 : -1.0f, vdw_cutoff2 = valid ? a.vdw_cutoff2 : -1.0f;
        const way d = from(at(slot));
        const struct partner other = FORCE && KIND == OTHER ? partner_of(slot) : partner{};
        uint32_t jx = 0, jy = 0, jz = 0;
        struct entry_energies energies = {0, 0};
        struct water_energies water = {};
#pragma unroll
        for (int k = 0; k < TRIO; k++) {
            struct vec32 r = d.vector(&cell, arm[k]);
            float r2 = square32(r), ri = rsqrt_approx(r2), ri2 = __fmul_rn(ri, ri);
            const bool has_lj = KIND == OTHER || (KIND == OXYGEN && k == 0);
            if (ENERGY)
                add_coulomb<KIND != OTHER>(k, slot, coulomb32_energy(a, r2, ri), r2 < coulomb_cutoff2, &water,
                                           &energies);
            if (ENERGY && has_lj && r2 < vdw_cutoff2)
                energies.lj += lj32_energy(a, KIND == OTHER ? exact_lj(k, slot) : oxygen_lj(), r2, ri);
            if (!FORCE)
                continue;
            float qq = product<KIND>(k, KIND == OTHER ? own.charge[k] : 0, other.charge);
            float s = coulomb32_force<OF>(a, qq, r2, ri, ri2);
            s = r2 < coulomb_cutoff2 ? s : 0.0f;
            if (has_lj) {
                struct lj32 lj = {a.water_c6, a.water_c12};
                if (KIND == OTHER)
                    lj = lj_of(own.lj[k], other.type);
                float f = lj32_force<OF>(a, lj, r2, ri, ri2);
                s = __fadd_rn(s, r2 < vdw_cutoff2 ? f : 0.0f);
            }
            uint32_t fx = __float_as_uint(__fmaf_rn(s, r.x, a.round_fine));
            uint32_t fy = __float_as_uint(__fmaf_rn(s, r.y, a.round_fine));
            uint32_t fz = __float_as_uint(__fmaf_rn(s, r.z, a.round_fine));
            sum[3 * k] += fx, sum[3 * k + 1] += fy, sum[3 * k + 2] += fz;
            jx += fx, jy += fy, jz += fz;
        }
        jx = 3 * fine - jx, jy = 3 * fine - jy, jz = 3 * fine - jz;
        if (FORCE)
            add_shared(slot, jx, jy, jz);
        if (ENERGY && KIND != OTHER)
            energies.coulomb = water_coulomb<KIND>(water);
        if (ENERGY)
            add_far_energies(energies);
        if (VIRIAL)
            add_virial(d, -(int32_t)jx, -(int32_t)jy, -(int32_t)jz);
    }

    /* Force over distance of one pair of the near list. lj: NULL for none. */
    __device__ __forceinline__ float near_force(float r2, float ri, float qq, const struct lj32 *lj, bool on) const
    {
        float ri2 = __fmul_rn(ri, ri), s = coulomb32_force<OF>(a, qq, r2, ri, ri2);
        s = on && r2 < a.coulomb_cutoff2 ? s : 0.0f;
        if (lj) {
            float f = lj32_force<OF>(a, *lj, r2, ri, ri2);
            s = __fadd_rn(s, on && r2 < a.vdw_cutoff2 ? f : 0.0f);
        }
        return s;
    }

    /* The force of a pair of own atom k rounded in two parts. */
    __device__ __forceinline__ void split(float s, const float r[3], float coarse[3], float rest[3]) const
    {
        const float both = __fadd_rn(a.round_coarse, a.round_fine);
#pragma unroll
        for (int b = 0; b < 3; b++) {
            coarse[b] = __fmaf_rn(s, r[b], a.round_coarse);
            rest[b] = __fmaf_rn(s, r[b], __fsub_rn(both, coarse[b]));
        }
    }

    /* What is too strong for 32 bits: the coarse part goes to the 64-bit sums. */
    __device__ __forceinline__ void near_strong(int k, uint32_t slot, way d, float s, float ri, const float r[3],
                                                uint32_t units[3])
    {
        const float limit = __fmul_rn((float)FIXED_FORCE_LIMIT, ri), within = fmaxf(fminf(s, limit), -limit);
        float coarse[3], rest[3];
        int64_t high[3];
        beyond += within != s;
        split(within, r, coarse, rest);
#pragma unroll
        for (int b = 0; b < 3; b++) {
            const int32_t parts = (int32_t)(__float_as_uint(coarse[b]) - __float_as_uint(a.round_coarse));
            high[b] = (int64_t)parts * (1 << COARSE_SHIFT);
            add_global(first + k, b, high[b]);
            add_global(slot, b, -high[b]);
            if (VIRIAL)
                add_arm_virial(k, b, high[b]);
            units[b] = (__float_as_uint(a.round_coarse) << COARSE_SHIFT) + __float_as_uint(rest[b]);
        }
        if (VIRIAL)
            add_virial(d, high[0], high[1], high[2]);
    }

    /* Units of the force of a near pair that is not too strong, and near_bias more. */
    __device__ __forceinline__ void near_units(float s, struct vec32 v, uint32_t units[3]) const
    {
        const float r[3] = {v.x, v.y, v.z};
        float coarse[3], rest[3];
        split(s, r, coarse, rest);
#pragma unroll
        for (int b = 0; b < 3; b++)
            units[b] = (__float_as_uint(coarse[b]) << COARSE_SHIFT) + __float_as_uint(rest[b]);
    }

    /* Of the two roundings of a near pair's force, what its integers are too large by. */
    __device__ __forceinline__ uint32_t near_bias() const
    {
        return (__float_as_uint(a.round_coarse) << COARSE_SHIFT) + __float_as_uint(a.round_fine);
    }

    /* Of own atom k with an atom of the near list: force over distance. charge, row: as in own_atoms. */
    template <bool WATER>
    __device__ __forceinline__ float near_pair_force(int k, bool oxygen, float r2, float ri, bool on, float charge,
                                                     const struct lj32 *row, struct partner partner) const
    {
        struct lj32 lj = {oxygen ? a.water_c6 : 0, oxygen ? a.water_c12 : 0};
        float qq = oxygen ? product<OXYGEN>(k, 0, 0) : product<HYDROGEN>(k, 0, 0);
        if (!WATER) {
            lj = lj_of(row, partner.type);
            qq = product<OTHER>(k, charge, partner.charge);
        }
        return near_force(r2, ri, qq, WATER && k ? NULL : &lj, on);
    }

    /* The pairs of `strong` with an atom, each for itself, as there are few; other: the force on that atom, units. */
    template <bool WATER>
    __device__ __forceinline__ void near_strong_pairs(uint32_t slot, uint32_t strong, way d, struct partner partner,
                                                      uint32_t other[3])
    {
#pragma unroll 1
        for (int k = 0; k < TRIO; k++) {
            if (!(strong >> k & 1))
                continue;
            const struct vec32 v = d.vector(&cell, arm_of(k));
            const float r2 = fmaxf(square32(v), NEAREST2), ri = rsqrt_approx(r2), r[3] = {v.x, v.y, v.z};
            const float charge = WATER ? 0 : charge_of(first + k);
            const struct lj32 *row = WATER ? NULL : lj_row_of(k);
            uint32_t units[3];
            near_strong(k, slot, d, near_pair_force<WATER>(k, slot % TRIO == 0, r2, ri, true, charge, row, partner), ri,
                        r, units);
            for (int b = 0; b < 3; b++) {
                const uint32_t part = units[b] - near_bias();
                atomicAdd(forces_of(first + k) + b, part);
                other[b] += part;
                if (VIRIAL)
                    add_arm_virial(k, b, (int32_t)part);
            }
        }
    }

    /* The pairs of `mask` with an atom; WATER: both are waters, and nothing has to be looked up. */
    template <bool WATER>
    __device__ __forceinline__ void near_entry(uint32_t slot, uint32_t mask, const struct own_atoms &own)
    {
        const way d = from(at(slot));
        const bool oxygen = slot % TRIO == 0;
        const struct partner partner = WATER || !FORCE ? (struct partner){} : partner_of(slot);
        uint32_t other[3] = {0, 0, 0}, strong = 0;
        struct entry_energies energies = {0, 0};
        struct water_energies water = {};
#pragma unroll
        for (int k = 0; k < TRIO; k++) {
            struct vec32 r = d.vector(&cell, arm[k]);
            const bool on = WATER || (mask >> k & 1);
            const float r2 = fmaxf(square32(r), NEAREST2), ri = rsqrt_approx(r2);
            if (ENERGY)
                add_coulomb<WATER>(k, slot, coulomb32_energy(a, r2, ri), on && r2 < a.coulomb_cutoff2, &water,
                                   &energies);
            if (ENERGY && on && r2 < a.vdw_cutoff2 && (!WATER || (oxygen && k == 0)))
                energies.lj += fmin(lj32_energy(a, WATER ? oxygen_lj() : exact_lj(k, slot), r2, ri), FIXED_FORCE_LIMIT);
            if (!FORCE)
                continue;
            float s = near_pair_force<WATER>(k, oxygen, r2, ri, on, own.charge[k], own.lj[k], partner);
            if (!(fabsf(s) <= __fmul_rn((float)PAIR_LIMIT, ri)))
                strong |= 1u << k, s = 0;
            uint32_t units[3];
            near_units(s, r, units);
#pragma unroll
            for (int b = 0; b < 3; b++) {
                sum[3 * k + b] += units[b];
                other[b] += units[b];
            }
        }
        if (FORCE && strong)
            near_strong_pairs<WATER>(slot, strong, d, partner, other);
#pragma unroll
        for (int b = 0; b < 3; b++)
            other[b] = 3 * near_bias() - other[b];
        bias += near_bias();
        if (ENERGY && WATER)
            energies.coulomb = oxygen ? water_coulomb<OXYGEN>(water) : water_coulomb<HYDROGEN>(water);
        if (ENERGY)
            add_near_energies(energies);
        if (VIRIAL)
            add_virial(d, -(int64_t)(int32_t)other[0], -(int64_t)(int32_t)other[1], -(int64_t)(int32_t)other[2]);
        if (FORCE)
            add_shared(slot, other[0], other[1], other[2]);
    }

    /* A word of a list, which nobody writes meanwhile. __ldg() asks for registers, which only the forces of a replica
     * that is whole have to spare. */
    static __device__ __forceinline__ uint32_t word_at(const uint32_t *at)
    {
        return REGIONS || ENERGY ? *at : __ldg(at);
    }

    /* The near list of the trio; part: which of its lanes this is. The next entry is on its way meanwhile. WATER: as of
     * near_entry. */
    template <bool WATER> __device__ __forceinline__ void near_list(const uint32_t *list, uint32_t n, uint32_t part)
    {
        uint32_t next = part < n ? word_at(list + part) : 0;
        const struct own_atoms own = WATER || !FORCE ? own_atoms{} : own_atoms_of();
        load();
        for (uint32_t e = part; e < n; e += lanes) {
            const uint32_t slot = next & ((1u << NEAR_MASK_SHIFT) - 1), mask = next >> NEAR_MASK_SHIFT;
            next = e + lanes < n ? word_at(list + e + lanes) : 0;
            near_entry<WATER>(slot, mask, own);
        }
    }

    /* Of the force component b on atom k: what the vector from the first atom to it adds to the virial. */
    __device__ __forceinline__ void add_arm_virial(int k, int b, int64_t force)
    {
        const way d = {difference(at(first + k), own)};
        add_virial(d, b == 0 ? force : 0, b == 1 ? force : 0, b == 2 ? force : 0);
    }

    /* A far list: each lane takes two entries at a time, the next four on their way meanwhile. Where a lane has no more
     * it goes on with what it had. Registers are short here: what the loop keeps for long would lie in memory. In
     * regions, whose warps go through several loops at a time, entries of others come one after the other, as a
     * multiprocessor keeps few instructions at hand. */
    template <int KIND> __device__ __forceinline__ void far_list(const uint32_t *list, uint32_t n, uint32_t part)
    {
        const int32_t step = 2 * (int32_t)lanes;
        const uint32_t rounds = (__reduce_max_sync(WARP_ALL, n) + (uint32_t)step - 1) >> __popc((uint32_t)step - 1);
        const uint32_t *at = list + part;
        int32_t left = (int32_t)n - 2 * (int32_t)part;
        uint32_t next = left > 0 ? word_at(at) : 0;
        at += lanes;
        uint32_t then = left > step ? word_at(at) : 0;
        const struct own_atoms own = KIND != OTHER || !FORCE ? own_atoms{} : own_atoms_of();
        load();
        while (__any_sync(WARP_ALL, left > 0)) {
            const uint32_t both = next;
            const bool first = left > 0, second = left > 1;
            next = then;
            at += lanes;
            left -= step;
            if (left > step)
                then = word_at(at);
#pragma unroll(KIND == OTHER && REGIONS ? 1 : 2)
            for (int k = 0; k < 2; k++)
                far_entry<KIND>(k && second ? both >> 16 : both & 0xffff, k ? second : first, own);
        }
        bias += 2 * rounds * __float_as_uint(a.round_fine);
    }

    /* Sums of a lane to those of the trio's atoms. */
    __device__ __forceinline__ void finish()
    {
#pragma unroll
        for (int k = 0; k < 9; k++) {
            const uint32_t units = sum[k] - bias;
            if (VIRIAL)
                add_arm_virial(k / 3, k % 3, (int32_t)units);
            atomicAdd(forces_of(first) + k, units);
        }
    }

    /* take(k, read(trio)) for the k-th trio of the block, trio its number in all; several a thread, so that it waits
     * for several at a time. For the whole block. */
    template <class READ, class TAKE>
    __device__ __forceinline__ void for_trios(uint32_t ntrios, READ read, TAKE take) const
    {
        for (uint32_t from = threadIdx.x; from < ntrios; from += TRIOS_AT_ONCE * blockDim.x) {
            uint32_t whole[TRIOS_AT_ONCE];
            decltype(read(0u)) got[TRIOS_AT_ONCE];
#pragma unroll
            for (uint32_t n = 0; n < TRIOS_AT_ONCE; n++)
                whole[n] = whole_trio(min(from + n * blockDim.x, ntrios - 1));
#pragma unroll
            for (uint32_t n = 0; n < TRIOS_AT_ONCE; n++)
                got[n] = read(whole[n]);
#pragma unroll
            for (uint32_t n = 0; n < TRIOS_AT_ONCE; n++)
                if (from + n * blockDim.x < ntrios)
                    take(from + n * blockDim.x, got[n]);
        }
        __syncthreads();
    }

    /* Positions of the block's trios; no forces yet. For the whole block, as is the next. */
    __device__ __forceinline__ void fetch(uint32_t ntrios)
    {
        struct words {
            uint4 of[TRIO];
        };
        for_trios(
            ntrios,
            [=](uint32_t trio) {
                const uint4 *g = grid() + TRIO * trio;
                return words{{__ldg(g), __ldg(g + 1), __ldg(g + 2)}};
            },
            [=](uint32_t k, const words &word) {
#pragma unroll
                for (int l = 0; l < TRIO; l++) {
                    int32_t *p = words_of(TRIO * k + l);
                    p[0] = (int32_t)word.of[l].x, p[1] = (int32_t)word.of[l].y, p[2] = (int32_t)word.of[l].z;
                    if (FORCE) {
                        uint32_t *f = forces_of(TRIO * k + l);
                        f[0] = f[1] = f[2] = 0;
                    }
                }
            });
    }

    /* Its forces to the atoms' sums. Where these are takes the positions' place. */
    __device__ __forceinline__ void flush(uint32_t ntrios)
    {
        struct atoms {
            int32_t of[TRIO];
        };
        __syncthreads();
        for_trios(
            ntrios,
            [=](uint32_t trio) {
                const int32_t *slot = (const int32_t *)a.slot_atom + TRIO * trio;
                return atoms{{__ldg(slot), __ldg(slot + 1), __ldg(slot + 2)}};
            },
            [=](uint32_t k, const atoms &atom) {
#pragma unroll
                for (int c = 0; c < 9; c++)
                    positions[9 * k + c] = atom.of[c / 3] < 0 ? -1 : 3 * atom.of[c / 3] + c % 3;
            });
        const uint32_t words = 9 * ntrios;
        for (uint32_t from = threadIdx.x; from < words; from += WORDS_AT_ONCE * blockDim.x) {
            int32_t at[WORDS_AT_ONCE], units[WORDS_AT_ONCE];
#pragma unroll
            for (uint32_t n = 0; n < WORDS_AT_ONCE; n++) {
                const uint32_t k = min(from + n * blockDim.x, words - 1);
                at[n] = from + n * blockDim.x < words ? positions[k] : -1, units[n] = (int32_t)forces_of(0)[k];
            }
#pragma unroll
            for (uint32_t n = 0; n < WORDS_AT_ONCE; n++)
                if (units[n] && at[n] >= 0)
                    acc_add((int64_t *)a.f + at[n], (int64_t)((uint64_t)(int64_t)units[n] << a.force_shift));
        }
    }
};

#endif
