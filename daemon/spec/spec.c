/* SPDX-License-Identifier: Apache-2.0
 *
 * A checked tree -> struct spec, and the rules that hold between keys. What one key may be is the schema's business.
 */
#include "daemon/spec/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/place_windows.h"
#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"
#include "engine/base/statistics/allocate.h"
#include "engine/base/number.h"
#include "engine/observe/observe.h"

static void read_system_section(struct spec *s, struct view v)
{
    s->topology = xstrdup(view_text(view_key(v, "topology")));
    s->coordinates = xstrdup(view_text(view_key(v, "coordinates")));
    if (view_given(view_key(v, "reference")))
        s->reference = xstrdup(view_text(view_key(v, "reference")));
    if (view_given(view_key(v, "index")))
        s->index = xstrdup(view_text(view_key(v, "index")));
    spec_read_defines(&s->phases[0], view_key(v, "defines"));
    struct view starts = view_key(v, "window-coordinates");
    s->nstarts = view_count(starts);
    s->starts = xcalloc((size_t)s->nstarts, sizeof *s->starts);
    for (int i = 0; i < s->nstarts; i++)
        s->starts[i] = xstrdup(view_text(view_item(starts, i)));
}

static int check_starts_section(struct reader *r, const struct spec *s, struct view starts)
{
    if (!s->nstarts || s->nstarts == s->settings.alchemy.nwindows)
        return 0;
    return spec_bad(r, starts, "system.window-coordinates", "%d %s; expected one for each of %d %s", s->nstarts,
                    number_word(s->nstarts, "file", "files"), s->settings.alchemy.nwindows,
                    number_word(s->settings.alchemy.nwindows, "window", "windows"));
}

/* What a service has to do for an ensemble at once grows with these. */
static int check_replicas(struct reader *r, const struct spec *s, struct view repeats)
{
    if (s->settings.replicas <= SPEC_REPLICAS_MAX)
        return 0;
    return spec_bad(r, repeats, "repeats",
                    "%d %s x %d repeats are %d replicas; expected at most %d in one ensemble: "
                    "submit several ensembles with other seeds and fewer repeats each",
                    spec_windows(s), s->walkers ? "walkers" : "windows", s->repeats, s->settings.replicas,
                    SPEC_REPLICAS_MAX);
}

static int read_integrator(struct reader *r, struct integrator_settings *in, struct view v)
{
    struct view friction = view_key(v, "friction"), com = view_key(v, "com-removal");
    in->kind = (enum integrator)view_choice(view_key(v, "method"));
    in->timestep = r->timestep = view_quantity(view_key(v, "timestep")).value;
    in->temperature = view_quantity(view_key(v, "temperature")).value;
    in->friction = view_quantity(friction).value;
    in->seed = (uint64_t)view_integer(view_key(v, "seed"));
    uint64_t every = 0;
    int rc = spec_check_friction(r, in->kind, friction, "integrator.friction");
    if (!rc && !(view_quantity(com).steps && view_quantity(com).value == 0))
        rc = spec_steps_of(r, com, "integrator.com-removal", &every);
    if (rc)
        return rc;
    if (every > INT32_MAX)
        return spec_bad(r, com, "integrator.com-removal", "%s: expected at most %d steps", view_text(com), INT32_MAX);
    in->com_every = (int)every;
    return 0;
}

/* After the integrator and the way of Coulomb forces: whether there may be timesteps without the mesh. */
static int read_mesh_every(struct reader *r, struct settings *set, struct view v)
{
    static const char place[] = "integrator.mesh-every";
    struct buf others = {0};
    int rc = 0;
    r->cycle = (uint32_t)view_integer(v);
    set->integrator.mesh_every = (int)r->cycle;
    if (r->cycle == 1)
        return 0;
    if (set->nonbonded.coulomb_method != COULOMB_PME)
        return spec_bad(r, v, place, "%u: there is a mesh only with nonbonded.coulomb.method pme; expected 1",
                        r->cycle);
    integrators_with(THERMOSTAT_FRICTION, &others);
    if (integrators[set->integrator.kind].thermostat != THERMOSTAT_FRICTION)
        rc = spec_bad(r, v, place, "%u: %s has no friction, which damps what impulses excite; expected 1, or %s",
                      r->cycle, integrators[set->integrator.kind].word, others.data);
    buf_free(&others);
    return rc ? rc : spec_check_impulse(r, v, place);
}

static void read_masses(struct mass_settings *m, struct view v)
{
    m->repartition = view_number(view_key(v, "repartition"));
    m->keep_waters = !view_boolean(view_key(v, "rigid-waters"));
}

static int read_barostat(struct reader *r, struct barostat_settings *b, struct view v)
{
    uint64_t every;
    b->on = view_given(v);
    b->pressure = view_quantity(view_key(v, "pressure")).value;
    b->coupling = (enum volume_coupling)view_choice(view_key(v, "coupling"));
    int rc = spec_cycles_of(r, view_key(v, "every"), "barostat.every", &every);
    if (rc)
        return rc;
    if (every > INT32_MAX)
        return spec_bad(r, view_key(v, "every"), "barostat.every", "%s: expected at most %d steps",
                        view_text(view_key(v, "every")), INT32_MAX);
    b->every = (int)every;
    return 0;
}

/* Formulas are there for a mesh in a cube. */
static int check_finite_size(struct reader *r, const struct settings *set, struct view v)
{
    if (view_given(v) && set->nonbonded.coulomb_method != COULOMB_PME)
        return spec_bad(r, v, "alchemy.finite-size", "expected coulomb: {method: pme}");
    if (view_given(v) && set->barostat.on && set->barostat.coupling != VOLUME_ISOTROPIC)
        return spec_bad(r, v, "alchemy.finite-size", "expected a box that stays a cube: barostat.coupling isotropic");
    return 0;
}

static int read_run(struct reader *r, struct spec *s, struct view v)
{
    s->retries = (int)view_integer(view_key(v, "retries"));
    struct quantity every = view_quantity(view_key(v, "checkpoint-every"));
    s->checkpoint_every = every.steps ? (uint64_t)every.value : 0;
    if (every.steps && spec_cycles_of(r, view_key(v, "checkpoint-every"), "run.checkpoint-every", &s->checkpoint_every))
        return -ERR_SPEC;
    s->checkpoint_seconds = every.steps ? 0 : every.value;
    return spec_steps_of(r, view_key(v, "graph-check-every"), "run.graph-check-every", &s->settings.check_every);
}

/* After the protocol. */
static int read_stop(struct reader *r, struct spec *s, struct view v)
{
    struct view after = view_key(v, "after");
    const struct stage *last = s->nstages ? &s->stages[s->nstages - 1] : NULL;
    uint64_t steps = spec_produce_steps(s) / 10, produce = spec_produce_steps(s), all = spec_steps(s, s->nstages);
    if (!view_given(v))
        return 0;
    if (s->settings.alchemy.nwindows == 1)
        return spec_bad(r, v, "stop-when", "a single window has no free energy");
    if (!last || last->kind != STAGE_PRODUCE)
        return spec_bad(r, v, "stop-when", "expected a protocol that ends with a produce stage");
    r->timestep = last->timestep;
    if (view_given(after) && spec_steps_of(r, after, "stop-when.after", &steps))
        return -ERR_SPEC;
    if (steps > produce)
        return spec_bad(r, after, "stop-when.after", "%s: longer than production, %.15g ps", view_text(after),
                        (double)produce * last->timestep);
    s->stop.error = view_quantity(view_key(v, "error")).value;
    s->stop.converged = view_choice(view_key(v, "verdict")) == 0;
    s->stop.after = all - produce + steps;
    if (s->stop.after <= all - last->steps) /* it can only end in the last stage */
        s->stop.after = all - last->steps + 1;
    return 0;
}

/* After the protocol and what may end it. */
static int read_allocate(struct reader *r, struct spec *s, struct view v)
{
    const struct stage *last = s->nstages ? &s->stages[s->nstages - 1] : NULL;
    uint64_t produce = spec_produce_steps(s), before = spec_steps(s, s->nstages) - produce;
    s->allocate.before = before;
    if (!view_given(v) || view_choice(v) == 0)
        return 0;
    if (s->settings.alchemy.nwindows == 1)
        return spec_bad(r, v, "allocate", "adaptive: a single window has no free energy");
    if (s->settings.exchange != EXCHANGE_NONE)
        return spec_bad(r, v, "allocate",
                        "adaptive: windows that exchange replicas are sampled alike; expected even, or no exchange");
    if (!last || last->kind != STAGE_PRODUCE || last->steps != produce)
        return spec_bad(r, v, "allocate", "adaptive: expected a protocol that ends with its only produce stage");
    struct allocate_rule a = {.rounds = true, .before = before, .share = produce, .every = last->sample_every};
    a.first = (uint64_t)allocate_first((int64_t)a.share, (int64_t)a.every);
    if (s->stop.error > 0 && a.first < s->stop.after - before)
        a.first = s->stop.after - before;
    s->allocate = a;
    return 0;
}

/* What a replica that changes its window takes along must be as good there: positions, and velocities at one
 * temperature. */
static int check_exchange_section(struct reader *r, const struct spec *s, struct view v)
{
    const struct alchemy_settings *a = &s->settings.alchemy;
    if (a->nwindows == 1)
        return spec_bad(r, v, "exchange", "a single window; expected two or more");
    if (spec_check_thermostat(r, s->settings.integrator.kind, v, "exchange"))
        return -ERR_SPEC;
    if (a->given[LAMBDA_MASS])
        return spec_bad(
            r, v, "exchange",
            "alchemy.windows.mass: velocities of one mass are none of another; expected no ladder of masses");
    for (int i = 0; i < s->nobservables; i++)
        if (observe_kinds[s->observables[i].of.kind]->equal_times)
            return spec_bad(r, v, "exchange",
                            "observables[%d].%s follows one replica from frame to frame, but a window has now one, now "
                            "another; expected none, or no exchange",
                            i, s->observables[i].kind);
    return 0;
}

/* After the protocol: how often, in steps of every stage that produces. */
static int read_exchange(struct reader *r, struct spec *s, struct view v)
{
    struct view every = view_key(v, "every");
    if (!view_given(v))
        return 0;
    int rc = check_exchange_section(r, s, v);
    s->settings.exchange = EXCHANGE_NEIGHBOURS + (enum exchange_scheme)view_choice(view_key(v, "scheme"));
    s->exchange_after = (uint64_t)view_integer(view_key(v, "after"));
    for (int i = 0; i < s->nstages && !rc; i++) {
        struct stage *stage = &s->stages[i];
        if (stage->kind != STAGE_PRODUCE)
            continue;
        r->timestep = stage->timestep;
        rc = spec_steps_of(r, every, "exchange.every", &stage->exchange_every);
        if (!rc && (!stage->sample_every || stage->exchange_every % stage->sample_every))
            rc = spec_bad(r, every, "exchange.every",
                          "%s: expected a multiple of sample-every of protocol[%d].produce, %.15g ps: samples decide",
                          view_text(every), i, (double)stage->sample_every * stage->timestep);
    }
    return rc;
}

static int line_of(struct view v)
{
    return view_given(v) ? v.node->line : 1;
}

/* Where the spec itself asks for the motion of the center of mass to be taken out. */
static void find_com(struct spec *s, struct view com)
{
    s->com_line = view_given(com) && s->settings.integrator.com_every > 0 ? com.node->line : 0;
}

static void find_random_seed(struct spec *s, struct view seed)
{
    s->seed_random = view_given(seed) && !strcmp(view_text(seed), "random");
    s->seed_at = s->seed_random ? seed.node->at : 0;
}

/* Formulas that know of no epsilon-r. */
static int check_epsilon_r(struct reader *r, const struct settings *set, struct view alchemy)
{
    const struct soft_core *core = &set->alchemy.soft_core;
    if (set->nonbonded.epsilon_r == 1)
        return 0;
    if (set->alchemy.dielectric > 0)
        return spec_bad(r, alchemy, "alchemy.finite-size", "the correction is that of epsilon-r 1; expected none");
    if (view_given(alchemy) && core->function == SOFT_GAPSYS && core->coulomb)
        return spec_bad(r, alchemy, "alchemy.soft-core",
                        "gapsys softens charges by their product at epsilon-r 1; expected scale-linpoint-coulomb 0, or "
                        "beutler");
    return 0;
}

static int read_spec(struct reader *r, struct spec *s, struct view root)
{
    struct view alchemy = view_key(root, "alchemy"), constraints = view_key(root, "constraints");
    struct view nonbonded = view_key(root, "nonbonded"), masses = view_key(root, "masses");
    s->phases = xcalloc(1, sizeof *s->phases);
    s->nphases = 1;
    s->file = xstrdup(r->file);
    s->name = xstrdup(view_text(view_key(root, "name")));
    s->system_line = line_of(view_key(root, "system"));
    s->alchemy_line = line_of(alchemy);
    s->nonbonded_line = line_of(nonbonded);
    s->integrator_line = line_of(view_key(root, "integrator"));
    find_random_seed(s, view_key(view_key(root, "integrator"), "seed"));
    s->protocol_line = line_of(view_key(root, "protocol"));
    s->observables_line = line_of(view_key(root, "observables"));
    s->repeats = (int)view_integer(view_key(root, "repeats"));
    s->settings.constrain = (enum constrain)view_choice(constraints);
    read_system_section(s, view_key(root, "system"));
    int rc = spec_read_nonbonded(r, s, nonbonded);
    if (!rc)
        rc = spec_read_alchemy(r, &s->settings.alchemy, alchemy);
    if (!rc)
        rc = check_epsilon_r(r, &s->settings, alchemy);
    if (!rc)
        rc = spec_read_restraints(r, s, view_key(root, "restraints"));
    read_masses(&s->settings.masses, masses);
    s->masses_line = line_of(masses);
    if (!rc)
        rc = check_starts_section(r, s, view_key(view_key(root, "system"), "window-coordinates"));
    spec_read_walkers(s, view_key(root, "switch"));
    s->settings.replicas = s->repeats * spec_windows(s);
    if (!rc)
        rc = check_replicas(r, s, view_key(root, "repeats"));
    if (!rc)
        rc = read_integrator(r, &s->settings.integrator, view_key(root, "integrator"));
    if (!rc)
        rc = read_mesh_every(r, &s->settings, view_key(view_key(root, "integrator"), "mesh-every"));
    if (!rc)
        find_com(s, view_key(view_key(root, "integrator"), "com-removal"));
    if (!rc)
        rc = spec_check_temper(r, &s->settings, alchemy);
    if (!rc)
        rc = spec_read_observables(r, s, view_key(root, "observables"));
    if (!rc)
        rc = spec_read_fold(r, s, view_key(root, "fold"));
    if (!rc)
        rc = read_barostat(r, &s->settings.barostat, view_key(root, "barostat"));
    if (!rc)
        rc = spec_read_waters(r, s, view_key(root, "water-exchange"));
    if (!rc)
        rc = check_finite_size(r, &s->settings, view_key(alchemy, "finite-size"));
    if (!rc)
        rc = read_run(r, s, view_key(root, "run"));
    s->phases[0].timestep = s->settings.integrator.timestep;
    s->phases[0].temperature = s->settings.integrator.temperature;
    s->phases[0].friction = s->settings.integrator.friction;
    s->phases[0].pressure = s->settings.barostat.pressure;
    s->phases[0].restraint_scale = 1;
    if (!rc)
        rc = spec_read_protocol(r, s, view_key(root, "protocol"));
    if (!rc)
        rc = spec_read_biases(r, s, view_key(root, "biases"));
    if (!rc)
        rc = read_exchange(r, s, view_key(root, "exchange"));
    if (!rc)
        rc = spec_read_switching(r, s, root);
    s->settings.stride = spec_stride(s);
    if (!rc)
        rc = read_stop(r, s, view_key(root, "stop-when"));
    if (!rc)
        rc = read_allocate(r, s, view_key(root, "allocate"));
    return rc ? rc : spec_read_ladder(r, s, root);
}

int spec_parse(struct spec **out, const char *file, const char *text, size_t len, struct err *e)
{
    struct node *root = NULL;
    struct spec *s = NULL;
    json_t *schema = schema_load(e);
    int rc = schema ? node_parse(&root, file, text, len, e) : -(int)e->code;
    if (!rc)
        rc = schema_check(schema, file, root, e);
    if (!rc) {
        struct reader r = {.file = file, .line = root->line, .e = e};
        s = xcalloc(1, sizeof *s);
        rc = read_spec(&r, s, (struct view){.schema = schema, .node = root});
        if (!rc && s->ladder.automatic)
            rc = spec_check_placing(file, text, len, e);
    }
    node_free(root);
    json_decref(schema);
    if (rc) {
        spec_free(s);
        s = NULL;
    }
    *out = s;
    return rc;
}

struct settings spec_settings(const struct spec *s, int phase)
{
    const struct phase *p = &s->phases[phase];
    struct settings set = s->settings;
    set.integrator.timestep = p->timestep;
    set.integrator.temperature = p->temperature;
    set.integrator.friction = p->friction;
    set.barostat.pressure = p->pressure;
    return set;
}

void spec_free(struct spec *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->nphases; i++)
        spec_phase_close(&s->phases[i]);
    free(s->phases);
    free(s->file);
    free(s->name);
    free(s->topology);
    free(s->coordinates);
    free(s->reference);
    for (int i = 0; i < s->nstarts; i++)
        free(s->starts[i]);
    free(s->starts);
    free(s->settings.alchemy.lambda);
    free(s->settings.switching.shares);
    free(s->stages);
    spec_restraints_close(s);
    spec_biases_close(s);
    spec_observables_close(s);
    spec_fold_close(s);
    selection_close(&s->waters.around);
    free(s);
}

int spec_check_run(const struct spec *s, struct err *e)
{
    bool produces = false;
    if (s->seed_random)
        return err_set(e, ERR_SPEC, "%s:%d: integrator.seed: random: no seed was drawn", s->file, s->integrator_line);
    for (int i = 0; i < s->nstages; i++)
        produces |= s->stages[i].kind == STAGE_PRODUCE;
    if (!produces)
        return err_set(e, ERR_SPEC, "%s:1: protocol: %s; a run needs at least one produce stage", s->file,
                       s->nstages ? "no stage produces" : "missing");
    return 0;
}
