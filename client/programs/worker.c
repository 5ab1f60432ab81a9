/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that need no service are done by shoal-worker, which has the engine: this process becomes it, or shows what
 * it prints.
 */
#include "client/programs/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/command/command.h"
#include "client/command/handlers.h"
#include "client/command/option_rows.h"
#include "client/programs/become.h"
#include "client/results/results.h"

/* Becomes shoal-worker; returns only when that fails, which is said. */
static int become_worker(char **words)
{
    program_become("shoal-worker", words);
    return EXIT_UNREACHABLE;
}

static void free_words(char **words)
{
    for (char **word = words; *word; word++)
        free(*word);
    free(words);
}

int offline_main(struct client *c, int argc, char **argv)
{
    char **words = options_argv(c, "shoal-worker", argc, argv);
    int rc = become_worker(words);
    free_words(words);
    return rc;
}

/* `errors`: what it prints on standard error, too. */
static int run_worker(const struct client *c, char **words, bool errors, struct buf *text)
{
    int out[2], status = 0;
    char piece[65536];
    if (pipe(out)) {
        fprintf(stderr, "shoal %s: %s\n", c->command->name, strerror(errno));
        return EXIT_INTERNAL;
    }
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        if (errors)
            dup2(out[1], STDERR_FILENO);
        close(out[0]);
        close(out[1]);
        _exit(become_worker(words));
    }
    close(out[1]);
    for (ssize_t n; child > 0 && ((n = read(out[0], piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR));)
        if (n > 0)
            buf_add(text, piece, (size_t)n);
    close(out[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
}

int ask_worker(const struct client *c, char **words, struct buf *text)
{
    return run_worker(c, words, false, text);
}

int hear_worker(const struct client *c, char **words, struct buf *text)
{
    return run_worker(c, words, true, text);
}

int estimate_main(struct client *c, int argc, char **argv)
{
    struct buf json = {0}, text = {0};
    if (c->json)
        return offline_main(c, argc, argv);
    char **words = options_argv(c, "shoal-worker", argc, argv);
    int rc = ask_worker(c, words, &json);
    json_t *results = json.len ? json_loadb(json.data, json.len, 0, NULL) : NULL;
    if (results) {
        results_put(&(struct out){&text, client_width(), false}, results);
        fwrite(text.data, 1, text.len, stdout);
    }
    json_decref(results);
    buf_free(&json);
    buf_free(&text);
    free_words(words);
    return rc;
}
