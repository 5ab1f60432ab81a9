/* SPDX-License-Identifier: Apache-2.0 */
#include "client/import/mdp.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/fit.h"
#include "engine/base/gzip.h"
#include "engine/base/number.h"
#include "engine/base/suggest.h"

static const char byte_order_mark[] = "\xEF\xBB\xBF"; /* of UTF-8, as editors of Windows begin files with */

const char *const mdp_fate_names[] = {"kept", "without effect", "changed", "dropped", "refused", "unknown"};

enum rule { RULE_KEPT, RULE_WORDS, RULE_DROPPED, RULE_OFF, RULE_RENAMED };

/* A name that ends in '*' matches all that begin so. `word`: of RULE_WORDS the values it can have, of RULE_OFF those
 * that are no use of it, of RULE_RENAMED the name it has now. */
static const struct mdp_rule {
    const char *name;
    enum rule rule;
    const char *word, *why;
} rows[] = {
#define KEPT(name) {name, RULE_KEPT, NULL, NULL},
#define WORDS(name, words, why) {name, RULE_WORDS, words, why},
#define DROPPED(name, why) {name, RULE_DROPPED, NULL, why},
#define OFF(name, words, why) {name, RULE_OFF, words, why},
#define RENAMED(name, now) {name, RULE_RENAMED, now, NULL},
#include "client/import/mdp_options.def"
#undef KEPT
#undef WORDS
#undef DROPPED
#undef OFF
#undef RENAMED
};
enum { ROWS = sizeof rows / sizeof *rows, SHOWN = 120 /* bytes of a name or value, in messages */ };

static const char *skip(const char *p)
{
    while (*p == '-' || *p == '_')
        p++;
    return p;
}

/* How far two names are the same: both ended, or a is at '*'. */
static bool same(const char *a, const char *b)
{
    for (a = skip(a), b = skip(b); *a && *a != '*' && *b; a = skip(a + 1), b = skip(b + 1))
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    return *a == '*' || (!*a && !*b);
}

static const struct mdp_rule *find_row(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (same(rows[i].name, name))
            return &rows[i];
    return NULL;
}

/* As it is given, or was said of with its default; a line without a value is none. */
static struct mdp_option *find(const struct mdp *m, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (same(name, m->options[i].name) && (*m->options[i].value || !m->options[i].line))
            return &m->options[i];
    return NULL;
}

const char *mdp_value(const struct mdp *m, const char *name)
{
    const struct mdp_option *o = find(m, name);
    return o && o->line ? o->value : NULL;
}

static bool one_of(const char *value, const char *words)
{
    char *list = xstrdup(words), *rest = list;
    bool found = false;
    for (char *word; (word = strsep(&rest, "|"));)
        found |= same(word, value);
    free(list);
    return found;
}

bool mdp_is(const struct mdp *m, const char *name, const char *otherwise, const char *words)
{
    const char *value = mdp_value(m, name);
    return one_of(value ? value : otherwise, words);
}

int mdp_numbers(struct mdp *m, const char *name, double otherwise, double *out, int most)
{
    const char *value = mdp_value(m, name);
    int n = 0;
    out[0] = otherwise;
    if (!value)
        return 1;
    char *list = xstrdup(value), *rest = list, *end;
    for (char *word; (word = strsep(&rest, " \t"));) {
        if (!*word)
            continue;
        double x = strtod(word, &end);
        if (end == word || *end || !isfinite(x) || n == most) {
            if (n == most)
                mdp_say(m, name, MDP_REFUSED, "more than %d %s", most, number_word(most, "value", "values"));
            else
                mdp_say(m, name, MDP_REFUSED, "expected numbers");
            break;
        }
        out[n++] = x;
    }
    free(list);
    return n ? n : 1;
}

double mdp_number(struct mdp *m, const char *name, double otherwise)
{
    double x;
    mdp_numbers(m, name, otherwise, &x, 1);
    return x;
}

static struct mdp_option *add(struct mdp *m, const char *name, const char *value, int line)
{
    m->options = xrealloc(m->options, (size_t)m->n + 1, sizeof *m->options);
    m->options[m->n] = (struct mdp_option){.name = xstrdup(name), .value = xstrdup(value), .line = line};
    return &m->options[m->n++];
}

static void set_fate(struct mdp_option *o, enum mdp_fate fate, const char *why)
{
    char *copy = why ? xstrdup(why) : NULL;
    free(o->why);
    o->fate = fate;
    o->why = copy;
}

void mdp_say(struct mdp *m, const char *name, enum mdp_fate fate, const char *fmt, ...)
{
    struct mdp_option *o = find(m, name);
    char text[500];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!o)
        o = add(m, name, "", 0);
    if (o->fate != MDP_REFUSED) /* the first reason counts */
        set_fate(o, fate, text);
}

bool mdp_refused(const struct mdp *m)
{
    bool bad = false;
    for (int i = 0; i < m->n; i++)
        bad |= m->options[i].fate == MDP_REFUSED || m->options[i].fate == MDP_UNKNOWN;
    return bad;
}

void mdp_line(const struct mdp *m, const struct mdp_option *o, struct buf *out)
{
    char name[SHOWN], value[SHOWN];
    fit_text(name, sizeof name, o->name);
    fit_text(value, sizeof value, o->value);
    if (o->line)
        buf_printf(out, "%s:%d: %s = %s: %s", m->file, o->line, name, value, mdp_fate_names[o->fate]);
    else
        buf_printf(out, "%s: %s, not given: %s", m->file, name, mdp_fate_names[o->fate]);
    if (o->why)
        buf_printf(out, ": %s", o->why);
}

/* ---- reading ---- */

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

/* Every word of it is 0 or one of `words`. */
static bool is_off(const char *value, const char *words)
{
    char *list = xstrdup(value), *rest = list, *end;
    bool off = true;
    for (char *word; (word = strsep(&rest, " \t"));)
        if (*word && !one_of(word, words))
            off &= strtod(word, &end) == 0 && end != word && !*end;
    free(list);
    return off;
}

static void suggest(struct mdp_option *o)
{
    const char *known[ROWS];
    for (int i = 0; i < ROWS; i++)
        known[i] = rows[i].name;
    const char *near = suggest_nearest(o->name, known, ROWS);
    struct buf why = {0};
    buf_printf(&why, "no option of GROMACS 2022 to 2026%s%s%s", near ? "; did you mean " : "", near ? near : "",
               near ? "?" : "");
    set_fate(o, MDP_UNKNOWN, why.data);
    buf_free(&why);
}

/* GROMACS, too, skips a line without a value, whatever its name. */
static void judge(struct mdp *m, const char *name, const char *value, int line)
{
    const struct mdp_rule *row = find_row(name);
    if (!*value) {
        add(m, name, value, line)->fate = MDP_IDLE;
        return;
    }
    if (row && row->rule == RULE_RENAMED)
        row = find_row(name = row->word);
    const struct mdp_option *before = find(m, name);
    const int first = before ? before->line : 0;
    struct mdp_option *o = add(m, name, value, line); /* before is not to be looked at any more */
    if (first) {
        struct buf why = {0};
        buf_printf(&why, "given twice, line %d is the first", first);
        set_fate(o, MDP_REFUSED, why.data);
        buf_free(&why);
    } else if (!row) {
        suggest(o);
    } else if (row->rule == RULE_WORDS) {
        if (!one_of(value, row->word))
            set_fate(o, MDP_REFUSED, row->why);
    } else if (row->rule == RULE_DROPPED) {
        set_fate(o, MDP_DROPPED, row->why);
    } else if (row->rule == RULE_OFF) {
        bool off = is_off(value, row->word);
        set_fate(o, off ? MDP_IDLE : MDP_REFUSED, off ? NULL : row->why);
    }
}

static void read_line(struct mdp *m, char *text, int line)
{
    text[strcspn(text, ";")] = '\0';
    char *equals = strchr(text, '=');
    if (equals)
        *equals = '\0';
    char *name = trimmed(text), *value = equals ? trimmed(equals + 1) : "";
    if (!*name && !equals)
        return;
    if (equals && *name)
        judge(m, name, value, line);
    else
        set_fate(add(m, name, value, line), MDP_UNKNOWN, "expected NAME = VALUE");
}

int mdp_read(struct mdp *m, const char *path, struct err *e)
{
    struct buf text = {0};
    *m = (struct mdp){.file = xstrdup(path)};
    if (gzip_read_file(&text, path, e)) {
        buf_free(&text);
        e->code = ERR_MISSING_FILE;
        return -ERR_MISSING_FILE;
    }
    char *rest = text.data, *one;
    if (rest && !strncmp(rest, byte_order_mark, strlen(byte_order_mark)))
        rest += strlen(byte_order_mark);
    for (int line = 1; rest && (one = strsep(&rest, "\n")); line++)
        read_line(m, one, line);
    buf_free(&text);
    return 0;
}

void mdp_close(struct mdp *m)
{
    for (int i = 0; i < m->n; i++) {
        free(m->options[i].name);
        free(m->options[i].value);
        free(m->options[i].why);
    }
    free(m->options);
    free(m->file);
    *m = (struct mdp){0};
}
