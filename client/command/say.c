/* SPDX-License-Identifier: Apache-2.0
 *
 * What a command says: errors, messages, values, tables, pages. And the clock of its deadlines.
 */
#include <stdarg.h>
#include <stdio.h>

#include "client/command/client.h"
#include "client/show/show.h"
#include "engine/base/clock.h"
#include "engine/base/json/err_json.h"
#include "engine/base/printable.h"

int client_fail(const struct client *c, const struct err *e)
{
    printable_line(stderr, "shoal: %s", e->msg);
    if (c->json) {
        json_t *object = err_json(e);
        client_print(object);
        json_decref(object);
    }
    return err_exit(e->code);
}

void client_print(const json_t *value)
{
    json_dumpf(value, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
    putchar('\n');
}

void client_add_json(struct buf *out, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15));
    buf_printf(out, "%s\n", text);
    free(text);
}

void client_say(const struct client *c, const char *fmt, ...)
{
    struct buf text = {0};
    va_list ap;
    if (c->quiet)
        return;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    printable_line(stderr, "shoal: %s", text.data);
    buf_free(&text);
}

int client_width(void)
{
    int columns = 0, rows;
    if (show_is_terminal(stdout))
        show_size(stdout, &columns, &rows);
    return columns;
}

void client_table(const struct client *c, struct table *t)
{
    struct buf out = {0};
    if (c->plain)
        table_put_plain(t, &out);
    else
        table_put(t, client_width(), &out);
    fputs(out.data, stdout);
    buf_free(&out);
}

int client_page(const struct client *c, const char *name, const struct buf *page, struct err *e)
{
    if (!c->output)
        fwrite(page->data, 1, page->len, stdout);
    else if (buf_write_file(c->output, page->data, page->len, e))
        return -(int)e->code;
    else
        client_say(c, "%s shows %s", c->output, name);
    return 0;
}

double client_deadline(const struct client *c)
{
    return c->timeout > 0 ? clock_now() + c->timeout : 0;
}
