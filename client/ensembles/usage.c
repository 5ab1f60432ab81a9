/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: device time, steps, simulated time and energy, summed up.
 */
#include <stdio.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/command/handlers.h"
#include "client/show/show.h"

/* The columns before the numbers of a row. */
static const struct {
    const char *by, *columns[4], *layout;
} kinds[] = {
    {"user", {"user"}, "l r r r r"},
    {"ensemble", {"id", "name", "campaign", "user"}, "l l= l l r r r r"},
    {"campaign", {"campaign", "user"}, "l l r r r r"},
    {"device", {"device"}, "l r r r r"},
    {"day", {"day"}, "l r r r r"},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static int find_kind(const char *by)
{
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(by, kinds[i].by))
            return i;
    return -1;
}

static void device_time_cell(struct table *t, double seconds)
{
    struct buf text = {0};
    show_duration(&text, seconds);
    table_cell(t, "%s", text.data);
    buf_free(&text);
}

/* "640 J", "2.31 Wh", "14.0 kWh"; exact: joules. Where none is known "-"; exact: nothing. */
static void energy_cell(struct table *t, const json_t *joules, bool exact)
{
    static const struct {
        double joules;
        const char *name;
    } units[] = {{1, "J"}, {3600, "Wh"}, {3.6e6, "kWh"}};
    const double x = json_number_value(joules);
    const int unit = x < units[1].joules ? 0 : x < units[2].joules ? 1 : 2;
    const double value = x / units[unit].joules;
    if (!json_is_number(joules))
        table_cell(t, exact ? "" : "-");
    else if (exact)
        table_cell(t, "%.3f", x);
    else
        table_cell(t, "%.*f %s", value < 10 ? 2 : value < 100, value, units[unit].name);
}

/* exact: seconds and joules, for programs. */
static void put_rows(struct table *t, const json_t *rows, int kind, bool exact)
{
    const json_t *row;
    size_t i;
    table_setup(t, kinds[kind].layout);
    for (int k = 0; k < 4 && kinds[kind].columns[k]; k++)
        table_cell(t, "%s", kinds[kind].columns[k]);
    table_cell(t, "%s", exact ? "device_seconds" : "device time");
    table_cell(t, "steps");
    table_cell(t, "ns");
    table_cell(t, "%s", exact ? "energy_joules" : "energy");
    json_array_foreach (rows, i, row) {
        for (int k = 0; k < 4 && kinds[kind].columns[k]; k++)
            table_cell(t, "%s", answer_text(row, kinds[kind].columns[k]));
        if (exact)
            table_cell(t, "%.3f", answer_number(row, "device_seconds"));
        else
            device_time_cell(t, answer_number(row, "device_seconds"));
        table_cell(t, "%lld", answer_whole(row, "steps"));
        table_cell(t, exact ? "%.9g" : "%.4g", answer_number(row, "ns"));
        energy_cell(t, json_object_get(row, "energy_joules"), exact);
    }
}

static void ask_path(const struct client *c, struct buf *path, int kind)
{
    buf_printf(path, "/v1/accounting?by=%s", kinds[kind].by);
    if (c->ago > 0)
        buf_printf(path, "&since=%.0f", c->ago);
    if (c->owner) {
        buf_printf(path, "&owner=");
        http_escape(path, c->owner);
    }
    if (c->all_users)
        buf_printf(path, "&all_users=1");
}

static void print_csv(struct table *t)
{
    struct buf out = {0};
    table_put_csv(t, &out);
    fputs(out.data ? out.data : "", stdout);
    buf_free(&out);
}

int usage_main(struct client *c, int argc, char **argv)
{
    const int kind = find_kind(c->by ? c->by : "user");
    struct err e = {0};
    struct buf path = {0};
    struct table t;
    ask_path(c, &path, kind);
    json_t *answer = client_get(c, path.data, &e);
    buf_free(&path);
    if (!answer)
        return client_fail(c, &e);
    if (c->json) {
        client_print(answer);
    } else {
        put_rows(&t, json_object_get(answer, "rows"), kind, c->csv || c->plain);
        if (c->csv)
            print_csv(&t);
        else
            client_table(c, &t);
        client_say(c, "since %s (UTC)", answer_text(answer, "since"));
    }
    json_decref(answer);
    return EXIT_OK;
}
