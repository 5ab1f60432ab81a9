/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/children/methods.h"

#include <string.h>

#include "daemon/spec/split.h"
#include "engine/base/number.h"
#include "engine/system/vdw_modifiers.h"

static struct buf *begin(struct methods *m, const char *topic)
{
    m->line[m->n] = (struct method){.topic = topic};
    return &m->line[m->n++].text;
}

/* ---- input files ---- */

/* A file may be included several times. */
static bool is_first(const struct system *sys, int file)
{
    for (int i = 0; i < file; i++)
        if (!strcmp(sys->files[i], sys->files[file]))
            return false;
    return true;
}

static void take_force_field(struct methods *m, const struct spec *s, const struct system *sys)
{
    struct buf *out = begin(m, "Force field");
    const struct phase *own = s->nphases ? &s->phases[0] : NULL;
    buf_printf(out, "topology %s", s->topology);
    for (int i = 0, n = 0; i < sys->nfiles; i++)
        if (is_first(sys, i) && strcmp(sys->files[i], s->topology) != 0)
            buf_printf(out, "%s%s", n++ ? ", " : ", which includes ", sys->files[i]);
    for (int i = 0; own && i < own->ndefines; i++)
        buf_printf(out, "%s%s", i ? ", " : "; macros defined: ", own->defines[i].name);
}

static void take_coordinates(struct methods *m, const struct spec *s)
{
    struct buf *out = begin(m, "Start structure");
    buf_printf(out, "%s", s->nstarts ? "a file for each window: " : s->coordinates);
    for (int i = 0; i < s->nstarts; i++)
        buf_printf(out, "%s%s", i ? ", " : "", s->starts[i]);
    if (s->reference)
        buf_printf(out, "; position restraints hold atoms to %s", s->reference);
}

static void take_system(struct methods *m, const struct system *sys)
{
    const double *b = sys->box;
    struct buf *out;
    if (!sys->natoms)
        return;
    out = begin(m, "System");
    buf_printf(out, "%d %s:", sys->natoms, number_word(sys->natoms, "atom", "atoms"));
    for (int k = 0, n = 0; k < sys->nkinds; k++) {
        int count = 0;
        for (int i = 0; i < sys->nmolecules; i++)
            count += sys->molecules[i].kind == k;
        if (count)
            buf_printf(out, "%s %d %s", n++ ? "," : "", count, sys->kinds[k].name);
    }
    if (b[BOX_YX] != 0 || b[BOX_ZX] != 0 || b[BOX_ZY] != 0)
        buf_printf(out, "; triclinic periodic box of %.4g nm^3 at the start", b[BOX_XX] * b[BOX_YY] * b[BOX_ZZ]);
    else
        buf_printf(out, "; periodic box of %.4g x %.4g x %.4g nm at the start", b[BOX_XX], b[BOX_YY], b[BOX_ZZ]);
}

/* ---- forces ---- */

static void take_vdw(struct methods *m, const struct nonbonded_settings *nb)
{
    static const char *const corrections[] = {
        [DISPERSION_NONE] = "no long-range dispersion correction",
        [DISPERSION_ENERGY] = "long-range dispersion correction of the energy",
        [DISPERSION_ENERGY_PRESSURE] = "long-range dispersion correction of energy and pressure",
        [DISPERSION_ALL] = "long-range correction of dispersion and repulsion, of energy and pressure",
    };
    const struct vdw_modifier_info *modifier = &vdw_modifiers[nb->vdw_modifier];
    struct buf *out = begin(m, "Lennard-Jones");
    buf_printf(out, "cut-off %.6g nm, %s", nb->vdw_cutoff, modifier->text);
    if (modifier->switches)
        buf_printf(out, " from %.6g nm on", nb->vdw_switch);
    buf_printf(out, "; %s", corrections[nb->dispersion]);
}

static void take_pme(struct buf *out, const struct nonbonded_settings *nb)
{
    const int *grid = nb->pme_grid;
    buf_printf(out, "smooth particle-mesh Ewald (PME), interpolation order %d, ", nb->pme_order);
    if (grid[0])
        buf_printf(out, "grid %d x %d x %d", grid[0], grid[1], grid[2]);
    else
        buf_printf(out, "grid spacing at most %.6g nm", nb->pme_spacing);
    buf_printf(out, ", relative tolerance %.3g at the direct-space cut-off of %.6g nm, %s", nb->ewald_tolerance,
               nb->coulomb_cutoff,
               nb->coulomb_modifier == COULOMB_CUTOFF ? "direct-space potential not shifted"
                                                      : "direct-space potential shifted to zero there");
}

static void take_coulomb(struct methods *m, const struct spec *s, const struct system *sys)
{
    const struct nonbonded_settings *nb = &s->settings.nonbonded;
    struct buf *out = begin(m, "Electrostatics");
    if (nb->coulomb_method == COULOMB_PME)
        take_pme(out, nb);
    else if (nb->epsilon_rf > 0)
        buf_printf(out, "reaction field, cut-off %.6g nm, dielectric constant beyond it %.6g", nb->coulomb_cutoff,
                   nb->epsilon_rf);
    else
        buf_printf(out, "reaction field, cut-off %.6g nm, infinite dielectric constant beyond it", nb->coulomb_cutoff);
    if (nb->epsilon_r > 0 && nb->epsilon_r != 1)
        buf_printf(out, "; relative dielectric constant %.6g", nb->epsilon_r);
    if (s->split != SPLIT_NONE && sys->natoms) {
        buf_printf(out, "; ");
        spec_split_sentence(s, sys, out);
    }
}

static void take_constraints(struct methods *m, const struct settings *set, const struct system *sys)
{
    static const char *const kept[] = {
        [CONSTRAIN_NONE] = "none", [CONSTRAIN_H_BONDS] = "bonds to hydrogens", [CONSTRAIN_ALL_BONDS] = "all bonds"};
    struct buf *out = begin(m, "Constraints");
    buf_printf(out, "%s", kept[set->constrain]);
    if (sys->nsettles)
        buf_printf(out, "; rigid waters (SETTLE)");
}

static void take_masses(struct methods *m, const struct mass_settings *masses)
{
    struct buf *out = begin(m, "Masses");
    if (masses->repartition == 1)
        buf_printf(out, "as in the topology");
    else
        buf_printf(out, "hydrogen mass repartitioning by a factor of %.4g, %s", masses->repartition,
                   masses->keep_waters ? "rigid waters left out" : "rigid waters too");
}

/* ---- dynamics ---- */

static void take_integrator(struct methods *m, const struct integrator_settings *i)
{
    struct buf *out = begin(m, "Integrator");
    buf_printf(out, "%s", integrators[i->kind].text);
    if (integrators[i->kind].thermostat == THERMOSTAT_FRICTION)
        buf_printf(out, ", friction %.6g /ps", i->friction);
    buf_printf(out, ", timestep %.6g fs", 1000 * i->timestep);
    if (mesh_cycle(i) > 1)
        buf_printf(out, "; mesh part of electrostatics every %u timesteps, as an impulse", mesh_cycle(i));
    if (i->com_every > 0)
        buf_printf(out, "; motion of the center of mass removed every %d %s", i->com_every,
                   number_word(i->com_every, "step", "steps"));
}

/* What production keeps, by its last stage. */
static void take_bath(struct methods *m, const struct spec *s)
{
    static const char *const couplings[] = {[VOLUME_ISOTROPIC] = "isotropic",
                                            [VOLUME_SEMI_ISOTROPIC] = "semi-isotropic",
                                            [VOLUME_ANISOTROPIC] = "anisotropic"};
    const struct barostat_settings *b = &s->settings.barostat;
    const struct stage *last = s->nstages ? &s->stages[s->nstages - 1] : NULL;
    buf_printf(begin(m, "Temperature"), "%.6g K%s", s->settings.integrator.temperature,
               integrator_conserves_energy(s->settings.integrator.kind) ? " at the start (constant energy)" : "");
    if (last && last->npt)
        buf_printf(begin(m, "Pressure"), "%.6g bar, Monte Carlo barostat, %s, a volume move every %d %s", b->pressure,
                   couplings[b->coupling], b->every, number_word(b->every, "step", "steps"));
    else
        buf_printf(begin(m, "Pressure"), "none: constant volume in production");
}

static void take_waters(struct methods *m, const struct water_settings *w)
{
    if (w->on)
        buf_printf(begin(m, "Water exchange"),
                   "between bulk and a sphere of %.4g nm, %u moves every %d %s by an approximate energy, then accepted "
                   "by the full one",
                   w->radius, w->tries, w->every, number_word(w->every, "step", "steps"));
}

/* ---- what changes ---- */

static void take_molecules(struct buf *out, const struct alchemy_settings *a)
{
    static const char *const acting[] = {
        [0] = "none", [COUPLED_VDW] = "Lennard-Jones", [COUPLED_CHARGE] = "Coulomb", [COUPLED_ALL] = "all"};
    for (int i = 0; i < a->ndecouple; i++) {
        const struct decoupled *d = &a->decouple[i];
        buf_printf(out, "%s%s from %s to %s (its own pairs %s)", i ? ", " : "", d->molecule, acting[d->on[0]],
                   acting[d->on[1]], d->intramolecular_decouple ? "decoupled too" : "kept");
    }
}

static void take_change(struct methods *m, const struct alchemy_settings *a)
{
    struct buf *out;
    if (a->kind == ALCHEMY_NONE)
        return;
    out = begin(m, "Change");
    if (a->kind == ALCHEMY_DECOUPLE) {
        buf_printf(out, "interactions of a molecule with its surroundings: ");
        take_molecules(out, a);
        return;
    }
    if (!a->temper.nmolecules) {
        buf_printf(out, "from state A of the topology to its state B");
        return;
    }
    buf_printf(out, "solute tempering up to %.6g K of", a->temper.to);
    for (int i = 0; i < a->temper.nmolecules; i++)
        buf_printf(out, "%s %s", i ? "," : "", a->temper.molecule[i]);
}

static void take_soft_core(struct methods *m, const struct alchemy_settings *a)
{
    const struct soft_core *c = &a->soft_core;
    struct buf *out;
    if (a->kind == ALCHEMY_NONE || a->temper.nmolecules)
        return;
    out = begin(m, "Soft core");
    if (c->function == SOFT_GAPSYS) {
        buf_printf(out, "Gapsys, linearization scale %.4g (Lennard-Jones)", c->alpha);
        if (c->alpha_coulomb > 0)
            buf_printf(out, " and %.4g nm (Coulomb)", c->alpha_coulomb);
        buf_printf(out, ", sigma %.4g nm", c->sigma);
    } else if (c->alpha > 0) {
        buf_printf(out, "Beutler, alpha %.4g, power %d, sigma %.4g nm, Coulomb %s", c->alpha, c->power, c->sigma,
                   c->coulomb ? "softened too" : "not softened");
    } else {
        buf_printf(out, "none");
    }
}

static void take_switches(struct methods *m, const struct spec *s)
{
    const struct switch_settings *way = &s->settings.switching;
    const double timestep = s->settings.integrator.timestep;
    const struct stage *produce = s->stages, *end = s->stages + s->nstages;
    while (produce < end && !produce->switch_every)
        produce++;
    if (produce == end)
        return;
    struct buf *out = begin(m, "Switches");
    buf_printf(
        out,
        "non-equilibrium: %d walkers at the first window and %d at the last; every %.6g ps of production each is "
        "driven through all windows to the other end in %.6g ps, at constant volume, lambda changing every %d "
        "timesteps; free energy by BAR of the works of both ways",
        s->walkers, s->walkers, (double)produce->switch_every * timestep, (double)switch_steps(way) * timestep,
        way->every);
    if (way->doublings)
        buf_printf(out, "; later ones up to %.6g ps", (double)switch_steps_longer(way, way->doublings) * timestep);
    for (int i = 0; way->shares && i < s->settings.alchemy.nwindows - 1; i++)
        buf_printf(out, "%s%.6g", i ? " : " : "; time from each window to the next as ", way->shares[i]);
}

static void take_windows(struct methods *m, const struct settings *set, int repeats)
{
    static const char *const schemes[] = {[EXCHANGE_NONE] = NULL,
                                          [EXCHANGE_NEIGHBOURS] = "neighbours exchange windows",
                                          [EXCHANGE_GIBBS] = "all exchange windows (Gibbs sampling)"};
    const struct alchemy_settings *a = &set->alchemy;
    struct buf *out = begin(m, "Windows");
    buf_printf(out, "%d", a->nwindows);
    for (int c = 0; c < LAMBDA_COUNT; c++) {
        if (!a->given[c])
            continue;
        buf_printf(out, "; %s", lambda_names[c].ours);
        for (int k = 0; k < a->nwindows; k++)
            buf_printf(out, " %.6g", a->lambda[k][c]);
    }
    if (repeats > 1)
        buf_printf(out, "; %d repeats of each", repeats);
    if (schemes[set->exchange])
        buf_printf(out, "; %s", schemes[set->exchange]);
}

/* ---- stages ---- */

/* What a stage has of its own. */
static void take_own(struct buf *out, const struct spec *s, const struct stage *stage)
{
    const struct phase *all = s->phases, *own = s->phases + stage->phase;
    if (!stage->phase)
        return;
    if (own->timestep != all->timestep)
        buf_printf(out, ", timestep %.6g fs", 1000 * own->timestep);
    if (own->temperature != all->temperature)
        buf_printf(out, ", %.6g K", own->temperature);
    if (own->pressure != all->pressure)
        buf_printf(out, ", %.6g bar", own->pressure);
    if (own->friction != all->friction)
        buf_printf(out, ", friction %.6g /ps", own->friction);
    if (own->restraint_scale != all->restraint_scale)
        buf_printf(out, ", position restraints times %.4g", own->restraint_scale);
    for (int i = 0; own->own_defines && i < own->ndefines; i++)
        buf_printf(out, "%s%s", i ? ", " : ", macros defined: ", own->defines[i].name);
}

static void take_stages(struct methods *m, const struct spec *s)
{
    struct buf *out = NULL;
    for (int i = 0; i < s->nstages; i++) {
        const struct stage *stage = &s->stages[i];
        if (stage->kind == STAGE_PRODUCE)
            continue;
        out = out ? out : begin(m, "Equilibration");
        buf_printf(out, "%s", out->len ? "; " : "");
        if (stage->kind == STAGE_MINIMIZE)
            buf_printf(out, "steepest descent, at most %llu steps", (unsigned long long)stage->steps);
        else
            buf_printf(out, "%.6g ps at constant %s", (double)stage->steps * stage->timestep,
                       stage->npt                                                 ? "pressure"
                       : integrator_conserves_energy(s->settings.integrator.kind) ? "energy"
                                                                                  : "volume");
        take_own(out, s, stage);
    }
}

static void take_intervals(struct methods *m, const struct spec *s)
{
    const struct stage *last = s->nstages ? &s->stages[s->nstages - 1] : NULL;
    struct buf *out;
    if (!last || last->kind != STAGE_PRODUCE || !last->sample_every)
        return;
    out = begin(m, "Samples");
    buf_printf(out, "energies in all windows every %.6g ps", (double)last->sample_every * last->timestep);
    if (last->frames_every)
        buf_printf(out, ", coordinates every %.6g ps", (double)last->frames_every * last->timestep);
    if (last->exchange_every)
        buf_printf(out, ", exchanges every %.6g ps", (double)last->exchange_every * last->timestep);
}

void methods_take(struct methods *m, const struct spec *s, const struct system *sys)
{
    const struct settings *set = &s->settings;
    take_force_field(m, s, sys);
    take_coordinates(m, s);
    take_system(m, sys);
    take_vdw(m, &set->nonbonded);
    take_coulomb(m, s, sys);
    take_constraints(m, set, sys);
    take_masses(m, &set->masses);
    take_integrator(m, &set->integrator);
    take_bath(m, s);
    take_waters(m, &s->settings.waters);
    take_change(m, &set->alchemy);
    take_windows(m, set, s->repeats);
    take_switches(m, s);
    take_soft_core(m, &set->alchemy);
    take_stages(m, s);
    take_intervals(m, s);
}

void methods_json(const struct methods *m, struct writer *w)
{
    for (int i = 0; i < m->n; i++) {
        jw_begin(w, NULL, '{');
        jw_text(w, "topic", m->line[i].topic);
        jw_text(w, "text", m->line[i].text.data);
        jw_end(w, '}');
    }
}

void methods_close(struct methods *m)
{
    for (int i = 0; i < m->n; i++)
        buf_free(&m->line[i].text);
    *m = (struct methods){0};
}
