/* SPDX-License-Identifier: Apache-2.0
 *
 * Words and numbers of one topology line.
 */
#include "engine/io/top/top.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"

struct top_place top_here(const struct top *t)
{
    return (struct top_place){t->pp.file, t->pp.number};
}

int top_fail(struct top *t, struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(e, code, fmt, ap);
    va_end(ap);
    if (t->section)
        return err_prefix(e, "%s:%d: [ %s ]", t->pp.file, t->pp.number, t->section);
    return err_prefix(e, "%s:%d", t->pp.file, t->pp.number);
}

int top_no_function(struct top *t, const char *section, long funct, struct err *e)
{
    char known[80];
    bool table = (funct == 8 && strcmp(section, "pairs")) || (funct == 9 && !strcmp(section, "bonds"));
    return top_fail(t, e, ERR_UNSUPPORTED, "function %ld%s is not computed, expected %s", funct,
                    table ? " (tabulated)" : "", top_functions_of(section, known, sizeof known));
}

void top_split(struct top *t, char *text)
{
    char *save = NULL;
    t->nwords = 0;
    for (char *w = strtok_r(text, " \t\r\v\f", &save); w; w = strtok_r(NULL, " \t\r\v\f", &save)) {
        t->words = grow_array(t->words, t->nwords, &t->words_cap, sizeof *t->words);
        t->words[t->nwords++] = w;
    }
}

void top_note(struct top *t, enum top_note kind, const char *fmt, ...)
{
    char text[400];
    struct buf note = {0};
    va_list ap;
    if (t->nnotes[kind]++)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (t->section)
        buf_printf(&note, "%s:%d: [ %s ]: %s", t->pp.file, t->pp.number, t->section, text);
    else
        buf_printf(&note, "%s:%d: %s", t->pp.file, t->pp.number, text);
    t->notes[kind] = note.data;
}

void top_give_notes(struct top *t, struct system *s)
{
    for (int k = 0; k < NOTE_COUNT; k++)
        if (t->nnotes[k] > 1)
            system_note(s, "%s (and %d more)", t->notes[k], t->nnotes[k] - 1);
        else if (t->nnotes[k])
            system_note(s, "%s", t->notes[k]);
}

bool top_is_number(const struct top *t, int word)
{
    const char *w = word < t->nwords ? t->words[word] : "";
    return isdigit((unsigned char)w[strspn(w, "+-.")]) || !strcasecmp(w, "nan") || !strcasecmp(w, "inf");
}

int top_end(struct top *t, int word, const char *after, struct err *e)
{
    if (top_is_number(t, word))
        return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s' %s, expected the end of the line", t->words[word], after);
    if (word < t->nwords)
        top_note(t, NOTE_COMMENT, "text from '%.40s' on is taken for a comment, as grompp does; one begins with ';'",
                 t->words[word]);
    return 0;
}

/* Decimal numbers only: strtod would also take hexadecimal, "inf" and "nan". */
static bool parse_real(const char *word, double *value)
{
    char *end;
    if (strspn(word, "+-.0123456789eE") != strlen(word))
        return false;
    *value = strtod(word, &end);
    return end != word && !*end && isfinite(*value);
}

static int ends_early(struct top *t, const char *what, struct err *e)
{
    return top_fail(t, e, ERR_TOPOLOGY, "the line ends after %d %s, expected %s", t->nwords,
                    number_word(t->nwords, "word", "words"), what);
}

int top_real(struct top *t, int word, const char *what, double *value, struct err *e)
{
    if (word >= t->nwords)
        return ends_early(t, what, e);
    if (!parse_real(t->words[word], value))
        return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s', expected %s (a number)", t->words[word], what);
    return 0;
}

int top_int(struct top *t, int word, const char *what, long min, long max, long *value, struct err *e)
{
    if (word >= t->nwords)
        return ends_early(t, what, e);
    char *end;
    errno = 0;
    *value = strtol(t->words[word], &end, 10);
    if (end == t->words[word] || *end || errno)
        return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s', expected %s (a whole number)", t->words[word], what);
    if (*value < min || *value > max)
        return top_fail(t, e, ERR_TOPOLOGY, "read %s, expected %s from %ld to %ld", t->words[word], what, min, max);
    return 0;
}

int top_params(struct top *t, int word, enum top_kind kind, double c[2][TOP_PARAMS], struct err *e)
{
    const struct top_kind_info *k = &top_kinds[kind];
    int given = 0, rc;
    while (top_is_number(t, word + given))
        given++;
    if (given == 0 && word < t->nwords && strchr(t->words[word], '_')) /* as macros of force fields have */
        return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s', expected a parameter (a number, or a macro that is defined)",
                        t->words[word]);
    if ((rc = top_end(t, word + given, "after the parameters", e)) || given == 0)
        return rc;
    bool both = k->nparams_b && given == k->nparams + k->nparams_b;
    if (given != k->nparams && !both && k->nparams_b)
        return top_fail(t, e, ERR_TOPOLOGY, "read %d %s, expected %d (A) or %d (A and B) for %s (funct %d)", given,
                        number_word(given, "parameter", "parameters"), k->nparams, k->nparams + k->nparams_b, k->name,
                        k->funct);
    if (given != k->nparams && !both)
        return top_fail(t, e, ERR_TOPOLOGY, "read %d %s, expected %d for %s (funct %d)", given,
                        number_word(given, "parameter", "parameters"), k->nparams, k->name, k->funct);
    for (int i = 0; i < k->nparams; i++) {
        rc = top_real(t, word + i, "a parameter", &c[0][i], e);
        c[1][i] = c[0][i];
        if (!rc && both)
            rc = top_real(t, word + k->nparams + i, "a parameter of state B", &c[1][i], e);
        if (rc)
            return rc;
    }
    return both ? 2 : 1;
}

int top_name(struct top *t, int word, const char *what, char *to, size_t size, struct err *e)
{
    if (word >= t->nwords)
        return ends_early(t, what, e);
    if (strlen(t->words[word]) >= size)
        return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s', expected %s of at most %zu characters", t->words[word], what,
                        size - 1);
    memcpy(to, t->words[word], strlen(t->words[word]) + 1);
    return 0;
}
