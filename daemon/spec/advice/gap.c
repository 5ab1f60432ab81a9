/* SPDX-License-Identifier: Apache-2.0
 *
 * Neighbours of a ladder that can share no configurations, foreseen from the topology and the path's own formulas.
 *
 * 1. An atom that changes, A, is put in line with the atom that it hangs on, X, and an atom of the solvent that its
 *    charge attracts, B, with the atom that that one hangs on, W: X-A .. B-W. The energies of the four pairs between
 *    the two molecules are those of engine/math/potentials/softcore.h, at any lambdas, as functions of the distance of
 * A and B. 2. Each window has a distribution of that distance, with weights r^2 exp(-u/RT) up to where the first shell
 * of
 *    neighbours ends. Two windows p and q overlap by the integral of p q / (p + q), which is the element of the
 *    overlap matrix of the two alone: 0.5 where they are one state.
 * 3. All else that changes between the windows makes the overlap less. So a low value is a gap; a high one promises
 *    nothing.
 */
#include "daemon/spec/advice/internal.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/number.h"
#include "engine/base/units.h"
#include "engine/math/potentials/softcore.h"
#include "engine/prepare/alchemy.h"

#define FARTHEST 0.7 /* nm, of the grid of distances */
#define SHELL 0.18   /* nm beyond the wall, where the first shell ends */
#define STEEP 0.02   /* nm */
#define OVERLAP 0.03 /* engine/estimate/result/result.h: results with less do not converge */
#define OVERLAP_SAID                                                                                                   \
    0.01                  /* what is foreseen has been too low by a factor of 8, and too high by 1.2 (docs/theory.md)  \
                           */
#define OVERLAP_GOOD 0.1  /* of a step that is proposed */
#define CHARGE_LEAST 0.05 /* e */
#define SOLVENT_LEAST 20  /* molecules */

#define SITE_MOST 0.3   /* nm from a virtual site to the nearest atom that places it */
#define PART_LEAST 0.01 /* of a step */
#define GAPSYS_LJ 0.85  /* the schema's defaults */
#define GAPSYS_COULOMB 0.3

enum { GRID = 350, PAIRS = 4, ATOMS_MOST = 500, WINDOWS_MOST = 20 };

/* What acts of an atom in states A and B. */
struct gap_atom {
    int atom; /* -1: there is none */
    double charge[2];
    int type[2];   /* -1: no Lennard-Jones */
    double length; /* nm, of the bond that it hangs on; of X and W */
};

/* The pairs of one atom and one of the solvent. */
struct contact {
    struct gap_atom a, x, b, w;
    struct soft_rule rule;
    struct {
        struct soft_pair pair;
        struct soft_rule rule;
        double beyond; /* nm, to be added to the distance of A and B */
    } pairs[PAIRS];
    int npairs;
    double end; /* nm, of the first shell; 0: at neither end of the ladder does anything keep the two apart */
};

/* ---- the atoms ---- */

static double rt_of(const struct advising *a)
{
    return UNIT_R * a->s->settings.integrator.temperature;
}

static struct gap_atom atom_of(const struct advising *a, int atom)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    const struct decoupled *gone = alchemy_decoupled(a->sys, al, atom);
    struct gap_atom g = {.atom = atom};
    alchemy_charges(a->sys, al, atom, g.charge);
    for (int s = 0; s < 2; s++) {
        int state = al->kind == ALCHEMY_B_STATES ? s : 0;
        g.type[s] = gone && !(gone->on[s] & COUPLED_VDW) ? -1 : a->sys->atoms[atom].type[state];
    }
    return g;
}

static bool changes(const struct gap_atom *g)
{
    return g->charge[0] != g->charge[1] || g->type[0] != g->type[1];
}

static void hang(int atom, const int pair[2], double length, int *other, double *bond, int *count)
{
    for (int k = 0; k < 2; k++)
        if (pair[k] == atom) {
            *other = pair[!k];
            *bond = length;
            ++*count;
        }
}

/* Of the atoms that place a virtual site the one that is nearest, as they begin; none where that is across the box. */
static struct gap_atom placing_of(const struct advising *a, const struct virtual_site *site)
{
    double(*x)[3] = system_start(a->sys, 0).x, nearest = SITE_MOST;
    struct gap_atom g = {.atom = -1};
    for (uint32_t k = site->first; k < site->first + site->count; k++) {
        const double *p = x[site->atom], *q = x[a->sys->site_atoms[k]];
        const double d = sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
        if (d < nearest) {
            g = atom_of(a, a->sys->site_atoms[k]);
            g.length = nearest = d;
        }
    }
    return g;
}

/* The atom that another hangs on, where it is bound to that one alone. */
static struct gap_atom holder_of(const struct advising *a, int atom)
{
    const struct system *sys = a->sys;
    int other = -1, count = 0;
    double bond = 0;
    for (int i = 0; i < sys->nsites; i++)
        if (sys->sites[i].atom == atom)
            return placing_of(a, &sys->sites[i]);
    for (int i = 0; i < sys->nbonds; i++)
        hang(atom, sys->bonds[i].atom, sys->bonds[i].r0[0], &other, &bond, &count);
    for (int i = 0; i < sys->nconstraints; i++)
        hang(atom, sys->constraints[i].atom, sys->constraints[i].r0[0], &other, &bond, &count);
    for (int i = 0; i < sys->nsettles; i++)
        for (int k = 0; k < 2; k++)
            hang(atom, (int[]){sys->settles[i].oxygen, sys->settles[i].hydrogen[k]}, sys->settles[i].r_oh, &other,
                 &bond, &count);
    if (count != 1)
        return (struct gap_atom){.atom = -1};
    struct gap_atom g = atom_of(a, other);
    g.length = bond;
    return g;
}

/* The kind of molecule that there are most of, none of which changes; -1: of none there are enough. */
static int solvent_of(const struct advising *a, int *first)
{
    const struct system *sys = a->sys;
    int *count = xcalloc((size_t)sys->nkinds, sizeof *count), most = -1;
    for (int m = 0; m < sys->nmolecules; m++) {
        const struct molecule *of = &sys->molecules[m];
        const struct gap_atom one = atom_of(a, of->first);
        if (!changes(&one))
            count[of->kind]++;
    }
    for (int k = 0; k < sys->nkinds; k++)
        if (count[k] >= SOLVENT_LEAST && (most < 0 || count[k] > count[most]))
            most = k;
    for (*first = 0; most >= 0 && sys->molecules[*first].kind != most;)
        ++*first;
    free(count);
    return most;
}

/* Of the solvent the atom with the most charge of each sign. */
static void find_partners(const struct advising *a, struct gap_atom b[2], struct gap_atom w[2])
{
    int first;
    for (int sign = 0; sign < 2; sign++)
        b[sign] = w[sign] = (struct gap_atom){.atom = -1};
    if (solvent_of(a, &first) < 0)
        return;
    const struct molecule *m = &a->sys->molecules[first];
    for (int i = m->first; i < m->first + m->count; i++) {
        const double charge = a->sys->atoms[i].charge[0];
        const int sign = charge < 0;
        if (fabs(charge) >= CHARGE_LEAST &&
            (b[sign].atom < 0 || fabs(charge) > fabs(a->sys->atoms[b[sign].atom].charge[0])))
            b[sign] = atom_of(a, i);
    }
    for (int sign = 0; sign < 2; sign++)
        if (b[sign].atom >= 0)
            w[sign] = holder_of(a, b[sign].atom);
}

/* ---- a contact ---- */

static void add_pair(struct contact *c, const struct advising *a, const struct gap_atom *p, const struct gap_atom *q)
{
    double c6[2] = {0}, c12[2] = {0};
    if (p->atom < 0 || q->atom < 0)
        return;
    for (int s = 0; s < 2; s++)
        if (p->type[s] >= 0 && q->type[s] >= 0) {
            const struct lj *lj = &a->sys->lj[(size_t)p->type[s] * (size_t)a->sys->ntypes + (size_t)q->type[s]];
            c6[s] = lj->c6;
            c12[s] = lj->c12;
        }
    struct soft_rule plain = c->rule;
    plain.alpha = plain.alpha_coulomb = 0;
    plain.coulomb = 0;
    c->pairs[c->npairs].rule = changes(p) ? c->rule : plain;
    c->pairs[c->npairs].pair = soft_pair_make(&c->pairs[c->npairs].rule, c6, c12, p->charge, q->charge,
                                              UNIT_COULOMB * coulomb_screening(&a->s->settings.nonbonded));
    c->pairs[c->npairs++].beyond = p->length + q->length;
}

/* kJ/mol, with A and B at a distance r; of Lennard-Jones alone, or with charges. */
static double energy(const struct contact *c, const double lambda[LAMBDA_COUNT], double r, bool charges)
{
    const struct lj_rule whole = {.cutoff = 10 * FARTHEST, .start = 10 * FARTHEST};
    double sum = 0;
    for (int i = 0; i < c->npairs; i++) {
        const struct soft_rule *rule = &c->pairs[i].rule;
        const double d = r + c->pairs[i].beyond;
        sum += soft_lj(rule->function, VDW_CUTOFF, &whole, rule->power, &c->pairs[i].pair, lambda[LAMBDA_VDW], d * d).v;
        if (charges)
            sum += soft_coulomb(rule->function, rule, &c->pairs[i].pair, 0, lambda[LAMBDA_COULOMB], d * d, 0, 0).v;
    }
    return sum;
}

static double grid(int i)
{
    return FARTHEST * (i + 1) / GRID;
}

/* Where the first shell of neighbours ends: beyond the wall of Lennard-Jones that keeps the two apart, an energy that
 * falls by RT in STEEP. 0: there is no wall. */
static double shell_of(const struct contact *c, double rt, const double lambda[LAMBDA_COUNT])
{
    for (int i = GRID - 1; i >= 0 && grid(i) > STEEP; i--)
        if (energy(c, lambda, grid(i) - STEEP, false) - energy(c, lambda, grid(i), false) > rt)
            return grid(i) + SHELL;
    return 0;
}

/* Which point of the grid is the top of that wall. Within it lies no distance that is ever reached, though an
 * unsoftened charge in the middle of an atom attracts without end. */
static int top_of(const struct contact *c, const double lambda[LAMBDA_COUNT])
{
    int i = GRID - 1;
    while (i > 0 && grid(i) > c->end - SHELL)
        i--;
    while (i > 0 && energy(c, lambda, grid(i - 1), true) < energy(c, lambda, grid(i), true))
        i--;
    while (i > 0 && energy(c, lambda, grid(i - 1), true) >= energy(c, lambda, grid(i), true))
        i--;
    return i;
}

/* Of its atoms, which are known. */
static void contact_make(struct contact *c, const struct advising *a, struct soft_rule rule)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    c->npairs = 0;
    c->rule = rule;
    add_pair(c, a, &c->a, &c->b);
    add_pair(c, a, &c->x, &c->b);
    add_pair(c, a, &c->a, &c->w);
    add_pair(c, a, &c->x, &c->w);
    c->end = fmax(shell_of(c, rt_of(a), al->lambda[0]), shell_of(c, rt_of(a), al->lambda[al->nwindows - 1]));
}

/* Chances of the distances up to the shell's end; they add up to 1. */
static void chances(const struct contact *c, double rt, const double lambda[LAMBDA_COUNT], double p[GRID])
{
    const int from = top_of(c, lambda);
    double most = -INFINITY, sum = 0;
    for (int i = 0; i < GRID; i++) {
        const double r = grid(i);
        p[i] = i >= from && r < c->end ? 2 * log(r) - energy(c, lambda, r, true) / rt : -INFINITY;
        most = fmax(most, p[i]);
    }
    for (int i = 0; i < GRID; i++)
        sum += p[i] = exp(p[i] - most);
    for (int i = 0; i < GRID; i++)
        p[i] /= sum;
}

static double overlap_of(const double p[GRID], const double q[GRID])
{
    double sum = 0;
    for (int i = 0; i < GRID; i++)
        sum += p[i] + q[i] > 0 ? p[i] * q[i] / (p[i] + q[i]) : 0;
    return sum;
}

static double overlap(const struct contact *c, double rt, const double one[LAMBDA_COUNT],
                      const double other[LAMBDA_COUNT])
{
    double p[GRID], q[GRID];
    if (c->end == 0)
        return 0.5;
    chances(c, rt, one, p);
    chances(c, rt, other, q);
    return overlap_of(p, q);
}

/* ---- the ladder ---- */

struct gap {
    struct contact contact;
    int window; /* before it */
    double overlap;
};

static void mix(const double from[LAMBDA_COUNT], const double to[LAMBDA_COUNT], double part, double out[LAMBDA_COUNT])
{
    for (int c = 0; c < LAMBDA_COUNT; c++)
        out[c] = from[c] + part * (to[c] - from[c]);
}

/* How many windows between two leave each step an overlap that is good, and the first of them; WINDOWS_MOST: more do
 * not either. */
static int windows_between(const struct advising *a, const struct contact *c, const double from[LAMBDA_COUNT],
                           const double to[LAMBDA_COUNT], double first[LAMBDA_COUNT])
{
    double at[LAMBDA_COUNT], next[LAMBDA_COUNT];
    int n = 0;
    for (mix(from, to, 0, at); n < WINDOWS_MOST && overlap(c, rt_of(a), at, to) < OVERLAP_GOOD; n++) {
        double low = 0, high = 1;
        while (high - low > PART_LEAST) {
            mix(at, to, 0.5 * (low + high), next);
            *(overlap(c, rt_of(a), at, next) >= OVERLAP_GOOD ? &low : &high) = 0.5 * (low + high);
        }
        mix(at, to, fmax(low, PART_LEAST), at);
        if (!n)
            mix(at, to, 0, first);
    }
    return n;
}

/* Marks the steps in which one atom has a gap; the worst of all goes to *worst. */
static void find_gaps(const struct advising *a, struct contact *c, bool *wide, struct gap *worst)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    double p[2][GRID]; /* of even and of odd windows */
    contact_make(c, a, soft_rule_of(&a->s->settings, false));
    if (c->end == 0)
        return;
    chances(c, rt_of(a), al->lambda[0], p[0]);
    for (int w = 0; w + 1 < al->nwindows; w++) {
        chances(c, rt_of(a), al->lambda[w + 1], p[(w + 1) % 2]);
        const double o = overlap_of(p[0], p[1]);
        wide[w] |= o < OVERLAP_SAID;
        if (o < worst->overlap)
            *worst = (struct gap){*c, w, o};
    }
}

static void put_window(const struct advising *a, const double lambda[LAMBDA_COUNT], struct buf *out)
{
    const char *join = "";
    for (int c = 0; c < LAMBDA_COUNT; c++)
        if (a->s->settings.alchemy.given[c]) {
            buf_printf(out, "%s%s: %.2g", join, lambda_names[c].ours, lambda[c]);
            join = ", ";
        }
}

/* What else the path could be, with which this contact has no gap there. */
static void put_other_path(const struct advising *a, const struct gap *g, struct buf *out)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    struct contact c = g->contact;
    struct soft_rule gapsys = c.rule;
    if (gapsys.function == SOFT_GAPSYS || !gapsys.coulomb)
        return;
    gapsys.function = SOFT_GAPSYS;
    gapsys.alpha = GAPSYS_LJ;
    gapsys.alpha_coulomb = GAPSYS_COULOMB;
    contact_make(&c, a, gapsys);
    const double o = overlap(&c, rt_of(a), al->lambda[g->window], al->lambda[g->window + 1]);
    if (o >= OVERLAP)
        buf_printf(out, ", or soft-core: {function: gapsys}, by which this contact overlaps by %.2g", o);
}

static bool is_bare(const struct advising *a, const struct gap_atom *g, int state)
{
    const int type = g->type[state];
    return type < 0 || a->sys->lj[(size_t)type * (size_t)a->sys->ntypes + (size_t)type].c12 == 0;
}

static void say_gap(const struct advising *a, const struct gap *g, int count)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    const struct gap_atom *of = &g->contact.a;
    const struct atom *atom = &a->sys->atoms[of->atom];
    const int state = fabs(of->charge[1]) > fabs(of->charge[0]);
    double first[LAMBDA_COUNT];
    struct buf instead = {0};
    const int n = windows_between(a, &g->contact, al->lambda[g->window], al->lambda[g->window + 1], first);
    buf_printf(&instead, "at least %d %s between them, the first at ", n, number_word(n, "window", "windows"));
    put_window(a, first, &instead);
    put_other_path(a, g, &instead);
    buf_printf(&instead, ". `shoal ladder %s` has short pilots place all windows, as ladder: auto does in a campaign",
               a->s->file);
    advice_say(
        a, "ladder", a->s->alchemy_line,
        "alchemy.windows: windows %d and %d%s will hardly overlap. Atom %d (%s, molecule type %s) has a charge of "
        "%+.2g e in state %c%s, and its contact with the solvent changes so much from one window to the next that "
        "this contact alone leaves an overlap of about %.1g; results need %g. Expected %s",
        g->window, g->window + 1, count > 1 ? ", and others," : "", of->atom + 1, atom->name,
        a->sys->kinds[a->sys->molecules[atom->molecule].kind].name, of->charge[state], "AB"[state],
        is_bare(a, of, state) ? " and no Lennard-Jones of its own" : "", g->overlap, OVERLAP, instead.data);
    buf_free(&instead);
}

void advise_gaps(const struct advising *a)
{
    const struct alchemy_settings *al = &a->s->settings.alchemy;
    struct gap worst = {.overlap = OVERLAP_SAID};
    struct gap_atom b[2], w[2];
    int count = 0;
    /* Nobody samples what is between for long. */
    const bool passing = a->s->walkers || a->s->ladder.automatic;
    if (al->nwindows < 2 || al->temper.nmolecules || passing)
        return;
    bool *wide = xcalloc((size_t)al->nwindows, sizeof *wide);
    find_partners(a, b, w);
    for (int i = 0, looked = 0; i < a->sys->natoms && looked < ATOMS_MOST; i++) {
        struct contact c = {.a = atom_of(a, i)};
        if (!changes(&c.a))
            continue;
        looked++;
        const bool positive = c.a.charge[fabs(c.a.charge[1]) > fabs(c.a.charge[0])] > 0;
        c.x = holder_of(a, i);
        c.b = b[positive];
        c.w = w[positive];
        find_gaps(a, &c, wide, &worst);
    }
    for (int k = 0; k + 1 < al->nwindows; k++)
        count += wide[k];
    if (count)
        say_gap(a, &worst, count);
    free(wide);
}
