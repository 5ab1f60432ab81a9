/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles of all repeats together: bin by bin the mean over the repeats, with the error that result/repeats.c gives
 * every number, from their own errors and their spread. So that bins can be compared, repeats have theirs in line
 * (profile.c), and free energies are those less that of one bin, the same in all.
 */
#include <limits.h>
#include <stdlib.h>

#include "engine/base/json/json_writer.h"
#include "engine/estimate/profiles/profiles.h"

/* The profile of a repeat; NULL: it has none that counts. */
static const struct free_energy_profile *profile_of(const struct result *x, int k)
{
    const bool is = k < x->nprofiles && x->profiles[k].solved;
    return is && x->estimators[ESTIMATOR_MBAR].verdict.kind != VERDICT_FAILED ? &x->profiles[k] : NULL;
}

/* A bin by its place among those in line; NULL: the profile has no rows there. */
static struct profile_bin *bin_at(const struct free_energy_profile *p, int place)
{
    return p && place >= p->first && place < p->first + p->n ? &p->bins[place - p->first] : NULL;
}

/* ---- the bin that all others are measured from ---- */

/* Whether every repeat that counts has a free energy of it. */
static bool all_have(const struct report *r, int k, int place)
{
    for (int i = 0; i < r->nrepeats; i++) {
        const struct free_energy_profile *p = profile_of(&r->repeats[i], k);
        const struct profile_bin *bin = bin_at(p, place);
        if (p && (!bin || bin->state < 0))
            return false;
    }
    return true;
}

/* The free energy of one bin less that of another, summed over the repeats, which all have both. */
static double difference(const struct report *r, int k, int from, int to)
{
    double sum = 0;
    for (int i = 0; i < r->nrepeats; i++) {
        const struct free_energy_profile *p = profile_of(&r->repeats[i], k);
        if (p)
            sum += p->solution.g[bin_at(p, to)->state] - p->solution.g[bin_at(p, from)->state];
    }
    return sum;
}

/* The lowest on average of those that every repeat has; INT_MAX: there is none. */
static int lowest_bin(const struct report *r, int k, const struct free_energy_profile *joint)
{
    int lowest = INT_MAX;
    for (int place = joint->first; place < joint->first + joint->n; place++)
        if (all_have(r, k, place) && (lowest == INT_MAX || difference(r, k, lowest, place) < 0))
            lowest = place;
    return lowest;
}

/* ---- the profile ---- */

/* From the first to the last bin of any repeat, with the rows of all. False: no repeat counts. */
static bool join_bins(const struct report *r, int k, struct free_energy_profile *joint)
{
    int first = INT_MAX, last = INT_MIN;
    for (int i = 0; i < r->nrepeats; i++) {
        const struct free_energy_profile *p = profile_of(&r->repeats[i], k);
        if (!p)
            continue;
        first = p->first < first ? p->first : first;
        last = p->first + p->n - 1 > last ? p->first + p->n - 1 : last;
        *joint = (struct free_energy_profile){.coordination = k, .from = p->from, .width = p->width};
    }
    if (last < first)
        return false;
    profile_bins(joint, first, last, r->ladder->nstates);
    for (int i = 0; i < r->nrepeats; i++)
        for (int place = first; place <= last; place++) {
            const struct profile_bin *bin = bin_at(profile_of(&r->repeats[i], k), place);
            for (int w = 0; bin && w < r->ladder->nstates; w++)
                joint->bins[place - first].rows[w] += bin->rows[w];
        }
    return true;
}

/* Free energies of one repeat's bins less that of a bin, with MBAR's errors. */
static void measure_repeat(const struct result *x, const struct free_energy_profile *p, int from)
{
    for (int b = 0; b < p->n; b++) {
        struct profile_bin *bin = &p->bins[b];
        if (bin->state < 0)
            continue;
        bin->f = (struct range){.from = bin_at(p, from)->state, .to = bin->state};
        solution_range(&p->solution, &bin->f);
        bin->f.verdict = (int)x->estimators[ESTIMATOR_MBAR].verdict.kind;
    }
}

static const struct range *range_of(const struct result *x, int k, int place)
{
    static const struct range none;
    const struct profile_bin *bin = bin_at(profile_of(x, k), place);
    return bin ? &bin->f : &none;
}

static void join(struct report *r, int k, struct free_energy_profile *joint)
{
    if (!join_bins(r, k, joint))
        return;
    const int lowest = lowest_bin(r, k, joint);
    if (lowest == INT_MAX) {
        result_warn(r->repeats, "no profile along coordination %d: there is no bin of which all repeats have rows",
                    k + 1);
        return;
    }
    for (int i = 0; i < r->nrepeats; i++) {
        const struct free_energy_profile *p = profile_of(&r->repeats[i], k);
        if (p)
            measure_repeat(&r->repeats[i], p, lowest);
    }
    for (int b = 0; b < joint->n; b++)
        repeats_combine(r, &joint->bins[b].f, range_of, k, joint->first + b);
}

void report_profiles(struct report *r)
{
    for (int i = 0; i < r->nrepeats; i++)
        r->nprofiles = r->repeats[i].nprofiles > r->nprofiles ? r->repeats[i].nprofiles : r->nprofiles;
    r->profiles = xcalloc((size_t)r->nprofiles + 1, sizeof *r->profiles);
    for (int k = 0; k < r->nprofiles; k++)
        join(r, k, &r->profiles[k]);
}

/* ---- results.json ---- */

static void write_repeats(struct writer *w, const struct report *r, int k, int place)
{
    if (r->nrepeats < 2) {
        jw_null(w, "repeats");
        return;
    }
    jw_begin(w, "repeats", '[');
    for (int i = 0; i < r->nrepeats; i++) {
        const struct range *f = range_of(&r->repeats[i], k, place);
        if (f->ok)
            jw_energy(w, NULL, r->ladder->beta, f->value, f->error);
        else
            jw_null(w, NULL);
    }
    jw_end(w, ']');
}

static void write_bin(struct writer *w, const struct report *r, const struct free_energy_profile *p, int b)
{
    const struct profile_bin *bin = &p->bins[b];
    size_t rows = 0;
    for (int k = 0; k < r->ladder->nstates; k++)
        rows += bin->rows[k];
    jw_begin(w, NULL, '{');
    jw_real(w, "from", p->from + (p->first + b) * p->width);
    jw_real(w, "to", p->from + (p->first + b + 1) * p->width);
    jw_integer(w, "rows", rows);
    jw_begin(w, "rows_of_windows", '[');
    for (int k = 0; k < r->ladder->nstates; k++)
        jw_integer(w, NULL, bin->rows[k]);
    jw_end(w, ']');
    jw_energy(w, "free_energy", r->ladder->beta, bin->f.value, bin->f.error);
    jw_text(w, "verdict", verdict_words[bin->f.verdict]);
    write_repeats(w, r, p->coordination, p->first + b);
    jw_end(w, '}');
}

void profiles_write(struct writer *w, const struct report *r)
{
    const enum verdict_kind verdict = report_whole(r)->estimators[ESTIMATOR_MBAR].verdict.kind;
    if (!r->repeats->wants_profiles)
        return;
    jw_begin(w, "profiles", '[');
    for (int k = 0; k < r->nprofiles; k++) {
        const struct free_energy_profile *p = &r->profiles[k];
        bool any = false;
        for (int b = 0; b < p->n; b++)
            any = any || p->bins[b].f.ok;
        if (!any)
            continue;
        jw_begin(w, NULL, '{');
        jw_integer(w, "coordination", (size_t)k + 1);
        jw_text(w, "verdict", verdict_words[verdict]);
        jw_begin(w, "bins", '[');
        for (int b = 0; b < p->n; b++)
            if (p->bins[b].f.ok)
                write_bin(w, r, p, b);
        jw_end(w, ']');
        jw_end(w, '}');
    }
    jw_end(w, ']');
}
