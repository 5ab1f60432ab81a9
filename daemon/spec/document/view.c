/* SPDX-License-Identifier: Apache-2.0
 *
 * Typed reading of a tree that was checked.
 */
#include "daemon/spec/document/schema.h"

#include <string.h>

struct view view_key(struct view v, const char *key)
{
    const json_t *properties = json_object_get(v.schema, "properties");
    return (struct view){.schema = json_object_get(properties, key), .node = node_get(v.node, key)};
}

struct view view_item(struct view v, int i)
{
    return (struct view){.schema = json_object_get(v.schema, "items"), .node = v.node->items[i].value};
}

bool view_given(struct view v)
{
    return v.node != NULL;
}

int view_count(struct view v)
{
    return v.node ? v.node->n : 0;
}

const char *view_text(struct view v)
{
    return v.node ? v.node->text : json_string_value(json_object_get(v.schema, "default"));
}

double view_number(struct view v)
{
    double x = json_number_value(json_object_get(v.schema, "default"));
    if (v.node)
        value_number(v.node->text, &x);
    return x;
}

int64_t view_integer(struct view v)
{
    int64_t i = json_integer_value(json_object_get(v.schema, "default"));
    if (v.node)
        value_integer(v.node->text, &i);
    return i;
}

bool view_boolean(struct view v)
{
    bool yes = false;
    const char *text = view_text(v);
    return text && value_boolean(text, &yes) && yes;
}

const char *view_unit(struct view v)
{
    return json_string_value(json_object_get(v.schema, "x-unit"));
}

struct quantity view_quantity(struct view v)
{
    struct quantity q = {0};
    const char *text = view_text(v), *none = json_string_value(json_object_get(v.schema, "x-none"));
    if (text && none && !strcmp(text, none))
        return (struct quantity){.steps = true};
    if (text)
        value_quantity(text, json_string_value(json_object_get(v.schema, "x-unit")),
                       json_is_true(json_object_get(v.schema, "x-steps")), &q);
    return q;
}

int view_choice(struct view v)
{
    const char *text = view_text(v);
    const json_t *word;
    size_t i;
    json_array_foreach (json_object_get(v.schema, "enum"), i, word)
        if (text && json_is_string(word) && !strcmp(text, json_string_value(word)))
            return (int)i;
    return -1;
}
