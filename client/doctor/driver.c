/* SPDX-License-Identifier: Apache-2.0
 *
 * What nvidia-smi says.
 */
#include <string.h>
#include <unistd.h>

#include "client/doctor/doctor.h"
#include "client/programs/become.h"
#include "client/programs/output.h"

bool doctor_split(char *line, char **fields, int count)
{
    int n = 0;
    for (char *rest = line, *field; n < count && (field = strsep(&rest, ",")); n++)
        fields[n] = field + strspn(field, " ");
    return n == count;
}

static void heard(char **words)
{
    dup2(STDOUT_FILENO, STDERR_FILENO);
    program_become_named(words);
}

int doctor_ask_driver(char *const *words, struct buf *text)
{
    struct err e = {0};
    const int code = program_output(heard, (char **)words, text, &e);
    buf_add(text, "", 1);
    return code;
}
