/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain pairs: both atoms unperturbed, not excluded. A trio of atoms is worked on by four lanes, which share its entries; for
 * each entry a lane computes the three pairs of the trio with one atom.
 * A block works on the trios of a replica, or of a region of it (nonbonded_tables.h), with positions and forces in shared memory.
 *
 * Sums do not depend on their order. The force s d of a pair (s = force over distance) is rounded once, to a multiple of a unit
 * 2^(shift - 32) kJ/mol/nm, and what is summed are whole numbers modulo 2^32:
 *   - Where |s d| < 2^22 units, fma(s, d, R) with R = 1.5 2^23 units is s d + R rounded to a multiple of the unit, because every
 *     float near R is one. Its bits minus those of R are that multiple, and bits can be summed as integers.
 *   - A pair of the near list may be stronger. First t = fma(s, d, C) - C with C = 2^13 R is s d rounded to a multiple of 2^13
 *     units; then fma(s, d, R - t) is again rounded once, to a multiple of the unit (R - t is exact), and its bits minus those
 *     of R are the rest. t plus the rest is s d to the nearest multiple of the unit, ties to even, as in the first case: a pair
 *     gives the same number whichever list it is in.
 * The host chooses the unit so that what one atom can meet stays below 2^31 units (strength.c); a force above
 * PAIR_LIMIT, of atoms in close contact, goes to the 64-bit sums at once. Energies and the virial are summed as 64-bit integers too: an entry's
 * energy rounded to fixed point, the virial as exact products of grid positions and rounded forces.
 */
#include "engine/base/units.h"
#include "engine/cuda/pairs_virial.cuh"

enum far_kind { OXYGEN, HYDROGEN, OTHER };

#define NEAREST2 1e-12f /* nm^2: pairs are not taken closer than this */

struct point {
    int32_t x, y, z;
};

template <bool REGIONS, bool ENERGY, bool TRICLINIC, class A> struct trio_pass {
    const A &a;
    const uint4 *grid;
    const struct pair_table *table;
    const struct member *members; /* of the region */
    uint32_t nwaters;             /* there, or in the replica */
    int32_t *positions, *forces;  /* shared memory, [slots][3] */
    struct cell32 cell;
    double nm[BOX_SIZE]; /* cell in double, of the passes with energies */
    uint32_t first;      /* slot */
    struct point own;
    struct vec32 arm[TRIO]; /* from the first atom, nm */
    uint32_t sum[9];        /* forces on the trio, units; each call of far_entry adds the bits of R as well */
    uint32_t calls;
    uint32_t beyond; /* forces that were clamped */
    int64_t coulomb, lj, virial[6];

    __device__ __forceinline__ trio_pass(const A &args) : a(args)
    {
    }

    __device__ __forceinline__ struct point at(uint32_t slot) const
    {
        const int32_t *q = positions + 3 * slot;
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

    __device__ __forceinline__ struct point from(struct point p) const
    {
        return difference(own, p);
    }

    __device__ __forceinline__ uint32_t whole_slot(uint32_t slot) const
    {
        if (!REGIONS)
            return slot;
        const uint32_t trio = __ldg(&members[slot / TRIO].trio) & ((1u << MEMBER_OWN_SHIFT) - 1);
        return TRIO * trio + slot % TRIO;
    }

    __device__ __forceinline__ float charge_of(uint32_t slot) const
    {
        return __ldg((const float *)(grid + whole_slot(slot)) + 3);
    }

    __device__ __forceinline__ int32_t type_of(uint32_t slot) const
    {
        return __ldg((const int32_t *)a.slot_type + whole_slot(slot));
    }

    __device__ __forceinline__ struct lj32 lj_of(int k, int32_t type) const
    {
        const struct lj32 *row = table->lj32 + (size_t)type_of(first + k) * (size_t)table->ntypes;
        float2 v = __ldg((const float2 *)(row + type));
        struct lj32 lj = {v.x, v.y};
        return lj;
    }

    __device__ __forceinline__ void load(uint32_t trio)
    {
        first = TRIO * trio;
        own = at(first);
#pragma unroll
        for (int k = 0; k < TRIO; k++) {
            const struct point p = difference(at(first + k), own);
            struct vec32 none = {0, 0, 0};
            arm[k] = k ? cell32_vector<TRICLINIC>(&cell, (float)p.x, (float)p.y, (float)p.z, none) : none;
        }
    }

    /* Of own atom k with the atom of a slot; d: from it to the first. kJ/mol */
    __device__ __forceinline__ double lj_energy(int k, uint32_t slot, struct point d) const
    {
        const struct point p = difference(at(first + k), own);
        const double u[3] = {(double)d.x + p.x, (double)d.y + p.y, (double)d.z + p.z};
        double r[3];
        box_apply(nm, u, r);
        return lj_energy_of(table, type_of(first + k), type_of(slot), pair_distance2(r[0], r[1], r[2]));
    }

    /* Energies of an entry into the sums. */
    __device__ __forceinline__ void add_energies(struct entry_energies e)
    {
        coulomb += fixed_clamped(e.coulomb, FIXED_ENERGY_LIMIT);
        lj += fixed_clamped(e.lj, FIXED_ENERGY_LIMIT);
    }

    __device__ __forceinline__ void add_virial(struct point d, int64_t x, int64_t y, int64_t z)
    {
        int64_t dx = d.x >> VIRIAL_SHIFT, dy = d.y >> VIRIAL_SHIFT, dz = d.z >> VIRIAL_SHIFT;
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
        uint32_t *f = (uint32_t *)forces + 3 * slot;
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
        return atom < 0 ? 0 : __ldg(table->charge + atom);
    }

    /* The product of own atom k with a slot, as energies need it. */
    template <int KIND> __device__ __forceinline__ double exact_product(int k, uint32_t slot) const
    {
        if (KIND == OTHER)
            return UNIT_COULOMB * exact_charge(first + k) * exact_charge(slot);
        if (KIND == OXYGEN)
            return k ? a.oxygen_hydrogen : a.oxygen_oxygen;
        return k ? a.hydrogen_hydrogen : a.oxygen_hydrogen;
    }

    /* The three pairs with an atom that is far enough away. An entry that is not valid adds nothing; it names a slot all the same. */
    template <int KIND> __device__ __forceinline__ void far_entry(uint32_t slot, bool valid)
    {
        const uint32_t fine = __float_as_uint(a.round_fine);
        const float coulomb_cutoff2 = valid ? a.coulomb_cutoff2 : -1.0f, vdw_cutoff2 = valid ? a.vdw_cutoff2 : -1.0f;
        struct point d = from(at(slot));
        float x = (float)d.x, y = (float)d.y, z = (float)d.z, charge = 0;
        int32_t type = 0;
        uint32_t jx = 0, jy = 0, jz = 0;
        struct entry_energies energies = {0, 0};
        if (KIND == OTHER) {
            charge = charge_of(slot);
            type = type_of(slot);
        }
#pragma unroll
        for (int k = 0; k < TRIO; k++) {
            struct vec32 r = cell32_vector<TRICLINIC>(&cell, x, y, z, arm[k]);
            float r2 = square32(r), ri = rsqrt_approx(r2), ri2 = __fmul_rn(ri, ri);
            float qq = product<KIND>(k, KIND == OTHER ? charge_of(first + k) : 0, charge);
            float s = coulomb32_force(a, qq, r2, ri, ri2);
            s = r2 < coulomb_cutoff2 ? s : 0.0f;
            if (ENERGY && r2 < coulomb_cutoff2)
                energies.coulomb += exact_product<KIND>(k, slot) * (double)coulomb32_energy(a, r2, ri);
            if (KIND == OTHER || (KIND == OXYGEN && k == 0)) {
                struct lj32 lj = {a.water_c6, a.water_c12};
                if (KIND == OTHER)
                    lj = lj_of(k, type);
                float f = lj32_force(a, lj, r2, ri, ri2);
                s = __fadd_rn(s, r2 < vdw_cutoff2 ? f : 0.0f);
                if (ENERGY && valid)
                    energies.lj += lj_energy(k, slot, d);
            }
            uint32_t fx = __float_as_uint(__fmaf_rn(s, r.x, a.round_fine));
            uint32_t fy = __float_as_uint(__fmaf_rn(s, r.y, a.round_fine));
            uint32_t fz = __float_as_uint(__fmaf_rn(s, r.z, a.round_fine));
            sum[3 * k] += fx, sum[3 * k + 1] += fy, sum[3 * k + 2] += fz;
            jx += fx, jy += fy, jz += fz;
        }
        jx = 3 * fine - jx, jy = 3 * fine - jy, jz = 3 * fine - jz;
        if (valid)
            add_shared(slot, jx, jy, jz);
        if (ENERGY) {
            add_energies(energies);
            add_virial(d, -(int32_t)jx, -(int32_t)jy, -(int32_t)jz);
        }
    }

    /* s d rounded to a multiple of the unit: coarse units into *high, the rest into *low. */
    __device__ __forceinline__ void split(float s, float d, int32_t *high, int32_t *low) const
    {
        float h = __fmaf_rn(s, d, a.round_coarse);
        float rest = __fmaf_rn(s, d, __fsub_rn(__fadd_rn(a.round_coarse, a.round_fine), h));
        *high = (int32_t)(__float_as_uint(h) - __float_as_uint(a.round_coarse));
        *low = (int32_t)(__float_as_uint(rest) - __float_as_uint(a.round_fine));
    }

    /* One pair of the near list: its force over distance; adds its Coulomb energy. lj: NULL for none. */
    __device__ __forceinline__ float near_pair(float r2, float qq, double exact, const struct lj32 *lj, bool on,
                                               struct entry_energies *energies)
    {
        float ri = rsqrt_approx(r2), ri2 = __fmul_rn(ri, ri), limit = __fmul_rn((float)FIXED_FORCE_LIMIT, ri);
        float s = coulomb32_force(a, qq, r2, ri, ri2);
        s = on && r2 < a.coulomb_cutoff2 ? s : 0.0f;
        if (ENERGY && on && r2 < a.coulomb_cutoff2)
            energies->coulomb += exact * (double)coulomb32_energy(a, r2, ri);
        if (lj) {
            float f = lj32_force(a, *lj, r2, ri, ri2);
            s = __fadd_rn(s, on && r2 < a.vdw_cutoff2 ? f : 0.0f);
        }
        float clamped = fmaxf(fminf(s, limit), -limit);
        beyond += clamped != s;
        return clamped;
    }

    /* What is too strong for 32 bits: coarse units of the pair of own atom k with a slot, to the 64-bit sums. */
    __device__ __forceinline__ void near_strong(int k, uint32_t slot, struct point d, const int32_t high[3])
    {
#pragma unroll
        for (int b = 0; b < 3; b++) {
            add_global(first + k, b, whole(high[b], 0));
            add_global(slot, b, whole(-high[b], 0));
            if (ENERGY)
                add_arm_virial(k, b, whole(high[b], 0));
        }
        if (ENERGY)
            add_virial(d, whole(high[0], 0), whole(high[1], 0), whole(high[2], 0));
    }

    /* The pairs of `mask` with an atom; WATER: both are waters, and nothing has to be looked up. */
    template <bool WATER> __device__ __forceinline__ void near_entry(uint32_t slot, uint32_t mask)
    {
        struct point d = from(at(slot));
        const bool oxygen = slot % TRIO == 0;
        const float charge = WATER ? 0 : charge_of(slot);
        const int32_t type = WATER ? 0 : type_of(slot);
        int32_t other[3] = {0, 0, 0};
        struct entry_energies energies = {0, 0};
#pragma unroll
        for (int k = 0; k < TRIO; k++) {
            struct vec32 r = cell32_vector<TRICLINIC>(&cell, (float)d.x, (float)d.y, (float)d.z, arm[k]);
            struct lj32 lj = {oxygen ? a.water_c6 : 0, oxygen ? a.water_c12 : 0};
            float qq = oxygen ? product<OXYGEN>(k, 0, 0) : product<HYDROGEN>(k, 0, 0);
            if (!WATER) {
                lj = lj_of(k, type);
                qq = product<OTHER>(k, charge_of(first + k), charge);
            }
            double exact = 0;
            if (ENERGY)
                exact = !WATER   ? exact_product<OTHER>(k, slot)
                        : oxygen ? exact_product<OXYGEN>(k, slot)
                                 : exact_product<HYDROGEN>(k, slot);
            float s =
                near_pair(fmaxf(square32(r), NEAREST2), qq, exact, WATER && k ? NULL : &lj, mask >> k & 1, &energies);
            int32_t high[3], low[3];
            if (ENERGY && mask >> k & 1 && !(WATER && k))
                energies.lj += lj_energy(k, slot, d);
            split(s, r.x, &high[0], &low[0]);
            split(s, r.y, &high[1], &low[1]);
            split(s, r.z, &high[2], &low[2]);
            if (strong(high[0]) || strong(high[1]) || strong(high[2])) {
                near_strong(k, slot, d, high);
                high[0] = high[1] = high[2] = 0;
            }
#pragma unroll
            for (int b = 0; b < 3; b++) {
                int32_t units = (int32_t)((uint32_t)high[b] << COARSE_SHIFT) + low[b];
                sum[3 * k + b] += (uint32_t)units;
                other[b] -= units;
            }
        }
        if (ENERGY) {
            add_energies(energies);
            add_virial(d, -(int64_t)other[0], -(int64_t)other[1], -(int64_t)other[2]);
        }
        if (mask)
            add_shared(slot, (uint32_t)other[0], (uint32_t)other[1], (uint32_t)other[2]);
    }

    static __device__ __forceinline__ int64_t whole(int32_t high, int32_t low)
    {
        return ((int64_t)high << COARSE_SHIFT) + low;
    }

    __device__ __forceinline__ bool strong(int32_t high) const
    {
        const int32_t limit =
            (int32_t)(((int64_t)PAIR_LIMIT << 32) >> (COARSE_SHIFT + a.force_shift)); /* coarse units */
        return high > limit || high < -limit;
    }

    /* The near list of the trio; part: which of its lanes this is. The next entry is on its way meanwhile. */
    __device__ __forceinline__ void near_list(const uint32_t *list, uint32_t n, uint32_t part)
    {
        const uint32_t waters = first < TRIO * nwaters ? TRIO * nwaters : 0; /* slots of waters seen from a water */
        uint32_t next = part < n ? __ldg(list + part) : 0;
        for (uint32_t e = part; e < n; e += TRIO_LANES) {
            const uint32_t slot = next & ((1u << NEAR_MASK_SHIFT) - 1), mask = next >> NEAR_MASK_SHIFT;
            next = e + TRIO_LANES < n ? __ldg(list + e + TRIO_LANES) : 0;
            if (slot < waters)
                near_entry<true>(slot, 7);
            else
                near_entry<false>(slot, mask);
        }
    }

    /* Of the force component b on atom k: what the vector from the first atom to it adds to the virial. */
    __device__ __forceinline__ void add_arm_virial(int k, int b, int64_t force)
    {
        struct point p = at(first + k), d = from(p);
        d.x = -d.x, d.y = -d.y, d.z = -d.z;
        add_virial(d, b == 0 ? force : 0, b == 1 ? force : 0, b == 2 ? force : 0);
    }

    __device__ __forceinline__ uint2 two(const uint16_t *list, uint32_t e, uint32_t n) const
    {
        uint2 slots = make_uint2(first, first);
        if (e >= n)
            return slots;
        uint32_t both = __ldg((const uint32_t *)(list + e));
        slots = make_uint2(both & 0xffff, both >> 16);
        if (e + 1 >= n)
            slots.y = first;
        return slots;
    }

    /* A far list: each lane takes two entries at a time, the next four on their way meanwhile. */
    template <int KIND> __device__ __forceinline__ void far_list(const uint16_t *list, uint32_t n, uint32_t part)
    {
        const uint32_t step = 2 * TRIO_LANES, most = __reduce_max_sync(~0u, n);
        uint32_t e = 2 * part;
        uint2 next = two(list, e, n), then = two(list, e + step, n);
        for (uint32_t base = 0; base < most; base += step, e += step) {
            uint2 slots = next;
            next = then;
            then = two(list, e + 2 * step, n);
            far_entry<KIND>(slots.x, e < n);
            far_entry<KIND>(slots.y, e + 1 < n);
            calls += 2;
        }
    }

    /* Sums of the trio's four lanes to those of its atoms. */
    __device__ __forceinline__ void finish(uint32_t part, bool real)
    {
        const uint32_t fine = __float_as_uint(a.round_fine);
#pragma unroll
        for (int k = 0; k < 9; k++) {
            uint32_t s = sum[k] - calls * fine;
            if (ENERGY && real)
                add_arm_virial(k / 3, k % 3, (int32_t)s);
            s += __shfl_xor_sync(~0u, s, 1);
            s += __shfl_xor_sync(~0u, s, 2);
            if (!real || part != k % TRIO_LANES)
                continue;
            atomicAdd((uint32_t *)forces + 3 * first + k, s);
        }
    }
};

/* Eight trios by a warp, from the at-th in order on; first: row of the first in arrays. */
template <class A, class PASS>
static __device__ __forceinline__ void eight_trios(const A &a, PASS &pass, uint32_t at, uint32_t rows, size_t first,
                                                   size_t first_other)
{
    const uint32_t mine = at + threadIdx.x % 32 / TRIO_LANES, part = threadIdx.x % TRIO_LANES;
    const bool real = mine < rows;
    const uint32_t trio = real ? __ldg((const uint32_t *)a.order + first + mine) : 0;
    const size_t row = first + trio, other = first_other + (trio < pass.nwaters ? 0 : trio - pass.nwaters);
    struct trio_counts n = {0, 0, 0, 0};
    if (real)
        n = ((const struct trio_counts *)a.counts)[row];
    pass.load(trio);
    pass.calls = pass.beyond = 0;
    for (int k = 0; k < 9; k++)
        pass.sum[k] = 0;
    pass.near_list((const uint32_t *)a.near + row * list_near_cap(a.cap), n.near, part);
    if (pass.beyond) {
        struct accumulate sum = {};
        acc_clamped(&sum, CLAMPED_FORCE, pass.beyond);
        acc_finish(&sum, &((struct ctl *)a.ctl)->sum);
    }
    pass.template far_list<OTHER>((const uint16_t *)a.other + other * list_other_cap(a.cap), n.other, part);
    pass.template far_list<OXYGEN>((const uint16_t *)a.oxygen + row * list_near_cap(a.cap), n.oxygen, part);
    pass.template far_list<HYDROGEN>((const uint16_t *)a.hydrogen + row * a.cap, n.hydrogen, part);
    pass.finish(part, real);
}

/* Of a region: its warps take what is left, of `parts` blocks each every so many-th. */
template <class A, class PASS>
static __device__ __forceinline__ void region_trios(const A &a, PASS &pass, uint32_t region, uint32_t rows)
{
    __shared__ uint32_t taken;
    const size_t first = region * (size_t)a.region_cap;
    const size_t first_other = region * (size_t)region_other_rows(a.region_cap, a.ntrios - a.nwaters);
    if (threadIdx.x == 0)
        taken = blockIdx.x % a.parts;
    __syncthreads();
    for (;;) {
        uint32_t at = 0;
        if (threadIdx.x % 32 == 0)
            at = atomicAdd(&taken, a.parts);
        at = 8 * __shfl_sync(~0u, at, 0);
        if (at >= rows)
            return;
        eight_trios(a, pass, at, rows, first, first_other);
    }
}

template <bool REGIONS, bool ENERGY, bool TRICLINIC, class A> static __device__ __forceinline__ void run(const A &a)
{
    extern __shared__ int32_t words[];
    struct ctl *c = (struct ctl *)a.ctl;
    struct pair_lists *lists = (struct pair_lists *)a.lists;
    if (!block_goes_on(c))
        return;
    const uint32_t region = REGIONS ? blockIdx.x / a.parts : 0;
    const struct region *r = (const struct region *)a.regions + region;
    const uint32_t ntrios = REGIONS ? r->members : a.ntrios;
    trio_pass<REGIONS, ENERGY, TRICLINIC, A> pass(a);
    pass.grid = (const uint4 *)a.grid;
    pass.table = (const struct pair_table *)a.table;
    pass.members = (const struct member *)a.members + region * (size_t)a.region_cap;
    pass.nwaters = REGIONS ? r->waters : a.nwaters;
    pass.cell = cell32_of(c);
    for (int k = 0; ENERGY && k < BOX_SIZE; k++)
        pass.nm[k] = c->box[k] / FIXED_SCALE;
    pass.positions = words;
    pass.forces = words + 9 * ntrios;
    pass.coulomb = pass.lj = 0;
    for (int k = 0; k < 6; k++)
        pass.virial[k] = 0;
    BLOCK_LOOP(s, TRIO * ntrios)
    {
        uint4 g = __ldg(pass.grid + pass.whole_slot(s));
        int32_t *p = words + 3 * s;
        p[0] = (int32_t)g.x, p[1] = (int32_t)g.y, p[2] = (int32_t)g.z;
    }
    BLOCK_LOOP(k, 9 * ntrios)
    pass.forces[k] = 0;
    __syncthreads();
    if (REGIONS)
        region_trios(a, pass, region, r->rows);
    else
        eight_trios(a, pass, (blockIdx.x * blockDim.x + threadIdx.x) / 32 * (32 / TRIO_LANES), ntrios, 0, 0);
    if (ENERGY)
        add_sums(&c->sum, lists, pass);
    __syncthreads();
    BLOCK_LOOP(k, 9 * ntrios)
    if (pass.forces[k])
        pass.add_global(k / 3, (int)(k % 3), pass.forces[k]);
    if (ENERGY && last_block(&lists->arrived_energy) && threadIdx.x == 0)
        finish_virial(c, lists, a.force_shift);
}

KERNEL(pairs_shared, a, __launch_bounds__(1024))
{
    ECHO(a);
    run<false, false, false>(a);
}

KERNEL(pairs_shared_triclinic, a, __launch_bounds__(1024))
{
    ECHO(a);
    run<false, false, true>(a);
}

KERNEL(pairs_shared_energy, a, __launch_bounds__(512))
{
    ECHO(a);
    run<false, true, false>(a);
}

KERNEL(pairs_shared_energy_triclinic, a, __launch_bounds__(512))
{
    ECHO(a);
    run<false, true, true>(a);
}

/* Two blocks share a multiprocessor. */
KERNEL(pairs_regions, a, __launch_bounds__(REGION_BLOCK, 2))
{
    ECHO(a);
    run<true, false, false>(a);
}

KERNEL(pairs_regions_triclinic, a, __launch_bounds__(REGION_BLOCK, 2))
{
    ECHO(a);
    run<true, false, true>(a);
}

KERNEL(pairs_regions_energy, a, __launch_bounds__(REGION_BLOCK))
{
    ECHO(a);
    run<true, true, false>(a);
}

KERNEL(pairs_regions_energy_triclinic, a, __launch_bounds__(REGION_BLOCK))
{
    ECHO(a);
    run<true, true, true>(a);
}
