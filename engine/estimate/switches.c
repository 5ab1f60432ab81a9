/* SPDX-License-Identifier: Apache-2.0
 *
 * Free energies from files of works, or of dH/dlambda along switches.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/estimate/estimate.h"
#include "engine/estimate/output/output.h"
#include "engine/estimate/switching/switching.h"

static bool has_works_without_temperature(const struct switch_works *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (!(w->length[i] > 0))
            return true;
    return false;
}

/* That of the files, that which is given, or both where they are one. */
static int find_temperature(struct switching *s, double given, struct err *e)
{
    const struct switch_works *f = s->works + SWITCH_FORWARD, *b = s->works + SWITCH_BACKWARD;
    const struct switch_works *told = f->reported ? f : b;
    if (f->reported && b->reported && fabs(f->temperature - b->temperature) > 1e-6 * f->temperature)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: temperature %g K, but %s has %g K; expected switches at one temperature", b->reported,
                       b->temperature, f->reported, f->temperature);
    if (told->reported && given > 0 && fabs(given - told->temperature) > 1e-6 * given)
        return err_set(e, ERR_UNSUPPORTED, "%s: temperature %g K, but --temperature is %g", told->reported,
                       told->temperature, given);
    s->temperature = given > 0 ? given : told->temperature;
    const bool guess = !(given > 0) && (has_works_without_temperature(f) || has_works_without_temperature(b));
    if (!(s->temperature > 0) || guess)
        return err_set(e, ERR_USAGE, "files of works say no temperature: expected --temperature K");
    s->beta = 1 / (UNIT_R * s->temperature);
    return 0;
}

struct given_file {
    const char *path;
    int way;
};

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct given_file *)a)->path, ((const struct given_file *)b)->path);
}

/* Works that count twice would have too small an error, or be of both ways. */
static int check_names(const struct estimate_switches *q, struct err *e)
{
    struct given_file *files = xcalloc((size_t)(q->n[0] + q->n[1]), sizeof *files);
    int n = 0, rc = 0;
    for (int way = 0; way < SWITCH_WAYS; way++)
        for (int i = 0; i < q->n[way]; i++)
            files[n++] = (struct given_file){q->paths[way][i], way};
    qsort(files, (size_t)n, sizeof *files, by_path);
    for (int i = 1; i < n && !rc; i++)
        if (!by_path(files + i - 1, files + i))
            rc = err_set(e, ERR_UNSUPPORTED, "%s: given %s, expected once", files[i].path,
                         files[i - 1].way == files[i].way ? "twice" : "as forward and as backward");
    free(files);
    return rc;
}

/* Of walkers alone, whose switches may have become longer at one end before they did at the other. */
static bool has_length(const struct switch_works *w, double length)
{
    bool has = false;
    for (size_t i = 0; i < w->n; i++)
        has |= w->walker[i] && isfinite(w->w[i]) && works_of_length(w->length[i], length);
    return has && !w->slow_growth;
}

/* Crooks' relation is of one protocol that is run both ways. */
static int check_lengths(const struct switching *s, struct err *e)
{
    const double f = works_length(s->works + SWITCH_FORWARD), b = works_length(s->works + SWITCH_BACKWARD);
    const bool longer = f < b ? has_length(s->works + SWITCH_BACKWARD, f) : has_length(s->works + SWITCH_FORWARD, b);
    if (f > 0 && b > 0 && fabs(f - b) > 1e-6 * f && !longer)
        return err_set(e, ERR_UNSUPPORTED,
                       "forward switches last %g ps, backward ones %g ps: expected the same protocol both ways", f, b);
    return 0;
}

/* Files of one way under two names: the works are alike, or alike but for the sign that pmx gives them. */
static int check_ways(const struct switching *s, struct err *e)
{
    enum { ENOUGH = 4 }; /* by chance two are alike where works were rounded */
    const struct switch_works *f = s->works + SWITCH_FORWARD, *b = s->works + SWITCH_BACKWARD;
    bool alike = f->n >= ENOUGH && b->n >= ENOUGH;
    for (size_t i = 0; alike && i < ENOUGH; i++)
        alike = fabs(f->w[i]) == fabs(b->w[i]);
    if (alike)
        return err_set(e, ERR_UNSUPPORTED,
                       "forward and backward works begin with the same numbers: expected different switches each way");
    return 0;
}

static int read_all(const struct estimate_switches *q, struct switching *s, struct err *e)
{
    int rc = q->kt && !(q->temperature > 0) ? err_set(e, ERR_USAGE, "works in kT: expected --temperature K") : 0;
    if (!rc)
        rc = check_names(q, e);
    const double unit = q->kt ? UNIT_R * q->temperature : q->unit;
    for (enum switch_way way = 0; !rc && way < SWITCH_WAYS; way++)
        rc = works_read(s->works + way, q->paths[way], q->n[way], way, unit, e);
    if (!rc)
        rc = check_lengths(s, e);
    if (!rc)
        rc = check_ways(s, e);
    return rc ? rc : find_temperature(s, q->temperature, e);
}

int estimate_switches(const struct estimate_switches *q, struct buf *json, bool *answered, struct err *e)
{
    struct switching s = {0};
    int rc = read_all(q, &s, e);
    if (!rc) {
        switching_solve(&s);
        *answered = switches_write(&s, NULL, json);
    }
    switching_close(&s);
    return rc;
}
