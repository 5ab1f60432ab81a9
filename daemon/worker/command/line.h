/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of a command of shoal-worker. The client describes the commands for people (client/commands.c); help
 * here lists the options alone.
 */
#ifndef SHOAL_DAEMON_WORKER_COMMAND_LINE_H
#define SHOAL_DAEMON_WORKER_COMMAND_LINE_H

#include "daemon/command_line/args.h"

struct command_line {
    const char *name, *words; /* words: what messages and help call what is no option; "": none is expected */
    int least, most;          /* words */
    const struct arg *rows;
    size_t n;
    const char *details; /* more help; NULL: there is none */
};

/* Reads options into `fields`; words are argv[1] to argv[*words] then. False: all is said, *code is the exit code. */
bool command_line_read(const struct command_line *l, void *fields, int argc, char **argv, int *words, int *code);

#endif
