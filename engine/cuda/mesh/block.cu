/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole of a replica's mesh in the shared memory of one block, see engine/cuda/mesh/mesh.h. A thread has a line of
 * it in its registers at a time, so the transforms are done in place:
 *
 *   real      [x][y][z], 32-bit charges or potentials. Rows go on behind their end, so that what touches a point there
 * needs no wrapping; charges from there are folded back, potentials repeated. spectrum  [x][y][k] in the same rows, k
 * up to nz/2
 *
 * Rows and planes are odd numbers of float2 apart: neighbouring threads have neighbouring z, or x, and meet no other's
 * bank.
 */
#include "engine/cuda/mesh/fft_lines.cuh"
#include "engine/cuda/mesh/atoms.cuh"
#include "engine/cuda/mesh/influence.cuh"

struct block_mesh {
    float2 *at, *mode[3]; /* mode: mode_of the waves along each axis */
    uint32_t nx, ny, half;
    uint32_t row, plane; /* strides, in float2 */
    uint32_t overlap;    /* points that a row goes on for */
    const struct mode_space *space;
};

/* Lines along z, y and x to the spectrum, and back; the convolution comes before ACROSS_BACK. */
enum mesh_stage { ROWS_THERE, COLUMNS_THERE, ACROSS_THERE, ACROSS_BACK, COLUMNS_BACK, ROWS_BACK };

static __device__ inline bool of_rows(int stage)
{
    return stage == ROWS_THERE || stage == ROWS_BACK;
}

static __device__ inline bool of_columns(int stage)
{
    return stage == COLUMNS_THERE || stage == COLUMNS_BACK;
}

/* ---- rows, two at a time ---- */

struct row_pair {
    float2 *first, *second;
    bool both; /* not: ny is odd, and the second is no row of the mesh */
};

static __device__ inline struct row_pair rows_of(const struct block_mesh &m, uint32_t line)
{
    uint32_t y = line / m.nx * 2;
    float2 *first = m.at + line % m.nx * m.plane + y * m.row;
    return {first, first + m.row, y + 1 < m.ny};
}

/* Charges of a row as they are, floats by their bits only. */
template <int n>
static __device__ __forceinline__ void read_row(const struct block_mesh &m, const float2 *row, float *v)
{
#pragma unroll
    for (int k = 0; k < n; k++) {
        float2 two = row[k / 2];
        int32_t charge = __float_as_int(k % 2 ? two.y : two.x);
        if (k < MESH_ORDER_MAX - 1 && k < m.overlap)
            charge += __float_as_int(((const float *)row)[n + k]);
        v[k] = MESH_CHARGE_UNIT * (float)charge;
    }
}

template <int n>
static __device__ __forceinline__ void write_row(const struct block_mesh &m, float2 *row, const float *v)
{
#pragma unroll
    for (int k = 0; k < n - 1; k += 2)
        row[k / 2] = make_float2(v[k], v[k + 1]);
    if (n % 2)
        row[n / 2].x = v[n - 1];
#pragma unroll
    for (int k = 0; k < MESH_ORDER_MAX - 1; k++)
        if (k < m.overlap)
            ((float *)row)[n + k] = v[k];
}

template <int n>
static __device__ __forceinline__ void read_charges(const struct block_mesh &m, struct row_pair rows, float2 *v)
{
    float a[n], b[n];
    read_row<n>(m, rows.first, a);
    read_row<n>(m, rows.second, b);
#pragma unroll
    for (int k = 0; k < n; k++)
        v[k] = make_float2(a[k], b[k]);
}

template <int n>
static __device__ __forceinline__ void write_potentials(const struct block_mesh &m, struct row_pair rows,
                                                        const float2 *v)
{
    float a[n], b[n];
#pragma unroll
    for (int k = 0; k < n; k++) {
        a[k] = v[k].x;
        b[k] = -v[k].y;
    }
    write_row<n>(m, rows.first, a);
    write_row<n>(m, rows.second, b);
}

template <int n> static __device__ __forceinline__ void write_split(struct row_pair rows, const float2 *v)
{
#pragma unroll
    for (int k = 0; k <= n / 2; k++) {
        float2 first, second;
        split_pair(v[k], v[(n - k) % n], &first, &second);
        rows.first[k] = first;
        rows.second[k] = rows.both ? second : make_float2(0, 0);
    }
}

template <int n, bool TRICLINIC> static __device__ __forceinline__ void read_joined(struct row_pair rows, float2 *v)
{
#pragma unroll
    for (int k = 0; k <= n / 2; k++) {
        float2 first = rows.first[k], second = rows.second[k];
        if (TRICLINIC && (k == 0 || 2 * k == n)) /* as on the CPU device */
            first.y = second.y = 0;
        v[k] = join_pair(first, second);
        if (k && n - k > n / 2)
            v[n - k] = join_opposite(first, second);
    }
}

/* ---- lines of the spectrum ---- */

template <int n> static __device__ __forceinline__ void read_line(const float2 *at, uint32_t stride, float2 *v)
{
#pragma unroll
    for (int k = 0; k < n; k++)
        v[k] = at[k * stride];
}

template <int n> static __device__ __forceinline__ void write_line(float2 *at, uint32_t stride, const float2 *v)
{
#pragma unroll
    for (int k = 0; k < n; k++)
        at[k * stride] = v[k];
}

/* The conjugate of what goes back. */
template <int n, bool TRICLINIC>
static __device__ __forceinline__ void convolve(const struct block_mesh &m, uint32_t y, uint32_t k, float2 *v)
{
    const float2 *mx = m.mode[0], my = m.mode[1][y], mz = m.mode[2][k];
    const struct mode_line line = mode_line_of(m.space->prefactor, my, mz);
#pragma unroll
    for (int x = 0; x < n; x++) {
        const float green = TRICLINIC ? mode_triclinic(*m.space, mx[x], my, mz).green : mode_green(line, mx[x]);
        v[x] = make_float2(green * v[x].x, -green * v[x].y);
    }
}

/* All lines of the stage, which are of length n; `both`: of ACROSS_THERE and ACROSS_BACK. */
template <int n, bool TRICLINIC>
static __device__ __forceinline__ void transform_all(const struct block_mesh &m, int stage, bool both)
{
    uint32_t along = of_columns(stage) ? m.row : m.plane, across = of_columns(stage) ? m.plane : m.row;
    uint32_t count = of_rows(stage) ? m.nx * ((m.ny + 1) / 2) : (of_columns(stage) ? m.nx : m.ny) * m.half;
    BLOCK_LOOP(l, count)
    {
        float2 v[n], *line = m.at + l / m.half * across + l % m.half;
        if (stage == ROWS_THERE)
            read_charges<n>(m, rows_of(m, l), v);
        else if (stage == ROWS_BACK)
            read_joined<n, TRICLINIC>(rows_of(m, l), v);
        else
            read_line<n>(line, along, v);
#pragma unroll 1
        for (int now = stage; now <= stage + both; now++) {
            forget();
            if (now == ACROSS_BACK)
                convolve<n, TRICLINIC>(m, l / m.half, l % m.half, v);
            transform_line<n>(v);
        }
        if (stage == ROWS_THERE)
            write_split<n>(rows_of(m, l), v);
        else if (stage == ROWS_BACK)
            write_potentials<n>(m, rows_of(m, l), v);
        else
            write_line<n>(line, along, v);
    }
}

template <bool TRICLINIC>
static __device__ inline void transform(const struct block_mesh &m, const struct mesh_table *t, int stage, bool both)
{
    switch (t->axis[of_rows(stage) ? 2 : of_columns(stage) ? 1 : 0].size) {
#define LENGTH(n)                                                                                                      \
    case n:                                                                                                            \
        transform_all<n, TRICLINIC>(m, stage, both);                                                                   \
        break;
        MESH_BLOCK_LENGTHS(LENGTH)
#undef LENGTH
    }
    __syncthreads();
}

/* Energy and virial, or what the change of charge adds to the energies at windows: a warp for each y. */
template <class A> static __device__ void add_energies(const A &a, const struct block_mesh &m, bool change)
{
    struct ctl *c = (struct ctl *)a.ctl;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    uint32_t lane = threadIdx.x % WARP;
    for (uint32_t y = threadIdx.x / WARP; y < m.ny; y += blockDim.x / WARP) {
        const struct mode_plane plane = {*m.space, m.nx, (uint32_t)t->axis[2].size, m.mode[0], m.mode[2], m.mode[1][y]};
        struct mode_sums sum;
        mode_sums_of(&sum, evaluates_slopes(a.mode) && !change, plane, m.at + y * m.row, m.plane, lane, WARP);
        if (lane == 0 && !change)
            mode_report(c, sum);
        for (uint32_t w = lane; change && w < (uint32_t)t->nwindows; w += WARP)
            mode_window(c, t, sum.energy, w, (struct fixed_sum *)a.energy_at_window);
    }
    __syncthreads();
}

/* ---- atoms; the next is read while one is worked on ---- */

template <int order, class A>
static __device__ void spread_block(const A &a, const struct block_mesh &m, const struct mesh_shape &shape, bool change)
{
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    const uint32_t n = (uint32_t)t->natoms;
    double lambda = ((const struct ctl *)a.ctl)->lambda[LAMBDA_COULOMB];
    struct mesh_atom next = mesh_atom_at(t, a.grid, min(threadIdx.x, n - 1));
    BLOCK_LOOP(atom, n)
    {
        struct mesh_atom now = next;
        next = mesh_atom_at(t, a.grid, min(atom + blockDim.x, n - 1));
        float q = change ? now.charge.y : (float)charge_now(lambda, now.charge);
        if (q != 0)
            spread_atom<order, MESH_ROWS_GO_ON>(shape, (int32_t *)m.at, now.grid, q);
    }
}

template <int order, class A>
static __device__ void gather_block(const A &a, const struct block_mesh &m, const struct mesh_shape &shape,
                                    const struct mesh_sums &to)
{
    const struct mesh_table *t = to.table;
    const uint32_t n = (uint32_t)t->natoms;
    struct mesh_atom next = mesh_atom_at(t, a.grid, min(threadIdx.x, n - 1));
    BLOCK_LOOP(atom, n)
    {
        struct mesh_atom now = next;
        next = mesh_atom_at(t, a.grid, min(atom + blockDim.x, n - 1));
        gather_atom<order, MESH_ROWS_GO_ON>(shape, (const float *)m.at, now, atom, to);
    }
}

/* ---- all of it ---- */

/* The axis of a mode in front of the mesh, and which of its modes it is. */
static __device__ inline float2 mode_in_front(const struct mesh_table *t, const struct ctl *c, uint32_t k)
{
    const uint32_t nx = (uint32_t)t->axis[0].size, ny = (uint32_t)t->axis[1].size;
    const int d = k < nx ? 0 : k < nx + ny ? 1 : 2;
    return mode_of(t, c, d, d == 0 ? k : d == 1 ? k - nx : k - nx - ny);
}

/* Modes lie in front of the mesh. For the whole block, which waits before it uses them. Each of these chains of reads
 * has warps of its own. */
static __device__ struct block_mesh block_mesh_of(float2 *shared, struct mode_space *space, const struct mesh_table *t,
                                                  const struct ctl *c)
{
    uint32_t nx = (uint32_t)t->axis[0].size, ny = (uint32_t)t->axis[1].size, nz = (uint32_t)t->axis[2].size;
    struct block_mesh m = {.at = shared + nx + ny + nz,
                           .mode = {shared, shared + nx, shared + nx + ny},
                           .nx = nx,
                           .ny = ny,
                           .half = nz / 2 + 1,
                           .row = mesh_block_row(nz, (uint32_t)t->order),
                           .plane = mesh_block_plane(ny, nz, (uint32_t)t->order),
                           .overlap = (uint32_t)t->order - 1,
                           .space = space};
    if (threadIdx.x == WARP)
        *space = mode_space_of(t, c);
    for (uint32_t k = blockDim.x - 1 - threadIdx.x; k < nx + ny + nz; k += blockDim.x)
        shared[k] = mode_in_front(t, c, k);
    return m;
}

/* The mesh of the charges, and at samples that of their change. */
template <bool TRICLINIC, class A> static __device__ __forceinline__ void whole_mesh(const A &a)
{
    extern __shared__ float2 shared[];
    __shared__ struct mesh_sums to;
    __shared__ struct mode_space space;
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    if (!block_goes_on(c)) /* as one: lists are made meanwhile, and may halt the replica */
        return;
    const struct block_mesh m = block_mesh_of(shared, &space, t, c);
    const struct mesh_shape shape = mesh_shape_of(t, 2 * m.plane, 2 * m.row);
    const bool energies = evaluates_energies(a.mode), forces = evaluates_forces(a.mode);
    if (threadIdx.x == 0)
        to = mesh_sums_of(a.ctl, t, a.f, a.energy_at_window, a.mode);
#pragma unroll 1
    for (int change = 0; change <= (a.mode == EVALUATE_SAMPLE && t->perturbed); change++) {
        if (change)
            __syncthreads();
        BLOCK_LOOP(i, m.nx * m.plane)
        m.at[i] = make_float2(0, 0);
        __syncthreads();
        if (t->order == 4)
            spread_block<4>(a, m, shape, change);
        else if (t->order == 5)
            spread_block<5>(a, m, shape, change);
        else
            spread_block<6>(a, m, shape, change);
        __syncthreads();
#pragma unroll 1
        for (int stage = ROWS_THERE; stage <= (change || !forces ? ACROSS_THERE : ROWS_BACK); stage++) {
            bool both = stage == ACROSS_THERE && !energies;
            transform<TRICLINIC>(m, t, stage, both);
            if (stage == ACROSS_THERE && energies)
                add_energies(a, m, change);
            stage += both;
        }
        if (change || !forces)
            break;
        if (t->order == 4)
            gather_block<4>(a, m, shape, to);
        else if (t->order == 5)
            gather_block<5>(a, m, shape, to);
        else
            gather_block<6>(a, m, shape, to);
    }
}

KERNEL(mesh_block, a, __launch_bounds__(MESH_BLOCK))
{
    ECHO(a);
    whole_mesh<false>(a);
}

KERNEL(mesh_block_triclinic, a, __launch_bounds__(MESH_BLOCK))
{
    ECHO(a);
    whole_mesh<true>(a);
}
