/* SPDX-License-Identifier: Apache-2.0
 *
 * What results.json says that the estimate means, and what is to be added to it.
 */
#include <math.h>

#include "engine/base/json/json_writer.h"
#include "engine/estimate/output/output.h"

#define CHARGE_NOISE 1e-6 /* e, of sums over rounded charges */

static double lambda_at(const struct ladder *l, int window, enum lambda component)
{
    for (int c = 0; c < l->ncomponents; c++)
        if (l->component[c] == component)
            return l->lambda[window * l->ncomponents + c];
    return 0;
}

/* The free energy of solvation is minus the estimate when the path runs from fully coupled to fully decoupled and the
 * molecule's inner pairs stay (couple-intramol = no): the last window is then the molecule in vacuum beside the
 * solvent. Where restraints hold it there it is a leg of binding. */
static void solvation(struct writer *w, const struct report *r, const struct range *total)
{
    const struct ladder *l = r->ladder;
    int last = l->nstates - 1;
    bool whole = lambda_at(l, 0, LAMBDA_COULOMB) == 0 && lambda_at(l, 0, LAMBDA_VDW) == 0 &&
                 lambda_at(l, last, LAMBDA_COULOMB) == 1 && lambda_at(l, last, LAMBDA_VDW) == 1;
    if (!total || !l->molecule || !whole || r->held) {
        jw_null(w, "solvation");
        return;
    }
    jw_begin(w, "solvation", '{');
    jw_text(w, "molecule", l->molecule);
    jw_text(w, "meaning", "from vacuum into the surroundings: minus the estimate, which takes the molecule out");
    jw_energy(w, "free_energy", l->beta, -total->value, total->error);
    jw_text(w, "verdict", verdict_words[total->verdict]);
    jw_end(w, '}');
}

/* Whether every component that changes goes from one end to the other, and one of these is more than restraints. */
static bool goes(const struct ladder *l, double from, double to)
{
    const double *first = l->lambda, *last = first + (l->nstates - 1) * l->ncomponents;
    bool all = true, any = false;
    for (int c = 0; c < l->ncomponents; c++) {
        const bool moves = first[c] != last[c];
        any |= moves && l->component[c] != LAMBDA_RESTRAINT;
        all &= !moves || (first[c] == from && last[c] == to);
    }
    return any && all;
}

/* B states from the first window to the last. */
static void change(struct writer *w, const struct report *r)
{
    const struct ladder *l = r->ladder;
    const bool forwards = goes(l, 0, 1), backwards = goes(l, 1, 0);
    if (!l->b_states || (!forwards && !backwards)) {
        jw_null(w, "change");
        return;
    }
    jw_begin(w, "change", '{');
    jw_text(w, "from", forwards ? "A" : "B");
    jw_text(w, "to", forwards ? "B" : "A");
    jw_text(w, "meaning",
            "the estimate is of this change in these surroundings; a relative free energy of binding or solvation is "
            "its difference between two surroundings");
    jw_end(w, '}');
}

static void exactly(struct writer *w, const char *key, const struct ladder *l, double kj)
{
    jw_energy(w, key, l->beta, kj * l->beta, 0);
}

static void standard_state(struct writer *w, const struct report *r)
{
    const struct estimate_held *h = r->held;
    if (!h) {
        jw_null(w, "standard_state");
        return;
    }
    jw_begin(w, "standard_state", '{');
    jw_begin(w, "molecules", '[');
    jw_text(w, NULL, h->molecule[0]);
    jw_text(w, NULL, h->molecule[1]);
    jw_end(w, ']');
    jw_text(
        w, "meaning",
        "the estimate does not have it: estimate + correction is to, or from, the molecule at 1 mol/l; binding is the "
        "leg that takes the ligand out of water, less estimate + correction of the leg that takes it out of its site");
    jw_integer(w, "window", (size_t)h->state.window);
    jw_integer(w, "terms", (size_t)h->state.nterms);
    jw_text(w, "other_end", h->state.both ? "held" : "free");
    jw_quantity(w, "volume", h->state.volume, "nanometer ** 3");
    exactly(w, "release", r->ladder, h->state.release);
    exactly(w, "correction", r->ladder, h->state.correction);
    jw_end(w, '}');
}

static void finite_size(struct writer *w, const struct report *r)
{
    const struct finite_size *f = r->finite_size;
    if (!f) {
        jw_null(w, "finite_size");
        return;
    }
    jw_begin(w, "finite_size", '{');
    jw_text(
        w, "meaning",
        "the estimate does not have it: estimate + correction is without interactions of the net charge with the box's "
        "images, but for the terms that are missing");
    jw_begin(w, "charges", '[');
    for (int end = 0; end < 2; end++) {
        jw_item(w, NULL);
        jw_number(w->out, fabs(f->charge[end]) < CHARGE_NOISE ? 0 : f->charge[end]);
    }
    jw_end(w, ']');
    jw_quantity(w, "edge", f->edge, "nanometer");
    jw_real(w, "dielectric", f->dielectric);
    exactly(w, "net", r->ladder, f->net);
    exactly(w, "usv", r->ladder, f->usv);
    exactly(w, "correction", r->ladder, f->net + f->usv);
    jw_begin(w, "missing", '[');
    jw_text(w, NULL, "RIP: needs a Poisson-Boltzmann calculation of the solutes' shape");
    jw_text(w, NULL, "EMP: needs the same");
    jw_text(w, NULL, "DSC: needs the quadrupole trace of the solvent model and the number of its molecules");
    jw_end(w, ']');
    jw_end(w, '}');
}

void report_meaning(struct writer *w, const struct report *r, const struct range *total)
{
    solvation(w, r, total);
    change(w, r);
    standard_state(w, r);
    finite_size(w, r);
}
