/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of all commands, declared once (options.def).
 */
#ifndef SHOAL_CLIENT_COMMAND_OPTION_ROWS_H
#define SHOAL_CLIENT_COMMAND_OPTION_ROWS_H

#include "client/command/client.h"

enum option {
#define OPTION(symbol, name, letter, argument, help) OPTION_##symbol,
#include "client/command/options.def"
#undef OPTION
    OPTION_COUNT
};

struct option_row {
    const char *name, *argument, *help; /* argument NULL: a flag */
    char letter;                        /* 0: none */
};
extern const struct option_row option_rows[OPTION_COUNT];

/* The same options, by their long names, and words for another program: NULL-terminated, all owned by the caller. */
char **options_argv(const struct client *c, const char *program, int argc, char **argv);

#endif
