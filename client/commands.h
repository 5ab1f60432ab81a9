/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands of `shoal`, declared once: usage, suggestions, the manual page and the completions of three shells come from here.
 */
#ifndef SHOAL_CLIENT_COMMANDS_H
#define SHOAL_CLIENT_COMMANDS_H

#include <stdint.h>
#include <stdio.h>

#include "client/client.h"

enum option {
#define OPTION(symbol, name, letter, argument, help) OPTION_##symbol,
#include "client/options.def"
#undef OPTION
    OPTION_COUNT
};

struct option_row {
    const char *name, *argument, *help; /* argument NULL: a flag */
    char letter;                        /* 0: none */
};
extern const struct option_row option_rows[OPTION_COUNT];

enum needs { NEEDS_NOTHING, NEEDS_SERVICE, NEEDS_WORKER /* shoal-worker does it, in the foreground */ };

struct command {
    const char *name, *words, *summary;
    const char *details;  /* sentences, paragraphs between line ends; "" where the summary says all */
    const char *examples; /* lines */
    enum needs needs;
    uint64_t options;
    int least, most; /* words */
    int (*run)(struct client *c, int argc, char **argv);
};
extern const struct command commands[];
extern const int commands_count;

/* NULL when there is none of this name: said on stderr, with the nearest that there is. */
const struct command *command_find(const char *name);
/* Options and words of one command, argv[0] being its name: fills c and moves the words to argv[1] and on. The number of words,
 * or OPTIONS_HELP, or -(exit code) after saying what is wrong. */
enum { OPTIONS_HELP = -1000 };
int options_parse(struct client *c, const struct command *command, int argc, char **argv);
/* Where the name of the command stands: behind the options that are given before it. argc: nowhere. */
int options_before(int argc, char **argv);
/* The same options, by their long names, and words for another program: NULL-terminated, all owned by the caller. */
char **options_argv(const struct client *c, const char *program, int argc, char **argv);

int help_command(FILE *to, const struct command *c);
int help_all(FILE *to);

#endif
