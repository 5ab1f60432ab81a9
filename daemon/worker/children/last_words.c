/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/children/last_words.h"

#include <stdio.h>

#include "daemon/worker/command/commands.h"
#include "engine/base/json/err_json.h"
#include "engine/base/mem.h"

int last_words(const char *command, const struct err *e)
{
    json_t *object = err_json(e);
    putchar('\n'); /* what is there may be half a line */
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
    return exit_with(command, e);
}

void last_words_of_memory(void)
{
    mem_end_with("\n{\"error\":{\"code\":\"MEMORY\",\"message\":\"out of memory\"}}\n", err_exit(ERR_MEMORY));
}
