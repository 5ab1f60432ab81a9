/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/observe/observe.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/number.h"
#include "engine/math/box.h"
#include "engine/observe/kinds.h"
#include "engine/observe/lags.h"
#include "engine/observe/verdict.h"

#define CUBE 1e-5 /* relative difference of edges */

const struct observe_kind *const observe_kinds[OBSERVE_KINDS] = {
#define OBSERVABLE(KIND, word, launch) [OBSERVE_##KIND] = &word##_kind,
#include "engine/system/observables.def"
};

/* ---- on a device ---- */

int observe_check(const struct observable *o, const struct system *sys, struct err *e)
{
    const struct observe_kind *kind = observe_kinds[o->kind];
    return kind->check ? kind->check(o, sys, e) : 0;
}

size_t observe_bytes(const struct observable *o)
{
    const struct observe_size size = observe_kinds[o->kind]->size(o);
    return sizeof(struct observed) + OBSERVE_BLOCKS * (size.counts + size.reals) * sizeof(double) +
           (size.state + 7) / 8 * 8;
}

static void most_edges(const struct observable *o, const struct system *sys, double edge[3])
{
    for (int d = 0; d < 3; d++)
        edge[d] = INFINITY;
    if (observe_kinds[o->kind]->most_edges)
        observe_kinds[o->kind]->most_edges(o, sys, edge);
}

const struct observe_table *observe_put(const struct observable *o, const struct system *sys, const void *plan,
                                        struct arena *a)
{
    const struct observe_kind *kind = observe_kinds[o->kind];
    const struct observe_size size = kind->size(o);
    struct observe_table t = {.every = o->every,
                              .sampled = kind->needs_sample,
                              .counts = size.counts,
                              .reals = size.reals,
                              .least_width = kind->least_width ? kind->least_width(o) : 0,
                              .own = kind->put(o, sys, plan, a)};
    most_edges(o, sys, t.most_edge);
    for (int g = 0; g < o->ngroups; g++) {
        t.natoms[g] = (uint32_t)o->group[g].n;
        t.atom[g] =
            arena_put_named(a, "atoms of an observable", o->group[g].atom, (size_t)o->group[g].n * sizeof(int32_t));
    }
    return arena_put_named(a, "an observable", &t, sizeof t);
}

static bool is_cube(const double box[BOX_SIZE])
{
    return !box_triclinic(box) && fabs(box[BOX_YY] - box[BOX_XX]) < CUBE * box[BOX_XX] &&
           fabs(box[BOX_ZZ] - box[BOX_XX]) < CUBE * box[BOX_XX];
}

int observe_check_box(const struct observable *o, const struct system *sys, const double box[BOX_SIZE], struct err *e)
{
    const struct observe_kind *kind = observe_kinds[o->kind];
    double least = kind->least_width ? kind->least_width(o) : 0, width = box_least_width(box);
    if (kind->needs_cube && kind->needs_cube(o) && !is_cube(box))
        return err_set(e, ERR_SPEC,
                       "%s: viscosity: the correction to an infinite box is that of a cubic one; the box is none",
                       o->name);
    double edge[3], most[3];
    if (width < least)
        return err_set(e, ERR_SPEC, "%s: a box %.6g nm wide: expected at least twice max, %.6g nm", o->name, width,
                       least);
    box_edges(box, edge);
    most_edges(o, sys, most);
    for (int d = 0; d < 3; d++)
        if (edge[d] > most[d])
            return err_set(e, ERR_SPEC,
                           "%s: a box with an edge of %.6g nm: its grid, by the box of the coordinates, is for %.6g nm",
                           o->name, edge[d], most[d]);
    return 0;
}

struct observe_result observe_result(const struct system *sys, const struct observable *o, const void *bytes)
{
    return (struct observe_result){sys, o, observe_kinds[o->kind]->size(o), bytes};
}

/* ---- as text ---- */

/* Nothing was added after a frame that does not fit. */
static void add_narrow(const struct observe_result *r, struct buf *out, const char *before, const char *after)
{
    const struct observed *s = r->seen;
    if (s->narrow)
        buf_printf(out, "%sended at step %lld, where the box was %.6g nm wide%s", before, (long long)s->narrow_step,
                   s->narrow_width, after);
}

void observe_file(const struct observe_result *r, struct buf *out)
{
    const struct observed *s = r->seen;
    buf_printf(out, "# %s.xvg, written by Shoal\n# %lld %s\n", r->o->name, (long long)s->frames,
               number_word(s->frames, "frame", "frames"));
    add_narrow(r, out, "# ", "\n");
    if (s->frames)
        observe_kinds[r->o->kind]->file(r, out);
}

/* What it came to, in a few words; nothing where nothing happened yet. */
static void summarize(const struct observe_result *r, struct buf *out)
{
    if (r->seen->frames)
        observe_kinds[r->o->kind]->summary(r, out);
    add_narrow(r, out, out->len ? "; " : "", "");
}

void observe_json(const struct observe_result *r, bool curves, struct writer *w)
{
    const struct observed *s = r->seen;
    struct buf summary = {0};
    summarize(r, &summary);
    jw_text(w, "name", r->o->name);
    jw_text(w, "kind", observable_words[r->o->kind]);
    jw_integer(w, "frames", (size_t)s->frames);
    jw_text(w, "summary", summary.data);
    jw_integer(w, "blocks", (size_t)observe_full_blocks(r));
    jw_integer(w, "frames_per_block", (size_t)s->per_block);
    if (s->narrow) {
        jw_integer(w, "ended_at_step", (size_t)s->narrow_step);
        jw_real(w, "ended_box_width_nm", s->narrow_width);
    }
    jw_begin(w, "groups", '[');
    for (int g = 0; g < r->o->ngroups; g++) {
        jw_begin(w, NULL, '{');
        jw_text(w, "selection", r->o->group[g].label);
        jw_integer(w, "atoms", (size_t)r->o->group[g].n);
        jw_end(w, '}');
    }
    jw_end(w, ']');
    observe_verdict_json(observe_kinds[r->o->kind], r, w);
    if (s->frames)
        observe_kinds[r->o->kind]->json(r, curves, w);
    buf_free(&summary);
}

/* "; unconverged: its error is from 2 blocks, below 5: it needs longer". Why there is no number its own line says. */
static void add_verdict(const struct observe_result *r, struct buf *out)
{
    const struct observe_verdict v = observe_verdict(observe_kinds[r->o->kind], r);
    buf_printf(out, "; %s", v.word);
    for (int i = 0; i < v.n && v.number; i++)
        buf_printf(out, "%s%s", i ? "; " : ": ", v.reason[i].text);
}

void observe_line(const struct observe_result *r, struct buf *out)
{
    const struct observed *s = r->seen;
    struct buf summary = {0};
    summarize(r, &summary);
    buf_printf(out, "%s: %lld %s%s%s", r->o->name, (long long)s->frames, number_word(s->frames, "frame", "frames"),
               summary.len ? "; " : "", summary.len ? summary.data : "");
    add_verdict(r, out);
    buf_printf(out, "\n");
    buf_free(&summary);
}
