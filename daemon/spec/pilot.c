/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/pilot.h"

#include <math.h>
#include <stdlib.h>

#include "daemon/spec/sections/reader.h"

#define SAMPLES 200

struct pilot_times pilot_times(const struct spec *s, const struct stage *stage, double time)
{
    const uint64_t cycle = mesh_cycle(&s->settings.integrator);
    const uint64_t most = cycle * (uint64_t)fmax(ceil(time / ((double)cycle * stage->timestep)), 1);
    const uint64_t every = most > SAMPLES * cycle ? most / SAMPLES / cycle * cycle : cycle;
    if (stage->kind == STAGE_PRODUCE)
        return (struct pilot_times){(most + every - 1) / every * every, every};
    return (struct pilot_times){stage->kind == STAGE_EQUILIBRATE && stage->steps > most ? most : stage->steps, 0};
}

/* The stages up to the first that produces. */
static void shorten(struct spec *s)
{
    int n = 0;
    bool produces = false;
    for (; n < s->nstages && !produces; n++) {
        struct stage *stage = &s->stages[n];
        const struct pilot_times t = pilot_times(s, stage, s->ladder.pilot);
        produces = stage->kind == STAGE_PRODUCE;
        stage->steps = t.steps;
        stage->sample_every = t.sample_every;
        stage->frames_every = stage->exchange_every = stage->switch_every = 0;
    }
    s->nstages = n;
}

void spec_take_pilot(struct spec *s)
{
    if (!s->ladder.automatic)
        return;
    const int placed = spec_windows_placed(s);
    shorten(s);
    spec_observables_close(s);
    s->observables = NULL;
    s->nobservables = s->walkers = 0;
    s->settings.switching = (struct switch_settings){0};
    s->lengthen = (struct lengthen_rule){0};
    s->slopes_every = 0;
    s->settings.exchange = EXCHANGE_NONE;
    s->exchange_after = 0;
    s->stop = (struct stop_when){0};
    s->allocate = (struct allocate_rule){.before = spec_steps(s, s->nstages) - spec_produce_steps(s)};
    s->ladder.replicas = s->repeats * (placed > spec_windows(s) ? placed : spec_windows(s));
    s->settings.replicas = s->repeats * spec_windows(s);
    s->settings.stride = spec_stride(s);
}
