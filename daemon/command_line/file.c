/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/command_line/file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/spec/document/schema.h"
#include "engine/base/buf.h"

#define TEXT_MOST 4096
#define LIST_MOST 64

/* ---- the schema ---- */

/* The help text of a row as sentences: the text in brackets is the default. */
static json_t *description(const struct arg *r)
{
    const char *open = strstr(r->help, " ["), *close = open ? strchr(open, ']') : NULL;
    struct buf b = {0};
    if (r->about)
        buf_printf(&b, "%s: ", r->about);
    buf_printf(&b, "%.*s%s.", close ? (int)(open - r->help) : (int)strlen(r->help), r->help, close ? close + 1 : "");
    if (b.data[strcspn(b.data, " ,")] != ',') /* else a list of values begins with a value */
        b.data[0] = (char)toupper((unsigned char)b.data[0]);
    if (close)
        buf_printf(&b, " Default: %.*s.", (int)(close - open) - 2, open + 2);
    if (r->fixed)
        buf_printf(&b, " A change takes effect at the next start.");
    json_t *j = json_string(b.data);
    buf_free(&b);
    return j;
}

static json_t *choices(const struct arg *r)
{
    json_t *words = json_array();
    for (int i = 0; r->choices[i]; i++)
        json_array_append_new(words, json_string(r->choices[i]));
    return json_pack("{s:o}", "enum", words);
}

static json_t *kind_of(const struct arg *r)
{
    if (r->choices[0])
        return choices(r);
    switch (r->kind) {
    case ARG_WHOLE:
        return json_pack("{s:s,s:I,s:I}", "type", "integer", "minimum", (json_int_t)r->least, "maximum",
                         (json_int_t)r->most);
    case ARG_AMOUNT:
        return json_pack("{s:[s,s],s:i,s:i,s:s}", "type", "string", "integer", "minLength", 1, "maxLength", 20,
                         "pattern", "^[0-9]+[kMGT]?$");
    case ARG_FLAG:
        return json_pack("{s:[s,s,b,b],s:b}", "enum", "yes", "no", 1, 0, "x-boolean", 1);
    case ARG_TEXT:
        return json_pack("{s:s,s:i,s:i}", "type", "string", "minLength", 1, "maxLength", TEXT_MOST);
    case ARG_LIST:
    case ARG_OTHER:
        break;
    }
    return json_pack("{s:[s,s],s:i,s:i,s:i,s:i,s:{s:s,s:i,s:i}}", "type", "string", "array", "minLength", 1,
                     "maxLength", TEXT_MOST, "minItems", 1, "maxItems", LIST_MOST, "items", "type", "string",
                     "minLength", 1, "maxLength", TEXT_MOST);
}

static json_t *example(const struct arg *r)
{
    if (r->example && r->kind == ARG_WHOLE)
        return json_integer(atoll(r->example));
    if (r->example)
        return json_string(r->example);
    if (r->kind == ARG_WHOLE)
        return json_integer(r->usual);
    return json_string(r->kind != ARG_AMOUNT ? "yes" : strstr(r->name, "bytes") ? "100G" : "400");
}

static json_t *property(const struct arg *r)
{
    json_t *j = kind_of(r);
    json_object_set_new(j, "description", description(r));
    if (r->usual > 0)
        json_object_set_new(j, "default", json_integer(r->usual));
    json_object_set_new(j, "examples", json_pack("[o]", example(r)));
    return j;
}

void args_schema(json_t *mapping, const struct arg *rows, size_t n)
{
    json_t *properties = json_object();
    for (size_t i = 0; i < n; i++)
        if (!rows[i].line)
            json_object_set_new(properties, rows[i].name, property(&rows[i]));
    json_object_update(properties, json_object_get(mapping, "properties"));
    json_object_set_new(mapping, "properties", properties);
}

/* ---- the file ---- */

/* Whether there is nothing but comments. */
static bool is_blank(const char *text)
{
    for (text += strspn(text, " \t\r\n"); *text == '#'; text += strspn(text, " \t\r\n"))
        text += strcspn(text, "\n");
    return !*text;
}

int args_file_read(struct node **out, const json_t *schema, const char *path, bool must, struct err *e)
{
    struct buf text = {0};
    *out = NULL;
    if (!must && access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    int rc = buf_read_file(&text, path, e);
    if (rc == 0 && text.data && !is_blank(text.data))
        rc = node_parse(out, path, text.data, text.len, e);
    buf_free(&text);
    if (rc == 0 && *out)
        rc = schema_check(schema, path, *out, e);
    if (rc) {
        node_free(*out);
        *out = NULL;
    }
    return rc;
}

static int take_value(const struct node *v, const struct arg *r, void *fields, struct err *e)
{
    bool yes = true;
    if (r->kind == ARG_FLAG && value_boolean(v->text, &yes) && !yes)
        return 0;
    if (v->kind == NODE_SCALAR)
        return args_take(r, fields, v->text, e);
    for (int i = 0, rc; i < v->n; i++)
        if ((rc = args_take(r, fields, v->items[i].value->text, e)))
            return rc;
    return 0;
}

int args_file_take(const struct node *mapping, const char *path, const struct arg *rows, size_t n, void *fields,
                   struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        const struct node *v = rows[i].line ? NULL : node_get(mapping, rows[i].name);
        if (v && take_value(v, &rows[i], fields, e))
            return err_prefix(e, "%s:%d", path, v->line);
    }
    return 0;
}
