/* SPDX-License-Identifier: Apache-2.0
 *
 * The protocol: stages, and the phases that they make.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"

/* It is none that the integrator samples. */
static int other_ensemble(struct reader *r, enum integrator kind, struct view v, const char *place)
{
    const bool conserves = integrator_conserves_energy(kind);
    struct buf others = {0};
    integrators_with_thermostat(conserves, &others);
    int rc =
        spec_bad(r, v, place, "%s: %s %s; expected %s, or integrator.method %s", view_text(v), integrators[kind].word,
                 conserves ? "has no thermostat" : "is a thermostat", conserves ? "nve" : "nvt or npt", others.data);
    buf_free(&others);
    return rc;
}

/* Which statistical ensemble a stage runs in; it must fit integrator and barostat. */
static int read_ensemble(struct reader *r, const struct settings *set, struct stage *stage, struct view v,
                         const char *place)
{
    enum { NVE, NVT, NPT };
    const bool conserves = integrator_conserves_energy(set->integrator.kind);
    int choice = view_choice(v);
    if (!view_given(v))
        choice = conserves ? NVE : set->barostat.on ? NPT : NVT;
    if ((choice == NVE) != conserves)
        return other_ensemble(r, set->integrator.kind, v, place);
    if (choice == NPT && !set->barostat.on)
        return spec_bad(r, v, place, "npt: needs a barostat; the spec has none");
    stage->npt = choice == NPT;
    return 0;
}

/* How often something is written, 0 for "no". */
static int read_interval(struct reader *r, struct view v, const char *place, uint64_t *out)
{
    struct quantity q = view_quantity(v);
    *out = 0;
    if (q.steps && q.value == 0)
        return 0;
    return spec_cycles_of(r, v, place, out);
}

/* ---- phases ---- */

static bool same_defines(const struct phase *a, const struct phase *b)
{
    bool same = a->ndefines == b->ndefines;
    for (int i = 0; i < a->ndefines && same; i++)
        same = !strcmp(a->defines[i].name, b->defines[i].name) && !strcmp(a->defines[i].value, b->defines[i].value);
    return same;
}

/* Takes the phase over. Its number: that of one that is alike, or a new one. */
static int phase_number(struct spec *s, struct phase *p)
{
    for (int i = 0; i < s->nphases; i++) {
        const struct phase *q = &s->phases[i];
        if (q->timestep == p->timestep && q->temperature == p->temperature && q->friction == p->friction &&
            q->pressure == p->pressure && q->restraint_scale == p->restraint_scale && same_defines(q, p)) {
            spec_phase_close(p);
            return i;
        }
    }
    p->own_defines = !same_defines(&s->phases[0], p);
    s->phases = xrealloc(s->phases, (size_t)s->nphases + 1, sizeof *s->phases);
    s->phases[s->nphases] = *p;
    return s->nphases++;
}

static void copy_defines(struct phase *p, const struct phase *from)
{
    p->ndefines = from->ndefines;
    p->defines = xcalloc((size_t)p->ndefines, sizeof *p->defines);
    for (int i = 0; i < p->ndefines; i++) {
        size_t name = strlen(from->defines[i].name);
        struct buf b = {0};
        buf_printf(&b, "%s", from->defines[i].name);
        buf_add(&b, "", 1);
        buf_printf(&b, "%s", from->defines[i].value);
        p->defines[i] = (struct define){.name = b.data, .value = b.data + name + 1};
    }
}

static double own_or(struct view v, double ensembles)
{
    return view_given(v) ? view_quantity(v).value : ensembles;
}

static double own_number_or(struct view v, double ensembles)
{
    return view_given(v) ? view_number(v) : ensembles;
}

/* What a stage says of its own, and the ensemble's for the rest. */
static struct phase read_phase(const struct spec *s, struct view v)
{
    const struct phase *ensemble = &s->phases[0];
    struct view defines = view_key(v, "defines");
    struct phase p = {.timestep = own_or(view_key(v, "timestep"), ensemble->timestep),
                      .temperature = own_or(view_key(v, "temperature"), ensemble->temperature),
                      .friction = own_or(view_key(v, "friction"), ensemble->friction),
                      .pressure = own_or(view_key(v, "pressure"), ensemble->pressure),
                      .restraint_scale =
                          own_number_or(view_key(v, "position-restraint-scale"), ensemble->restraint_scale),
                      .line = v.node->line};
    if (view_given(defines))
        spec_read_defines(&p, defines);
    else
        copy_defines(&p, ensemble);
    return p;
}

/* ---- stages ---- */

static int read_dynamics(struct reader *r, const struct settings *set, struct stage *stage, struct view v,
                         const char *name, int index)
{
    char place[96];
#define PLACE(key) (snprintf(place, sizeof place, "protocol[%d].%s.%s", index, name, key), place)
    int rc = spec_check_impulse(r, view_key(v, "timestep"), PLACE("timestep"));
    if (!rc)
        rc = spec_cycles_of(r, view_key(v, "time"), PLACE("time"), &stage->steps);
    if (!rc)
        rc = read_ensemble(r, set, stage, view_key(v, "ensemble"), PLACE("ensemble"));
    if (!rc)
        rc = read_interval(r, view_key(v, "sample-every"), PLACE("sample-every"), &stage->sample_every);
    if (!rc)
        rc = read_interval(r, view_key(v, "frames-every"), PLACE("frames-every"), &stage->frames_every);
    if (!rc && stage->kind == STAGE_PRODUCE && stage->sample_every > stage->steps)
        rc = spec_bad(r, view_key(v, "sample-every"), PLACE("sample-every"), "%s: longer than the stage",
                      view_text(view_key(v, "sample-every")));
    struct view pressure = view_key(v, "pressure"), friction = view_key(v, "friction");
    if (!rc && view_given(pressure) && !stage->npt)
        rc = spec_bad(r, pressure, PLACE("pressure"), "%s: only with ensemble npt is there a pressure to keep",
                      view_text(pressure));
    if (!rc)
        rc = spec_check_friction(r, set->integrator.kind, friction, PLACE("friction"));
#undef PLACE
    return rc;
}

static int read_stage(struct reader *r, struct spec *s, struct stage *stage, struct view v, int index)
{
    static const char *const names[] = {
        [STAGE_MINIMIZE] = "minimize", [STAGE_EQUILIBRATE] = "equilibrate", [STAGE_PRODUCE] = "produce"};
    enum stage_kind kind = STAGE_MINIMIZE;
    while (!view_given(view_key(v, names[kind])))
        kind++;
    stage->kind = kind;
    v = view_key(v, names[kind]);
    r->line = v.node->line;
    struct phase phase = read_phase(s, v);
    r->timestep = stage->timestep = phase.timestep;
    stage->phase = phase_number(s, &phase);
    if (kind != STAGE_MINIMIZE)
        return read_dynamics(r, &s->settings, stage, v, names[kind], index);
    stage->steps = (uint64_t)view_integer(view_key(v, "steps"));
    stage->force_tolerance = view_quantity(view_key(v, "force-tolerance")).value;
    return 0;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t spec_stride(const struct spec *s)
{
    uint64_t stride = 0;
    for (const struct stage *stage = s->stages; stage < s->stages + s->nstages; stage++) {
        if (stage->kind != STAGE_PRODUCE)
            continue;
        stride = common_divisor(stride, stage->sample_every);
        stride = common_divisor(stride, stage->frames_every);
        stride = common_divisor(stride, stage->switch_every);
        stride = common_divisor(stride, stage->npt ? (uint64_t)s->settings.barostat.every : 0);
        stride = common_divisor(stride, s->settings.waters.on ? (uint64_t)s->settings.waters.every : 0);
        for (int i = 0; i < s->nobservables; i++)
            stride = common_divisor(stride, s->observables[i].of.every);
    }
    return stride;
}

int spec_read_protocol(struct reader *r, struct spec *s, struct view v)
{
    s->nstages = view_count(v);
    s->stages = xcalloc((size_t)s->nstages, sizeof *s->stages);
    for (int i = 0; i < s->nstages; i++) {
        int rc = read_stage(r, s, &s->stages[i], view_item(v, i), i);
        if (rc)
            return rc;
    }
    return 0;
}
