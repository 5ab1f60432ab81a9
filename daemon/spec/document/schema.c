/* SPDX-License-Identifier: Apache-2.0
 *
 * A walk over tree and schema together; the first thing wrong in the order of the file is reported.
 */
#include "daemon/spec/document/schema.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/base/suggest.h"

extern const char ensemble_schema_text[];
extern const size_t ensemble_schema_text_len;

struct schema_walk {
    const json_t *root;
    const char *file;
    struct err *e;
};

/* Where we are: linked up the stack, printed as nonbonded.vdw.cutoff or protocol[2].produce. */
struct schema_place {
    const struct schema_place *up;
    const char *key; /* NULL: a list item */
    int index;
};

static void place_add(struct buf *b, const struct schema_place *p)
{
    if (!p)
        return;
    place_add(b, p->up);
    if (p->key)
        buf_printf(b, "%s%s", p->up ? "." : "", p->key);
    else
        buf_printf(b, "[%d]", p->index);
}

/* A value as read, short and printable. */
static void shown_add(struct buf *b, const struct node *n)
{
    if (n->kind == NODE_MAP) {
        buf_printf(b, "a mapping");
        return;
    }
    if (n->kind == NODE_LIST) {
        buf_printf(b, "a list of %d", n->n);
        return;
    }
    if (node_is_null(n)) {
        buf_printf(b, "no value");
        return;
    }
    int left = 60;
    for (const char *c = n->text; *c && left; c++, left--)
        buf_printf(b, "%c", (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
    if (!left)
        buf_printf(b, "...");
}

/* file:line: place: value: expected (value left out when NULL). Takes over `expected`. */
static int fail_schema(struct schema_walk *w, enum err_code code, int line, const struct schema_place *p,
                       const struct node *value, struct buf *expected)
{
    struct buf b = {0};
    buf_printf(&b, "%s:%d: ", w->file, line);
    place_add(&b, p);
    if (p)
        buf_printf(&b, ": ");
    if (value) {
        shown_add(&b, value);
        buf_printf(&b, ": ");
    }
    int rc = err_set(w->e, code, "%s%s", b.data, expected->data ? expected->data : "");
    buf_free(&b);
    buf_free(expected);
    return rc;
}

static const char *text_of(const json_t *schema, const char *key)
{
    return json_string_value(json_object_get(schema, key));
}

static void range_add(struct buf *b, const json_t *schema, const char *lo, const char *xlo, const char *hi,
                      const char *unit)
{
    const json_t *from = json_object_get(schema, lo), *above = json_object_get(schema, xlo);
    const json_t *to = json_object_get(schema, hi);
    const char *gap = *unit ? " " : "";
    if (from && to)
        buf_printf(b, " from %.16g%s%s to %.16g%s%s", json_number_value(from), gap, unit, json_number_value(to), gap,
                   unit);
    else if (above && to)
        buf_printf(b, " above %.16g%s%s, at most %.16g%s%s", json_number_value(above), gap, unit, json_number_value(to),
                   gap, unit);
}

static void choices_add(struct buf *b, const json_t *choices)
{
    size_t n = 0, i = 0, k;
    const json_t *word;
    json_array_foreach (choices, k, word)
        n += json_is_string(word);
    json_array_foreach (choices, k, word)
        if (json_is_string(word)) {
            buf_printf(b, "%s%s", !i ? "" : i + 1 == n ? " or " : ", ", json_string_value(word));
            i++;
        }
}

static void keys_add(struct buf *b, const json_t *properties)
{
    const char *key;
    const json_t *schema, *last = NULL;
    json_object_foreach ((json_t *)properties, key, schema)
        if (!json_object_get(schema, "x-unsupported"))
            last = schema;
    bool first = true;
    json_object_foreach ((json_t *)properties, key, schema)
        if (!json_object_get(schema, "x-unsupported")) {
            buf_printf(b, "%s%s", first ? "" : schema == last ? " or " : ", ", key);
            first = false;
        }
}

/* Of several types the first: a number that may also be a word (x-word), a text that may also be a list or a mapping.
 * NULL for enums without one. */
static const char *type_of(const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    return json_string_value(json_is_array(type) ? json_array_get(type, 0) : type);
}

/* What a schema wants, in words: "expected a whole number from 4 to 6". */
static struct buf expected_of(const json_t *schema)
{
    struct buf b = {0};
    const json_t *choices = json_object_get(schema, "enum"),
                 *example = json_array_get(json_object_get(schema, "examples"), 0);
    const char *type = type_of(schema), *unit = text_of(schema, "x-unit"), *none = text_of(schema, "x-none");
    const char *word = text_of(schema, "x-word");
    buf_printf(&b, "expected ");
    if (unit) {
        buf_printf(&b, "a quantity");
        range_add(&b, schema, "x-minimum", "x-exclusive-minimum", "x-maximum", unit);
        buf_printf(&b, " (units: %s%s)", value_units(unit),
                   json_is_true(json_object_get(schema, "x-steps")) ? ", steps" : "");
        if (none)
            buf_printf(&b, " or %s", none);
    } else if (choices) {
        choices_add(&b, choices);
    } else if (!strcmp(type, "number") || !strcmp(type, "integer")) {
        buf_printf(&b, "%s", !strcmp(type, "number") ? "a number" : "a whole number");
        range_add(&b, schema, "minimum", "exclusiveMinimum", "maximum", "");
        if (word)
            buf_printf(&b, " or %s", word);
    } else if (!strcmp(type, "object")) {
        buf_printf(&b, json_is_true(json_object_get(schema, "x-open")) ? "a mapping" : "a mapping with ");
        keys_add(&b, json_object_get(schema, "properties"));
    } else if (!strcmp(type, "array")) {
        json_int_t lo = json_integer_value(json_object_get(schema, "minItems"));
        json_int_t hi = json_integer_value(json_object_get(schema, "maxItems"));
        if (lo == hi)
            buf_printf(&b, "a list of %lld %s", (long long)lo, number_word(lo, "value", "values"));
        else
            buf_printf(&b, "a list of %lld to %lld values", (long long)lo, (long long)hi);
    } else {
        buf_printf(&b, "text of %lld to %lld bytes",
                   (long long)json_integer_value(json_object_get(schema, "minLength")),
                   (long long)json_integer_value(json_object_get(schema, "maxLength")));
        if (text_of(schema, "pattern"))
            buf_printf(&b, " like %s", text_of(schema, "pattern"));
    }
    if (json_is_array(json_object_get(schema, "type")) && json_object_get(schema, "properties")) {
        buf_printf(&b, " or a mapping with ");
        keys_add(&b, json_object_get(schema, "properties"));
    }
    if (json_is_array(json_object_get(schema, "type")) && json_object_get(schema, "items"))
        buf_printf(&b, " or a list of %lld to %lld values",
                   (long long)json_integer_value(json_object_get(schema, "minItems")),
                   (long long)json_integer_value(json_object_get(schema, "maxItems")));
    if (json_is_string(example) && !choices)
        buf_printf(&b, ", such as %s", json_string_value(example));
    return b;
}

static int fail_value(struct schema_walk *w, const json_t *schema, const struct node *n, const struct schema_place *p,
                      const char *fault)
{
    struct buf b = {0}, expected = expected_of(schema);
    buf_printf(&b, "%s%s", fault, expected.data);
    buf_free(&expected);
    return fail_schema(w, ERR_SPEC, n->line, p, n, &b);
}

static bool in_range(const json_t *schema, double v, const char *lo, const char *xlo, const char *hi)
{
    const json_t *from = json_object_get(schema, lo), *above = json_object_get(schema, xlo);
    const json_t *to = json_object_get(schema, hi);
    return !(from && v < json_number_value(from)) && !(above && v <= json_number_value(above)) &&
           !(to && v > json_number_value(to));
}

static int check_quantity(struct schema_walk *w, const json_t *schema, const struct node *n,
                          const struct schema_place *p)
{
    const char *none = text_of(schema, "x-none");
    if (none && !strcmp(n->text, none))
        return 0;
    struct quantity q = {0};
    switch (value_quantity(n->text, text_of(schema, "x-unit"), json_is_true(json_object_get(schema, "x-steps")), &q)) {
    case QUANTITY_OK:
        break;
    case QUANTITY_NO_NUMBER:
        return fail_value(w, schema, n, p, "");
    case QUANTITY_NO_UNIT:
        return fail_value(w, schema, n, p, "no unit; ");
    case QUANTITY_WRONG_UNIT:
        return fail_value(w, schema, n, p, "unknown unit; ");
    }
    if (q.steps) {
        if (q.value >= 1 && q.value <= 1e12 && q.value == (double)(int64_t)q.value)
            return 0;
        struct buf b = {0};
        buf_printf(&b, "expected a whole number of steps from 1 to 1e12");
        return fail_schema(w, ERR_SPEC, n->line, p, n, &b);
    }
    if (!in_range(schema, q.value, "x-minimum", "x-exclusive-minimum", "x-maximum"))
        return fail_value(w, schema, n, p, "out of range; ");
    return 0;
}

static int check_enum(struct schema_walk *w, const json_t *schema, const struct node *n, const struct schema_place *p)
{
    bool yes;
    if (json_is_true(json_object_get(schema, "x-boolean")))
        return value_boolean(n->text, &yes) ? 0 : fail_value(w, schema, n, p, "");
    const json_t *choices = json_object_get(schema, "enum");
    const char *known[16];
    size_t count = 0, i;
    const json_t *word;
    json_array_foreach (choices, i, word) {
        if (!strcmp(json_string_value(word), n->text))
            return 0;
        if (count < sizeof known / sizeof *known)
            known[count++] = json_string_value(word);
    }
    const char *near = suggest_nearest(n->text, known, count);
    struct buf b = expected_of(schema);
    if (near)
        buf_printf(&b, "; did you mean %s?", near);
    return fail_schema(w, ERR_SPEC, n->line, p, n, &b);
}

static bool matches(const char *pattern, const char *text)
{
    regex_t re;
    if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
        return false;
    bool yes = !regexec(&re, text, 0, NULL, 0);
    regfree(&re);
    return yes;
}

static int check_string(struct schema_walk *w, const json_t *schema, const struct node *n, const struct schema_place *p)
{
    size_t len = strlen(n->text);
    const json_t *most = json_object_get(schema, "maxLength");
    const char *pattern = text_of(schema, "pattern");
    if (len < (size_t)json_integer_value(json_object_get(schema, "minLength")) ||
        (most && len > (size_t)json_integer_value(most)) || (pattern && !matches(pattern, n->text)))
        return fail_value(w, schema, n, p, "");
    return 0;
}

static int check_scalar(struct schema_walk *w, const json_t *schema, const struct node *n, const struct schema_place *p)
{
    if (n->kind != NODE_SCALAR || node_is_null(n))
        return fail_value(w, schema, n, p, "");
    if (text_of(schema, "x-unit"))
        return check_quantity(w, schema, n, p);
    if (json_object_get(schema, "enum"))
        return check_enum(w, schema, n, p);
    const char *type = type_of(schema);
    if (!strcmp(type, "string"))
        return check_string(w, schema, n, p);
    double v = 0;
    int64_t whole = 0;
    if (text_of(schema, "x-word") && !strcmp(text_of(schema, "x-word"), n->text))
        return 0;
    if (!strcmp(type, "number") ? !value_number(n->text, &v) : !value_integer(n->text, &whole))
        return fail_value(w, schema, n, p, "");
    if (!in_range(schema, !strcmp(type, "number") ? v : (double)whole, "minimum", "exclusiveMinimum", "maximum"))
        return fail_value(w, schema, n, p, "out of range; ");
    return 0;
}

static int check_value(struct schema_walk *w, const json_t *schema, const struct node *n, const struct schema_place *p);

static int check_list(struct schema_walk *w, const json_t *schema, const struct node *n, const struct schema_place *p)
{
    if (n->kind != NODE_LIST || n->n < json_integer_value(json_object_get(schema, "minItems")) ||
        n->n > json_integer_value(json_object_get(schema, "maxItems")))
        return fail_value(w, schema, n, p, "");
    for (int i = 0; i < n->n; i++) {
        struct schema_place here = {.up = p, .index = i};
        int rc = check_value(w, json_object_get(schema, "items"), n->items[i].value, &here);
        if (rc)
            return rc;
    }
    return 0;
}

/* Puts "a.b and c" into b: the mappings elsewhere in the schema that have this key. */
static void homes_add(struct buf *b, const json_t *schema, const struct schema_place *p, const char *key, int *found)
{
    const json_t *properties = json_object_get(schema, "properties"), *below;
    const char *name;
    if (json_object_get(properties, key) && p) {
        buf_printf(b, "%s", (*found)++ ? " or " : "");
        place_add(b, p);
    }
    json_object_foreach ((json_t *)properties, name, below) {
        struct schema_place here = {.up = p, .key = name};
        homes_add(b, below, &here, key, found);
    }
}

static int fail_unknown(struct schema_walk *w, const json_t *properties, const struct node_item *item,
                        const struct schema_place *p)
{
    const char *known[NODE_MAX_KEYS], *key, *near;
    size_t count = 0;
    json_t *schema;
    json_object_foreach ((json_t *)properties, key, schema)
        if (count < NODE_MAX_KEYS)
            known[count++] = key;
    struct buf b = {0}, homes = {0};
    int found = 0;
    buf_printf(&b, "unknown key; ");
    if ((near = suggest_nearest(item->key, known, count))) {
        buf_printf(&b, "did you mean %s?", near);
    } else {
        buf_printf(&b, "expected ");
        keys_add(&b, properties);
        homes_add(&homes, w->root, NULL, item->key, &found);
        if (found)
            buf_printf(&b, "; %s belongs into %s", item->key, homes.data);
    }
    buf_free(&homes);
    return fail_schema(w, ERR_SPEC, item->line, p, NULL, &b);
}

static int check_required(struct schema_walk *w, const json_t *schema, const struct node *n,
                          const struct schema_place *p)
{
    const json_t *word, *properties = json_object_get(schema, "properties");
    size_t i;
    json_array_foreach (json_object_get(schema, "required"), i, word) {
        const char *key = json_string_value(word);
        if (node_get(n, key))
            continue;
        struct buf b = expected_of(json_object_get(properties, key));
        struct buf all = {0};
        struct schema_place here = {.up = p, .key = key};
        buf_printf(&all, "missing; %s", b.data);
        buf_free(&b);
        return fail_schema(w, ERR_SPEC, n->line, &here, NULL, &all);
    }
    return 0;
}

/* oneOf in the one shape we use: exactly one of some keys. */
static int check_one_of(struct schema_walk *w, const json_t *schema, const struct node *n, const struct schema_place *p)
{
    const json_t *choices = json_object_get(schema, "oneOf"), *choice;
    struct buf b = {0};
    size_t i, given = 0;
    json_array_foreach (choices, i, choice) {
        const char *key = json_string_value(json_array_get(json_object_get(choice, "required"), 0));
        given += node_get(n, key) != NULL;
        buf_printf(&b, "%s%s",
                   !i                                 ? "expected exactly one of "
                   : i + 1 < json_array_size(choices) ? ", "
                                                      : " and ",
                   key);
    }
    if (choices && given != 1)
        return fail_schema(w, ERR_SPEC, n->line, p, NULL, &b);
    buf_free(&b);
    return 0;
}

static int check_map(struct schema_walk *w, const json_t *schema, const struct node *n, const struct schema_place *p)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *least = json_object_get(schema, "minProperties"), *most = json_object_get(schema, "maxProperties");
    if (n->kind != NODE_MAP)
        return fail_value(w, schema, n, p, "");
    if (json_is_true(json_object_get(schema, "x-open")))
        return 0;
    for (int i = 0; i < n->n; i++) {
        struct schema_place here = {.up = p, .key = n->items[i].key};
        const json_t *below = json_object_get(properties, n->items[i].key);
        if (!below)
            return fail_unknown(w, properties, &n->items[i], &here);
        if (text_of(below, "x-unsupported")) {
            struct buf b = {0};
            buf_printf(&b, "not supported: %s", text_of(below, "x-unsupported"));
            return fail_schema(w, ERR_UNSUPPORTED, n->items[i].line, &here, NULL, &b);
        }
        int rc = check_value(w, below, n->items[i].value, &here);
        if (rc)
            return rc;
    }
    if ((least && n->n < json_integer_value(least)) || (most && n->n > json_integer_value(most))) {
        struct buf b = {0};
        buf_printf(&b, "%d keys; expected %s of ", n->n, most ? "exactly one" : "at least one");
        keys_add(&b, properties);
        return fail_schema(w, ERR_SPEC, n->line, p, NULL, &b);
    }
    int rc = check_required(w, schema, n, p);
    return rc ? rc : check_one_of(w, schema, n, p);
}

static int check_value(struct schema_walk *w, const json_t *schema, const struct node *n, const struct schema_place *p)
{
    const char *type = type_of(schema);
    if (type && (!strcmp(type, "object") || (n->kind == NODE_MAP && json_object_get(schema, "properties"))))
        return check_map(w, schema, n, p);
    if (type && (!strcmp(type, "array") || (n->kind == NODE_LIST && json_object_get(schema, "items"))))
        return check_list(w, schema, n, p);
    return check_scalar(w, schema, n, p);
}

int schema_check(const json_t *schema, const char *file, const struct node *root, struct err *e)
{
    struct schema_walk w = {.root = schema, .file = file, .e = e};
    return check_value(&w, schema, root, NULL);
}

/* What refers to a definition becomes that. */
static void expand(json_t *schema, json_t *definitions)
{
    static const char begin[] = "#/definitions/";
    const char *key;
    json_t *below;
    json_object_foreach (schema, key, below) {
        const char *to = json_string_value(json_object_get(below, "$ref"));
        if (to && !strncmp(to, begin, sizeof begin - 1))
            json_object_set(schema, key, json_object_get(definitions, to + sizeof begin - 1));
        else if (json_is_object(below))
            expand(below, definitions);
    }
}

json_t *schema_read(const char *text, size_t len, struct err *e)
{
    json_error_t why;
    json_t *schema = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    if (!schema)
        err_set(e, ERR_INTERNAL, "an embedded schema: line %d: %s", why.line, why.text);
    else
        expand(schema, json_object_get(schema, "definitions"));
    return schema;
}

json_t *schema_load(struct err *e)
{
    return schema_read(ensemble_schema_text, ensemble_schema_text_len, e);
}
