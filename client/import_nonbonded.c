/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "client/import.h"

/* The spec's word for an option's, or NULL. */
struct word {
    const char *theirs, *ours;
};

static const char *translate(const struct mdp *m, const char *name, const char *otherwise, const struct word *words)
{
    for (; words->theirs; words++)
        if (mdp_is(m, name, otherwise, words->theirs))
            return words->ours;
    return NULL;
}

static void refuse_unless(struct mdp *m, const char *name, const char *otherwise, const char *words, const char *why)
{
    if (!mdp_is(m, name, otherwise, words))
        mdp_say(m, name, MDP_REFUSED, "%s", why);
}

static void vdw_modifier(struct mdp *m, struct buf *out)
{
    static const struct word types[] = {{"Switch", "potential-switch"}, {"Shift", "force-switch"}, {NULL, NULL}};
    static const struct word modifiers[] = {{"Potential-shift|Potential-shift-Verlet", "potential-shift"},
                                            {"None|Exact-cutoff", "none"},
                                            {"Potential-switch", "potential-switch"},
                                            {"Force-switch", "force-switch"},
                                            {NULL, NULL}};
    const char *modifier = translate(m, "vdwtype", "Cut-off", types);
    if (modifier)
        mdp_say(m, "vdwtype", MDP_KEPT, "as grompp takes it too: Cut-off with vdw-modifier = %s", modifier);
    else
        refuse_unless(m, "vdwtype", "Cut-off", "Cut-off", "expected Cut-off, Switch or Shift");
    if (!modifier)
        modifier = translate(m, "vdw-modifier", "Potential-shift", modifiers);
    if (!modifier) {
        mdp_say(m, "vdw-modifier", MDP_REFUSED, "expected None, Potential-shift, Potential-switch or Force-switch");
        return;
    }
    buf_printf(out, "    modifier: %s\n", modifier);
    if (strstr(modifier, "switch"))
        buf_printf(out, "    switch-start: %.10g nm\n", mdp_number(m, "rvdw-switch", 0));
}

static void dispersion(struct mdp *m, struct buf *out)
{
    static const struct word words[] = {{"no", "no"},           {"Ener", "energy"}, {"EnerPres", "energy-pressure"},
                                        {"AllEnerPres", "all"}, {"AllEner", "all"}, {NULL, NULL}};
    const char *correction = translate(m, "DispCorr", "no", words);
    if (!correction)
        mdp_say(m, "DispCorr", MDP_REFUSED, "expected no, Ener, EnerPres, AllEner or AllEnerPres");
    else if (mdp_is(m, "DispCorr", "no", "AllEner"))
        mdp_say(m, "DispCorr", MDP_CHANGED, "AllEnerPres: the pressure is corrected too, energies are the same");
    if (correction)
        buf_printf(out, "    dispersion-correction: %s\n", correction);
}

static void coulomb(struct mdp *m, struct buf *out)
{
    static const struct word modifiers[] = {
        {"Potential-shift|Potential-shift-Verlet", "potential-shift"}, {"None|Exact-cutoff", "none"}, {NULL, NULL}};
    const char *modifier = translate(m, "coulomb-modifier", "Potential-shift", modifiers);
    refuse_unless(m, "coulombtype", "Cut-off", "PME", "expected PME, the only electrostatics");
    if (!modifier)
        mdp_say(m, "coulomb-modifier", MDP_REFUSED, "expected None or Potential-shift");
    if (mdp_number(m, "epsilon-r", 1) != 1)
        mdp_say(m, "epsilon-r", MDP_REFUSED, "expected 1");
    buf_printf(out, "  coulomb:\n    cutoff: %.10g nm\n    modifier: %s\n", mdp_number(m, "rcoulomb", 1),
               modifier ? modifier : "?");
}

static void mesh(struct mdp *m, struct buf *out)
{
    int grid[3];
    for (int d = 0; d < 3; d++) {
        char name[] = "fourier-nx";
        name[9] = (char)('x' + d);
        grid[d] = (int)mdp_number(m, name, 0);
    }
    if (grid[0] > 0 && grid[1] > 0 && grid[2] > 0) {
        buf_printf(out, "    grid: [%d, %d, %d]\n", grid[0], grid[1], grid[2]);
        if (mdp_value(m, "fourierspacing"))
            mdp_say(m, "fourierspacing", MDP_IDLE, "fourier-nx, -ny and -nz say the mesh");
    } else {
        buf_printf(out, "    grid-spacing: %.10g nm\n", mdp_number(m, "fourierspacing", 0.12));
    }
    double order = mdp_number(m, "pme-order", 4);
    if (order != 4 && order != 5 && order != 6)
        mdp_say(m, "pme-order", MDP_REFUSED, "expected 4, 5 or 6");
    buf_printf(out, "    order: %g\n    tolerance: %.10g\n", order, mdp_number(m, "ewald-rtol", 1e-5));
}

void import_nonbonded(struct mdp *m, struct buf *out)
{
    refuse_unless(m, "pbc", "xyz", "xyz", "expected xyz: boxes are periodic in three directions");
    if (!mdp_is(m, "cutoff-scheme", "Verlet", "Verlet"))
        mdp_say(m, "cutoff-scheme", MDP_CHANGED, "Verlet: cut-offs are between atoms, charge groups have no meaning");
    buf_printf(out, "nonbonded:\n  vdw:\n    cutoff: %.10g nm\n", mdp_number(m, "rvdw", 1));
    vdw_modifier(m, out);
    dispersion(m, out);
    coulomb(m, out);
    mesh(m, out);
}
