/* SPDX-License-Identifier: Apache-2.0 */
#include "client/report/energy_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"

const struct series_name series_names[SERIES_KINDS] = {[SERIES_TEMPERATURE] = {"Temperature", "K", true},
                                                       [SERIES_PRESSURE] = {"Pressure", "bar", true},
                                                       [SERIES_VOLUME] = {"Volume", "nm\xc2\xb3", true},
                                                       [SERIES_POTENTIAL] = {"Potential", "kJ/mol", true},
                                                       [SERIES_TOTAL] = {"Total Energy", "kJ/mol", true},
                                                       [SERIES_COORDINATION] = {"Coordination 1", "", false},
                                                       {"Coordination 2", "", false},
                                                       {"Coordination 3", "", false}};

static void begin(struct energy_series *s)
{
    *s = (struct energy_series){.stride = 1};
    for (int k = 0; k < SERIES_KINDS; k++) {
        s->least[k] = INFINITY;
        s->most[k] = -INFINITY;
    }
}

static void join(struct series_bin *a, const struct series_bin *b)
{
    a->to = b->to;
    a->rows += b->rows;
    for (int k = 0; k < SERIES_KINDS; k++) {
        a->least[k] = fmin(a->least[k], b->least[k]);
        a->most[k] = fmax(a->most[k], b->most[k]);
        a->sum[k] += b->sum[k];
    }
}

static bool together(const struct series_bin *a, const struct series_bin *b)
{
    return (a->from < 0) == (b->from < 0);
}

static void halve(struct energy_series *s)
{
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        s->bins[n] = s->bins[i];
        if (i + 1 < s->n && together(&s->bins[i], &s->bins[i + 1]))
            join(&s->bins[n], &s->bins[++i]);
        n++;
    }
    s->n = n;
    s->stride *= 2;
}

void series_thin(struct energy_series *s, int most)
{
    while (s->n > most && s->n > 2)
        halve(s);
}

static void take_row(struct energy_series *s, double time, const double value[SERIES_KINDS])
{
    struct series_bin one = {.from = time, .to = time, .rows = 1};
    memcpy(one.least, value, sizeof one.least);
    memcpy(one.most, value, sizeof one.most);
    memcpy(one.sum, value, sizeof one.sum);
    for (int k = 0; time >= 0 && k < SERIES_KINDS; k++) {
        s->least[k] = fmin(s->least[k], value[k]);
        s->most[k] = fmax(s->most[k], value[k]);
    }
    struct series_bin *last = s->n ? &s->bins[s->n - 1] : NULL;
    if (last && last->rows < s->stride && together(last, &one)) {
        join(last, &one);
        return;
    }
    if (s->n == SERIES_BINS)
        halve(s);
    s->bins[s->n++] = one;
}

/* @ s3 legend "Temperature" */
static void take_legend(struct energy_series *s, const char *line)
{
    int number;
    char legend[64];
    if (sscanf(line, "@ s%d legend \"%63[^\"]\"", &number, legend) != 2 || number < 0)
        return;
    for (int k = 0; k < SERIES_KINDS; k++)
        if (!strcmp(legend, series_names[k].legend))
            s->column[k] = number + 1;
}

static bool is_whole(const struct energy_series *s)
{
    for (int k = 0; k < SERIES_KINDS; k++)
        if (series_names[k].always && !s->column[k])
            return false;
    return true;
}

/* Headings say where columns are; what is no whole row of finite numbers is passed over. */
static void take_line(struct energy_series *s, const char *line)
{
    double value[SERIES_KINDS], time = NAN;
    int last = 0;
    if (*line == '@')
        take_legend(s, line);
    if (*line == '@' || *line == '#' || !is_whole(s))
        return;
    for (int k = 0; k < SERIES_KINDS; k++) {
        last = s->column[k] > last ? s->column[k] : last;
        value[k] = NAN;
    }
    for (int column = 0; column <= last; column++) {
        char *end;
        double x = strtod(line, &end);
        if (end == line || !isfinite(x))
            return;
        line = end;
        if (!column)
            time = x;
        for (int k = 0; column && k < SERIES_KINDS; k++)
            if (s->column[k] == column)
                value[k] = x;
    }
    take_row(s, time, value);
}

static int on_line(void *arg, const char *line)
{
    take_line(arg, line);
    return 0;
}

int series_fetch(struct energy_series *s, const struct client *c, const char *id, const char *path, struct err *e)
{
    struct buf url = {0}, reply = {0};
    long status = 0;
    client_path(&url, id, "/files/");
    http_escape_path(&url, path);
    begin(s);
    int rc = http_lines(c->http, url.data, 0, on_line, s, &status, &reply, e);
    if (rc == HTTP_REFUSED && status != 404)
        json_decref(answer_object(status, &reply, e));
    buf_free(&url);
    buf_free(&reply);
    return -(int)e->code;
}
