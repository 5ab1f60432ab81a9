/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/series/work_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/gzip.h"

#define TEMPERATURE "# temperature/K "
#define LENGTH "# length/ps "

const char *const switch_way_words[SWITCH_WAYS] = {"forward", "backward"};

bool work_table_is(const char *path)
{
    const size_t length = strlen(path), name = strlen(WORK_TABLE_NAME),
                 end = length > 3 && !strcmp(path + length - 3, ".gz") ? length - 3 : length;
    return end >= name && !strncmp(path + end - name, WORK_TABLE_NAME, name);
}

void work_table_header(struct buf *out, double temperature, double length)
{
    buf_printf(out, TEMPERATURE "%.10g\n", temperature);
    work_table_length(out, length);
    buf_printf(out, "# time/ps\tway\twork/(kJ/mol)\n");
}

void work_table_length(struct buf *out, double length)
{
    buf_printf(out, LENGTH "%.10g\n", length);
}

void work_table_row(struct buf *out, double time, enum switch_way way, double work)
{
    buf_printf(out, "%.4f\t%s\t%.6f\n", time, switch_way_words[way], work);
}

static bool find_way(const char *word, enum switch_way *way)
{
    for (*way = SWITCH_FORWARD; *way < SWITCH_WAYS; ++*way)
        if (!strcmp(word, switch_way_words[*way]))
            return true;
    return false;
}

/* The temperature, or the length of the switches of the lines below; other lines are remarks. */
static void read_remark(struct work_table *t, double *length, const char *line)
{
    if (!strncmp(line, TEMPERATURE, strlen(TEMPERATURE)))
        t->temperature = strtod(line + strlen(TEMPERATURE), NULL);
    if (!strncmp(line, LENGTH, strlen(LENGTH)))
        *length = strtod(line + strlen(LENGTH), NULL);
}

static bool read_row(struct work_table *t, double length, const char *line)
{
    char word[16], rest;
    double time, work;
    enum switch_way way;
    if (sscanf(line, "%lf %15s %lf %c", &time, word, &work, &rest) != 3 || !find_way(word, &way) ||
        (t->n && way != t->way))
        return false;
    t->way = way;
    t->time = xrealloc(t->time, t->n + 1, sizeof *t->time);
    t->work = xrealloc(t->work, t->n + 1, sizeof *t->work);
    t->length = xrealloc(t->length, t->n + 1, sizeof *t->length);
    t->time[t->n] = time;
    t->length[t->n] = length;
    t->work[t->n++] = work;
    return true;
}

static int read_lines(struct work_table *t, const char *name, char *text, struct err *e)
{
    double length = 0; /* of the switches of the lines below */
    int line = 1;
    for (char *s = text, *next; s && *s; s = next, line++) {
        next = strchr(s, '\n');
        if (!next) {
            t->cut_short = true;
            break;
        }
        *next++ = '\0';
        if (*s == '#')
            read_remark(t, &length, s);
        else if (!read_row(t, length, s))
            return err_set(e, ERR_UNSUPPORTED,
                           "%s:%d: read \"%.60s\", expected a time in ps, forward or backward as in the lines before, "
                           "and a work in kJ/mol",
                           name, line, s);
    }
    if (t->temperature > 0 && length > 0 && (!t->n || t->length[0] > 0))
        return 0;
    return err_set(e, ERR_UNSUPPORTED,
                   "%s: expected lines with temperature and length of the switches before all works", name);
}

int work_table_read(struct work_table *t, const char *name, const char *path, uint64_t bytes, struct err *e)
{
    struct buf text = {0};
    int rc = gzip_read_file(&text, path, e);
    if (rc && (errno == EIO || errno == ESTALE || errno == ETIMEDOUT || errno == ENOMEM))
        e->code = ERR_BUSY;
    if (rc)
        return -(int)e->code;
    if (text.len > bytes)
        text.data[text.len = (size_t)bytes] = '\0';
    if (text.len)
        rc = read_lines(t, name, text.data, e);
    buf_free(&text);
    return rc;
}

void work_table_close(struct work_table *t)
{
    free(t->time);
    free(t->work);
    free(t->length);
    *t = (struct work_table){0};
}
