/* SPDX-License-Identifier: Apache-2.0
 *
 * What `shoal help` says of the table of commands: text for people, JSON for what is generated from it
 * (client/generate.py).
 */
#include <string.h>

#include "client/command/option_rows.h"
#include "client/commands.h"
#include "client/show/show.h"

static const struct {
    int code;
    const char *text;
} exits[] = {
#define EXIT(name, code, text) {code, text},
#include "schemas/exits.def"
#undef EXIT
};

static const char *needs_text(enum needs needs)
{
    switch (needs) {
    case NEEDS_NOTHING:
    case NEEDS_SERVICE:
        return "";
    case NEEDS_WORKER:
        return "; needs no service";
    }
    return "";
}

/* ---- lines ---- */

/* What a line of help may take: the terminal's, and no more than is read with ease. */
static int line_width(FILE *to)
{
    enum { USUAL = 80, MOST = 100 };
    int columns = USUAL, rows;
    if (show_is_terminal(to))
        show_size(to, &columns, &rows);
    return columns < MOST ? columns : MOST;
}

/* A text from column `at` on, with its other lines from column `indent`; words stay whole. */
static void wrap(FILE *to, int at, int indent, const char *text)
{
    int width = line_width(to);
    bool first = true;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (!first && at + 1 + n > width) {
            fprintf(to, "\n%*s", indent, "");
            at = indent;
            first = true;
        }
        fprintf(to, "%s%.*s", first ? "" : " ", n, text);
        at += n + !first;
        first = false;
        text += n + (text[n] == ' ');
    }
    fputc('\n', to);
}

/* "  NAME  text", the texts below each other from column `indent`; a name that is too long has a line of its own. */
static void entry(FILE *to, int indent, const char *name, const char *text)
{
    int used = fprintf(to, "  %s", name);
    if (used + 2 > indent) {
        fputc('\n', to);
        used = 0;
    }
    fprintf(to, "%*s", indent - used, "");
    wrap(to, indent, indent, text);
}

/* ---- one command ---- */

static void print_options(FILE *to, option_set options)
{
    enum { INDENT = 26 };
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *o = &option_rows[i];
        struct buf name = {0};
        if (!(options >> i & 1))
            continue;
        if (o->letter)
            buf_printf(&name, "-%c, ", o->letter);
        else
            buf_printf(&name, "    ");
        buf_printf(&name, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
        entry(to, INDENT, name.data, o->help);
        buf_free(&name);
    }
}

int help_command(FILE *to, const struct command *c)
{
    struct buf head = {0};
    buf_printf(&head, "shoal %s%s%s [OPTIONS]: %s%s", c->name, *c->words ? " " : "", c->words, c->summary,
               needs_text(c->needs));
    wrap(to, 0, 2, head.data);
    buf_free(&head);
    for (const char *part = c->details; *part;) {
        int n = (int)strcspn(part, "\n");
        struct buf paragraph = {0};
        buf_printf(&paragraph, "%.*s", n, part);
        fputc('\n', to);
        wrap(to, 0, 0, paragraph.data);
        buf_free(&paragraph);
        part += n + (part[n] == '\n');
    }
    fputs("\nExamples:\n", to);
    for (const char *line = c->examples; *line; line = strchr(line, '\n') + 1)
        fprintf(to, "  %.*s\n", (int)strcspn(line, "\n"), line);
    fputs("\nOptions:\n", to);
    print_options(to, c->options);
    return to == stdout ? EXIT_OK : EXIT_BAD_USAGE;
}

/* ---- all of them ---- */

static const struct {
    const char *title, *names[11];
} groups[] = {
    {"Run and follow", {"up", "submit", "list", "status", "watch", "wait", "events", "top", "web"}},
    {"Results", {"results", "report", "ladder", "reestimate"}},
    {"Steer", {"pause", "resume", "cancel", "retry", "priority", "move", "extend", "rm", "du", "usage"}},
    {"Move to another service", {"export", "import-ensemble"}},
    {"Many at once", {"campaign"}},
    {"Administer", {"drain", "undrain", "hold", "release"}},
    {"Write and check specs", {"init", "import", "validate", "suggest-restraint"}},
    {"Without a service", {"energy", "observe", "bench", "estimate"}},
    {"About", {"doctor", "version", "help"}},
};

static void print_group(FILE *to, const char *title, const char *const *names, const struct command *all, int n)
{
    enum { INDENT = 21 };
    fprintf(to, "\n%s:\n", title);
    for (; *names; names++)
        for (int i = 0; i < n; i++)
            if (!strcmp(all[i].name, *names))
                entry(to, INDENT, *names, all[i].summary);
}

int help_all(FILE *to, const struct command *all, int n)
{
    wrap(to, 0, 2, "shoal COMMAND [OPTIONS]: free energies from ensembles of simulations");
    fputs(
        "\n"
        "  shoal submit ensemble.yaml --wait\n"
        "  shoal watch ID\n"
        "  shoal results ID --json\n",
        to);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        print_group(to, groups[i].title, groups[i].names, all, n);
    fputs("\n", to);
    wrap(to, 0, 0,
         "shoal COMMAND --help says more. An ID is an ensemble's id or a unique beginning of it, its key or its name.");
    fputs("\nExit codes:\n", to);
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++) {
        char code[8];
        snprintf(code, sizeof code, "%3d", exits[i].code);
        entry(to, 7, code, exits[i].text);
    }
    return to == stdout ? EXIT_OK : EXIT_BAD_USAGE;
}

/* ---- as data ---- */

static json_t *command_json(const struct command *c)
{
    static const char *const needs[] = {
        [NEEDS_NOTHING] = "nothing", [NEEDS_SERVICE] = "service", [NEEDS_WORKER] = "worker"};
    json_t *options = json_array(), *examples = json_array();
    for (int i = 0; i < OPTION_COUNT; i++)
        if (c->options >> i & 1)
            json_array_append_new(options, json_string(option_rows[i].name));
    for (const char *line = c->examples; *line; line = strchr(line, '\n') + 1)
        json_array_append_new(examples, json_stringn(line, strcspn(line, "\n")));
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o}", "name", c->name, "words", c->words, "summary", c->summary,
                     "details", c->details, "needs", needs[c->needs], "options", options, "examples", examples);
}

static json_t *option_json(const struct option_row *o)
{
    char letter[2] = {o->letter, '\0'};
    return json_pack("{s:s,s:s?,s:s?,s:s}", "name", o->name, "letter", o->letter ? letter : NULL, "argument",
                     o->argument, "help", o->help);
}

static json_t *states_json(void)
{
    json_t *states = json_array();
#define ENSEMBLE_STATE(symbol, number, name) json_array_append_new(states, json_string(name));
#include "schemas/states.def"
#undef ENSEMBLE_STATE
    return states;
}

void help_json(const struct command *all, int n)
{
    json_t *list = json_array(), *options = json_array(), *codes = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, command_json(&all[i]));
    for (int i = 0; i < OPTION_COUNT; i++)
        json_array_append_new(options, option_json(&option_rows[i]));
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
        json_array_append_new(codes, json_pack("{s:i,s:s}", "code", exits[i].code, "text", exits[i].text));
    json_t *whole = json_pack("{s:o,s:o,s:o,s:o}", "commands", list, "options", options, "states", states_json(),
                              "exit_codes", codes);
    client_print(whole);
    json_decref(whole);
}
