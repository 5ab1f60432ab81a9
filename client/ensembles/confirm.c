/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ensembles/confirm.h"

#include <stdio.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "engine/base/printable.h"

enum { NAMED = 5 };

/* What a person knows it by. */
static const char *name_of(const json_t *ensemble)
{
    static const char *const keys[] = {"name", "key", "id"};
    const char *name = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !*name; i++)
        name = answer_text(ensemble, keys[i]);
    return name;
}

bool ask_yes(const struct client *c, const char *question)
{
    char answer[16] = "";
    if (c->yes || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return true;
    fprintf(stderr, "shoal: %s? [y/N] ", question);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

bool ask_about(const struct client *c, const char *what, const json_t *ensembles)
{
    size_t n = json_array_size(ensembles);
    struct buf question = {0};
    buf_printf(&question, "%s: ", what);
    for (size_t i = 0; i < n && i < NAMED; i++) {
        printable_add(&question, name_of(json_array_get(ensembles, i)), "");
        buf_printf(&question, i + 1 < n ? ", " : "");
    }
    buf_printf(&question, "%s", n > NAMED ? ".." : "");
    bool yes = ask_yes(c, question.data);
    buf_free(&question);
    if (!yes)
        client_say(c, "nothing is removed; --yes removes without asking");
    return yes;
}
