/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/command/commands.h"

#include <stdio.h>

#include "engine/base/printable.h"

int exit_with(const char *command, const struct err *e)
{
    printable_line(stderr, "shoal %s: %s", command, e->msg);
    return err_exit(e->code);
}
