/* SPDX-License-Identifier: Apache-2.0
 *
 * What the commands of `shoal` share. Data goes to stdout, messages to stderr; exit codes are frozen here.
 */
#ifndef SHOAL_CLIENT_CLIENT_H
#define SHOAL_CLIENT_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/http.h"
#include "client/sheet.h"
#include "engine/base/err.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_ENSEMBLE_FAILED = 1,
    EXIT_BAD_USAGE = 2,
    EXIT_REFUSED = 3,
    EXIT_BAD_SPEC = 65,
    EXIT_NO_INPUT = 66,
    EXIT_UNREACHABLE = 69,
    EXIT_INTERNAL = 70,
    EXIT_CANNOT_CREATE = 73,
    EXIT_TRY_LATER = 75,
    EXIT_NOT_PERMITTED = 77,
    EXIT_TIMEOUT = 124,
};

struct here;

enum { LISTED_MAX = 32, GIVEN_MAX = 128 };

/* The options of all commands; a command reads those that its row in the table admits. */
struct client {
    const struct command *command;
    const char *socket, *here; /* here NULL: the service is somebody else's */
    bool json, jsonl, plain, quiet, wait, all, follow, dry_run, devices, by_need, csv, yes, replace;
    const char *key, *output;
    const char *topology, *coordinates, *reference, *index, *ligand;
    const char *time, *until;                   /* of production, as the service reads them */
    const char *pilot;                          /* of its production, as the reader of campaigns reads it */
    const char *window;                         /* lambdas or a number, as the service or the worker reads it */
    double timeout, every, older_than, run_for; /* s; 0: not given */
    double overlap;                             /* 0: not given */
    int64_t limit, since, windows;
    const char *includes[LISTED_MAX], *labels[LISTED_MAX], *added[LISTED_MAX]; /* labels as KEY=VALUE; windows */
    const char *heres[LISTED_MAX];                                             /* here is the first of these */
    const char *states[LISTED_MAX];                                            /* one, or several between commas */
    const char *only[LISTED_MAX], *skip[LISTED_MAX], *legs[LISTED_MAX];        /* of a campaign */
    const json_t *among; /* an object: of several that are chosen, those with a key of it; NULL: all */
    int nincludes, nlabels, nadded, nheres, nstates, nonly, nskip, nlegs;
    struct {
        int option; /* of commands.h */
        const char *value;
    } given[GIVEN_MAX]; /* all of them, in order */
    int ngiven;
    struct http *http;
    struct here *own; /* the service of --here */
};

/* Handlers get the words after the options and return an exit code. */
int submit_main(struct client *c, int argc, char **argv);
int list_main(struct client *c, int argc, char **argv);
int status_main(struct client *c, int argc, char **argv);
int top_main(struct client *c, int argc, char **argv);
int watch_main(struct client *c, int argc, char **argv);
int wait_main(struct client *c, int argc, char **argv);
int events_main(struct client *c, int argc, char **argv);
int results_main(struct client *c, int argc, char **argv);
int report_main(struct client *c, int argc, char **argv);
int cancel_main(struct client *c, int argc, char **argv);
int pause_main(struct client *c, int argc, char **argv);
int resume_main(struct client *c, int argc, char **argv);
int retry_main(struct client *c, int argc, char **argv);
int reestimate_main(struct client *c, int argc, char **argv);
int extend_main(struct client *c, int argc, char **argv);
int rm_main(struct client *c, int argc, char **argv);
int du_main(struct client *c, int argc, char **argv);
int version_main(struct client *c, int argc, char **argv);
int help_main(struct client *c, int argc, char **argv);
int import_main(struct client *c, int argc, char **argv);
int ladder_main(struct client *c, int argc, char **argv);
int init_main(struct client *c, int argc, char **argv);
/* Becomes shoal-worker; returns only when that fails. */
int offline_main(struct client *c, int argc, char **argv);
/* Has shoal-worker estimate and shows its JSON as a table, with --json becomes it. */
int estimate_main(struct client *c, int argc, char **argv);

/* Has pilots place the windows of a spec, and shows them. Returns the exit code. */
int ladder_of_spec(struct client *c, const char *file);

/* Runs shoal-worker with these words, NULL at the end; what it prints into `text`. Returns its exit code. */
int ask_worker(const struct client *c, char **words, struct buf *text);
/* What is to be done with a campaign, and its file. */
int campaign_main(struct client *c, int argc, char **argv);

/* Says an error (with --json as an object on stdout too) and returns its exit code. */
int client_fail(const struct client *c, const struct err *e);
/* A message on stderr, unless --quiet. */
void client_say(const struct client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One JSON value on stdout, in one line. */
void client_print(const json_t *value);
/* Columns that tables on stdout have to fit: 0 where it is no terminal. */
int client_width(void);
/* A table on stdout as --plain or the terminal's width want it. Frees its cells. */
void client_table(const struct client *c, struct table *t);

/* The JSON object of an answer with a 2xx status as a new reference; else NULL and the service's own error. */
json_t *answer_object(long status, const struct buf *reply, struct err *e);
/* The error object of an answer. Returns -code. */
int answer_error(const json_t *answer, long status, struct err *e);
/* A member of an object: "" or 0 where there is none. */
const char *answer_text(const json_t *object, const char *key);
long long answer_whole(const json_t *object, const char *key);
double answer_number(const json_t *object, const char *key);
/* The next cell, which window an object of results is of: "3", of several repeats "1.3". */
void answer_window(struct table *t, const json_t *object, bool repeats);
/* An ensemble's windows times its repeats. */
long long answer_replicas(const json_t *ensemble);
/* Appends what the samples of an ensemble that has not ended say so far: "-2.31 +- 0.12 kcal/mol, unconverged". Nothing where that is
 * not known. */
void answer_estimate(struct buf *out, const json_t *ensemble);
/* Appends an ensemble's labels: "project=hydration,round=2". */
void answer_labels(struct buf *out, const json_t *ensemble);
/* Lines that say how many replicas of it each device holds: GPUs, and a CPU where fewer than the ensemble has. */
void answer_fits(struct buf *out, const json_t *ensemble);

/* Appends /v1/ensembles/ID (an id, a beginning of one, a key or a name) and what follows it. */
void client_path(struct buf *out, const char *id, const char *rest);
/* A request whose answer is a JSON object: a new reference, or NULL. */
json_t *client_ask(const struct client *c, const char *method, const char *path, struct err *e);
json_t *client_get(const struct client *c, const char *path, struct err *e);

/* The caller's ensembles as --state, --label and --limit say, newest first: an array as a new reference, or NULL. */
json_t *ensembles_get(const struct client *c, struct err *e);
/* What a command that takes several is about: one object with an "id" for each word, or those that --all, --state, --label and
 * --older-than choose, of one's own and in one of the states (comma-separated) unless --state names another. A new reference. */
json_t *ensembles_chosen(const struct client *c, int argc, char **argv, const char *states, struct err *e);
bool ensemble_ended(const char *state);
/* The first row of the table of ensembles, and one row of it. */
void ensembles_show(const struct client *c, const json_t *ensembles, struct table *t);
/* Lines about devices. */
void devices_show(const json_t *state, struct buf *out);

/* Follows an ensemble until it ends, showing progress on stderr; on stdout the events as JSON lines if wanted. *state (may be NULL) is
 * where it stands at the end. EXIT_OK, EXIT_ENSEMBLE_FAILED, EXIT_TIMEOUT or an error's code. */
struct watch_end {
    char state[16];
};
int watch_ensemble(const struct client *c, const char *id, double deadline, bool lines, struct watch_end *end);
/* Now, in seconds of the clock that deadlines are told by; the deadline that --timeout gives, 0: none. */
double watch_now(void);
double watch_deadline(const struct client *c);
/* From here on an interrupt says that the ensemble goes on. */
void watch_interruptible(const char *id);

/* Gets results.json as a new reference, or NULL; *text (may be NULL) is its bytes. `live`: what can be said of an ensemble that has
 * not ended. */
json_t *results_get(const struct client *c, const char *id, bool live, struct buf *text, struct err *e);
/* The tables of a results.json. */
void results_show(const struct sheet *s, const json_t *results);
/* Text as a YAML scalar, plain where it can be; appended. */
void spec_text(struct buf *out, const char *text);
/* The name of a file as a spec has it, from the spec's folder (`spec`: its file, NULL: here), or its path where the two share no folder;
 * appended. ERR_MISSING_FILE. */
int spec_path(const char *path, const char *spec, struct buf *out, struct err *e);
/* A name that an ensemble can have, made of a text; appended. `otherwise`: where nothing of the text is left. */
void spec_name(struct buf *out, const char *text, const char *otherwise);
/* A spec that was made, into --output, which must be a new file, else onto standard output unless --json wants something there.
 * ERR_CONFLICT, ERR_IO. */
int spec_file_write(const struct client *c, const struct buf *spec, struct err *e);
/* The exit code of an ensemble that ended like this with these results. */
int results_exit(const char *state, const json_t *results);
/* Makes a folder that is new or empty an ensemble's own. ERR_CONFLICT: something else is in it. */
int files_claim(const char *folder, const char *id, struct err *e);
/* All files of an ensemble but its checkpoints, into its own folder. */
int files_download(const struct client *c, const json_t *ensemble, const char *folder, struct err *e);

#endif
