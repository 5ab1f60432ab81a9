/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/units.h"
#include "engine/cuda/device/warp.h"
#include "engine/cuda/nonbonded.h"
#include "engine/run/sim_parts.h"

static const struct field fields[] = {
#define F(type, name) {#name, FIELD_##type, 1},
#include "engine/cuda/tiny/row.def"
#undef F
};

static void fill(const struct sim *s, uint32_t steps, void *row)
{
    const struct model *m = s->model;
    const struct integrator_settings *in = &m->set->integrator;
    *(struct tiny_row *)row = (struct tiny_row){.ctl = s->d.ctl,
                                                .x = s->d.x,
                                                .v = s->d.v,
                                                .x_old = s->d.x_old,
                                                .report = s->report_device,
                                                .report_bytes = (uint32_t)report_bytes(m->windows.n),
                                                .table = cuda_nonbonded_tiny(m->nonbonded)->table,
                                                .bonded = m->bonded,
                                                .motion = m->motion,
                                                .timestep = in->timestep,
                                                .friction = in->friction,
                                                .kt = UNIT_R * in->temperature,
                                                .com_every = m->center.every,
                                                .steps = steps,
                                                .integrator = in->kind};
}

static uint32_t shared_bytes(const struct sim *s)
{
    return cuda_nonbonded_tiny(s->model->nonbonded)->host.places.bytes;
}

static void emit(const void *rows, void *heard, const struct gang_shape *shape, struct tape *t)
{
    const uint32_t warps = shape->crowded ? TINY_WARPS_CROWDED : TINY_WARPS;
    emit_tiny(t,
              &(struct shape){
                  .grid = {shape->count, 1, 1}, .block = {WARP * warps, 1, 1}, .shared_bytes = shape->shared_bytes},
              &(struct args_tiny){.rows = rows, .heard = heard});
}

const struct gang_kind tiny_gang = {.row = {.what = "member of a gang",
                                            .name = "tiny",
                                            .fields = fields,
                                            .nfields = sizeof fields / sizeof fields[0],
                                            .bytes = sizeof(struct tiny_row)},
                                    .fill = fill,
                                    .shared_bytes = shared_bytes,
                                    .emit = emit};
