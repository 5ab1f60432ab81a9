/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program launches for each kind of observable, by the rows of engine/system/observables.def. One file of each
 * program includes this, below what it defines for it:
 *
 *   static const struct observe_launches <launches>_launches    of each LAUNCH(launches)
 *   #define EMIT_BLOCK(kernel, ...)                             puts a BLOCK's kernel, with arguments, on the tape t
 */
#ifndef SHOAL_ENGINE_KERNELS_OBSERVE_LAUNCHES_H
#define SHOAL_ENGINE_KERNELS_OBSERVE_LAUNCHES_H

#include "engine/run/sim_parts.h"

#define F(type, name) .name = f->name,
#define BLOCK(kernel, ...)                                                                                             \
    static void emit_##kernel(const struct observe_frame *f, struct tape *t)                                           \
    {                                                                                                                  \
        EMIT_BLOCK(observe_##kernel, .ctl = f->ctl, .table = f->table, .seen = f->seen, __VA_ARGS__);                  \
    }                                                                                                                  \
    static const struct observe_launches kernel##_launches = {.emit = emit_##kernel};
#define LAUNCH(launches)
#define OBSERVABLE(KIND, word, launch) launch
#include "engine/system/observables.def"
#undef F
#undef BLOCK
#undef LAUNCH

static const struct observe_launches *const launches[OBSERVE_KINDS] = {
#define BLOCK(kernel, ...) &kernel##_launches
#define LAUNCH(launches) &launches##_launches
#define OBSERVABLE(KIND, word, launch) [OBSERVE_##KIND] = launch,
#include "engine/system/observables.def"
};

/* Of observable i of a model. */
static inline const struct observe_launches *launches_of(const struct model *m, int i)
{
    return launches[m->sys->observables[i].kind];
}

#endif
