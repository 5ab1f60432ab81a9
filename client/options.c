/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Names of options are taken whole, never abbreviated: what a script says today must not change its
 * meaning when an option is added.
 */
#include <stdlib.h>
#include <string.h>

#include "client/command/option_rows.h"
#include "client/commands.h"
#include "client/option_values.h"
#include "engine/base/printable.h"
#include "engine/base/suggest.h"

static bool takes(const struct command *command, int option)
{
    return command->options >> option & 1;
}

static int bad_usage(const struct command *command, const char *what)
{
    printable_line(stderr, "shoal %s: %s; shoal %s --help shows how", command->name, what, command->name);
    return -EXIT_BAD_USAGE;
}

/* "too few words, expected SPEC.yaml" */
static int wrong_words(const struct command *command, const char *how)
{
    printable_line(stderr, "shoal %s: too %s words, expected %s; shoal %s --help shows how", command->name, how,
                   *command->words ? command->words : "none", command->name);
    return -EXIT_BAD_USAGE;
}

static int unknown_option(const struct command *command, const char *word)
{
    const char *known[OPTION_COUNT];
    size_t n = 0;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (takes(command, i))
            known[n++] = option_rows[i].name;
    const char *near = strncmp(name, "--", 2) ? NULL : suggest_nearest(name + 2, known, n);
    if (near)
        printable_line(stderr, "shoal %s: no option '%s'; did you mean '--%s'?", command->name, name, near);
    else
        printable_line(stderr, "shoal %s: no option '%s'; shoal %s --help lists them", command->name, name,
                       command->name);
    return -EXIT_BAD_USAGE;
}

/* ---- values ---- */

static int take(struct client *c, const struct command *command, enum option option, const char *value)
{
    char what[200];
    if (c->ngiven == GIVEN_MAX)
        return bad_usage(command, "too many options");
    c->given[c->ngiven].option = (int)option;
    c->given[c->ngiven++].value = value;
    return option_take(c, option, value, takes(command, OPTION_BY), what, sizeof what) ? 0 : bad_usage(command, what);
}

/* ---- words ---- */

static int find_long(const struct command *command, const char *name, size_t length)
{
    if (length == 2 && !strncmp(name, "id", 2)) /* what --key was called first */
        return takes(command, OPTION_KEY) ? OPTION_KEY : -1;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (takes(command, i) && strlen(option_rows[i].name) == length && !strncmp(option_rows[i].name, name, length))
            return i;
    return -1;
}

static int find_letter(const struct command *command, char letter)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (takes(command, i) && option_rows[i].letter == letter)
            return i;
    return -1;
}

struct arguments {
    int argc, at; /* argv[at] is looked at */
    char **argv;
};

/* An option's value: what is left of its word, else the next word. Flags take none. */
static int take_from(struct client *c, const struct command *command, struct arguments *l, int option, const char *rest)
{
    const struct option_row *row = &option_rows[option];
    char what[100];
    if (row->argument && !rest && l->at + 1 < l->argc)
        rest = l->argv[++l->at];
    if (row->argument && !rest)
        snprintf(what, sizeof what, "--%s needs a value, %s", row->name, row->argument);
    else if (!row->argument && rest)
        snprintf(what, sizeof what, "--%s takes no value, got '%.40s'", row->name, rest);
    else
        return take(c, command, (enum option)option, rest);
    return bad_usage(command, what);
}

static int take_long(struct client *c, const struct command *command, struct arguments *l)
{
    const char *word = l->argv[l->at] + 2;
    size_t length = strcspn(word, "=");
    int option = find_long(command, word, length);
    if (option < 0)
        return unknown_option(command, l->argv[l->at]);
    return take_from(c, command, l, option, word[length] ? word + length + 1 : NULL);
}

/* -j, -qj, -oDIR, -o DIR */
static int take_letters(struct client *c, const struct command *command, struct arguments *l)
{
    const char *word = l->argv[l->at];
    for (const char *p = word + 1; *p; p++) {
        int option = find_letter(command, *p);
        if (option < 0)
            return unknown_option(command, word);
        bool last = option_rows[option].argument != NULL;
        int rc = take_from(c, command, l, option, last && p[1] ? p + 1 : NULL);
        if (rc || last)
            return rc;
    }
    return 0;
}

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h");
}

int options_parse(struct client *c, const struct command *command, int argc, char **argv)
{
    struct arguments l = {.argc = argc, .argv = argv};
    int words = 0;
    bool options = true;
    for (l.at = 1; l.at < argc; l.at++) {
        char *word = argv[l.at];
        int rc = 0;
        if (!options || *word != '-' || !word[1])
            argv[1 + words++] = word;
        else if (!strcmp(word, "--"))
            options = false;
        else if (is_help(word))
            return OPTIONS_HELP;
        else
            rc = word[1] == '-' ? take_long(c, command, &l) : take_letters(c, command, &l);
        if (rc)
            return rc;
    }
    if (words < command->least)
        return wrong_words(command, "few");
    if (words > command->most)
        return wrong_words(command, "many");
    if (c->csv && !c->output && takes(command, OPTION_OUTPUT) && command->needs == NEEDS_SERVICE)
        return bad_usage(command, "--csv goes with --output, the folder that files go to");
    return words;
}

static bool letter_has_value(char letter)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_rows[i].letter == letter)
            return option_rows[i].argument != NULL;
    return false;
}

/* Whether the value of an option, or of the last of several letters, is the next word: "--output", "-qo". */
static bool wants_next(const char *word)
{
    for (int i = 0; word[1] == '-' && i < OPTION_COUNT; i++)
        if (!strcmp(word + 2, option_rows[i].name))
            return option_rows[i].argument != NULL;
    for (const char *p = word + 1; *p && word[1] != '-'; p++)
        if (letter_has_value(*p))
            return !p[1];
    return false;
}

int options_before(int argc, char **argv)
{
    int at = 1;
    while (at < argc && argv[at][0] == '-' && argv[at][1])
        at += wants_next(argv[at]) ? 2 : 1;
    return at < argc ? at : argc;
}
