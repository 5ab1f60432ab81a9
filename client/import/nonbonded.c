/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "client/import/internal.h"

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

/* 0 is for pbc = no, where it means none. */
static double cutoff(struct mdp *m, const char *name)
{
    double r = mdp_number(m, name, 1);
    if (!(r > 0))
        mdp_say(m, name, MDP_REFUSED, "expected a cut-off above 0, in nm");
    return r;
}

/* ---- van der Waals ---- */

enum start { WHOLE, SWITCHES };
static const struct vdw_word {
    const char *ours, *type, *modifier; /* GROMACS' words, separated by |; type: NULL if there is none */
    enum start start;
} vdw_words[] = {
#define VDW(name, word, start, force, text, type, modifier) {word, type, modifier, start},
#include "engine/math/vdw_modifiers.def"
};
enum { VDW_WORDS = sizeof vdw_words / sizeof *vdw_words };

static const struct vdw_word *vdw_of_type(const struct mdp *m)
{
    for (const struct vdw_word *w = vdw_words; w < vdw_words + VDW_WORDS; w++)
        if (w->type && mdp_is(m, "vdwtype", "Cut-off", w->type))
            return w;
    return NULL;
}

static const struct vdw_word *vdw_of_modifier(const struct mdp *m)
{
    for (const struct vdw_word *w = vdw_words; w < vdw_words + VDW_WORDS; w++)
        if (mdp_is(m, "vdw-modifier", "Potential-shift", w->modifier))
            return w;
    return NULL;
}

static void refuse_vdw_type(struct mdp *m)
{
    const char *types[1 + VDW_WORDS] = {"Cut-off"};
    struct buf expected = {0};
    int n = 1;
    for (int i = 0; i < VDW_WORDS; i++)
        if (vdw_words[i].type)
            types[n++] = vdw_words[i].type;
    buf_words(&expected, types, n, "or");
    mdp_say(m, "vdwtype", MDP_REFUSED, "expected %s: there is no lattice sum of dispersion", expected.data);
    buf_free(&expected);
}

static void refuse_vdw_modifier(struct mdp *m)
{
    struct buf expected = {0};
    for (int i = 0; i < VDW_WORDS; i++) {
        const char *words = vdw_words[i].modifier;
        buf_printf(&expected, "%s%.*s", !i ? "" : i + 1 < VDW_WORDS ? ", " : " or ", (int)strcspn(words, "|"), words);
    }
    mdp_say(m, "vdw-modifier", MDP_REFUSED, "expected %s", expected.data);
    buf_free(&expected);
}

static void vdw_modifier(struct mdp *m, struct buf *out)
{
    const struct vdw_word *modifier = vdw_of_type(m);
    if (modifier)
        mdp_say(m, "vdwtype", MDP_KEPT, "as grompp takes it too: Cut-off with vdw-modifier = %s", modifier->ours);
    else if (!mdp_is(m, "vdwtype", "Cut-off", "Cut-off"))
        refuse_vdw_type(m);
    if (!modifier)
        modifier = vdw_of_modifier(m);
    if (!modifier) {
        refuse_vdw_modifier(m);
        return;
    }
    buf_printf(out, "    modifier: %s\n", modifier->ours);
    if (modifier->start == SWITCHES)
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

static void write_epsilon_r(double epsilon_r, struct buf *out)
{
    if (epsilon_r != 1)
        buf_printf(out, "    epsilon-r: %.10g\n", epsilon_r);
}

static void ewald(struct mdp *m, double epsilon_r, struct buf *out)
{
    static const struct word modifiers[] = {
        {"Potential-shift|Potential-shift-Verlet", "potential-shift"}, {"None|Exact-cutoff", "none"}, {NULL, NULL}};
    const char *modifier = translate(m, "coulomb-modifier", "Potential-shift", modifiers);
    if (!modifier)
        mdp_say(m, "coulomb-modifier", MDP_REFUSED, "expected None or Potential-shift");
    if (mdp_value(m, "epsilon-rf"))
        mdp_say(m, "epsilon-rf", MDP_IDLE, "of reaction fields");
    if (mdp_is(m, "coulombtype", "Cut-off", "PME-Switch"))
        mdp_say(m, "coulombtype", MDP_KEPT, "PME, as GROMACS computes it with Verlet");
    else if (mdp_is(m, "coulombtype", "Cut-off", "Ewald|P3M-AD"))
        mdp_say(m, "coulombtype", MDP_CHANGED, "PME: the same sum over images, by another mesh");
    write_epsilon_r(epsilon_r, out);
    buf_printf(out, "    modifier: %s\n", modifier ? modifier : "?");
}

/* Nothing of a reaction field goes through a mesh. */
static void write_field(struct mdp *m, double epsilon_r, double epsilon_rf, struct buf *out)
{
    static const char *const idle[] = {"fourierspacing", "fourier-nx", "fourier-ny",
                                       "fourier-nz",     "pme-order",  "ewald-rtol"};
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (mdp_value(m, idle[i]))
            mdp_say(m, idle[i], MDP_IDLE, "of PME");
    write_epsilon_r(epsilon_r, out);
    buf_printf(out, "    method: reaction-field\n    epsilon-rf: %.10g\n", epsilon_rf);
}

/* Its potential is zero at the cut-off whatever the modifier. grompp takes epsilon-rf = 1 beside another epsilon-r for
 * the old way of saying it, and exchanges the two. */
static void reaction_field(struct mdp *m, double epsilon_r, struct buf *out)
{
    double epsilon_rf = mdp_number(m, "epsilon-rf", 0);
    if (mdp_is(m, "coulombtype", "Cut-off", "Reaction-Field-zero") && epsilon_rf != 0) {
        mdp_say(m, "epsilon-rf", MDP_CHANGED, "0, as grompp has it with Reaction-Field-zero");
        epsilon_rf = 0;
    }
    if (epsilon_rf == 1 && epsilon_r != 1) {
        mdp_say(m, "epsilon-rf", MDP_CHANGED,
                "epsilon-r and epsilon-rf change places, as grompp has it where this is 1");
        epsilon_rf = epsilon_r;
        epsilon_r = 1;
    }
    if (epsilon_rf != 0 && !(epsilon_rf >= epsilon_r))
        mdp_say(m, "epsilon-rf", MDP_REFUSED, "expected 0 or at least epsilon-r, %.10g", epsilon_r);
    if (mdp_value(m, "coulomb-modifier"))
        mdp_say(m, "coulomb-modifier", MDP_IDLE, "a reaction field is zero at the cut-off");
    write_field(m, epsilon_r, epsilon_rf, out);
}

/* Where nothing beyond the cut-off answers, it is a reaction field of the constant that charges are in anyway. */
static void plain_cutoff(struct mdp *m, double epsilon_r, struct buf *out)
{
    if (mdp_value(m, "epsilon-rf"))
        mdp_say(m, "epsilon-rf", MDP_IDLE, "of reaction fields");
    if (mdp_is(m, "coulomb-modifier", "Potential-shift", "None|Exact-cutoff"))
        mdp_say(m, "coulomb-modifier", MDP_CHANGED,
                "Potential-shift: the potential is zero at the cut-off, forces are the same");
    else
        refuse_unless(m, "coulomb-modifier", "Potential-shift", "Potential-shift|Potential-shift-Verlet",
                      "expected None or Potential-shift");
    write_field(m, epsilon_r, epsilon_r, out);
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
    double epsilon_r = mdp_number(m, "epsilon-r", 1);
    if (!(epsilon_r >= 1))
        mdp_say(m, "epsilon-r", MDP_REFUSED, "expected at least 1%s",
                epsilon_r == 0 ? ": GROMACS takes 0 for an infinite constant, in which charges do not act" : "");
    buf_printf(out, "  coulomb:\n    cutoff: %.10g nm\n", cutoff(m, "rcoulomb"));
    if (mdp_is(m, "coulombtype", "Cut-off", "Reaction-Field|Reaction-Field-zero")) {
        reaction_field(m, epsilon_r, out);
    } else if (mdp_is(m, "coulombtype", "Cut-off", "Cut-off")) {
        plain_cutoff(m, epsilon_r, out);
    } else {
        refuse_unless(m, "coulombtype", "Cut-off", "PME|PME-Switch|Ewald|P3M-AD",
                      "expected PME, Reaction-Field or Cut-off");
        ewald(m, epsilon_r, out);
        mesh(m, out);
    }
}

void import_nonbonded(struct mdp *m, struct buf *out)
{
    refuse_unless(
        m, "pbc", "xyz", "xyz",
        "expected xyz, the only one of GROMACS' Verlet scheme without walls; what is alone is so in a box as wide as "
        "it and twice the cut-offs (gmx editconf -d), with coulombtype = Cut-off");
    if (!mdp_is(m, "cutoff-scheme", "Verlet", "Verlet"))
        mdp_say(m, "cutoff-scheme", MDP_CHANGED, "Verlet: cut-offs are between atoms, charge groups have no meaning");
    buf_printf(out, "nonbonded:\n  vdw:\n    cutoff: %.10g nm\n", cutoff(m, "rvdw"));
    vdw_modifier(m, out);
    dispersion(m, out);
    coulomb(m, out);
}
