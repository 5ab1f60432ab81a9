/* SPDX-License-Identifier: Apache-2.0
 *
 * A row of the table of commands. Of a command that another carries out only its name is read.
 */
#ifndef SHOAL_CLIENT_COMMAND_COMMAND_H
#define SHOAL_CLIENT_COMMAND_COMMAND_H

#include "client/command/client.h"

/* A bit for each option (option_rows.h). */
typedef unsigned __int128 option_set;

enum needs { NEEDS_NOTHING, NEEDS_SERVICE, NEEDS_WORKER /* shoal-worker does it, in the foreground */ };

struct command {
    const char *name, *words, *summary;
    const char *details;  /* sentences, paragraphs between line ends; "" where the summary says all */
    const char *examples; /* lines */
    enum needs needs;
    option_set options;
    int least, most; /* words */
    int (*run)(struct client *c, int argc, char **argv);
};

#endif
