/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain pairs: both atoms unperturbed, not excluded. A trio of atoms is worked on by a few lanes, which share its
 * entries (trio.cuh). A block works on the trios of a replica, or of a region of it (lists/layout.h), with positions
 * and forces in shared memory.
 */
#include "engine/cuda/pairs/trio.cuh"

/* What a warp works on at a time: rows from the at-th in order on, all waters or none. */
struct bundle {
    uint32_t at, end, lanes;
    bool water;
};

template <class A> static __device__ __forceinline__ struct bundle bundle_of(const A &a, uint32_t number)
{
    const struct kinds &k = ground().kinds;
    const uint32_t lanes = other_lanes(a.lanes), size = WARP / lanes,
                   others = (k.other_end - k.other + size - 1) / size;
    if (number < others)
        return {k.other + number * size, k.other_end, lanes, false};
    return {k.water + (number - others) * (WARP / a.lanes), k.water_end, a.lanes, true};
}

template <class A> static __device__ __forceinline__ const uint32_t *pool_at(const A &a, uint32_t word)
{
    return (const uint32_t *)a.pool + word;
}

template <class A, class PASS>
static __device__ __forceinline__ void warp_trios(const A &a, PASS &pass, const struct bundle &b)
{
    const uint32_t mine = b.at + threadIdx.x % WARP / b.lanes, part = threadIdx.x & (b.lanes - 1);
    const bool real = mine < b.end;
    const uint4 *row = (const uint4 *)((const struct listed_row *)a.listed + ground().first + mine);
    const uint4 n = real ? __ldg(row) : uint4{0, 0, 0, 0}, first = real ? __ldg(row + 1) : uint4{0, 0, 0, 0};
    const struct listed_row at = {n.x, n.y, n.z, n.w, first.x, first.y, first.z, 0};
    pass.first = TRIO * at.row;
    pass.lanes = b.lanes;
    pass.bias = pass.beyond = 0;
    for (int k = 0; k < 9; k++)
        pass.sum[k] = 0;
    if (b.water) {
        pass.template near_list<true>(pool_at(a, at.near_first), at.near, part);
        pass.template far_list<OXYGEN>(pool_at(a, at.far_first), at.far, part);
        pass.template far_list<HYDROGEN>(pool_at(a, at.hydrogen_first), at.hydrogen, part);
    } else {
        pass.template near_list<false>(pool_at(a, at.near_first), at.near, part);
        pass.template far_list<OTHER>(pool_at(a, at.far_first), at.far, part);
    }
    if (pass.beyond) {
        struct accumulate sum = {};
        acc_clamped(&sum, CLAMPED_FORCE, pass.beyond);
        acc_finish(&sum, &((struct ctl *)a.ctl)->sum);
    }
    if (PASS::FORCE && real)
        pass.finish();
}

/* Of a region: warps take what is left of the block's part, every so many-th bundle. */
template <class A, class PASS> static __device__ __forceinline__ void region_trios(const A &a, PASS &pass)
{
    for (;;) {
        uint32_t number = 0;
        if (threadIdx.x % WARP == 0)
            number = atomicAdd(&ground().taken, ground().step);
        const struct bundle b = bundle_of(a, __shfl_sync(WARP_ALL, number, 0));
        if (b.at >= b.end)
            return;
        warp_trios(a, pass, b);
    }
}

/* Of the block. */
template <bool REGIONS, class A> static __device__ __forceinline__ struct ground ground_of(const A &a)
{
    if (!REGIONS)
        return {NULL, a.ntrios, 0, a.nwaters, {0, a.nwaters, a.nwaters, a.ntrios}, 0, 0};
    const struct region_part part = ((const struct region_part *)a.parts)[blockIdx.x];
    if (!part.parts)
        return {};
    const uint32_t region = part.region, first = region * a.region_cap;
    const struct region *r = (const struct region *)a.regions + region;
    return {(const struct member *)a.members + first, r->members, first,     r->waters,
            {r->others, r->rows, 0, r->others},       part.part,  part.parts};
}

template <bool REGIONS, pass_sums SUMS, box_kind BOX, int OF, class A>
static __device__ __forceinline__ void run_pass(const A &a)
{
    using pass_of = trio_pass<REGIONS, SUMS, BOX, OF, A>;
    extern __shared__ int32_t words[];
    struct ctl *c = (struct ctl *)a.ctl;
    struct pair_lists *lists = (struct pair_lists *)a.lists;
    pass_of pass(a);
    if (threadIdx.x == 0)
        ground() = ground_of<REGIONS>(a);
    __syncthreads();
    const uint32_t ntrios = ground().ntrios;
    pass.cell = cell32_of(c);
    pass.positions = words;
    pass.to_forces = 9 * ntrios * (uint32_t)sizeof *words;
    pass.coulomb = pass.lj = 0;
    for (int k = 0; k < 6; k++)
        pass.virial[k] = 0;
    pass.fetch(ntrios);
    if (REGIONS)
        region_trios(a, pass);
    else
        warp_trios(a, pass, bundle_of(a, (blockIdx.x * blockDim.x + threadIdx.x) / WARP));
    if (pass_of::ENERGY)
        add_sums(&c->sum, lists, pass);
    if (pass_of::FORCE)
        pass.flush(ground().ntrios);
    if (pass_of::VIRIAL && last_block(&lists->arrived_energy) && threadIdx.x == 0)
        finish_virial(c, lists, a.force_shift);
}

template <bool REGIONS, pass_sums SUMS, box_kind BOX, class A> static __device__ __forceinline__ void run(const A &a)
{
    if (!block_goes_on((const struct ctl *)a.ctl))
        return;
    if (SUMS != FORCES)
        run_pass<REGIONS, SUMS, BOX, ANY_FORCE>(a);
#define VDW(name, word, start, force, ...)                                                                             \
    else if (VDW_##name == VDW_##force && force_kind_of(a) == VDW_##name)                                              \
        run_pass<REGIONS, SUMS, BOX, SUMS == FORCES ? (int)VDW_##force : ANY_FORCE>(a);
#include "engine/math/vdw_modifiers.def"
    else
        run_pass<REGIONS, SUMS, BOX, ANY_FORCE>(a);
}

/* For each kind of box. Last: threads of a block, and how many blocks are to fit on a multiprocessor. */
#define PAIRS_OF(name, regions, sums, box, ...)                                                                        \
    KERNEL(pairs_##name, a, __launch_bounds__(__VA_ARGS__))                                                            \
    {                                                                                                                  \
        ECHO(a);                                                                                                       \
        run<regions, sums, box>(a);                                                                                    \
    }
#define PAIRS(name, regions, sums, ...)                                                                                \
    PAIRS_OF(name, regions, sums, RECTANGULAR, __VA_ARGS__)                                                            \
    PAIRS_OF(name##_triclinic, regions, sums, TRICLINIC, __VA_ARGS__)                                                  \
    PAIRS_OF(name##_any_image, regions, sums, ANY_IMAGE, __VA_ARGS__)
PAIRS(shared, false, FORCES, 1024)
PAIRS(shared_energy, false, BOTH, 512)
PAIRS(shared_potential, false, ENERGIES, 512, 2)
PAIRS(regions, true, FORCES, REGION_BLOCK, 2)
PAIRS(regions_energy, true, BOTH, REGION_BLOCK)
PAIRS(regions_potential, true, ENERGIES, REGION_BLOCK, 2)
#undef PAIRS
#undef PAIRS_OF
