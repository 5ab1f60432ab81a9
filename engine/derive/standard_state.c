/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/derive/standard_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/units.h"
#include "engine/math/potentials/rare.h"
#include "engine/system/rare_kinds.h"

#define FARTHEST 20.0   /* nm: what is not held closer than this is not held */
#define OUT_OF 1e-9     /* of the most likely, how likely FARTHEST may be */
#define INTERVALS 40000 /* of an integral; even */
#define PLACES 64       /* where a term is looked at, to see whether it is on */

/* c b a A B C: a term's atoms are some of these in a row, with a and A among them. */
enum { ANCHORS = 6, FIRST_A = 2 };

/* A term between molecules. rare: parameters of a potential of math/potentials/rare.h; NULL for k/2 (q - q0)^2, or,
 * periodic, for k (1 + cos(n q - q0)). */
struct held {
    int natoms, atom[4];
    double k, q0;
    bool periodic;
    int multiplicity;
    enum rare_kind kind;
    const double (*rare)[6];
    double lambda;
    const struct center_restraint *centers; /* its atoms are the first ones of groups; NULL: they are themselves */
    bool other;                             /* no function of one distance or angle that is known here */
    int from;                               /* anchor of its first atom, once that is known */
};

struct state_search {
    const struct system *sys;
    struct held *terms;
    int n, cap;
    int anchor[ANCHORS]; /* atoms; -1: not seen */
    int molecule[2];
};

static int molecule_of(const struct state_search *s, int atom)
{
    return s->sys->atoms[atom].molecule;
}

/* kJ/mol */
static double potential(const struct held *t, double q)
{
    if (t->rare)
        return rare_value(t->kind, q, t->rare, t->lambda).u;
    if (t->periodic)
        return t->k * (1 + cos(t->multiplicity * q - t->q0));
    double d = t->natoms == 4 ? remainder(q - t->q0, 2 * M_PI) : q - t->q0;
    return 0.5 * t->k * d * d;
}

/* Not in this window: nothing anywhere, but for a point where a term of any strength is 0. */
static bool acts(const struct held *t)
{
    bool some = t->other;
    for (int i = 1; i <= PLACES && !some; i++)
        some = potential(t, (t->natoms == 2 ? FARTHEST : M_PI) * i / PLACES) != 0;
    return some;
}

static void add(struct state_search *s, struct held term, const int *atoms)
{
    bool between = false;
    for (int i = 0; i < term.natoms; i++) {
        term.atom[i] = atoms[i];
        between = between || molecule_of(s, atoms[i]) != molecule_of(s, atoms[0]);
    }
    if (!between || !acts(&term))
        return;
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 8;
        s->terms = xrealloc(s->terms, (size_t)s->cap, sizeof *s->terms);
    }
    s->terms[s->n++] = term;
}

static double mixed(const double q[2], double lambda)
{
    return (1 - lambda) * q[0] + lambda * q[1];
}

static void add_harmonic(struct state_search *s, const int *atoms, int natoms, const double k[2], const double q0[2],
                         double lambda)
{
    add(s, (struct held){.natoms = natoms, .k = mixed(k, lambda), .q0 = mixed(q0, lambda)}, atoms);
}

static void collect(struct state_search *s, double bonded, double restraint)
{
    const struct system *sys = s->sys;
    for (int i = 0; i < sys->nbonds; i++)
        add_harmonic(s, sys->bonds[i].atom, 2, sys->bonds[i].k, sys->bonds[i].r0, bonded);
    for (int i = 0; i < sys->nharmonics; i++)
        add_harmonic(s, sys->harmonics[i].atom, 2, sys->harmonics[i].k, sys->harmonics[i].r0, bonded);
    for (int i = 0; i < sys->nangles; i++) {
        const struct angle *a = &sys->angles[i];
        add(s,
            (struct held){
                .natoms = 3, .k = mixed(a->k, bonded), .q0 = mixed(a->theta0, bonded), .other = a->urey_bradley},
            a->atom);
    }
    for (int i = 0; i < sys->nrb_dihedrals; i++)
        add(s, (struct held){.natoms = 4, .other = true}, sys->rb_dihedrals[i].atom);
    for (int i = 0; i < sys->nimpropers; i++)
        add_harmonic(s, sys->impropers[i].atom, 4, sys->impropers[i].k, sys->impropers[i].xi0, bonded);
    for (int i = 0; i < sys->ndihedrals; i++) {
        const struct dihedral *d = &sys->dihedrals[i];
        add(s,
            (struct held){.natoms = 4,
                          .k = mixed(d->k, bonded),
                          .q0 = mixed(d->phi0, bonded),
                          .periodic = true,
                          .multiplicity = d->multiplicity},
            d->atom);
    }
    for (int i = 0; i < sys->nrare; i++) {
        const struct rare_term *t = &sys->rare[i];
        add(s,
            (struct held){.natoms = rare_kinds[t->kind].natoms,
                          .kind = (enum rare_kind)t->kind,
                          .rare = t->c,
                          .other = rare_kinds[t->kind].coordinate == RARE_OF_OTHER,
                          .lambda = rare_is_restraint(t->kind) ? restraint : bonded},
            t->atom);
    }
    for (int i = 0; i < sys->ncenters; i++) {
        const struct center_restraint *r = &sys->centers[i];
        const int atom[2] = {sys->center_atoms[r->first[0]].atom, sys->center_atoms[r->first[1]].atom};
        add(s,
            (struct held){
                .natoms = 2, .kind = RARE_DISTANCE_RESTRAINT, .rare = r->c, .lambda = restraint, .centers = r},
            atom);
    }
}

/* Whether a term keeps its atoms from going apart; a wall that keeps them from coming near does not. */
static bool holds(const struct held *t)
{
    return t->other || t->natoms > 2 || potential(t, FARTHEST) > 0;
}

static void molecules_of(const struct state_search *s, const struct held *t, int out[2])
{
    out[0] = out[1] = molecule_of(s, t->atom[0]);
    for (int i = 1; i < t->natoms; i++)
        if (molecule_of(s, t->atom[i]) != out[0])
            out[1] = molecule_of(s, t->atom[i]);
}

/* Walls that keep molecules apart, as a ligand and an ion that takes up its charge, hold nothing, where nothing else is
 * between the two. */
static void drop_walls(struct state_search *s)
{
    int n = 0;
    for (int k = 0; k < s->n; k++) {
        int own[2], other[2];
        bool kept = holds(&s->terms[k]);
        molecules_of(s, &s->terms[k], own);
        for (int i = 0; i < s->n && !kept; i++) {
            molecules_of(s, &s->terms[i], other);
            kept = holds(&s->terms[i]) &&
                   ((own[0] == other[0] && own[1] == other[1]) || (own[0] == other[1] && own[1] == other[0]));
        }
        if (kept)
            s->terms[n++] = s->terms[k];
    }
    s->n = n;
}

static const char *what_of(const struct held *t)
{
    return t->natoms == 2 ? "distance" : t->natoms == 3 ? "angle" : "dihedral";
}

/* The term's atoms from one molecule to the other, and so its anchors. */
static int anchor(struct state_search *s, struct held *t, struct err *e)
{
    int first = 0;
    if (molecule_of(s, t->atom[0]) != s->molecule[0])
        for (int i = 0; i < t->natoms / 2; i++) {
            int swapped = t->atom[i];
            t->atom[i] = t->atom[t->natoms - 1 - i];
            t->atom[t->natoms - 1 - i] = swapped;
        }
    while (first < t->natoms && molecule_of(s, t->atom[first]) == s->molecule[0])
        first++;
    t->from = FIRST_A + 1 - first;
    for (int i = 0; i < t->natoms; i++) {
        int molecule = molecule_of(s, t->atom[i]), *at = &s->anchor[t->from + i];
        if (molecule != s->molecule[i >= first])
            return err_set(e, ERR_UNSUPPORTED, "a %s alternates between receptor and ligand atoms", what_of(t));
        if (*at >= 0 && *at != t->atom[i])
            return err_set(
                e, ERR_UNSUPPORTED,
                "a %s has atom %d where another restraint has atom %d; expected one distance a-A, angles b-a-A "
                "and a-A-B, dihedrals c-b-a-A, b-a-A-B and a-A-B-C",
                what_of(t), t->atom[i] + 1, *at + 1);
        *at = t->atom[i];
    }
    return t->other ? err_set(e, ERR_UNSUPPORTED, "atom %d: a term of a form that is not known here", t->atom[0] + 1)
                    : 0;
}

static bool same_group(const struct state_search *s, const struct center_restraint *a, int g,
                       const struct center_restraint *b, int h)
{
    bool same = a->count[g] == b->count[h];
    for (uint32_t i = 0; i < a->count[g] && same; i++)
        same = s->sys->center_atoms[a->first[g] + i].atom == s->sys->center_atoms[b->first[h] + i].atom;
    return same;
}

/* The distance of two centers is a coordinate like that of two atoms, but says nothing of angles: it goes with others
 * of the same two groups alone, each of one molecule. */
static int check_centers(const struct state_search *s, struct err *e)
{
    const struct center_restraint *first = s->terms[0].centers;
    for (int k = 0; k < s->n; k++) {
        const struct center_restraint *r = s->terms[k].centers;
        if (!r != !first)
            return err_set(e, ERR_UNSUPPORTED, "restraints of centers beside restraints of atoms");
        if (!r)
            continue;
        if (!(same_group(s, r, 0, first, 0) && same_group(s, r, 1, first, 1)) &&
            !(same_group(s, r, 0, first, 1) && same_group(s, r, 1, first, 0)))
            return err_set(e, ERR_UNSUPPORTED, "restraints of centers of more than two groups");
        for (int g = 0; g < 2; g++)
            for (uint32_t i = 0; i < r->count[g]; i++) {
                const int atom = s->sys->center_atoms[r->first[g] + i].atom;
                if (molecule_of(s, atom) != molecule_of(s, s->sys->center_atoms[r->first[g]].atom))
                    return err_set(e, ERR_UNSUPPORTED, "a restraint of a center of several molecules (atom %d)",
                                   atom + 1);
            }
    }
    return 0;
}

static int anchor_all(struct state_search *s, struct err *e)
{
    molecules_of(s, &s->terms[0], s->molecule);
    bool distance = false;
    for (int k = 0; k < s->n; k++) {
        for (int i = 0; i < s->terms[k].natoms; i++) {
            int m = molecule_of(s, s->terms[k].atom[i]);
            if (m != s->molecule[0] && m != s->molecule[1])
                return err_set(e, ERR_UNSUPPORTED, "restraints between more than two molecules (atom %d)",
                               s->terms[k].atom[i] + 1);
        }
        int rc = anchor(s, &s->terms[k], e);
        if (rc)
            return rc;
        distance = distance || s->terms[k].natoms == 2;
    }
    return distance ? 0 : err_set(e, ERR_UNSUPPORTED, "no restraint of a distance between the two molecules");
}

/* A coordinate: the terms of so many atoms from that anchor on. */
static double energy_at(const struct state_search *s, int natoms, int from, double q)
{
    double u = 0;
    for (int k = 0; k < s->n; k++)
        if (s->terms[k].natoms == natoms && s->terms[k].from == from)
            u += potential(&s->terms[k], q);
    return u;
}

/* What a coordinate is weighed with: r^2, sin(theta), 1. */
static double weight(int natoms, double q)
{
    return natoms == 2 ? q * q : natoms == 3 ? sin(q) : 1;
}

/* The integral of a coordinate (Simpson); *edge: how likely its end is beside the most likely place. */
static double integral(const struct state_search *s, int natoms, int from, double rt, double *edge)
{
    const double begin = natoms == 4 ? -M_PI : 0, end = natoms == 2 ? FARTHEST : M_PI, step = (end - begin) / INTERVALS;
    double sum = 0, most = 0, w = 0;
    for (int i = 0; i <= INTERVALS; i++) {
        double q = begin + i * step;
        w = weight(natoms, q) * exp(-energy_at(s, natoms, from, q) / rt);
        sum += w * (i == 0 || i == INTERVALS ? 1 : i % 2 ? 4 : 2);
        most = fmax(most, w);
    }
    *edge = w / most;
    return sum * step / 3;
}

static int integrate(const struct state_search *s, double rt, struct standard_state *out, struct err *e)
{
    double edge, any, z = integral(s, 2, FIRST_A, rt, &edge);
    if (!(edge < OUT_OF))
        return err_set(
            e, ERR_UNSUPPORTED,
            "the restraint on atoms %d and %d is too weak to hold them: at %g nm its Boltzmann factor still matters",
            s->anchor[FIRST_A] + 1, s->anchor[FIRST_A + 1] + 1, FARTHEST);
    for (int from = FIRST_A - 1; from <= FIRST_A; from++)
        z *= integral(s, 3, from, rt, &any);
    for (int from = 0; from <= FIRST_A; from++)
        z *= integral(s, 4, from, rt, &any);
    out->volume = z / (8 * M_PI * M_PI);
    out->release = -rt * log(STANDARD_VOLUME / out->volume);
    return 1;
}

int standard_state_of(const struct system *sys, const struct settings *set, int window, struct standard_state *out,
                      struct err *e)
{
    const struct alchemy_settings *al = &set->alchemy;
    const double none[LAMBDA_COUNT] = {0}, *lambda = al->lambda ? al->lambda[window] : none;
    struct state_search s = {.sys = sys, .anchor = {-1, -1, -1, -1, -1, -1}};
    collect(&s, lambda[LAMBDA_BONDED], lambda[alchemy_ladder(al, LAMBDA_RESTRAINT)]);
    drop_walls(&s);
    int rc = s.n ? check_centers(&s, e) : 0;
    if (s.n && !rc)
        rc = anchor_all(&s, e);
    *out = (struct standard_state){.molecule = {s.molecule[0], s.molecule[1]}, .nterms = s.n, .window = window};
    if (s.n && !rc)
        rc = integrate(&s, UNIT_R * set->integrator.temperature, out, e);
    free(s.terms);
    return rc;
}

/* ---- of a ladder ---- */

static bool has_charges(const struct system *sys, int molecule)
{
    const struct molecule *m = &sys->molecules[molecule];
    bool some = false;
    for (int i = m->first; i < m->first + m->count; i++)
        some = some || sys->atoms[i].charge[0] != 0;
    return some;
}

static bool is_off(const struct alchemy_settings *al, const struct decoupled *d, int window, bool charged)
{
    const double *l = al->lambda[window], at[2] = {l[LAMBDA_VDW], l[LAMBDA_COULOMB]};
    const unsigned part[2] = {COUPLED_VDW, COUPLED_CHARGE};
    for (int i = 0; i < (charged ? 2 : 1); i++)
        if ((at[i] < 1 && d->on[0] & part[i]) || (at[i] > 0 && d->on[1] & part[i]))
            return false;
    return true;
}

/* Whether nothing but restraints may act between the two that are held in a window. */
static bool alone(const struct system *sys, const struct settings *set, const struct standard_state *s)
{
    const struct alchemy_settings *al = &set->alchemy;
    for (int i = 0; al->kind == ALCHEMY_DECOUPLE && i < al->ndecouple; i++)
        for (int k = 0; k < 2; k++)
            if (!strcmp(al->decouple[i].molecule, sys->kinds[sys->molecules[s->molecule[k]].kind].name) &&
                is_off(al, &al->decouple[i], s->window, has_charges(sys, s->molecule[k])))
                return true;
    return al->kind != ALCHEMY_DECOUPLE && !al->temper.nmolecules;
}

int standard_state_of_ladder(const struct system *sys, const struct settings *set, struct standard_state *out,
                             struct err *e)
{
    const int last = set->alchemy.nwindows - 1, ends = last ? 2 : 1;
    struct standard_state end[2];
    struct err why[2] = {0};
    int rc[2] = {0};
    *out = (struct standard_state){0};
    for (int i = 0; i < ends; i++)
        rc[i] = standard_state_of(sys, set, i ? 0 : last, &end[i], &why[i]);
    for (int i = 0; i < ends; i++) {
        if (!rc[i] || !alone(sys, set, &end[i]))
            continue;
        if (rc[i] < 0) {
            *e = why[i];
            return rc[i];
        }
        *out = end[i];
        out->both = rc[!i] != 0;
        out->correction = i ? -out->release : out->release;
        return 1;
    }
    return 0;
}
