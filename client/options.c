/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. Names of options are taken whole, never abbreviated: what a script says today must not change its
 * meaning when an option is added.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/option_rows.h"
#include "client/commands.h"
#include "client/division/divide.h"
#include "client/propose/spacing.h"
#include "engine/base/number.h"
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

/* "90m", "36 h", "30d", "8w", "600 s" in seconds, or NAN. `bare`: what a number without a unit is in, NAN: it has to
 * have one. */
static double duration(const char *text, double bare)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
    char *end;
    double n = strtod(text, &end), unit = *end ? NAN : bare;
    while (end > text && *end == ' ')
        end++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].name))
            unit = units[i].seconds;
    n *= end == text ? NAN : unit;
    return n >= 0 && n <= 1e9 ? n : NAN;
}

static double overlap(const char *text)
{
    char *end;
    double x = strtod(text, &end);
    return end == text || *end || !(x > 0) || x > SPACING_AIM_MOST ? NAN : x;
}

/* "7/64" */
static bool share(const char *text, struct client *c)
{
    char first[24];
    const char *slash = strchr(text, '/');
    const size_t n = slash ? (size_t)(slash - text) : sizeof first;
    if (n >= sizeof first)
        return false;
    memcpy(first, text, n);
    first[n] = '\0';
    return number_parse(first, &c->share.at) && number_parse(slash + 1, &c->share.of) && c->share.at >= 0 &&
           c->share.at < c->share.of && c->share.of <= SHARES_MOST;
}

static bool is_state(const char *text, size_t len)
{
#define ENSEMBLE_STATE(symbol, number, name)                                                                           \
    if (strlen(name) == len && !strncmp(text, name, len))                                                              \
        return true;
#include "schemas/states.def"
#undef ENSEMBLE_STATE
    return false;
}

static bool are_states(const char *text)
{
    bool good = true;
    for (; good; text++) {
        size_t n = strcspn(text, ",");
        good = is_state(text, n);
        text += n;
        if (!*text)
            break;
    }
    return good;
}

/* Of what usage sums up. */
static bool is_kind(const char *text)
{
    static const char *const kinds[] = {"user", "ensemble", "campaign", "device", "day"};
    bool is = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        is |= !strcmp(text, kinds[i]);
    return is;
}

static int add(const char **list, int *n, const char *value)
{
    if (*n == LISTED_MAX)
        return 1;
    list[(*n)++] = value;
    return 0;
}

static int take_value(struct client *c, const struct command *command, enum option option, const char *value)
{
    switch (option) {
    case OPTION_STATE:
        if (!are_states(value))
            return bad_usage(command,
                             "--state wants queued, running, paused, finishing, done, failed or cancelled, or "
                             "several of them between commas");
        return add(c->states, &c->nstates, value) ? bad_usage(command, "more than 32 --state") : 0;
    case OPTION_LABEL:
        if (*value == '=' || !strchr(value, '='))
            return bad_usage(command, "--label wants KEY=VALUE");
        return add(c->labels, &c->nlabels, value) ? bad_usage(command, "more than 32 labels") : 0;
    case OPTION_OLDER_THAN:
        c->older_than = duration(value, NAN);
        return isnan(c->older_than) ? bad_usage(command, "--older-than wants an age, as in 90m, 36h, 30d or 8w") : 0;
    case OPTION_LIMIT:
        return !number_parse(value, &c->limit) || c->limit < 1
                   ? bad_usage(command, "--limit wants a whole number from 1")
                   : 0;
    case OPTION_SINCE:
        if (takes(command, OPTION_BY)) {
            c->ago = duration(value, NAN);
            return !(c->ago > 0) ? bad_usage(command, "--since wants an age, as in 24h, 30d or 8w") : 0;
        }
        return !number_parse(value, &c->since) || c->since < 0 ? bad_usage(command, "--since wants the seq of an event")
                                                               : 0;
    case OPTION_KEY:
        c->key = value;
        return 0;
    case OPTION_PRIORITY:
    case OPTION_TO:
        c->priority = value;
        return !strcmp(value, "low") || !strcmp(value, "normal") || !strcmp(value, "high") || !strcmp(value, "urgent")
                   ? 0
                   : bad_usage(command, "a priority is low, normal, high or urgent");
    case OPTION_BY:
        c->by = value;
        return is_kind(value) ? 0 : bad_usage(command, "--by wants user, ensemble, campaign, device or day");
    case OPTION_OWNER:
        c->owner = value;
        return 0;
    case OPTION_REASON:
        c->reason = value;
        return 0;
    case OPTION_INCLUDE:
        return add(c->includes, &c->nincludes, value) ? bad_usage(command, "more than 32 --include folders") : 0;
    case OPTION_OUTPUT:
        c->output = value;
        return 0;
    case OPTION_TOPOLOGY:
        c->topology = value;
        return 0;
    case OPTION_COORDINATES:
        c->coordinates = value;
        return 0;
    case OPTION_REFERENCE:
        c->reference = value;
        return 0;
    case OPTION_INDEX:
        c->index = value;
        return 0;
    case OPTION_LIGAND: /* suggest-restraint's the worker reads */
        c->ligand = value;
        return 0;
    case OPTION_TIME:
        c->time = value;
        return 0;
    case OPTION_PILOT:
        c->pilot = value;
        return 0;
    case OPTION_UNTIL:
        c->until = value;
        return 0;
    case OPTION_ADD_WINDOW:
        return add(c->added, &c->nadded, value) ? bad_usage(command, "more than 32 --add-window") : 0;
    case OPTION_ONLY:
        return add(c->only, &c->nonly, value) ? bad_usage(command, "more than 32 --only") : 0;
    case OPTION_SKIP:
        return add(c->skip, &c->nskip, value) ? bad_usage(command, "more than 32 --skip") : 0;
    case OPTION_LEG:
        return add(c->legs, &c->nlegs, value) ? bad_usage(command, "more than 32 --leg") : 0;
    case OPTION_TIMEOUT:
        c->timeout = duration(value, 1);
        return !(c->timeout > 0) ? bad_usage(command, "--timeout wants a time above 0, as in 600, 90m, 36h or 2d") : 0;
    case OPTION_EVERY:
        c->every = duration(value, 1);
        return !(c->every > 0) ? bad_usage(command, "--every wants a time above 0, as in 10, 90s or 5m") : 0;
    case OPTION_FOR:
        c->run_for = duration(value, NAN);
        return !(c->run_for > 0) ? bad_usage(command, "--for wants a time, as in 90s, 9m or 4h") : 0;
    case OPTION_SHARE:
        return !share(value, c) ? bad_usage(command, "--share wants I/N, from 0/N to N-1/N, as in 7/64; N at most 1000")
                                : 0;
    case OPTION_SHARES:
        return !number_parse(value, &c->shares) || c->shares < 1 || c->shares > SHARES_MOST
                   ? bad_usage(command, "--shares wants a whole number from 1 to 1000")
                   : 0;
    case OPTION_AT_ONCE:
        return !number_parse(value, &c->at_once) || c->at_once < 1
                   ? bad_usage(command, "--at-once wants a whole number from 1")
                   : 0;
    case OPTION_HERE:
        c->here = c->here ? c->here : value;
        return add(c->heres, &c->nheres, value) ? bad_usage(command, "more than 32 --here") : 0;
    case OPTION_SOCKET:
        c->socket = value;
        return 0;
    case OPTION_WINDOW:
        c->window = value;
        return 0;
    case OPTION_WINDOWS:
        return !number_parse(value, &c->windows) || c->windows < 2 || c->windows > SPACING_MOST
                   ? bad_usage(command, "--windows wants a whole number from 2 to 1000")
                   : 0;
    case OPTION_PORT:
        return !number_parse(value, &c->port) || c->port < 0 || c->port > 65535
                   ? bad_usage(command, "--port wants a port from 1 to 65535, or 0 for any free one")
                   : 0;
    case OPTION_OVERLAP:
        c->overlap = overlap(value);
        return isnan(c->overlap) ? bad_usage(command, "--overlap wants a number above 0, 0.2 at most") : 0;
    case OPTION_RECEPTOR:
    case OPTION_DEVICE: /* the worker reads these itself */
    case OPTION_TRAJECTORY:
    case OPTION_BEGIN:
    case OPTION_END:
    case OPTION_DT:
    case OPTION_REPLICAS:
    case OPTION_SWEEP:
    case OPTION_STEPS:
    case OPTION_WARM_UP:
    case OPTION_FORM:
    case OPTION_PME:
    case OPTION_EACH:
    case OPTION_PROFILE:
    case OPTION_PLOT:
    case OPTION_ALL:
    case OPTION_ALL_USERS:
    case OPTION_WAIT:
    case OPTION_FOLLOW:
    case OPTION_DEVICES:
    case OPTION_DRY_RUN:
    case OPTION_BY_NEED:
    case OPTION_FORCES:
    case OPTION_STAGES:
    case OPTION_CHECK:
    case OPTION_CSV:
    case OPTION_YES:
    case OPTION_REPLACE:
    case OPTION_JSON:
    case OPTION_JSONL:
    case OPTION_PLAIN:
    case OPTION_QUIET:
    case OPTION_COUNT:
        return 0;
    }
    return 0;
}

static int take(struct client *c, const struct command *command, enum option option, const char *value)
{
    if (c->ngiven == GIVEN_MAX)
        return bad_usage(command, "too many options");
    c->given[c->ngiven].option = (int)option;
    c->given[c->ngiven++].value = value;
    c->json |= option == OPTION_JSON;
    c->jsonl |= option == OPTION_JSONL;
    c->plain |= option == OPTION_PLAIN;
    c->quiet |= option == OPTION_QUIET;
    c->wait |= option == OPTION_WAIT;
    c->all |= option == OPTION_ALL;
    c->all_users |= option == OPTION_ALL_USERS;
    c->follow |= option == OPTION_FOLLOW;
    c->devices |= option == OPTION_DEVICES;
    c->dry_run |= option == OPTION_DRY_RUN;
    c->by_need |= option == OPTION_BY_NEED;
    c->csv |= option == OPTION_CSV;
    c->yes |= option == OPTION_YES;
    c->replace |= option == OPTION_REPLACE;
    return value ? take_value(c, command, option, value) : 0;
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
