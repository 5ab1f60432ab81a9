/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal: the client. One table declares every command: its words, options, help and handler.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/client.h"
#include "engine/base/suggest.h"

enum option_bit {
    OPTION_JSON = 1,
    OPTION_WAIT = 2,
    OPTION_KEY = 4,
    OPTION_OUTPUT = 8,
    OPTION_TIMEOUT = 16,
    OPTION_INCLUDE = 32,
    OPTION_STATE = 64,
    OPTION_SOCKET = 128,
    OPTION_SERVICE = OPTION_SOCKET | OPTION_JSON,
};

static const struct option_row {
    enum option_bit bit;
    const char *name, *argument, *help;
    char letter;
} option_rows[] = {
    {OPTION_JSON, "json", NULL, "print JSON", 'j'},
    {OPTION_WAIT, "wait", NULL, "stay until the ensemble ends, then print its results", 'w'},
    {OPTION_KEY, "id", "KEY", "your own key: the same KEY returns the same ensemble", 'k'},
    {OPTION_OUTPUT, "output", "DIR", "fetch the ensemble's files into DIR", 'o'},
    {OPTION_TIMEOUT, "timeout", "SECONDS", "give up waiting after this long (exit 124)", 't'},
    {OPTION_INCLUDE, "include", "DIR", "look for #include files here too; repeatable", 'I'},
    {OPTION_STATE, "state", "STATE", "only ensembles in this state", 's'},
    {OPTION_SOCKET, "socket", "PATH", "the service's socket", 'S'},
};
enum { OPTION_ROWS = sizeof option_rows / sizeof *option_rows };

static const struct command {
    const char *name, *words, *summary;
    const char *examples; /* lines */
    unsigned options;
    int least, most; /* words */
    int (*run)(struct client *c, int argc, char **argv);
    const char *offline_help; /* commands that need no service: shoal-worker does them, with these options */
} commands[] = {
    {"submit", "SPEC.yaml", "submit an ensemble; prints its id",
     "shoal submit methane.yaml\n"
     "shoal submit methane.yaml --wait --output results/\n"
     "shoal submit methane.yaml --id methane-1      # again is the same ensemble\n",
     OPTION_SERVICE | OPTION_WAIT | OPTION_KEY | OPTION_OUTPUT | OPTION_TIMEOUT | OPTION_INCLUDE, 1, 1, submit_main,
     NULL},
    {"list", "", "your ensembles, newest first", "shoal list\nshoal list --state running --json\n",
     OPTION_SERVICE | OPTION_STATE, 0, 0, list_main, NULL},
    {"status", "[ID]", "one ensemble with its windows; without ID what runs now", "shoal status\nshoal status 3f2a\n",
     OPTION_SERVICE, 0, 1, status_main, NULL},
    {"watch", "ID", "follow an ensemble until it ends", "shoal watch 3f2a\nshoal watch 3f2a --json --timeout 600\n",
     OPTION_SERVICE | OPTION_TIMEOUT, 1, 1, watch_main, NULL},
    {"results", "ID", "free energies with errors, and the files",
     "shoal results 3f2a\nshoal results 3f2a --json\nshoal results 3f2a --output results/\n",
     OPTION_SERVICE | OPTION_OUTPUT, 1, 1, results_main, NULL},
    {"cancel", "ID", "stop an ensemble for good; finished windows keep their files", "shoal cancel 3f2a\n",
     OPTION_SERVICE, 1, 1, cancel_main, NULL},
    {"pause", "ID", "checkpoint an ensemble and stop it until resumed", "shoal pause 3f2a\n", OPTION_SERVICE, 1, 1,
     pause_main, NULL},
    {"resume", "ID", "go on with a paused ensemble", "shoal resume 3f2a\n", OPTION_SERVICE, 1, 1, resume_main, NULL},
    {"retry", "ID", "run failed windows again from their last good checkpoints", "shoal retry 3f2a\n", OPTION_SERVICE,
     1, 1, retry_main, NULL},
    {"validate", "SPEC.yaml", "check a spec and its files; needs no service",
     "shoal validate methane.yaml\nshoal validate methane.yaml --json\n", 0, 0, 0, NULL,
     "  -I, --include DIR    look for #include files here too; repeatable\n"
     "  -j, --json           print JSON\n"},
    {"energy", "SPEC.yaml", "one evaluation of the start coordinates; needs no service",
     "shoal energy methane.yaml --json\nshoal energy methane.yaml --window 3 --forces --json\n", 0, 0, 0, NULL,
     "  --window K           lambda window, 0 is the first\n"
     "  --forces             print the forces too\n"
     "  --device D           cpu or cuda:K\n"
     "  --include DIR        look for #include files here too; repeatable\n"
     "  --json               print JSON\n"},
    {"bench", "SPEC.yaml", "time replicas of a spec; needs no service",
     "shoal bench methane.yaml --replicas 4 --steps 1000 --json\n", 0, 0, 0, NULL,
     "  --replicas N         how many at once\n"
     "  --steps S            timesteps of each, after the warm-up\n"
     "  --device D           cpu or cuda:K\n"
     "  --include DIR        look for #include files here too; repeatable\n"
     "  --json               print JSON\n"},
    {"version", "", "versions of client and service", "shoal version --json\n", OPTION_SERVICE, 0, 0, version_main,
     NULL},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_options(FILE *to, unsigned options)
{
    for (int i = 0; i < OPTION_ROWS; i++)
        if (options & option_rows[i].bit) {
            const struct option_row *o = &option_rows[i];
            int used = fprintf(to, "  -%c, --%s %s", o->letter, o->name, o->argument ? o->argument : "");
            fprintf(to, "%*s%s\n", used < 25 ? 25 - used : 1, "", o->help);
        }
}

static int help_command(FILE *to, const struct command *c)
{
    for (const char *line = c->examples; *line; line = strchr(line, '\n') + 1)
        fprintf(to, "  %.*s\n", (int)strcspn(line, "\n"), line);
    fprintf(to, "\nshoal %s%s%s [OPTIONS]: %s\n", c->name, *c->words ? " " : "", c->words, c->summary);
    if (c->offline_help)
        fputs(c->offline_help, to);
    print_options(to, c->options);
    return to == stdout ? EXIT_OK : EXIT_BAD_USAGE;
}

static int help_all(FILE *to)
{
    fputs(
        "  shoal submit ensemble.yaml --wait\n"
        "  shoal watch ID\n"
        "  shoal results ID --json\n"
        "\n"
        "shoal COMMAND [OPTIONS]: free energies from ensembles of simulations\n",
        to);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-9s %-10s %s\n", commands[i].name, commands[i].words, commands[i].summary);
    fputs(
        "\nshoal COMMAND --help says more. IDs may be shortened to a unique beginning. Exit codes: 0 ok, 1 the "
        "ensemble failed,\n"
        "2 usage, 65 bad spec, 66 no input, 69 service unreachable, 75 try later, 77 not permitted, 124 timeout.\n",
        to);
    return to == stdout ? EXIT_OK : EXIT_BAD_USAGE;
}

static const struct command *find_command(const char *name)
{
    const char *known[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        if (!strcmp(commands[i].name, name))
            return &commands[i];
        known[i] = commands[i].name;
    }
    const char *near = suggest_nearest(name, known, COMMANDS);
    fprintf(stderr, "shoal: no command '%s'", name);
    if (near)
        fprintf(stderr, "; did you mean '%s'?\n", near);
    else
        fputs("; shoal --help lists them\n", stderr);
    return NULL;
}

static int unknown_option(const struct command *command, const char *word)
{
    const char *known[OPTION_ROWS];
    size_t n = 0;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    for (int i = 0; i < OPTION_ROWS; i++)
        if (command->options & option_rows[i].bit)
            known[n++] = option_rows[i].name;
    const char *near = strncmp(name, "--", 2) ? NULL : suggest_nearest(name + 2, known, n);
    fprintf(stderr, "shoal %s: no option '%s'", command->name, name);
    if (near)
        fprintf(stderr, "; did you mean '--%s'?\n", near);
    else
        fprintf(stderr, "; shoal %s --help lists them\n", command->name);
    return EXIT_BAD_USAGE;
}

static int bad_usage(const struct command *command, const char *what)
{
    fprintf(stderr, "shoal %s: %s; shoal %s --help shows how\n", command->name, what, command->name);
    return EXIT_BAD_USAGE;
}

static int take_option(struct client *c, const struct command *command, enum option_bit bit, const char *value)
{
    char *end;
    switch (bit) {
    case OPTION_JSON:
        c->json = true;
        return 0;
    case OPTION_WAIT:
        c->wait = true;
        return 0;
    case OPTION_KEY:
        c->key = value;
        return 0;
    case OPTION_OUTPUT:
        c->output = value;
        return 0;
    case OPTION_TIMEOUT:
        c->timeout = strtod(value, &end);
        return *end || !(c->timeout > 0) ? bad_usage(command, "--timeout wants a number of seconds above 0") : 0;
    case OPTION_INCLUDE:
        if (c->nincludes == sizeof c->includes / sizeof *c->includes)
            return bad_usage(command, "more than 32 --include folders");
        c->includes[c->nincludes++] = value;
        return 0;
    case OPTION_STATE:
        c->state = value;
        return 0;
    case OPTION_SOCKET:
        c->socket = value;
        return 0;
    case OPTION_SERVICE:
        break;
    }
    return bad_usage(command, "bad option");
}

/* Options and words of one command. Returns 0, an exit code, or -1 after printing help. */
static int parse(struct client *c, const struct command *command, int argc, char **argv)
{
    struct option longs[OPTION_ROWS + 2] = {{0}};
    char shorts[3 * OPTION_ROWS + 3] = ":h";
    int n = 0;
    for (int i = 0; i < OPTION_ROWS; i++) {
        const struct option_row *o = &option_rows[i];
        if (!(command->options & o->bit))
            continue;
        longs[n++] = (struct option){o->name, o->argument ? required_argument : no_argument, NULL, o->letter};
        snprintf(shorts + strlen(shorts), 3, "%c%s", o->letter, o->argument ? ":" : "");
    }
    longs[n] = (struct option){"help", no_argument, NULL, 'h'};
    for (int letter; (letter = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (letter == 'h') {
            help_command(stdout, command);
            return -1;
        }
        if (letter == '?')
            return unknown_option(command, argv[optind - 1]);
        if (letter == ':')
            return bad_usage(command, "an option lacks its value");
        for (int i = 0; i < OPTION_ROWS; i++)
            if (option_rows[i].letter == letter) {
                int rc = take_option(c, command, option_rows[i].bit, optarg);
                if (rc)
                    return rc;
            }
    }
    if (argc - optind < command->least)
        return bad_usage(command, "too few words");
    if (argc - optind > command->most)
        return bad_usage(command, "too many words");
    return 0;
}

/* $NAME followed by rest, if that is somewhere to look (an absolute path). */
static bool below(struct buf *path, const char *name, const char *rest)
{
    const char *base = getenv(name);
    path->len = 0;
    if (base && *base == '/')
        buf_printf(path, "%s%s", base, rest);
    return path->len > 0;
}

/* --socket, SHOAL_SOCKET, else the first that is there of the user's own service and the system's. */
static void choose_socket(struct client *c, struct buf *path)
{
    static const char *const own[][2] = {{"XDG_RUNTIME_DIR", "/shoald/api.sock"},
                                         {"XDG_STATE_HOME", "/shoald/api.sock"},
                                         {"HOME", "/.local/state/shoald/api.sock"}};
    const char *given = c->socket ? c->socket : getenv("SHOAL_SOCKET");
    struct stat st;
    bool found = false;
    for (size_t i = 0; !(given && *given) && !found && i < sizeof own / sizeof *own; i++)
        found = below(path, own[i][0], own[i][1]) && !stat(path->data, &st);
    if (!found) {
        path->len = 0;
        buf_printf(path, "%s", given && *given ? given : "/run/shoald/api.sock");
    }
    c->socket = path->data;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return help_all(stderr);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help_all(stdout);
    if (!strcmp(argv[1], "--version"))
        return printf("shoal %s\n", SHOAL_VERSION) < 0;
    if (!strcmp(argv[1], "help")) {
        const struct command *about = argc > 2 ? find_command(argv[2]) : NULL;
        return argc == 2 ? help_all(stdout) : about ? help_command(stdout, about) : EXIT_BAD_USAGE;
    }
    const struct command *command = find_command(argv[1]);
    if (!command)
        return EXIT_BAD_USAGE;
    if (command->offline_help)
        return wants_help(argc - 1, argv + 1) ? help_command(stdout, command) : offline_exec(argv);
    struct client c = {0};
    struct buf path = {0};
    int rc = parse(&c, command, argc - 1, argv + 1);
    if (!rc) {
        choose_socket(&c, &path);
        c.http = http_new(c.socket);
        rc = command->run(&c, argc - 1 - optind, argv + 1 + optind);
    }
    http_free(c.http);
    buf_free(&path);
    return rc < 0 ? EXIT_OK : rc;
}
