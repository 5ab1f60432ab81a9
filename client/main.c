/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal: the client. commands.c declares every command; here its row is found, its line read, and its handler run.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/ask/http.h"
#include "client/ask/socket_path.h"
#include "client/campaign/campaign.h"
#include "client/commands.h"
#include "client/division/division.h"
#include "client/programs/here.h"
#include "schemas/build.h"

static bool is_campaign(const struct client *c, int words, char **argv, const char *action)
{
    return words && !strcmp(c->command->name, "campaign") && !strcmp(argv[0], action);
}

/* With --here: campaign run has work done, all other commands look at it. */
static bool works(const struct client *c, char **argv)
{
    return is_campaign(c, 1, argv, "run");
}

/* Several folders with parts of a campaign. */
static bool takes_folders(const struct client *c, int words, char **argv)
{
    return is_campaign(c, words, argv, "gather") ||
           (words && !strcmp(c->command->name, "report") && campaign_is_file(argv[0]));
}

/* What reads the folder of a division, where no service has to be for it. */
static bool reads_shares(const struct client *c, int words, char **argv)
{
    static const char *const actions[] = {"plan", "status", "gather", "report", "cancel"};
    bool reads = words && !strcmp(c->command->name, "report") && campaign_is_file(argv[0]);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        reads |= is_campaign(c, words, argv, actions[i]);
    return c->nheres == 1 && reads && division_is(c->here);
}

/* With a service of its own, which has stopped before the exit code says how it went. */
static int run_here(struct client *c, int words, char **argv)
{
    struct here h = {.lock = -1};
    struct buf folder = {0};
    struct err e = {0};
    int rc;
    if (division_enter(c, &folder, &e) || here_open(&h, c, works(c, argv), &e)) {
        rc = client_fail(c, &e);
    } else {
        c->socket = h.socket.data;
        c->own = &h;
        c->http = http_new(c->socket, c->socket);
        rc = c->command->run(c, words, argv);
        http_free(c->http);
    }
    e = (struct err){0};
    if (here_close(&h, &e)) {
        int bad = client_fail(c, &e);
        rc = rc == EXIT_OK ? bad : rc;
    }
    buf_free(&folder);
    return rc;
}

static int run(struct client *c, int words, char **argv)
{
    struct buf path = {0}, tried = {0};
    if (c->nheres > 1) /* gather opens one after the other */
        return c->command->run(c, words, argv);
    if (is_campaign(c, words, argv, "slurm") || reads_shares(c, words, argv)) {
        c->division = c->here;
        return c->command->run(c, words, argv);
    }
    if (c->here)
        return run_here(c, words, argv);
    if (c->command->needs == NEEDS_SERVICE) {
        socket_path_find(c->socket, &path, &tried);
        c->socket = path.data;
        c->http = http_new(path.data, tried.data);
    }
    int rc = c->command->run(c, words, argv);
    http_free(c->http);
    buf_free(&path);
    buf_free(&tried);
    return rc;
}

/* A result that did not reach its reader is a failure, whatever else went well: a full disk behind `shoal results
 * >file`. */
static int close_output(int rc)
{
    errno = 0;
    bool bad = ferror(stdout) | (fflush(stdout) != 0);
    if (bad)
        fprintf(stderr, "shoal: standard output: %s\n", errno ? strerror(errno) : "not all of it was written");
    return bad && rc == EXIT_OK ? EXIT_CANNOT_CREATE : rc;
}

int main(int argc, char **argv)
{
    int at = options_before(argc, argv);
    const char *first = argc > 1 ? argv[1] : "";
    if (!strcmp(first, "--help") || !strcmp(first, "-h"))
        return close_output(help_all(stdout, commands, commands_count));
    if (!strcmp(first, "--version")) {
        printf("shoal %s, %s\n", SHOAL_VERSION, BUILD_TEXT);
        return close_output(EXIT_OK);
    }
    if (at == argc)
        return help_all(stderr, commands, commands_count);
    char *name = argv[at]; /* options may come before it: those after it are the command's own */
    memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
    argv[1] = name;
    struct client c = {.command = command_find(argv[1]), .build = BUILD_TEXT};
    if (!c.command)
        return EXIT_BAD_USAGE;
    int words = options_parse(&c, c.command, argc - 1, argv + 1);
    if (words == OPTIONS_HELP)
        return close_output(help_command(stdout, c.command));
    if (words >= 0 && c.nheres > 1 && !takes_folders(&c, words, argv + 2)) {
        fprintf(stderr, "shoal %s: several --here: expected one, or campaign gather, or report FILE.yaml\n",
                c.command->name);
        return EXIT_BAD_USAGE;
    }
    return close_output(words < 0 ? -words : run(&c, words, argv + 2));
}
