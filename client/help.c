/* SPDX-License-Identifier: Apache-2.0
 *
 * What `shoal help` says of the table of commands: text for people, JSON for what is generated from it (client/generate.py).
 */
#include <string.h>

#include "client/commands.h"

static const struct {
    int code;
    const char *text;
} exits[] = {
    {EXIT_OK, "success"},
    {EXIT_ENSEMBLE_FAILED, "the ensemble failed or was cancelled, or it has no free energy"},
    {EXIT_BAD_USAGE, "bad usage"},
    {EXIT_REFUSED, "refused: the state of the ensemble does not allow it, or a question was answered with no"},
    {EXIT_BAD_SPEC, "bad spec, topology or coordinates"},
    {EXIT_NO_INPUT, "no such file or ensemble"},
    {EXIT_UNREACHABLE, "the service cannot be reached"},
    {EXIT_INTERNAL, "internal error"},
    {EXIT_CANNOT_CREATE, "output cannot be written"},
    {EXIT_TRY_LATER, "try later; what was printed is not final"},
    {EXIT_NOT_PERMITTED, "not permitted"},
    {EXIT_TIMEOUT, "timeout"},
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

static void print_options(FILE *to, uint64_t options)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *o = &option_rows[i];
        char letter[8] = "    ";
        if (!(options >> i & 1))
            continue;
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        int used = fprintf(to, "  %s--%s %s", letter, o->name, o->argument ? o->argument : "");
        fprintf(to, "%*s%s\n", used < 25 ? 25 - used : 1, "", o->help);
    }
}

int help_command(FILE *to, const struct command *c)
{
    for (const char *line = c->examples; *line; line = strchr(line, '\n') + 1)
        fprintf(to, "  %.*s\n", (int)strcspn(line, "\n"), line);
    fprintf(to, "\nshoal %s%s%s [OPTIONS]: %s%s\n", c->name, *c->words ? " " : "", c->words, c->summary,
            needs_text(c->needs));
    if (*c->details)
        fprintf(to, "%s\n", c->details);
    print_options(to, c->options);
    return to == stdout ? EXIT_OK : EXIT_BAD_USAGE;
}

int help_all(FILE *to)
{
    fputs(
        "  shoal submit ensemble.yaml --wait\n"
        "  shoal watch ID\n"
        "  shoal results ID --json\n"
        "\n"
        "shoal COMMAND [OPTIONS]: free energies from ensembles of simulations\n",
        to);
    for (int i = 0; i < commands_count; i++)
        fprintf(to, "  %-8s  %-9s  %s%s\n", commands[i].name, commands[i].words, commands[i].summary,
                needs_text(commands[i].needs));
    fputs(
        "\nshoal COMMAND --help says more. An ID is an ensemble's id or a unique beginning of it, its key or its "
        "name.\nExit codes:",
        to);
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
        fprintf(to, "\n  %3d  %s", exits[i].code, exits[i].text);
    fputs("\n", to);
    return to == stdout ? EXIT_OK : EXIT_BAD_USAGE;
}

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

int help_main(struct client *c, int argc, char **argv)
{
    if (!c->json) {
        const struct command *about = argc ? command_find(argv[0]) : NULL;
        return !argc ? help_all(stdout) : about ? help_command(stdout, about) : EXIT_BAD_USAGE;
    }
    json_t *list = json_array(), *options = json_array(), *codes = json_array();
    for (int i = 0; i < commands_count; i++)
        json_array_append_new(list, command_json(&commands[i]));
    for (int i = 0; i < OPTION_COUNT; i++)
        json_array_append_new(options, option_json(&option_rows[i]));
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
        json_array_append_new(codes, json_pack("{s:i,s:s}", "code", exits[i].code, "text", exits[i].text));
    json_t *all = json_pack("{s:o,s:o,s:o,s:o}", "commands", list, "options", options, "states", states_json(),
                            "exit_codes", codes);
    client_print(all);
    json_decref(all);
    return EXIT_OK;
}
