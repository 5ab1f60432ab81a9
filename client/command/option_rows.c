/* SPDX-License-Identifier: Apache-2.0 */
#include "client/command/option_rows.h"

#include <stdlib.h>

#include "client/command/command.h"

const struct option_row option_rows[OPTION_COUNT] = {
#define OPTION(symbol, name, letter, argument, help) {name, argument, help, letter},
#include "client/command/options.def"
#undef OPTION
};

char **options_argv(const struct client *c, const char *program, int argc, char **argv)
{
    char **out = xcalloc((size_t)(argc + 2 * c->ngiven + 3), sizeof *out);
    int n = 0;
    out[n++] = xstrdup(program);
    out[n++] = xstrdup(c->command->name);
    for (int i = 0; i < c->ngiven; i++) {
        struct buf name = {0};
        buf_printf(&name, "--%s", option_rows[c->given[i].option].name);
        out[n++] = name.data;
        if (c->given[i].value)
            out[n++] = xstrdup(c->given[i].value);
    }
    for (int i = 0; i < argc; i++)
        out[n++] = xstrdup(argv[i]);
    return out;
}
