/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that need no service are done by shoal-worker, which has the engine: this process becomes it, or shows what
 * it prints.
 */
#include "client/programs/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/command/command.h"
#include "client/command/handlers.h"
#include "client/command/option_rows.h"
#include "client/programs/become.h"
#include "client/programs/output.h"
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

static void worker_or_end(char **words)
{
    _exit(become_worker(words));
}

static void heard_or_end(char **words)
{
    dup2(STDOUT_FILENO, STDERR_FILENO);
    worker_or_end(words);
}

static int run_worker(const struct client *c, void (*become)(char **words), char **words, struct buf *text)
{
    struct err e = {0};
    const int rc = program_output(become, words, text, &e);
    return e.code ? client_fail(c, &e) : rc;
}

int ask_worker(const struct client *c, char **words, struct buf *text)
{
    return run_worker(c, worker_or_end, words, text);
}

int hear_worker(const struct client *c, char **words, struct buf *text)
{
    return run_worker(c, heard_or_end, words, text);
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
