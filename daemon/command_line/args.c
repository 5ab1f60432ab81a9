/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/command_line/args.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/base/suggest.h"

/* The rows, and where they lead. */
struct arg_rows {
    const struct arg *rows;
    size_t n;
    void *fields;
};

void args_usual(const struct arg *rows, size_t n, void *fields)
{
    for (size_t i = 0; i < n; i++) {
        char *field = (char *)fields + rows[i].field;
        if (rows[i].kind == ARG_WHOLE)
            *(int *)field = (int)rows[i].usual;
        else if (rows[i].kind == ARG_AMOUNT)
            *(int64_t *)field = rows[i].usual;
    }
}

static int whole(const struct arg *r, const char *text, int *out, struct err *e)
{
    char what[64];
    int64_t n;
    snprintf(what, sizeof what, "--%s ", r->name);
    int rc = number_whole(&n, what, text, r->least, r->most, e);
    if (!rc)
        *out = (int)n;
    return rc;
}

/* "20", "100G" */
static int amount(const struct arg *r, const char *text, int64_t *out, struct err *e)
{
    static const char suffixes[] = "kMGT";
    char *end = NULL;
    long long n = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1, unit = 1;
    const char *suffix = end && *end ? strchr(suffixes, *end) : NULL;
    for (const char *s = suffixes; suffix && s <= suffix; s++)
        unit *= 1000;
    if (suffix)
        end++;
    if (n < 0 || *end || __builtin_mul_overflow(n, unit, &n) || n == INT64_MAX)
        return err_set(e, ERR_USAGE, "--%s %s: expected a whole number, as in 20 or 100G", r->name, text);
    *out = n;
    return 0;
}

static int listed(const struct arg *r, const char *value, struct args_list *list, struct err *e)
{
    if (list->n == ARGS_LISTED)
        return err_set(e, ERR_USAGE, "--%s: at most %d of them", r->name, ARGS_LISTED);
    list->items[list->n++] = value;
    return 0;
}

static int text(const struct arg *r, const char *value, const char **out, struct err *e)
{
    struct buf words = {0};
    int n = 0, rc = 0;
    bool known = !r->choices[0];
    for (; r->choices[n]; n++)
        known |= !strcmp(value, r->choices[n]);
    buf_words(&words, r->choices, n, "or");
    if (!known)
        rc = err_set(e, ERR_USAGE, "--%s %s: expected %s", r->name, value, words.data);
    buf_free(&words);
    *out = value;
    return rc;
}

int args_take(const struct arg *r, void *fields, const char *value, struct err *e)
{
    char *field = (char *)fields + r->field;
    switch (r->kind) {
    case ARG_TEXT:
        return text(r, value, (const char **)field, e);
    case ARG_WHOLE:
        return whole(r, value, (int *)field, e);
    case ARG_AMOUNT:
        return amount(r, value, (int64_t *)field, e);
    case ARG_FLAG:
        *(bool *)field = true;
        return 0;
    case ARG_LIST:
        return listed(r, value, (struct args_list *)field, e);
    case ARG_OTHER:
        return r->take(fields, value, e);
    }
    return 0;
}

static int unknown(const struct arg_rows *t, const char *name, struct err *e)
{
    const char **names = xcalloc(t->n, sizeof *names);
    for (size_t i = 0; i < t->n; i++)
        names[i] = t->rows[i].name;
    const char *near = suggest_nearest(name, names, t->n);
    free(names);
    return near ? err_set(e, ERR_USAGE, "no option --%s; did you mean --%s?", name, near)
                : err_set(e, ERR_USAGE, "no option --%s; --help lists them", name);
}

static const struct arg *find(const struct arg_rows *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->rows[i].name, name))
            return &t->rows[i];
    return NULL;
}

/* "--name VALUE", "--name=VALUE" or a flag; *used words of the line. */
static int take_option(const struct arg_rows *t, char **words, int *used, struct err *e)
{
    char name[64];
    const char *is = strchr(words[0], '='), *value = is ? is + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(words[0] + 2, "="), words[0] + 2);
    const struct arg *r = find(t, name);
    if (!r)
        return unknown(t, name, e);
    if (value && !r->argument)
        return err_set(e, ERR_USAGE, "--%s takes no value, got \"%s\"", r->name, value);
    if (!value && r->argument) {
        value = words[1];
        *used = 2;
    }
    if (!value && r->argument)
        return err_set(e, ERR_USAGE, "--%s needs a value, %s", r->name, r->argument);
    return args_take(r, t->fields, value, e);
}

int args_read(const struct arg *rows, size_t n, void *fields, int argc, char **argv, int *words, struct err *e)
{
    const struct arg_rows t = {rows, n, fields};
    bool options = true;
    *words = 0;
    for (int i = 1, used = 1, rc; i < argc; i += used) {
        used = 1;
        if (options && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")))
            return ARGS_HELP;
        if (!options || strncmp(argv[i], "--", 2) != 0)
            argv[1 + (*words)++] = argv[i];
        else if (!argv[i][2])
            options = false;
        else if ((rc = take_option(&t, argv + i, &used, e)))
            return rc;
    }
    return 0;
}

void args_print(const struct arg *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct arg *r = &rows[i];
        char name[40], usual[40] = "";
        snprintf(name, sizeof name, "%s%s%s", r->name, r->argument ? " " : "", r->argument ? r->argument : "");
        if (r->usual > 0)
            snprintf(usual, sizeof usual, " [%" PRId64 "]", r->usual);
        if (r->help)
            printf("  --%-20s %s%s\n", name, r->help, usual);
        else
            printf("  --%s%s\n", name, usual);
    }
}
