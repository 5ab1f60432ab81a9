/* SPDX-License-Identifier: Apache-2.0
 *
 * Observables: what the spec says of them, and their atoms in a system.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"

#define BINS_MOST 100000
#define VACF_RESTART 0.1 /* ps */

static int read_groups(struct reader *r, const struct spec *s, struct observable_choice *c, struct view between)
{
    char place[96];
    int rc = 0;
    observable_place(place, c, "between");
    c->of.ngroups = view_count(between);
    for (int g = 0; g < c->of.ngroups && !rc; g++)
        rc = selection_read(r, &c->group[g], view_item(between, g), place, s->index);
    return rc;
}

static int read_rdf(struct reader *r, const struct spec *s, struct observable_choice *c, struct view v)
{
    struct rdf_choice *rdf = &c->of.rdf;
    struct view max = view_key(v, "max"), bin = view_key(v, "bin");
    rdf->max = view_quantity(max).value;
    rdf->bin = view_quantity(bin).value;
    rdf->within = view_boolean(view_key(v, "within-molecules"));
    int rc = observable_bins(r, c, max, bin, BINS_MOST);
    return rc ? rc : read_groups(r, s, c, view_key(v, "between"));
}

/* Its only group, of the key `of`. */
static int read_of(struct reader *r, const struct spec *s, struct observable_choice *c, struct view v)
{
    char place[96];
    c->of.ngroups = 1;
    observable_place(place, c, "of");
    return selection_read(r, &c->group[0], view_key(v, "of"), place, s->index);
}

static int read_saxs(struct reader *r, const struct spec *s, struct observable_choice *c, struct view v)
{
    int rc = read_of(r, s, c, v);
    return rc ? rc : spec_read_saxs(r, c, v);
}

static int read_dielectric(struct reader *r, const struct spec *s, struct observable_choice *c, struct view v)
{
    c->of.dielectric.temperature = s->settings.integrator.temperature;
    if (view_given(view_key(v, "of")))
        return read_of(r, s, c, v);
    c->of.ngroups = 1;
    c->group[0].text = xstrdup("all atoms");
    c->group[0].line = v.node->line;
    return 0;
}

static int read_fit(struct reader *r, struct observable_choice *c, struct view fit)
{
    struct msd_choice *m = &c->of.msd;
    const double max = c->of.lags.max;
    char place[96];
    observable_place(place, c, "fit");
    m->fit[0] = 0.1 * max;
    m->fit[1] = 0.9 * max;
    for (int i = 0; i < view_count(fit); i++)
        m->fit[i] = view_quantity(view_item(fit, i)).value;
    if (m->fit[0] < m->fit[1] && m->fit[1] <= max)
        return 0;
    return spec_bad(r, fit, place,
                    "from %.10g to %.10g ps: expected a shorter lag, then a longer one, max (%.10g ps) at most",
                    m->fit[0], m->fit[1], max);
}

static void read_lags(struct observable_choice *c, struct view v)
{
    c->of.lags.max = view_quantity(view_key(v, "max")).value;
    c->of.lags.restart = view_quantity(view_key(v, "restart")).value;
    c->of.lags.molecules = view_choice(view_key(v, "by")) == 1;
    c->of.lags.center = view_boolean(view_key(v, "remove-center"));
}

static int read_vacf(struct reader *r, const struct spec *s, struct observable_choice *c, struct view v)
{
    read_lags(c, v);
    if (!view_given(view_key(v, "restart")))
        c->of.lags.restart = -VACF_RESTART;
    return read_of(r, s, c, v);
}

static int read_msd(struct reader *r, const struct spec *s, struct observable_choice *c, struct view v)
{
    struct msd_choice *m = &c->of.msd;
    read_lags(c, v);
    m->viscosity = view_quantity(view_key(v, "viscosity")).value;
    m->temperature = s->settings.integrator.temperature;
    int rc = read_fit(r, c, view_key(v, "fit"));
    return rc ? rc : read_of(r, s, c, v);
}

static int read_coordination(struct reader *r, const struct spec *s, struct observable_choice *c, struct view v)
{
    struct coordination_distribution *d = &c->of.coordination;
    struct view of = view_key(v, "of"), max = view_key(v, "max");
    char place[96];
    c->of.ngroups = view_given(view_key(of, "within")) ? 1 : 2;
    d->max = view_number(max);
    d->bin = view_number(view_key(v, "bin"));
    const double bins = rint(d->max / d->bin);
    observable_place(place, c, "max");
    if (bins < 1 || bins > BINS_MOST || fabs(d->max / d->bin - bins) > 1e-6 * bins)
        return spec_bad(r, max, place, "%.15g: expected a whole number of bins of %.15g, %d at most", d->max, d->bin,
                        BINS_MOST);
    observable_place(place, c, "of");
    return spec_read_coordination(r, &d->of, c->group, of, place, s->index);
}

static int make_coordination(const struct spec *s, const struct observable_choice *c, struct source *src,
                             struct observable *o, struct err *e)
{
    int rc = spec_check_coordination(&o->coordination.of, c->group, (int *const[2]){o->group[0].atom, o->group[1].atom},
                                     (const int[2]){o->group[0].n, o->group[1].n}, e);
    return rc ? err_prefix(e, "%s:%d: observables[%d].coordination.of", s->file, c->group[0].line, c->index) : 0;
}

/* read: the keys of a kind; NULL: it has only those of all kinds. make: what else a system has of it, when its atoms
 * are known. */
static const struct {
    int (*read)(struct reader *r, const struct spec *s, struct observable_choice *c, struct view v);
    int (*make)(const struct spec *s, const struct observable_choice *c, struct source *src, struct observable *o,
                struct err *e);
} kinds[OBSERVE_KINDS] = {[OBSERVE_RDF] = {read_rdf},
                          [OBSERVE_MSD] = {read_msd},
                          [OBSERVE_COORDINATION] = {read_coordination, make_coordination},
                          [OBSERVE_SAXS] = {read_saxs, spec_make_saxs},
                          [OBSERVE_DIELECTRIC] = {read_dielectric},
                          [OBSERVE_VACF] = {read_vacf}};

/* The name that it was given; or that of its kind, with a number where it is not the first without one. */
static int read_name(struct reader *r, const struct spec *s, struct observable_choice *c, struct view name)
{
    struct buf b = {0};
    char place[96];
    observable_place(place, c, "name");
    if (view_given(name) && (!strcmp(view_text(name), "energy") || !strcmp(view_text(name), "dhdl")))
        return spec_bad(r, name, place, "%s: %s.xvg is a file of every window; expected another name", view_text(name),
                        view_text(name));
    for (int n = 1; !b.len; n++) {
        buf_printf(&b, n > 1 && !view_given(name) ? "%s_%d" : "%s", view_given(name) ? view_text(name) : c->kind, n);
        for (int i = 0; i < c->index && b.len; i++) {
            if (strcmp(s->observables[i].of.name, b.data))
                continue;
            if (view_given(name)) {
                buf_free(&b);
                return spec_bad(r, name, place, "%s: observables[%d] has this name too", view_text(name), i);
            }
            b.len = 0;
        }
    }
    c->of.name = b.data;
    return 0;
}

static int read_observable(struct reader *r, const struct spec *s, struct observable_choice *c, struct view item)
{
    int rc = 0;
    char place[96];
    for (int k = 0; k < OBSERVE_KINDS && !rc; k++) {
        struct view v = view_key(item, observable_words[k]);
        if (!view_given(v))
            continue;
        c->of.kind = (enum observable_kind)k;
        c->kind = observable_words[k];
        rc = read_name(r, s, c, view_key(v, "name"));
        observable_place(place, c, "every");
        if (!rc)
            rc = spec_cycles_of(r, view_key(v, "every"), place, &c->of.every);
        c->of.interval = (double)c->of.every * r->timestep;
        if (!rc && kinds[k].read)
            rc = kinds[k].read(r, s, c, v);
    }
    return rc;
}

int spec_read_observables(struct reader *r, struct spec *s, struct view v)
{
    int rc = 0;
    s->observables = xcalloc((size_t)view_count(v), sizeof *s->observables);
    for (int i = 0; i < view_count(v) && !rc; i++) {
        s->observables[i].index = i;
        s->nobservables++;
        rc = read_observable(r, s, &s->observables[i], view_item(v, i));
    }
    return rc;
}

void spec_observables_close(struct spec *s)
{
    for (int i = 0; i < s->nobservables; i++) {
        for (int g = 0; g < OBSERVABLE_GROUPS; g++)
            selection_close(&s->observables[i].group[g]);
        observable_close(&s->observables[i].of);
    }
    free(s->observables);
}

/* ---- in a system ---- */

static int make_observed_groups(const struct spec *s, const struct observable_choice *c, struct source *src,
                                struct system *sys, struct observable *o, struct err *e)
{
    for (int g = 0; g < c->of.ngroups; g++) {
        struct atom_group *group = &o->group[g];
        int rc = selection_atoms(&c->group[g], s->index, src, sys, &group->atom, &group->n, e);
        if (rc == -ERR_MISSING_FILE)
            return rc;
        if (rc)
            return err_prefix(e, "%s:%d: observables[%d].%s: %s", s->file, c->group[g].line, c->index, c->kind,
                              c->group[g].text);
        group->label = xstrdup(c->group[g].text);
    }
    return 0;
}

int spec_make_observables(const struct spec *s, struct source *src, struct system *sys, struct err *e)
{
    int rc = 0;
    sys->observables = xcalloc((size_t)s->nobservables, sizeof *sys->observables);
    while (sys->nobservables < s->nobservables && !rc) {
        const struct observable_choice *c = &s->observables[sys->nobservables];
        struct observable *o = &sys->observables[sys->nobservables++];
        *o = c->of;
        o->name = xstrdup(c->of.name);
        o->saxs.background = (struct saxs_background){0};
        rc = make_observed_groups(s, c, src, sys, o, e);
        if (!rc && kinds[o->kind].make)
            rc = kinds[o->kind].make(s, c, src, o, e);
    }
    return rc;
}
