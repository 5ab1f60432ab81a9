/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/io/top/preprocess.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const struct pp *p, struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int fail(const struct pp *p, struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(e, code, fmt, ap);
    va_end(ap);
    return err_prefix(e, "%s:%d", p->file, p->number);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

static size_t word_length(const char *s)
{
    size_t n = 0;
    while (is_word(s[n]))
        n++;
    return n;
}

/* The text itself without comment and surrounding blanks. */
static void trim(struct buf *b)
{
    char *comment = strchr(b->data, ';');
    size_t len = comment ? (size_t)(comment - b->data) : b->len, from = 0;
    while (len && isspace((unsigned char)b->data[len - 1]))
        len--;
    while (from < len && isspace((unsigned char)b->data[from]))
        from++;
    memmove(b->data, b->data + from, len - from);
    b->len = len - from;
    b->data[b->len] = '\0';
}

/* One logical line of the current file into p->raw; continued physical lines are joined before comments go. */
static int read_line(struct pp *p, struct err *e)
{
    struct pp_file *f = &p->files[p->depth - 1];
    bool more = true;
    p->raw.len = 0;
    p->number = f->line + 1;
    while (more && f->pos < f->end) {
        const char *stop = memchr(f->pos, '\n', (size_t)(f->end - f->pos));
        stop = stop ? stop : f->end;
        size_t n = (size_t)(stop - f->pos);
        if (p->raw.len + n > PP_LINE_MAX)
            return fail(p, e, ERR_TOPOLOGY, "the line is longer than %d characters", PP_LINE_MAX);
        buf_add(&p->raw, f->pos, n);
        f->pos = stop < f->end ? stop + 1 : f->end;
        f->line++;
        while (p->raw.len && isspace((unsigned char)p->raw.data[p->raw.len - 1]))
            p->raw.len--;
        more = p->raw.len && p->raw.data[p->raw.len - 1] == '\\';
        if (more)
            p->raw.data[p->raw.len - 1] = ' ';
    }
    buf_add(&p->raw, "", 0);
    if (strlen(p->raw.data) != p->raw.len)
        return fail(p, e, ERR_TOPOLOGY, "a NUL byte: this is not a text file");
    trim(&p->raw);
    return 0;
}

static int open_file(struct pp *p, const char *from, const char *name, struct err *e)
{
    struct source_text t;
    int rc = source_open(p->source, from, name, &t, e);
    if (rc)
        return from ? err_prefix(e, "%s:%d", p->file, p->number) : rc;
    for (int i = 0; i < p->depth; i++)
        if (!strcmp(p->files[i].name, t.name))
            return fail(p, e, ERR_TOPOLOGY, "#include \"%s\": the file includes itself", t.name);
    if (p->depth == PP_DEPTH)
        return fail(p, e, ERR_TOPOLOGY, "#include \"%s\": more than %d files deep", t.name, PP_DEPTH);
    p->names = grow_array(p->names, p->nnames, &p->names_cap, sizeof *p->names);
    p->names[p->nnames] = xstrdup(t.name);
    p->files[p->depth++] = (struct pp_file){.name = p->names[p->nnames++], .pos = t.text, .end = t.text + t.len};
    p->file = p->files[p->depth - 1].name;
    p->number = 1;
    return 0;
}

static struct pp_macro *macro_of(const struct pp *p, const char *name, size_t len)
{
    int i = hash_table_get(&p->macro_names, name, len);
    if (i < 0)
        return NULL;
    p->macros[i].used = true;
    return p->macros[i].value ? &p->macros[i] : NULL;
}

bool pp_defined(const struct pp *p, const char *name)
{
    return macro_of(p, name, strlen(name)) != NULL;
}

bool pp_used(const struct pp *p, const char *name)
{
    int i = hash_table_get(&p->macro_names, name, strlen(name));
    return i >= 0 && p->macros[i].used;
}

static void define(struct pp *p, const char *name, size_t len, const char *value)
{
    int i = hash_table_add(&p->macro_names, name, len, p->nmacros);
    if (i == p->nmacros)
        p->macros = grow_array(p->macros, p->nmacros++, &p->macros_cap, sizeof *p->macros);
    free(p->macros[i].value);
    p->macros[i].value = xstrdup(value);
}

/* Appends text to p->line with every macro replaced. A macro without a value stays as it is: it only answers #ifdef. */
static bool expand(struct pp *p, const char *text)
{
    while (*text && p->line.len < PP_LINE_MAX) {
        size_t n = word_length(text);
        struct pp_macro *m = n ? macro_of(p, text, n) : NULL;
        if (m && m->value[0] && !m->busy) {
            m->busy = true;
            bool ok = expand(p, m->value);
            m->busy = false;
            if (!ok)
                return false;
        } else {
            buf_add(&p->line, text, n ? n : 1);
        }
        text += n ? n : 1;
    }
    return *text == '\0';
}

static bool active(const struct pp *p)
{
    const struct pp_file *f = &p->files[p->depth - 1];
    for (int i = 0; i < f->nconditions; i++)
        if (!f->conditions[i].active)
            return false;
    return true;
}

static int read_include(struct pp *p, const char *rest, struct err *e)
{
    char close = rest[0] == '<' ? '>' : '"';
    const char *stop = strchr(rest[0] ? rest + 1 : rest, close);
    if (!stop) /* the quote that closes may be absent: then the name ends with the line */
        stop = rest + strlen(rest);
    if ((rest[0] != '"' && rest[0] != '<') || stop == rest + 1)
        return fail(p, e, ERR_TOPOLOGY, "#include: read '%.80s', expected a file name in quotes", rest);
    char *name = xcalloc((size_t)(stop - rest), 1);
    memcpy(name, rest + 1, (size_t)(stop - rest) - 1);
    int rc = open_file(p, p->file, name, e);
    free(name);
    return rc;
}

static int read_define(struct pp *p, const char *rest, struct err *e)
{
    size_t n = word_length(rest);
    if (n == 0 || (rest[n] && !isspace((unsigned char)rest[n])))
        return fail(p, e, ERR_TOPOLOGY,
                    "#define: read '%.80s', expected a name of letters, digits and '_', then a value", rest);
    define(p, rest, n, skip_blanks(rest + n));
    return 0;
}

static int read_undef(struct pp *p, const char *rest, struct err *e)
{
    size_t n = word_length(rest);
    if (n == 0)
        return fail(p, e, ERR_TOPOLOGY, "#undef: read '%.80s', expected a name", rest);
    struct pp_macro *m = macro_of(p, rest, n);
    if (m) {
        free(m->value);
        m->value = NULL;
    }
    return 0;
}

static int read_ifdef(struct pp *p, const char *rest, bool wanted, struct err *e)
{
    size_t n = word_length(rest);
    if (n == 0)
        return fail(p, e, ERR_TOPOLOGY, "#%s: read '%.80s', expected a name", wanted ? "ifdef" : "ifndef", rest);
    struct pp_file *f = &p->files[p->depth - 1];
    f->conditions = grow_array(f->conditions, f->nconditions, &f->cap, sizeof *f->conditions);
    f->conditions[f->nconditions++] =
        (struct pp_condition){.line = p->number, .active = (macro_of(p, rest, n) != NULL) == wanted};
    return 0;
}

static int read_else(struct pp *p, struct err *e)
{
    struct pp_file *f = &p->files[p->depth - 1];
    struct pp_condition *c = f->nconditions ? &f->conditions[f->nconditions - 1] : NULL;
    if (!c || c->seen_else)
        return fail(p, e, ERR_TOPOLOGY, "#else without #ifdef or #ifndef");
    c->seen_else = true;
    c->active = !c->active;
    return 0;
}

static int read_endif(struct pp *p, struct err *e)
{
    struct pp_file *f = &p->files[p->depth - 1];
    if (!f->nconditions)
        return fail(p, e, ERR_TOPOLOGY, "#endif without #ifdef or #ifndef");
    f->nconditions--;
    return 0;
}

static int read_directive(struct pp *p, struct err *e)
{
    const char *word = skip_blanks(p->raw.data + 1);
    size_t n = word_length(word);
    const char *rest = skip_blanks(word + n);
    if (n == 5 && !strncmp(word, "ifdef", n))
        return read_ifdef(p, rest, true, e);
    if (n == 6 && !strncmp(word, "ifndef", n))
        return read_ifdef(p, rest, false, e);
    if (n == 4 && !strncmp(word, "else", n))
        return read_else(p, e);
    if (n == 5 && !strncmp(word, "endif", n))
        return read_endif(p, e);
    if ((n == 2 && !strncmp(word, "if", n)) || (n == 4 && !strncmp(word, "elif", n)))
        return fail(p, e, ERR_UNSUPPORTED, "#%.*s: only #ifdef and #ifndef are read", (int)n, word);
    if (!active(p))
        return 0;
    if (n == 7 && !strncmp(word, "include", n))
        return read_include(p, rest, e);
    if (n == 6 && !strncmp(word, "define", n))
        return read_define(p, rest, e);
    if (n == 5 && !strncmp(word, "undef", n))
        return read_undef(p, rest, e);
    return fail(p, e, ERR_TOPOLOGY,
                "read '%.80s', expected #include, #define, #undef, #ifdef, #ifndef, #else or #endif", p->raw.data);
}

/* Leaves the file that has been read to its end, which ends its conditions too. */
static void leave_file(struct pp *p)
{
    struct pp_file *f = &p->files[p->depth - 1];
    if (f->nconditions && !p->open_file) {
        p->open_file = f->name;
        p->open_line = f->conditions[f->nconditions - 1].line;
    }
    free(f->conditions);
    *f = (struct pp_file){0};
    p->depth--;
    if (p->depth)
        p->file = p->files[p->depth - 1].name;
}

int pp_next(struct pp *p, char **text, struct err *e)
{
    while (p->depth) {
        int rc = 0;
        if (p->files[p->depth - 1].pos == p->files[p->depth - 1].end) {
            leave_file(p);
            continue;
        }
        if ((rc = read_line(p, e)))
            return rc;
        p->total += p->raw.len + p->line.len + 16; /* so that many short lines count too */
        if (p->total > PP_TOTAL_MAX)
            return fail(p, e, ERR_TOPOLOGY, "with its includes and macros the topology is larger than %d bytes",
                        PP_TOTAL_MAX);
        p->line.len = 0;
        if (p->raw.data[0] == '#') {
            if ((rc = read_directive(p, e)))
                return rc;
            continue;
        }
        if (!p->raw.len || p->raw.data[0] == '*' || !active(p))
            continue;
        if (!expand(p, p->raw.data))
            return fail(p, e, ERR_TOPOLOGY, "with its macros replaced the line is longer than %d characters",
                        PP_LINE_MAX);
        if (!p->line.len)
            continue;
        *text = p->line.data;
        return 1;
    }
    return 0;
}

int pp_open(struct pp *p, struct source *src, const char *name, const struct define *defines, int ndefines,
            struct err *e)
{
    *p = (struct pp){.source = src, .file = name, .number = 0};
    for (int i = 0; i < ndefines; i++) {
        size_t n = word_length(defines[i].name);
        if (n == 0 || defines[i].name[n])
            return err_set(e, ERR_TOPOLOGY, "define '%.80s': expected a name of letters, digits and '_'",
                           defines[i].name);
        define(p, defines[i].name, n, defines[i].value ? defines[i].value : "");
    }
    return open_file(p, NULL, name, e);
}

void pp_close(struct pp *p)
{
    for (int i = 0; i < p->depth; i++)
        free(p->files[i].conditions);
    for (int i = 0; i < p->nnames; i++)
        free(p->names[i]);
    free(p->names);
    for (int i = 0; i < p->nmacros; i++)
        free(p->macros[i].value);
    free(p->macros);
    hash_table_free(&p->macro_names);
    buf_free(&p->raw);
    buf_free(&p->line);
    *p = (struct pp){0};
}
