/* SPDX-License-Identifier: Apache-2.0
 *
 * Where an evaluation of forces begins (place.cuh), a thread for each atom: whatever moved the atoms, or changed the
 * box or lambda.
 */
#include "engine/cuda/lists/place.cuh"

/* How far the atom of a slot is from its trio's first, nm, as the bits of a float. */
static __device__ uint32_t extent_of(const double *x, const double *from, const double *box)
{
    double r[3];
    vec_sub(x, from, r);
    box_nearest(box, r);
    return __float_as_uint((float)sqrt(vec_dot(r, r)) * LENGTH_ROUNDED);
}

/* What waters reach: whether the last search counted on that. */
static __device__ __forceinline__ void note_water(const struct placing *p, const struct slot_read &s,
                                                  const double (*x)[3], const double own[3])
{
    if (s.first || s.slot >= TRIO * p->t->nwaters)
        return;
    const uint32_t extent = extent_of(own, x[p->t->atom[s.slot - s.slot % TRIO]], p->c->box);
    if (extent > *(volatile uint32_t *)&p->lists->extent[0])
        atomicMax(&p->lists->extent[0], extent);
    if (__uint_as_float(extent) > least_ratio(p->c, p->lists->searched_box) * p->lists->searched_extent[0])
        ask_for_search(p->lists, true);
}

KERNEL(place, a, __launch_bounds__(CUDA_BLOCK, 7))
{
    ECHO(a);
    __shared__ struct placing p;
    struct ctl *c = (struct ctl *)a.ctl;
    const double(*x)[3] = (const double(*)[3])a.x;
    struct fixed_sum *u = (struct fixed_sum *)a.energy_at_window;
    if (threadIdx.x == 0)
        p = placing_of(a);
    if (!block_goes_on(c))
        return;
    clear_charges(a.charges, a.points);
    GRID_LOOP(w, (uint32_t)p.t->nwindows)
    u[w] = {0, 0};
    if (blockIdx.x == 0 && threadIdx.x == 0)
        clear_step_sums(c);
    GRID_LOOP(i, (uint32_t)p.t->natoms)
    {
        const struct slot_read slot = read_slot(&p, (int32_t)i);
        bool finite = true;
        for (int d = 0; d < 3; d++)
            finite = finite && fabs(x[i][d]) < POSITION_MOST;
        place_atom(&p, slot, (int32_t)i, x[i]);
        if (finite)
            note_water(&p, slot, x, x[i]);
        else
            halt_once(c, HALT_NONFINITE, i, 0, x[i][0]);
    }
}
