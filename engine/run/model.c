/* SPDX-License-Identifier: Apache-2.0
 *
 * Making a model: topology and settings to read-only tables in device memory.
 */
#include "engine/run/model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/observe/observe.h"
#include "engine/run/switches.h"
#include "engine/prepare/fixed_distances.h"
#include "engine/system/lines.h"
#include "engine/prepare/topology.h"
#include "engine/prepare/water_shapes.h"

/* All atoms have mass but virtual sites, of which that is known. */
static int check_masses(const struct system *sys, struct err *e)
{
    bool *site = xcalloc((size_t)sys->natoms, sizeof *site);
    int rc = 0;
    for (int i = 0; i < sys->nsites; i++)
        site[sys->sites[i].atom] = true;
    for (int i = 0; i < sys->natoms; i++)
        for (int k = 0; k < 2 && !rc; k++)
            if (!(sys->atoms[i].mass[k] > 0) && !site[i]) {
                err_set(e, ERR_TOPOLOGY, "atom %d (%s): mass %g in state %c, a positive mass is needed", i + 1,
                        sys->atoms[i].name, sys->atoms[i].mass[k], "AB"[k]);
                rc = system_blame(sys, &i, 1, e);
            }
    free(site);
    return rc;
}

static int check(const struct system *sys, const struct settings *set, struct err *e)
{
    if (sys->natoms < 1 || !sys->x)
        return err_set(e, ERR_COORDINATES, "a system without atoms or coordinates");
    for (int d = 0; d < 3; d++)
        if (!(sys->box[d] > 0))
            return err_set(e, ERR_COORDINATES, "box edge %d is %g nm: a periodic box is needed", d + 1, sys->box[d]);
    if (!(set->integrator.timestep > 0))
        return err_set(e, ERR_SPEC, "timestep %g ps: a positive one is needed", set->integrator.timestep);
    int rc = set->waters.on ? waters_check(sys, set, e) : 0;
    return rc ? rc : check_masses(sys, e);
}

static int check_form(const struct model *m, struct err *e)
{
    if (m->set->form == FORM_GANG && !m->program->gang)
        return err_set(e, ERR_UNSUPPORTED, "form gang: %s devices have none: expected a GPU", m->program->device);
    if (m->set->waters.on && !m->program->emit[SIM_WATERS])
        return err_set(e, ERR_UNSUPPORTED, "water exchange: %s devices have none: expected cpu", m->program->device);
    if (m->set->nonbonded.pme_form != PME_AUTO && !m->program->pme_form)
        return err_set(e, ERR_UNSUPPORTED, "pme by a block or over the card: %s devices have one way: expected a GPU",
                       m->program->device);
    return 0;
}

static int check_pace(const struct settings *set, int windows, struct err *e)
{
    const struct switch_settings *to = &set->switching;
    const int cycle = (int)mesh_cycle(&set->integrator);
    if (windows < 2)
        return err_set(e, ERR_SPEC, "switches: one window: expected two ends at least");
    if (to->changes < windows - 1)
        return err_set(e, ERR_SPEC, "switches: %d changes of lambda from window 0 to %d: expected %d at least",
                       to->changes, windows - 1, windows - 1);
    if (to->every < 2 * cycle || to->every % cycle)
        return err_set(e, ERR_SPEC,
                       "switches: %d timesteps from one change of lambda to the next: expected a multiple of %d, at "
                       "least %d",
                       to->every, cycle, 2 * cycle);
    return 0;
}

/* The work that is done on velocities when masses change is not counted. */
static int check_steady_masses(const struct system *sys, const struct lambda_rows *windows, struct err *e)
{
    bool moves = false;
    for (int w = 1; w < windows->n; w++)
        moves |= windows->lambda[w][LAMBDA_MASS] != windows->lambda[0][LAMBDA_MASS];
    for (int i = 0; i < sys->natoms && moves; i++)
        if (sys->atoms[i].mass[0] != sys->atoms[i].mass[1]) {
            err_set(e, ERR_UNSUPPORTED,
                    "switches: the mass of atom %d (%s) goes from %g to %g u: expected windows without mass", i + 1,
                    sys->atoms[i].name, sys->atoms[i].mass[0], sys->atoms[i].mass[1]);
            return system_blame(sys, &i, 1, e);
        }
    return 0;
}

static int check_switches(const struct model *m, struct err *e)
{
    if (!m->set->switching.changes)
        return 0;
    if (m->set->form == FORM_GANG)
        return err_set(e, ERR_UNSUPPORTED, "form gang: gangs have no switches: expected auto or graph");
    int rc = check_pace(m->set, m->windows.n, e);
    return rc ? rc : check_steady_masses(m->sys, &m->windows, e);
}

/* ERR_UNSUPPORTED: a frame has too many launches; as observe_check. */
static int place_observables(struct model *m, struct err *e)
{
    for (int i = 0; i < m->sys->nobservables; i++) {
        const struct observable *o = &m->sys->observables[i];
        const struct observe_kind *kind = observe_kinds[o->kind];
        int rc = observe_check(o, m->sys, e);
        if (!rc && kind->plan)
            rc = kind->plan(&m->observe_plan[i], o, m->sys, m->set, e);
        if (rc)
            return rc;
        m->observed_at[i + 1] = m->observed_at[i] + observe_bytes(o);
    }
    const uint32_t launches = m->sys->nobservables ? m->program->observe_launches(m) + 1 : 0; /* a report, too */
    return launches <= TAPE_LAUNCHES_MAX
               ? 0
               : err_set(e, ERR_UNSUPPORTED,
                         "observables: %u launches for a frame: expected at most %d; have some in another spec",
                         launches, TAPE_LAUNCHES_MAX);
}

/* What the tables are made from. */
struct sources {
    struct model *m;
    const struct topology *t;
    double (*mass)[2]; /* [natoms], in states A and B, u */
    struct water_shape *shapes;
    uint32_t nshapes;
    struct water_table waters;
};

static void lay_out_biases(struct model *m, const struct lambda_rows *windows, struct arena *a)
{
    const struct system *sys = m->sys;
#define PUT(name, n) arena_put(a, sys->name, (size_t)sys->n * sizeof *sys->name)
    struct bias_table t = {.coordinations = PUT(coordinations, ncoordinations),
                           .atoms = PUT(coordination_atoms, ncoordination_atoms),
                           .biases = PUT(biases, nbiases),
                           .knots = PUT(knots, nknots),
                           .lambda = windows->lambda,
                           .nwindows = (uint32_t)windows->n,
                           .ncoordinations = (uint32_t)sys->ncoordinations,
                           .nbiases = (uint32_t)sys->nbiases,
                           .natoms = (uint32_t)sys->ncoordination_atoms};
#undef PUT
    m->biases = arena_put_named(a, "bias table", &t, sizeof t);
    m->bias_bytes = bias_sums_bytes(t.ncoordinations, t.natoms);
}

static void lay_out(void *sources, struct arena *a)
{
    const struct sources *from = sources;
    struct model *m = from->m;
    const struct topology *t = from->t;
    const struct lambda_rows windows = lambda_rows_put(&m->windows, a), schedule = lambda_rows_put(&m->schedule, a);
#define PUT(name, n) arena_put(a, t->name, (size_t)(n) * sizeof *t->name)
    struct bonded_table b = {.bonds = PUT(bonds, t->nbonds.count),
                             .angles = PUT(angles, t->nangles.count),
                             .dihedrals = PUT(dihedrals, t->ndihedrals.count),
                             .rb_dihedrals = PUT(rb_dihedrals, t->nrb_dihedrals.count),
                             .impropers = PUT(impropers, t->nimpropers.count),
                             .pairs14 = PUT(pairs14, t->npairs14.count),
                             .position_restraints = PUT(position_restraints, t->nposition_restraints.count),
                             .rare = PUT(rare, t->nrare.count),
                             .centers = PUT(centers, t->ncenters.count),
                             .center_atoms = arena_put(a, m->sys->center_atoms,
                                                       (size_t)m->sys->ncenter_atoms * sizeof *m->sys->center_atoms),
                             .cmaps = PUT(cmaps, t->ncmaps.count),
                             .cmap_points = PUT(cmap_points, t->ncmap_points),
                             .nbonds = t->nbonds,
                             .nangles = t->nangles,
                             .ndihedrals = t->ndihedrals,
                             .nrb_dihedrals = t->nrb_dihedrals,
                             .nimpropers = t->nimpropers,
                             .npairs14 = t->npairs14,
                             .nposition_restraints = t->nposition_restraints,
                             .nrare = t->nrare,
                             .ncmaps = t->ncmaps,
                             .ncenters = t->ncenters,
                             .lambda = windows.lambda,
                             .nwindows = (uint32_t)windows.n,
                             .soft14 = PUT(soft14, t->npairs14.count - t->npairs14.perturbed),
                             .soft = t->soft};
    struct motion_table mo = {.mass = arena_put(a, from->mass, (size_t)m->sys->natoms * sizeof *from->mass),
                              .waters = PUT(waters, t->nwaters),
                              .shapes = from->nshapes ? arena_put(a, from->shapes, from->nshapes * sizeof *from->shapes)
                                                      : NULL,
                              .clusters = PUT(clusters, t->nclusters),
                              .cluster_atoms = PUT(cluster_atoms, t->ncluster_atoms),
                              .distances = PUT(distances, t->ndistances),
                              .lone = PUT(lone, t->nlone),
                              .units = PUT(units, t->nunits),
                              .unit_atoms = PUT(unit_atoms, m->sys->natoms),
                              .natoms = (uint32_t)m->sys->natoms,
                              .nwaters = (uint32_t)t->nwaters,
                              .nclusters = (uint32_t)t->nclusters,
                              .ndistances = (uint32_t)t->ndistances,
                              .nlone = t->nlone,
                              .nunits = (uint32_t)t->nunits,
                              .lambda = windows.lambda,
                              .nwindows = (uint32_t)windows.n,
                              .schedule = switch_schedule_of(m->set, schedule.lambda)};
#undef PUT
    if (m->sys->nsites) {
        const size_t parents = (size_t)m->sys->nsite_atoms;
        struct site_table sites = {.sites = arena_put(a, m->sys->sites, (size_t)m->sys->nsites * sizeof *m->sys->sites),
                                   .from = arena_put(a, m->sys->site_atoms, parents * sizeof *m->sys->site_atoms),
                                   .weight = arena_put(a, m->sys->site_weights, parents * sizeof *m->sys->site_weights),
                                   .nsites = (uint32_t)m->sys->nsites};
        m->sites = arena_put_named(a, "site table", &sites, sizeof sites);
    }
    for (int i = 0; i < m->sys->nobservables; i++)
        m->observed[i] = observe_put(&m->sys->observables[i], m->sys, m->observe_plan[i], a);
    if (m->sys->ncoordinations)
        lay_out_biases(m, &windows, a);
    if (m->set->waters.on)
        m->waters = water_table_put(&from->waters, a);
    m->nbonded = t->nbonds.count + t->nangles.count + t->ndihedrals.count + t->nrb_dihedrals.count +
                 t->nimpropers.count + t->npairs14.count + t->nposition_restraints.count;
    m->nrare = t->nrare.count + t->ncmaps.count;
    m->nbonded += m->nrare;
    m->ncenters = t->ncenters.count;
    m->nwaters = (uint32_t)t->nwaters;
    m->nbodies = (uint32_t)(t->nwaters + t->nclusters) + t->nlone;
    m->bonded = arena_put_named(a, "bonded table", &b, sizeof b);
    m->motion = arena_put_named(a, "motion table", &mo, sizeof mo);
}

/* Masses in A and B. Where constraints share atoms, masses decide which angles between them are likely, so that windows
 * with other masses would have other distributions of the same energies: those atoms keep their mass of A. */
static void fill_masses(const struct system *sys, const struct topology *t, double (*mass)[2])
{
    for (int i = 0; i < sys->natoms; i++)
        memcpy(mass[i], sys->atoms[i].mass, sizeof mass[i]);
    for (int c = 0; c < t->nclusters; c++)
        for (uint32_t k = 0; t->clusters[c].count > 1 && k < t->clusters[c].natoms; k++) {
            double *shared = mass[t->cluster_atoms[t->clusters[c].first_atom + k]];
            shared[1] = shared[0];
        }
}

static int upload(struct model *m, const struct topology *t, struct err *e)
{
    struct sources from = {.m = m, .t = t, .mass = xcalloc((size_t)m->sys->natoms, sizeof *from.mass)};
    fill_masses(m->sys, t, from.mass);
    from.shapes = water_shapes(t->waters, t->nwaters, from.mass, &from.nshapes);
    int rc = m->set->waters.on ? water_table_make(&from.waters, m->sys, m->set, t, e) : 0;
    if (rc == 0)
        rc = readonly_upload(&m->shared, &m->guest.base, lay_out, &from, e);
    water_table_close(&from.waters);
    free(from.shapes);
    free(from.mass);
    return rc;
}

static void make_whole(struct model *m, const struct topology *t)
{
    m->nstarts = m->sys->nstarts ? m->sys->nstarts : 1;
    m->x = xcalloc((size_t)m->nstarts, sizeof *m->x);
    for (int i = 0; i < m->nstarts; i++) {
        const struct start from = system_start(m->sys, i);
        m->x[i] = xcalloc((size_t)m->sys->natoms, sizeof *m->x[i]);
        topology_whole(t, m->sys, &from, m->x[i]);
    }
}

/* Where something holds atoms in space their center of mass has a distribution of its own, and its motion stays. */
static struct center_rule center_rule_of(const struct system *sys, const struct settings *set, const struct topology *t)
{
    const struct integrator_settings *in = &set->integrator;
    const enum thermostat thermostat = integrators[in->kind].thermostat;
    return (struct center_rule){.freedom = 3.0 * (sys->natoms - sys->nsites - t->nwaters) - t->ndistances,
                                .kt = thermostat != THERMOSTAT_NONE ? UNIT_R * in->temperature : 0,
                                .regain = thermostat == THERMOSTAT_FRICTION ? 2 * in->friction * in->timestep : 0,
                                .every = system_held_in_space(sys) ? 0 : (uint32_t)in->com_every};
}

static char *stretched(const struct topology *t, const struct system *sys, const struct settings *set)
{
    const struct fixed_distance *d = topology_stretched(t, set);
    struct buf text = {0};
    if (d)
        fixed_distance_describe(d, sys, &text);
    return text.data;
}

static enum pme_form pme_form(const struct model *m, int in_flight)
{
    return m->program->pme_form ? m->program->pme_form(m->nonbonded, in_flight) : PME_AUTO;
}

int model_new_apart(struct model **out, struct dev *dev, const struct dev_owner *owner, const struct system *sys,
                    const struct settings *set, struct err *e)
{
    struct topology t = {0};
    struct model *m = xcalloc(1, sizeof *m);
    m->dev = dev;
    guest_init(&m->guest, dev, owner);
    m->program = program_of(dev);
    m->sys = sys;
    m->set = set;
    m->windows = lambda_rows_of(&set->alchemy);
    int rc = check(sys, set, e);
    if (rc == 0)
        rc = check_form(m, e);
    if (rc == 0)
        rc = check_switches(m, e);
    if (rc == 0 && set->switching.changes)
        m->schedule = lambda_rows_between(&m->windows, &set->switching);
    if (rc == 0)
        rc = place_observables(m, e);
    if (rc == 0)
        rc = topology_build(&t, sys, set, e);
    if (rc == 0)
        rc = m->program->nonbonded_new(&m->nonbonded, &m->guest.base, sys, set, &t, &m->windows, e);
    if (rc == 0)
        rc = upload(m, &t, e);
    if (rc == 0) {
        m->pme = pme_form(m, set->replicas);
        for (int i = 0; i < sys->natoms; i++)
            m->mass += sys->atoms[i].mass[0];
        m->nunits = t.nunits;
        m->center = center_rule_of(sys, set, &t);
        make_whole(m, &t);
        m->stretched = stretched(&t, sys, set);
    }
    topology_close(&t);
    if (rc) {
        model_free(m);
        return rc;
    }
    m->guest.owner = NULL; /* from here on the model is the owner's */
    *out = m;
    return 0;
}

int model_new(struct model **out, struct dev *dev, const struct system *sys, const struct settings *set, struct err *e)
{
    return model_new_apart(out, dev, NULL, sys, set, e);
}

static const struct readonly *model_pair_tables(const struct model *m)
{
    return m->program->nonbonded_tables(m->nonbonded);
}

void model_emit_digests(const struct model *m, uint64_t *digests, struct tape *t)
{
    m->program->emit_digests(&m->shared, digests, t);
    m->program->emit_digests(model_pair_tables(m), digests + readonly_chunks(&m->shared), t);
}

size_t model_chunks(const struct model *m)
{
    return readonly_chunks(&m->shared) + readonly_chunks(model_pair_tables(m));
}

int model_check(struct model *m, const uint64_t *digests, struct lane *lane, struct err *e)
{
    if (model_damaged(m)) {
        *e = m->damage;
        return -(int)e->code;
    }
    int rc = readonly_check(&m->shared, digests, lane, e);
    if (rc == 0)
        rc = readonly_check(model_pair_tables(m), digests + readonly_chunks(&m->shared), lane, e);
    if (rc == -ERR_DRIFT) /* else the device's own failure, and that of who asked */
        m->damage = *e;
    return rc;
}

struct model_forms model_forms(const struct model *m)
{
    return (struct model_forms){.step = model_in_gangs(m) ? FORM_GANG : FORM_GRAPH, .pme = m->pme};
}

bool model_pme_guess(const struct model *m, int in_flight, enum pme_form *form)
{
    *form = pme_form(m, in_flight);
    return pme_form(m, 1) != pme_form(m, INT_MAX);
}

void model_set_pme(struct model *m, enum pme_form form)
{
    m->pme = form;
}

const char *model_stretched(const struct model *m)
{
    return m->stretched;
}

size_t model_host_work(const struct model *m)
{
    return m->program->host_memory ? m->program->observe_work(m) + m->program->bias_work(m) : 0;
}

bool model_damaged(const struct model *m)
{
    return m->damage.code != ERR_NONE;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->nstarts; i++)
        free(m->x[i]);
    free(m->x);
    lambda_rows_close(&m->windows);
    lambda_rows_close(&m->schedule);
    free(m->stretched);
    readonly_free(&m->shared);
    m->program->nonbonded_free(m->nonbonded);
    if (m->program->observe_close)
        m->program->observe_close(m);
    for (int i = 0; i < m->sys->nobservables; i++)
        if (m->observe_plan[i])
            observe_kinds[m->sys->observables[i].kind]->plan_free(m->observe_plan[i]);
    free(m);
}
