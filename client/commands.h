/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands of `shoal`, declared once: usage, suggestions, the manual page and the completions of three shells come
 * from here.
 */
#ifndef SHOAL_CLIENT_COMMANDS_H
#define SHOAL_CLIENT_COMMANDS_H

#include <stdio.h>

#include "client/command/command.h"

extern const struct command commands[];
extern const int commands_count;

/* NULL when there is none of this name: said on stderr, with the nearest that there is. */
const struct command *command_find(const char *name);
/* Options and words of one command, argv[0] being its name: fills c and moves the words to argv[1] and on. The number
 * of words, or OPTIONS_HELP, or -(exit code) after saying what is wrong. */
enum { OPTIONS_HELP = -1000 };
int options_parse(struct client *c, const struct command *command, int argc, char **argv);
/* Index of the command's name, after the options that are given before it; argc: there is none. */
int options_before(int argc, char **argv);
/* help.c: what there is to say of one command; the exit code. */
int help_command(FILE *to, const struct command *c);
/* Of all commands, which are handed over. */
int help_all(FILE *to, const struct command *all, int n);
/* The same as JSON on stdout, with options, states and exit codes. */
void help_json(const struct command *all, int n);

#endif
