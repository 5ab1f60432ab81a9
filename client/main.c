/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal: the client. commands.c declares every command; here its row is found, its line read, and its handler run.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/commands.h"
#include "client/place.h"

static int run(struct client *c, int words, char **argv)
{
    struct buf path = {0}, tried = {0};
    if (c->command->needs == NEEDS_SERVICE) {
        place_socket(c->socket, &path, &tried);
        c->socket = path.data;
        c->http = http_new(path.data, tried.data);
    }
    int rc = c->command->run(c, words, argv);
    http_free(c->http);
    buf_free(&path);
    buf_free(&tried);
    return rc;
}

/* A result that did not reach its reader is a failure, whatever else went well: a full disk behind `shoal results >file`. */
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
        return close_output(help_all(stdout));
    if (!strcmp(first, "--version")) {
        printf("shoal %s\n", SHOAL_VERSION);
        return close_output(EXIT_OK);
    }
    if (at == argc)
        return help_all(stderr);
    char *name = argv[at]; /* options may stand before it: behind it they are the command's own */
    memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
    argv[1] = name;
    struct client c = {.command = command_find(argv[1])};
    if (!c.command)
        return EXIT_BAD_USAGE;
    int words = options_parse(&c, c.command, argc - 1, argv + 1);
    if (words == OPTIONS_HELP)
        return close_output(help_command(stdout, c.command));
    return close_output(words < 0 ? -words : run(&c, words, argv + 2));
}
