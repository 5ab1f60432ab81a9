/* SPDX-License-Identifier: Apache-2.0 */
#include "client/campaign/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/programs/become.h"
#include "client/programs/output.h"

static int ask(char **words, struct buf *text, struct err *e)
{
    const int rc = program_output(program_become_named, words, text, e);
    return rc && !e->code ? err_set(e, ERR_UNREACHABLE, "%s ended with status %d", words[0], rc) : -(int)e->code;
}

/* "7 123_7 PENDING /home/ann/run/slurm.sh" */
static void take_task(json_t *tasks, const char *line, const char *script)
{
    char share[24], task[64], state[24];
    int at = 0;
    if (sscanf(line, "%23s %63s %23s %n", share, task, state, &at) == 3 && at && !strcmp(line + at, script))
        json_object_set_new(tasks, share, json_string(!strcmp(state, "PENDING") ? task : ""));
}

json_t *queue_tasks(const char *script, struct err *e)
{
    char *words[] = {"squeue", "--me", "--noheader", "--array", "--format=%K %F_%K %T %o", NULL};
    struct buf text = {0};
    json_t *tasks = json_object();
    if (ask(words, &text, e)) {
        json_decref(tasks);
        tasks = NULL;
    }
    for (char *line = tasks && text.len ? strtok(text.data, "\n") : NULL; line; line = strtok(NULL, "\n"))
        take_task(tasks, line, script);
    buf_free(&text);
    return tasks;
}

int queue_submit(const char *script, struct buf *job, struct err *e)
{
    char *words[] = {"sbatch", "--parsable", (char *)script, NULL};
    int rc = ask(words, job, e);
    if (!rc)
        job->data[strcspn(job->data, ";\n")] = '\0'; /* the cluster's name is behind it */
    return rc;
}

int queue_cancel(const char *task, struct err *e)
{
    char *words[] = {"scancel", (char *)task, NULL};
    struct buf nothing = {0};
    int rc = ask(words, &nothing, e);
    buf_free(&nothing);
    return rc;
}
