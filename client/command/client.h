/* SPDX-License-Identifier: Apache-2.0
 *
 * What the commands of `shoal` share. Data goes to stdout, messages to stderr. Functions are called by where their text
 * goes: put_ into a buffer, a table or a page, print_ onto stdout, say_ onto stderr.
 */
#ifndef SHOAL_CLIENT_COMMAND_CLIENT_H
#define SHOAL_CLIENT_COMMAND_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/base/err.h"

struct command;
struct here;
struct http;
struct table;

enum { LISTED_MAX = 32, GIVEN_MAX = 128 };

/* The options of all commands; a command reads those that its row in the table admits. */
struct client {
    const struct command *command;
    const char *build;         /* what the program was built from */
    const char *socket, *here; /* here NULL: the service is somebody else's */
    const char *division;      /* folder of a campaign in shares; NULL: nothing is asked of one */
    struct {
        int64_t at, of;
    } share;                 /* of a division, from 0; of 0: it is not meant */
    int64_t shares, at_once; /* 0: not given */
    bool json, jsonl, plain, quiet, wait, all, all_users, follow, dry_run, devices, by_need, csv, yes, replace;
    const char *key, *output, *priority, *owner, *reason, *by;
    const char *topology, *coordinates, *reference, *index, *ligand;
    const char *time, *until;                        /* of production, as the service reads them */
    const char *pilot;                               /* of its production, as the reader of campaigns reads it */
    const char *window;                              /* lambdas or a number, as the service or the worker reads it */
    double timeout, every, older_than, ago, run_for; /* s; 0: not given */
    double overlap;                                  /* 0: not given */
    int64_t limit, since, windows, port;
    const char *includes[LISTED_MAX], *labels[LISTED_MAX], *added[LISTED_MAX]; /* labels as KEY=VALUE; windows */
    const char *heres[LISTED_MAX];                                             /* here is the first of these */
    const char *states[LISTED_MAX];                                            /* one, or several between commas */
    const char *only[LISTED_MAX], *skip[LISTED_MAX], *legs[LISTED_MAX];        /* of a campaign */
    const json_t *among; /* an object: of several that are chosen, those with a key of it; NULL: all */
    int nincludes, nlabels, nadded, nheres, nstates, nonly, nskip, nlegs;
    struct {
        int option; /* of option_rows.h */
        const char *value;
    } given[GIVEN_MAX]; /* all of them, in order */
    int ngiven;
    struct http *http;
    struct here *own; /* the service of --here */
};

/* Says an error (with --json as an object on stdout too) and returns its exit code. */
int client_fail(const struct client *c, const struct err *e);
/* A message on stderr, unless --quiet. */
void client_say(const struct client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One JSON value on stdout, in one line. */
void client_print(const json_t *value);
/* The same line to the end of a text. */
void client_add_json(struct buf *out, const json_t *value);
/* Columns that tables on stdout have to fit: 0 where it is no terminal. */
int client_width(void);
/* A table on stdout as --plain or the terminal's width want it. Frees its cells. */
void client_table(const struct client *c, struct table *t);
/* A page into --output, else onto standard output; `name` is what it shows. */
int client_page(const struct client *c, const char *name, const struct buf *page, struct err *e);

/* The time, as clock_now() has it, at which --timeout is over; 0: never. */
double client_deadline(const struct client *c);

#endif
