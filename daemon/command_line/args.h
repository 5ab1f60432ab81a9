/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of a command line, declared once: a row of a table for each. Names are taken whole, never abbreviated: --stat
 * is not --state.
 */
#ifndef SHOAL_DAEMON_COMMAND_LINE_ARGS_H
#define SHOAL_DAEMON_COMMAND_LINE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

enum { ARGS_LISTED = 32, ARGS_CHOICES = 3, ARGS_HELP = 1 };

/* What an option sets: a const char *; an int; an int64_t, whose text may be 100G; a bool, without a value; a struct
 * args_list, which gets one more; or what its function does. */
enum arg_kind { ARG_TEXT, ARG_WHOLE, ARG_AMOUNT, ARG_FLAG, ARG_LIST, ARG_OTHER };

struct args_list {
    const char *items[ARGS_LISTED];
    int n;
};

struct arg {
    const char *name, *argument; /* argument: what help calls its value; NULL: it has none */
    enum arg_kind kind;
    size_t field;        /* offset in the caller's struct */
    int64_t least, most; /* of an ARG_WHOLE */
    int64_t usual;       /* of an ARG_WHOLE or ARG_AMOUNT: where it is not given; help shows it where it is above 0 */
    const char *help;    /* NULL: its name is all that help says */
    const char *about;   /* for a schema, before its help: what many rows have in common; NULL: nothing */
    const char *example; /* of its value, for a schema; NULL: the usual one, or "yes" */
    bool line;           /* on command lines only, not in a file (file.h) */
    bool fixed;          /* a program that reads its file again takes the option from its next start on */
    int (*take)(void *fields, const char *value, struct err *e); /* of an ARG_OTHER */
    const char *choices[ARGS_CHOICES + 1]; /* of an ARG_TEXT: what it may be, NULL behind them; none: anything */
};

/* A row: ARG(WHOLE, "slots", "N", struct options, slots, .least = 1, .most = 64). */
#define ARG(what, option, value, type, member, ...)                                                                    \
    {                                                                                                                  \
        .name = (option), .argument = (value), .kind = ARG_##what, .field = offsetof(type, member), __VA_ARGS__        \
    }
/* With a function, which gets the whole struct. */
#define ARG_CALL(option, value, ...)                                                                                   \
    {                                                                                                                  \
        .name = (option), .argument = (value), .kind = ARG_OTHER, __VA_ARGS__                                          \
    }

/* Sets what is usual. */
void args_usual(const struct arg *rows, size_t n, void *fields);
/* Reads options, as --name VALUE or --name=VALUE, up to --; what is no option is moved to argv[1] to argv[*words].
 * `argv` must live as long as the fields. ARGS_HELP: --help or -h was met. ERR_USAGE. */
int args_read(const struct arg *rows, size_t n, void *fields, int argc, char **argv, int *words, struct err *e);
/* Sets the field of one row from a text. ERR_USAGE. */
int args_take(const struct arg *row, void *fields, const char *value, struct err *e);
/* A line on stdout for each row. */
void args_print(const struct arg *rows, size_t n);

#endif
