/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/document/node.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "engine/base/buf.h"

struct loader {
    yaml_parser_t parser;
    const char *file, *text;
    size_t len;
    int count;
    struct err *e;
};

static int fail_loading(struct loader *l, size_t line0, const char *what)
{
    return err_set(l->e, ERR_SPEC, "%s:%zu: %s", l->file, line0 + 1, what);
}

static size_t line_of_offset(const struct loader *l, size_t offset)
{
    size_t line = 0;
    for (size_t i = 0; i < offset && i < l->len; i++)
        line += l->text[i] == '\n';
    return line;
}

/* The parser's own complaint, with its place. */
static int fail_parser(struct loader *l)
{
    const yaml_parser_t *p = &l->parser;
    const char *problem = p->problem ? p->problem : "not YAML";
    if (p->error == YAML_MEMORY_ERROR)
        return err_set(l->e, ERR_MEMORY, "%s: out of memory", l->file);
    if (p->error == YAML_READER_ERROR)
        return err_set(l->e, ERR_SPEC, "%s:%zu: byte 0x%02x at offset %zu: %s; expected UTF-8 text", l->file,
                       line_of_offset(l, p->problem_offset) + 1, (unsigned)p->problem_value, p->problem_offset,
                       problem);
    return err_set(l->e, ERR_SPEC, "%s:%zu: column %zu: %s%s%s", l->file, p->problem_mark.line + 1,
                   p->problem_mark.column + 1, problem, p->context ? ", " : "", p->context ? p->context : "");
}

static int next(struct loader *l, yaml_event_t *event)
{
    if (!yaml_parser_parse(&l->parser, event))
        return fail_parser(l);
    return 0;
}

static struct node *new_node(enum node_kind kind, const yaml_event_t *event)
{
    struct node *n = xcalloc(1, sizeof *n);
    n->kind = kind;
    n->line = (int)event->start_mark.line + 1;
    n->at = event->start_mark.index;
    return n;
}

static struct node_item *append(struct node *n)
{
    if ((n->n & (n->n - 1)) == 0) /* grows at powers of two */
        n->items = xrealloc(n->items, n->n ? (size_t)n->n * 2 : 1, sizeof *n->items);
    n->items[n->n] = (struct node_item){0};
    return &n->items[n->n++];
}

static int check_marks(struct loader *l, const yaml_event_t *event, const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor)
        return fail_loading(l, event->start_mark.line, "an anchor (&name) is not accepted; write the value out");
    if (tag)
        return fail_loading(l, event->start_mark.line,
                            "a tag (!name) is not accepted; the schema says what a value is");
    return 0;
}

static int load_value(struct loader *l, struct node **out, yaml_event_t *event, int depth);

static int load_key(struct loader *l, struct node *map, const yaml_event_t *event, char **key)
{
    size_t line = event->start_mark.line;
    if (event->type != YAML_SCALAR_EVENT)
        return fail_loading(l, line, "a key must be a word");
    int rc = check_marks(l, event, event->data.scalar.anchor, event->data.scalar.tag);
    if (rc)
        return rc;
    const char *text = (const char *)event->data.scalar.value;
    if (event->data.scalar.length > 64 || strlen(text) != event->data.scalar.length)
        return fail_loading(l, line, "a key of more than 64 bytes");
    for (int i = 0; i < map->n; i++)
        if (!strcmp(map->items[i].key, text))
            return err_set(l->e, ERR_SPEC, "%s:%zu: %s: duplicate key; the first is in line %d", l->file, line + 1,
                           text, map->items[i].line);
    if (map->n == NODE_MAX_KEYS)
        return fail_loading(l, line, "more keys in one mapping than any spec has (100)");
    *key = xstrdup(text);
    return 0;
}

/* Reads items up to the end event of the map or list. */
static int load_items(struct loader *l, struct node *n, yaml_event_type_t end, int depth)
{
    for (;;) {
        yaml_event_t event;
        int rc = next(l, &event);
        if (rc)
            return rc;
        if (event.type == end) {
            yaml_event_delete(&event);
            return 0;
        }
        char *key = NULL;
        int line = (int)event.start_mark.line + 1;
        if (n->kind == NODE_MAP) {
            rc = load_key(l, n, &event, &key);
            yaml_event_delete(&event);
            if (rc || (rc = next(l, &event))) {
                free(key);
                return rc;
            }
        }
        struct node_item *item = append(n);
        item->key = key;
        item->line = line;
        rc = load_value(l, &item->value, &event, depth);
        yaml_event_delete(&event);
        if (rc)
            return rc;
    }
}

static int load_value(struct loader *l, struct node **out, yaml_event_t *event, int depth)
{
    size_t line = event->start_mark.line;
    if (++l->count > NODE_MAX_COUNT)
        return fail_loading(l, line, "more values than any spec has (20000)");
    if (depth > NODE_MAX_DEPTH)
        return fail_loading(l, line, "nested deeper than any spec is (16 levels)");
    int rc;
    if (event->type == YAML_SCALAR_EVENT) {
        if ((rc = check_marks(l, event, event->data.scalar.anchor, event->data.scalar.tag)))
            return rc;
        const char *text = (const char *)event->data.scalar.value;
        if (strlen(text) != event->data.scalar.length)
            return fail_loading(l, line, "a zero byte in a value");
        *out = new_node(NODE_SCALAR, event);
        (*out)->text = xstrdup(text);
        (*out)->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        return 0;
    }
    if (event->type == YAML_MAPPING_START_EVENT) {
        if ((rc = check_marks(l, event, event->data.mapping_start.anchor, event->data.mapping_start.tag)))
            return rc;
        *out = new_node(NODE_MAP, event);
        return load_items(l, *out, YAML_MAPPING_END_EVENT, depth + 1);
    }
    if (event->type == YAML_SEQUENCE_START_EVENT) {
        if ((rc = check_marks(l, event, event->data.sequence_start.anchor, event->data.sequence_start.tag)))
            return rc;
        *out = new_node(NODE_LIST, event);
        return load_items(l, *out, YAML_SEQUENCE_END_EVENT, depth + 1);
    }
    return fail_loading(l, line, "an alias (*name) is not accepted; write the value out");
}

/* Stream start, one document, stream end. */
static int load_document(struct loader *l, struct node **out)
{
    for (;;) {
        yaml_event_t event;
        int rc = next(l, &event);
        if (rc)
            return rc;
        yaml_event_type_t type = event.type;
        size_t line = event.start_mark.line;
        if (type == YAML_DOCUMENT_START_EVENT && *out)
            rc = fail_loading(l, line, "a second document; one file holds one ensemble");
        else if (type == YAML_STREAM_END_EVENT && !*out)
            rc = fail_loading(l, 0, "the spec is empty");
        else if (type == YAML_SCALAR_EVENT || type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT ||
                 type == YAML_ALIAS_EVENT)
            rc = load_value(l, out, &event, 0);
        yaml_event_delete(&event);
        if (rc || type == YAML_STREAM_END_EVENT)
            return rc;
    }
}

int node_parse(struct node **out, const char *file, const char *text, size_t len, struct err *e)
{
    *out = NULL;
    if (len > NODE_MAX_BYTES)
        return err_set(e, ERR_SPEC, "%s: %zu bytes; a spec has at most %d", file, len, NODE_MAX_BYTES);
    struct loader l = {.file = file, .text = text, .len = len, .e = e};
    if (!yaml_parser_initialize(&l.parser))
        return err_set(e, ERR_MEMORY, "%s: out of memory", file);
    yaml_parser_set_encoding(&l.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&l.parser, (const unsigned char *)text, len);
    int rc = load_document(&l, out);
    yaml_parser_delete(&l.parser);
    if (rc) {
        node_free(*out);
        *out = NULL;
    }
    return rc;
}

void node_free(struct node *n)
{
    if (!n)
        return;
    for (int i = 0; i < n->n; i++) {
        free(n->items[i].key);
        node_free(n->items[i].value);
    }
    free(n->items);
    free(n->text);
    free(n);
}

const struct node *node_get(const struct node *n, const char *key)
{
    for (int i = 0; n && n->kind == NODE_MAP && i < n->n; i++)
        if (!strcmp(n->items[i].key, key))
            return n->items[i].value;
    return NULL;
}

bool node_is_null(const struct node *n)
{
    return n->kind == NODE_SCALAR && !n->quoted &&
           (!*n->text || !strcmp(n->text, "~") || !strcmp(n->text, "null") || !strcmp(n->text, "Null") ||
            !strcmp(n->text, "NULL"));
}
