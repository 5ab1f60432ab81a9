/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/facts.h"

#include "daemon/spec/predict.h"

json_t *spec_placed_json(const struct spec *s)
{
    const struct alchemy_settings *a = &s->settings.alchemy;
    if (!s->ladder.placed)
        return json_null();
    json_t *placed = json_object();
    for (int c = 0; c < LAMBDA_COUNT; c++) {
        if (!a->given[c])
            continue;
        json_t *ladder = json_array();
        for (int i = 0; i < a->nwindows; i++)
            json_array_append_new(ladder, json_real(a->lambda[i][c]));
        json_object_set_new(placed, lambda_names[c].ours, ladder);
    }
    return placed;
}

json_t *spec_facts(const struct spec *s)
{
    const struct stop_when *stop = &s->stop;
    const struct allocate_rule *allocate = &s->allocate;
    const uint64_t steps = allocate->rounds ? allocate->before + allocate->first : spec_steps(s, s->nstages);
    json_t *out = json_pack("{s:i,s:i,s:i,s:I,s:i,s:i,s:i,s:f,s:i,s:o}", "windows", spec_windows(s), "repeats",
                            s->repeats, "stages", s->nstages, "steps", (json_int_t)steps, "retries", s->retries,
                            "exchange", s->settings.exchange != EXCHANGE_NONE, "walkers", s->walkers, "switching",
                            spec_switching_share(s), "pilot", (int)s->ladder.automatic, "placed", spec_placed_json(s));
    json_object_set_new(out, "replicas",
                        json_integer(s->ladder.automatic ? s->ladder.replicas : s->repeats * spec_windows(s)));
    json_object_set_new(out, "allocation",
                        json_pack("{s:I,s:I,s:I}", "share", (json_int_t)allocate->share, "before",
                                  (json_int_t)allocate->before, "every", (json_int_t)allocate->every));
    json_object_set_new(out, "stop",
                        json_pack("{s:f,s:i,s:I}", "error", stop->error, "converged", (int)stop->converged, "after",
                                  (json_int_t)stop->after));
    return out;
}
