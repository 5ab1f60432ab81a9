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

static void ewald(struct mdp *m, struct buf *out)
{
    static const struct word modifiers[] = {
        {"Potential-shift|Potential-shift-Verlet", "potential-shift"}, {"None|Exact-cutoff", "none"}, {NULL, NULL}};
    const char *modifier = translate(m, "coulomb-modifier", "Potential-shift", modifiers);
    if (!modifier)
        mdp_say(m, "coulomb-modifier", MDP_REFUSED, "expected None or Potential-shift");
    if (mdp_value(m, "epsilon-rf"))
        mdp_say(m, "epsilon-rf", MDP_IDLE, "of reaction fields");
    buf_printf(out, "    modifier: %s\n", modifier ? modifier : "?");
}

/* Its potential is zero at the cut-off whatever the modifier; nothing of it goes through a mesh. */
static void reaction_field(struct mdp *m, struct buf *out)
{
    static const char *const idle[] = {"coulomb-modifier", "fourierspacing", "fourier-nx", "fourier-ny",
                                       "fourier-nz",       "pme-order",      "ewald-rtol"};
    double epsilon = mdp_number(m, "epsilon-rf", 0);
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (mdp_value(m, idle[i]))
            mdp_say(m, idle[i], MDP_IDLE, "not of a reaction field");
    if (epsilon != 0 && !(epsilon >= 1))
        mdp_say(m, "epsilon-rf", MDP_REFUSED, "expected 0 or at least 1");
    buf_printf(out, "    method: reaction-field\n    epsilon-rf: %.10g\n", epsilon);
}

/* Where some are given, GROMACS takes the others from fourierspacing and the box, which is not read here. */
static void mesh(struct mdp *m, struct buf *out)
{
    static const char *const names[] = {"fourier-nx", "fourier-ny", "fourier-nz"};
    int grid[3];
    for (int d = 0; d < 3; d++)
        grid[d] = (int)mdp_number(m, names[d], 0);
    if (grid[0] > 0 && grid[1] > 0 && grid[2] > 0) {
        buf_printf(out, "    grid: [%d, %d, %d]\n", grid[0], grid[1], grid[2]);
        if (mdp_value(m, "fourierspacing"))
            mdp_say(m, "fourierspacing", MDP_IDLE, "fourier-nx, -ny and -nz say the mesh");
    } else {
        for (int d = 0; d < 3; d++)
            if (grid[d] > 0)
                mdp_say(m, names[d], MDP_DROPPED, "expected all three, nx, ny and nz: fourierspacing says the mesh");
        buf_printf(out, "    grid-spacing: %.10g nm\n", mdp_number(m, "fourierspacing", 0.12));
    }
    double order = mdp_number(m, "pme-order", 4);
    if (order != 4 && order != 5 && order != 6)
        mdp_say(m, "pme-order", MDP_REFUSED, "expected 4, 5 or 6");
    buf_printf(out, "    order: %g\n    tolerance: %.10g\n", order, mdp_number(m, "ewald-rtol", 1e-5));
}

static void coulomb(struct mdp *m, struct buf *out)
{
    if (mdp_number(m, "epsilon-r", 1) != 1)
        mdp_say(m, "epsilon-r", MDP_REFUSED, "expected 1");
    buf_printf(out, "  coulomb:\n    cutoff: %.10g nm\n", mdp_number(m, "rcoulomb", 1));
    if (mdp_is(m, "coulombtype", "Cut-off", "Reaction-Field")) {
        reaction_field(m, out);
    } else {
        refuse_unless(m, "coulombtype", "Cut-off", "PME", "expected PME or Reaction-Field");
        ewald(m, out);
        mesh(m, out);
    }
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
}
