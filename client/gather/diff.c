/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows two gathered campaigns have in common, and how they differ. Pure.
 */
#include "client/gather/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "engine/base/json/number_json.h"

static struct number number_of(const json_t *energy)
{
    const json_t *kj = json_object_get(energy, "kJ/mol");
    return (struct number){number_from_json(json_object_get(kj, "value")),
                           number_from_json(json_object_get(kj, "error"))};
}

/* `sign` -1: of an edge that goes the other way. */
static struct diff_side side_of(const json_t *one, int sign)
{
    struct diff_side s = {.there = one != NULL,
                          .number = number_of(json_object_get(one, "free_energy")),
                          .verdict = answer_text(one, "verdict"),
                          .so_far = json_is_true(json_object_get(one, "so_far"))};
    s.number.value *= sign;
    return s;
}

static struct diff_row *add(struct diff *d, const char *kind, const json_t *item)
{
    struct diff_row *r = &d->rows[d->nrows++];
    *r = (struct diff_row){.kind = kind, .ligand_j = answer_text(item, "ligand_j"), .leg = ""};
    r->name = answer_text(item, *r->ligand_j ? "ligand_i" : "system");
    return r;
}

static const json_t *find(const json_t *list, const char *key, const char *value)
{
    const json_t *one;
    size_t i;
    json_array_foreach (list, i, one)
        if (!strcmp(answer_text(one, key), value))
            return one;
    return NULL;
}

/* The same edge; *sign -1: the other way round. */
static const json_t *find_edge(const json_t *edges, const json_t *edge, int *sign)
{
    const char *i = answer_text(edge, "ligand_i"), *j = answer_text(edge, "ligand_j");
    const json_t *one;
    size_t k;
    json_array_foreach (edges, k, one) {
        const char *a = answer_text(one, "ligand_i"), *b = answer_text(one, "ligand_j");
        *sign = strcmp(a, i) != 0 ? -1 : 1;
        if (*sign > 0 ? !strcmp(b, j) : !strcmp(a, j) && !strcmp(b, i))
            return one;
    }
    return NULL;
}

/* The same edge or system of another campaign. */
static const json_t *find_item(const json_t *items, const json_t *item, bool edges, int *sign)
{
    *sign = 1;
    return edges ? find_edge(items, item, sign) : find(items, "system", answer_text(item, "system"));
}

static void add_legs(struct diff *d, const json_t *first, const json_t *second, int sign)
{
    const json_t *legs[2] = {json_object_get(first, "legs"), json_object_get(second, "legs")}, *leg;
    size_t i;
    json_array_foreach (legs[0], i, leg) {
        struct diff_row *r = add(d, "leg", first);
        r->leg = answer_text(leg, "leg");
        r->side[0] = side_of(leg, 1);
        r->side[1] = side_of(find(legs[1], "leg", r->leg), sign);
    }
    json_array_foreach (legs[1], i, leg)
        if (!find(legs[0], "leg", answer_text(leg, "leg"))) {
            struct diff_row *r = add(d, "leg", first);
            r->leg = answer_text(leg, "leg");
            r->side[0] = side_of(NULL, 1);
            r->side[1] = side_of(leg, sign);
        }
}

static void add_rows(struct diff *d, const char *member, bool edges)
{
    const json_t *first = json_object_get(d->campaigns[0], member), *second = json_object_get(d->campaigns[1], member),
                 *item, *other;
    const char *kind = edges ? "edge" : "system";
    struct diff_row *r;
    int sign;
    size_t i;
    json_array_foreach (first, i, item) {
        other = find_item(second, item, edges, &sign);
        if (other)
            add_legs(d, item, other, sign);
        r = add(d, kind, item);
        r->side[0] = side_of(item, 1);
        r->side[1] = side_of(other, sign);
    }
    json_array_foreach (second, i, item)
        if (!find_item(first, item, edges, &sign)) {
            r = add(d, kind, item);
            r->side[0] = side_of(NULL, 1);
            r->side[1] = side_of(item, 1);
        }
}

/* Rows that these edges or systems can become, with all legs. */
static size_t most_rows(const json_t *items)
{
    const json_t *item;
    size_t i, n = 0;
    json_array_foreach (items, i, item)
        n += 1 + json_array_size(json_object_get(item, "legs"));
    return n;
}

void diff_make(struct diff *d, const json_t *first, const json_t *second)
{
    static const char *const members[] = {"edges", "systems"};
    *d = (struct diff){.campaigns = {first, second}};
    size_t most = 1;
    for (int k = 0; k < 2; k++)
        most += most_rows(json_object_get(first, members[k])) + most_rows(json_object_get(second, members[k]));
    d->rows = xcalloc(most, sizeof *d->rows);
    for (int k = 0; k < 2; k++)
        add_rows(d, members[k], k == 0);
}

void diff_free(struct diff *d)
{
    free(d->rows);
}

struct number diff_of(const struct diff_row *r)
{
    const struct number a = r->side[0].number, b = r->side[1].number;
    return (struct number){b.value - a.value, hypot(a.error, b.error)};
}

double diff_in_errors(const struct diff_row *r)
{
    const struct number x = diff_of(r);
    return x.error > 0 ? fabs(x.value) / x.error : NAN;
}

bool diff_verdict_changed(const struct diff_row *r)
{
    return r->side[0].there && r->side[1].there && strcmp(r->side[0].verdict, r->side[1].verdict) != 0;
}
