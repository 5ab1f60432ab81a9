/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/import/internal.h"
#include "engine/base/number.h"

#define PUT_IN_PLACE "1 ns" /* of production, where the file has no length */
static const char minimizers[] = "steep|cg|l-bfgs";

/* ---- integrators ---- */

enum method {
#define INTEGRATOR(name, ...) METHOD_##name,
#include "engine/system/integrators.def"
    METHODS
};
static const struct {
    const char *word;
    enum { NONE, FRICTION } thermostat;
} methods[METHODS] = {
#define INTEGRATOR(name, word, kernel, thermostat, ...) {word, thermostat},
#include "engine/system/integrators.def"
};
static const struct dynamics_row {
    const char *theirs;
    enum method ours;
    const char *why;
} dynamics[] = {
#define GROMACS(word, name, why) {word, METHOD_##name, why},
#include "engine/system/integrators.def"
};
enum { DYNAMICS = sizeof dynamics / sizeof *dynamics };

/* NULL: the option is none of dynamics. */
static const struct dynamics_row *dynamics_of(const struct mdp *m)
{
    for (const struct dynamics_row *d = dynamics; d < dynamics + DYNAMICS; d++)
        if (mdp_is(m, "integrator", "md", d->theirs))
            return d;
    return NULL;
}

/* What takes the place of GROMACS' thermostats. */
static enum method thermostat_method(void)
{
    enum method k = 0;
    while (methods[k].thermostat != FRICTION)
        k++;
    return k;
}

static const char *our_thermostat(void)
{
    return methods[thermostat_method()].word;
}

/* Whether the integrator is a thermostat itself. */
static bool is_thermostat(const struct mdp *m)
{
    const struct dynamics_row *d = dynamics_of(m);
    return d && methods[d->ours].thermostat == FRICTION;
}

static bool minimizes(const struct mdp *m)
{
    return mdp_is(m, "integrator", "md", minimizers);
}

static bool has_thermostat(const struct mdp *m)
{
    return is_thermostat(m) || !mdp_is(m, "tcoupl", "no", "no") || minimizes(m);
}

/* The row for what a spec has. */
static struct dynamics_row what_runs(const struct mdp *m)
{
    const struct dynamics_row *d = dynamics_of(m);
    if (has_thermostat(m) && !is_thermostat(m))
        return (struct dynamics_row){NULL, thermostat_method(), "its friction and noise are the thermostat"};
    return d ? *d : dynamics[0];
}

/* ---- temperature ---- */

/* One number for all groups of atoms, or the option is refused. */
static double one_of_groups(struct mdp *m, const char *name, double otherwise)
{
    double x[100];
    int n = mdp_numbers(m, name, otherwise, x, 100);
    for (int i = 1; i < n; i++)
        if (x[i] != x[0])
            mdp_say(m, name, MDP_REFUSED, "expected one for all atoms");
    return x[0];
}

static void say_thermostat(struct mdp *m)
{
    const bool berendsen = mdp_is(m, "tcoupl", "no", "berendsen|yes");
    if (minimizes(m))
        mdp_say(m, "tcoupl", MDP_IDLE, "of dynamics");
    else
        mdp_say(m, "tcoupl", MDP_CHANGED, "%s with a friction of 1 /ps: %s", our_thermostat(),
                berendsen ? "the canonical ensemble; Berendsen's thermostat samples none"
                          : "the same ensemble, other motion");
}

/* Of an integrator that is a thermostat, 1/tau-t; any other thermostat has none. */
static double friction(struct mdp *m)
{
    if (!is_thermostat(m)) {
        if (mdp_value(m, "tau-t"))
            mdp_say(m, "tau-t", MDP_DROPPED, "%s has a friction, 1 /ps", our_thermostat());
        if (mdp_value(m, "tcoupl"))
            say_thermostat(m);
        return 1;
    }
    double tau = one_of_groups(m, "tau-t", 0);
    if (!(tau > 0))
        mdp_say(m, "tau-t", MDP_REFUSED, "expected one above 0 for all atoms");
    if (mdp_value(m, "tcoupl"))
        mdp_say(m, "tcoupl", MDP_IDLE, "%s is a thermostat itself", dynamics_of(m)->theirs);
    return 1 / tau;
}

static void seed(struct mdp *m, struct buf *out)
{
    double given = mdp_number(m, "ld-seed", mdp_number(m, "gen-seed", -1));
    if (given >= 0)
        buf_printf(out, ", seed: %.0f", given);
    else
        buf_printf(out, ", seed: random");
    if (mdp_value(m, "ld-seed") && mdp_value(m, "gen-seed"))
        mdp_say(m, "gen-seed", MDP_DROPPED, "ld-seed is the key of all random numbers");
}

static void com_removal(struct mdp *m, struct buf *out)
{
    double every = mdp_number(m, "nstcomm", 100);
    const bool stays = mdp_is(m, "comm-mode", "Linear", "None") || every == 0;
    const char *defines = mdp_value(m, "define");
    if (stays)
        buf_printf(out, ", com-removal: no");
    else
        buf_printf(out, ", com-removal: %.0f steps", fabs(every));
    if (!stays && defines && strstr(defines, "POSRES"))
        mdp_say(m, "comm-mode", MDP_CHANGED, "None where position restraints hold atoms in space");
    if (mdp_is(m, "comm-mode", "Linear", "Linear-acceleration-correction"))
        mdp_say(m, "comm-mode", MDP_CHANGED, "Linear: the positions are not corrected");
    else if (!mdp_is(m, "comm-mode", "Linear", "Linear|None"))
        mdp_say(
            m, "comm-mode", MDP_REFUSED,
            "expected Linear or None: a periodic box does not conserve rotation, and grompp warns where it is removed");
}

static void start_velocities(struct mdp *m, bool thermostat, double temperature)
{
    if (!thermostat)
        return;
    if (mdp_value(m, "gen-vel") && !mdp_is(m, "gen-vel", "no", "yes|true"))
        mdp_say(m, "gen-vel", MDP_CHANGED, "velocities are drawn when dynamics begins, whatever the coordinates bring");
    if (mdp_value(m, "gen-temp") && mdp_number(m, "gen-temp", 300) != temperature)
        mdp_say(m, "gen-temp", MDP_CHANGED, "velocities are drawn at ref-t, %.10g K", temperature);
}

static void say_integrator(struct mdp *m, const struct dynamics_row *runs)
{
#define GROMACS(word, ...) word ", "
    static const char expected[] =
        "expected "
#include "engine/system/integrators.def"
        "or steep, cg or l-bfgs";
    if (!dynamics_of(m) && !minimizes(m))
        mdp_say(m, "integrator", MDP_REFUSED, "%s", expected);
    else if (runs->why)
        mdp_say(m, "integrator", MDP_CHANGED, "%s: %s", methods[runs->ours].word, runs->why);
}

static void integrator(struct mdp *m, struct buf *out)
{
    const struct dynamics_row runs = what_runs(m);
    bool thermostat = has_thermostat(m);
    double temperature = thermostat && !minimizes(m) ? one_of_groups(m, "ref-t", 0) : mdp_number(m, "gen-temp", 298.15);
    say_integrator(m, &runs);
    if (mdp_value(m, "nsttcouple"))
        mdp_say(m, "nsttcouple", MDP_DROPPED, "%s acts in every step", our_thermostat());
    if (!(temperature > 0))
        mdp_say(m, "ref-t", MDP_REFUSED, "expected a temperature above 0 K");
    if (mdp_value(m, "tc-grps"))
        mdp_say(m, "tc-grps", MDP_DROPPED, "all atoms have one thermostat");
    buf_printf(out, "integrator: {method: %s, timestep: %.10g ps, temperature: %.10g K", methods[runs.ours].word,
               mdp_number(m, "dt", 0.001), temperature);
    if (thermostat)
        buf_printf(out, ", friction: %.10g /ps", friction(m));
    seed(m, out);
    com_removal(m, out);
    buf_printf(out, "}\n");
    start_velocities(m, thermostat, temperature);
}

/* ---- pressure ---- */

static bool has_barostat(const struct mdp *m)
{
    return !mdp_is(m, "pcoupl", "no", "no") && !minimizes(m);
}

/* The spec's word for how the box moves; one pressure, and no direction that is stiff. */
static const char *coupling(struct mdp *m)
{
    static const struct {
        const char *theirs, *ours;
        int values,
            alike; /* numbers of ref-p and compressibility, those that are to be alike; the others are to be 0 */
    } kinds[] = {{"isotropic", "isotropic", 1, 1},
                 {"semiisotropic", "semi-isotropic", 2, 2},
                 {"anisotropic", "anisotropic", 6, 3}};
    double pressure[6], soft[6] = {0};
    int n = mdp_numbers(m, "ref-p", 0, pressure, 6), nsoft = mdp_numbers(m, "compressibility", 0, soft, 6);
    for (int k = 0; k < 3; k++) {
        if (!mdp_is(m, "pcoupltype", "isotropic", kinds[k].theirs))
            continue;
        if (n < kinds[k].values)
            mdp_say(m, "ref-p", MDP_REFUSED, "expected %d %s", kinds[k].values,
                    number_word(kinds[k].values, "value", "values"));
        for (int i = 1; i < kinds[k].alike && i < n; i++)
            if (pressure[i] != pressure[0])
                mdp_say(m, "ref-p", MDP_REFUSED, "expected one pressure for all directions");
        for (int i = 0; k && i < nsoft; i++)
            if ((soft[i] == 0) != (i >= kinds[k].alike))
                mdp_say(m, "compressibility", MDP_REFUSED,
                        i < kinds[k].alike ? "expected a box that gives way along every axis"
                                           : "expected 0 off the diagonal: edges do not turn");
        return kinds[k].ours;
    }
    mdp_say(m, "pcoupltype", MDP_REFUSED, "expected isotropic, semiisotropic or anisotropic");
    return "isotropic";
}

static void barostat(struct mdp *m, struct buf *out)
{
    double pressure[6];
    if (!has_barostat(m))
        return;
    mdp_numbers(m, "ref-p", 0, pressure, 6);
    if (!mdp_value(m, "ref-p"))
        mdp_say(m, "ref-p", MDP_REFUSED, "expected a pressure");
    if (!has_thermostat(m))
        mdp_say(m, "pcoupl", MDP_REFUSED, "expected a thermostat with it");
    mdp_say(m, "pcoupl", MDP_CHANGED, "Monte Carlo moves of the volume: %s",
            mdp_is(m, "pcoupl", "no", "berendsen|isotropic")
                ? "the isothermal-isobaric ensemble; Berendsen's barostat samples none"
                : "the same ensemble");
    if (!mdp_is(m, "refcoord-scaling", "no", "no"))
        mdp_say(m, "refcoord-scaling", MDP_CHANGED,
                "no: the places that position restraints pull to stay where they are");
    buf_printf(out, "barostat: {method: monte-carlo, pressure: %.10g bar, coupling: %s}\n", pressure[0], coupling(m));
}

/* ---- protocol ---- */

/* Steps from sample to sample; an option that says none is told so. */
static double sample_steps(struct mdp *m, bool alchemy)
{
    const char *name = alchemy ? "nstdhdl" : "nstenergy";
    double steps = mdp_number(m, name, alchemy ? 50 : 1000);
    if (steps > 0)
        return steps;
    mdp_say(m, name, MDP_CHANGED, "100 steps: production needs samples");
    return 100;
}

static void frames(struct mdp *m, struct buf *out)
{
    double compressed = mdp_number(m, "nstxout-compressed", 0), full = mdp_number(m, "nstxout", 0);
    if (compressed > 0 || full > 0)
        buf_printf(out, ", frames-every: %.0f steps", compressed > 0 ? compressed : full);
    if (compressed > 0 && full > 0)
        mdp_say(m, "nstxout", MDP_DROPPED, "frames are written every nstxout-compressed steps, as .xtc");
    else if (full > 0)
        mdp_say(m, "nstxout", MDP_CHANGED, "frames are .xtc, with three decimals");
    if (mdp_number(m, "compressed-x-precision", 1000) != 1000)
        mdp_say(m, "compressed-x-precision", MDP_CHANGED, "1000");
}

static void intervals(struct mdp *m, uint64_t steps, struct buf *out)
{
    bool alchemy = import_perturbs(m);
    double sample = sample_steps(m, alchemy);
    buf_printf(out, ", sample-every: %.0f steps", steps ? fmin(sample, (double)steps) : sample);
    if (alchemy && mdp_value(m, "nstenergy"))
        mdp_say(m, "nstenergy", MDP_DROPPED, "energy.xvg has a row where dhdl.xvg has one, by nstdhdl");
    frames(m, out);
}

/* An expanded ensemble goes through the windows one by one; here all of them run. */
static void exchange(struct mdp *m, struct buf *out)
{
    if (!mdp_is(m, "free-energy", "no", "expanded"))
        return;
    const double sample = sample_steps(m, true), every = mdp_number(m, "nstexpanded", 100);
    const bool masses =
        mdp_value(m, "mass-lambdas") || (mdp_value(m, "fep-lambdas") && !mdp_value(m, "couple-moltype"));
    if (masses || !has_thermostat(m) || minimizes(m)) {
        mdp_say(m, "free-energy", MDP_CHANGED, "yes: each window runs by itself, and none needs weights");
        return;
    }
    mdp_say(m, "free-energy", MDP_CHANGED,
            "yes, with exchange: all windows run and replicas change places, so none needs weights");
    buf_printf(out, "exchange: {every: %.0f steps}\n", fmax(1, ceil(every / sample)) * sample);
}

static void protocol(struct mdp *m, struct buf *out)
{
    double steps = mdp_number(m, "nsteps", 0);
    const char *ensemble = has_barostat(m) ? "npt" : has_thermostat(m) ? "nvt" : "nve";
    buf_printf(out, "protocol:\n");
    if (minimizes(m)) {
        buf_printf(out, "  - minimize: {steps: %.0f, force-tolerance: %.10g kJ/mol/nm}\n", steps >= 1 ? steps : 1000,
                   mdp_number(m, "emtol", 10));
        mdp_say(m, "integrator", MDP_CHANGED,
                "steepest descent, and the production that a spec needs: " PUT_IN_PLACE " is put in place");
        steps = 0;
    } else if (steps < 1) {
        mdp_say(m, "nsteps", MDP_CHANGED, PUT_IN_PLACE " is put in place");
    }
    if (steps < 1)
        buf_printf(out, "  - produce: {time: " PUT_IN_PLACE);
    else
        buf_printf(out, "  - produce: {time: %.0f steps", steps);
    buf_printf(out, ", ensemble: %s", ensemble);
    intervals(m, steps < 1 ? 0 : (uint64_t)steps, out);
    buf_printf(out, "}\n");
    exchange(m, out);
}

static void constraints(struct mdp *m, struct buf *out)
{
    static const char *const kinds[] = {"none", "h-bonds", "all-bonds"};
    for (int i = 0; i < 3; i++)
        if (mdp_is(m, "constraints", "none", kinds[i])) {
            buf_printf(out, "constraints: %s\n", kinds[i]);
            return;
        }
    mdp_say(m, "constraints", MDP_REFUSED, "expected none, h-bonds or all-bonds");
}

void import_dynamics(struct mdp *m, struct buf *out)
{
    double factor = mdp_number(m, "mass-repartition-factor", 1);
    constraints(m, out);
    if (factor != 1)
        buf_printf(out, "masses: {repartition: %.10g}\n", factor);
    integrator(m, out);
    barostat(m, out);
    protocol(m, out);
}
