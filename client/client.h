/* SPDX-License-Identifier: Apache-2.0
 *
 * What the commands of `shoal` share. Data goes to stdout, messages to stderr; exit codes are frozen here.
 */
#ifndef SHOAL_CLIENT_CLIENT_H
#define SHOAL_CLIENT_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "client/http.h"
#include "engine/base/err.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_ENSEMBLE_FAILED = 1, /* or the service refused what was asked */
    EXIT_BAD_USAGE = 2,
    EXIT_BAD_SPEC = 65,
    EXIT_NO_INPUT = 66,
    EXIT_UNREACHABLE = 69,
    EXIT_INTERNAL = 70,
    EXIT_CANNOT_CREATE = 73,
    EXIT_TRY_LATER = 75,
    EXIT_NOT_PERMITTED = 77,
    EXIT_TIMEOUT = 124,
};

/* The options of all commands; a command reads those that its row in the table admits. */
struct client {
    const char *socket;
    bool json, wait;
    const char *key, *output, *state;
    double timeout; /* s, 0: none */
    const char *includes[32];
    int nincludes;
    struct http *http;
};

/* Handlers get the words after the options and return an exit code. */
int submit_main(struct client *c, int argc, char **argv);
int list_main(struct client *c, int argc, char **argv);
int status_main(struct client *c, int argc, char **argv);
int watch_main(struct client *c, int argc, char **argv);
int results_main(struct client *c, int argc, char **argv);
int cancel_main(struct client *c, int argc, char **argv);
int pause_main(struct client *c, int argc, char **argv);
int resume_main(struct client *c, int argc, char **argv);
int retry_main(struct client *c, int argc, char **argv);
int version_main(struct client *c, int argc, char **argv);
/* Becomes shoal-worker with the words of main, COMMAND being argv[1]; returns only when that fails. */
int offline_exec(char **argv);

/* Says an error (with --json as an object on stdout too) and returns its exit code. */
int client_fail(const struct client *c, const struct err *e);
/* The JSON object of an answer with a 2xx status as a new reference; else NULL and the service's own error. */
json_t *answer_object(long status, const struct buf *reply, struct err *e);
/* The error object of an answer. Returns -code. */
int answer_error(const json_t *answer, long status, struct err *e);
/* Appends /v1/ensembles/ID and what follows it. */
void client_path(struct buf *out, const char *id, const char *rest);
/* GET of a JSON object: a new reference, or NULL. */
json_t *client_get(const struct client *c, const char *path, struct err *e);
/* One JSON value on stdout, in one line. */
void client_print(const json_t *value);

/* Follows an ensemble until it ends, showing progress on stderr. On stdout: nothing, its last state, or the events as JSON
 * lines in place of the progress. EXIT_OK, EXIT_ENSEMBLE_FAILED, EXIT_TIMEOUT or an error's code. */
enum watch_output { WATCH_NOTHING, WATCH_STATE, WATCH_EVENTS };
int watch_ensemble(const struct client *c, const char *id, enum watch_output output);
/* Gets results.json as a new reference, or NULL; *text (may be NULL) is its bytes. */
json_t *results_get(const struct client *c, const char *id, struct buf *text, struct err *e);
/* The tables of a results.json. */
void results_text(const json_t *results, struct buf *out);
/* All files of an ensemble but its checkpoints, below a folder. */
int results_download(const struct client *c, const char *id, const char *folder, struct err *e);

#endif
