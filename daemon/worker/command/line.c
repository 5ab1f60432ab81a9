/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/command/line.h"

#include <stdio.h>

#include "daemon/worker/command/commands.h"

static int print_help(const struct command_line *l)
{
    printf("usage: shoal-worker %s %s%s[OPTIONS]\n", l->name, l->words, *l->words ? " " : "");
    args_print(l->rows, l->n);
    if (l->details)
        printf("\n%s", l->details);
    return EXIT_OK;
}

bool command_line_read(const struct command_line *l, void *fields, int argc, char **argv, int *words, int *code)
{
    struct err e = {0};
    args_usual(l->rows, l->n, fields);
    int rc = args_read(l->rows, l->n, fields, argc, argv, words, &e);
    if (!rc && (*words < l->least || *words > l->most))
        rc = err_set(&e, ERR_USAGE, "expected %s; shoal %s --help shows how", *l->words ? l->words : "options alone",
                     l->name);
    if (rc)
        *code = rc == ARGS_HELP ? print_help(l) : exit_with(l->name, &e);
    return !rc;
}
