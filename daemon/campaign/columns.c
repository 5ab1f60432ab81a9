/* SPDX-License-Identifier: Apache-2.0
 *
 * What the columns of a campaign's tables mean: free energies and their errors, by their headings, and words for specs,
 * which are all others.
 */
#include "daemon/campaign/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/campaign/headings.h"
#include "engine/base/gzip.h"

int table_open(struct campaign_reading *r, struct view v, struct open_table *s)
{
    struct buf text = {0};
    struct err why = {0};
    s->path = campaign_path(r->c, view_text(v));
    int rc = gzip_read_file(&text, s->path, &why);
    if (rc)
        rc = err_set(r->e, ERR_MISSING_FILE, "%s:%d: %s", r->c->file, campaign_line(v), why.msg);
    else
        rc = delimited_parse(&s->delimited, s->path, text.data ? text.data : "", r->e);
    buf_free(&text);
    return rc;
}

void table_close(struct open_table *s)
{
    delimited_free(&s->delimited);
    free(s->path);
}

/* "experiment", or "experiment (kcal/mol)", whose unit is the one of a number without: *factor to kJ/mol, 0 where there
 * is none. -1: no such column. */
static int energy_column(const struct delimited *s, const char *head, double *factor)
{
    size_t n = strlen(head);
    for (int i = 0; i < s->columns; i++) {
        const char *text = s->heads[i];
        char one[40];
        struct quantity q = {0};
        *factor = 0;
        if (!strcmp(text, head))
            return i;
        if (strncmp(text, head, n) != 0 || strncmp(text + n, " (", 2) != 0)
            continue;
        snprintf(one, sizeof one, "1 %.*s", (int)strcspn(text + n + 2, ")"), text + n + 2);
        if (value_quantity(one, "kJ/mol", false, &q) == QUANTITY_OK)
            *factor = q.value;
        return i;
    }
    return -1;
}

/* A heading that is one of those but for its spelling would be a value for specs, and the column missed. */
int table_check_energies(struct campaign_reading *r, const struct open_table *s, const char *const *energies)
{
    for (int i = 0; i < s->delimited.columns; i++)
        for (int k = 0; energies[k]; k++) {
            const char *head = s->delimited.heads[i], *after = head + strspn(head, " ");
            size_t n = strlen(energies[k]);
            double factor;
            if (strncasecmp(after, energies[k], n) != 0)
                continue;
            after += n + strspn(after + n, " ");
            if ((!*after || *after == '(' || *after == '[') && energy_column(&s->delimited, energies[k], &factor) != i)
                return campaign_bad(r, s->path, s->delimited.line,
                                    "%.60s: expected %s, or %s (kcal/mol), and that once", head, energies[k],
                                    energies[k]);
        }
    return 0;
}

int table_energy(struct campaign_reading *r, const struct open_table *s, int row, const char *head, double *out)
{
    double factor, number;
    struct quantity q = {0};
    int column = energy_column(&s->delimited, head, &factor);
    const char *cell = column < 0 ? "" : delimited_cell(&s->delimited, row, column);
    *out = NAN;
    if (!*cell)
        return 0;
    if (value_number(cell, &number) && factor > 0)
        *out = number * factor;
    else if (value_quantity(cell, "kJ/mol", false, &q) == QUANTITY_OK)
        *out = q.value;
    else
        return campaign_bad(r, s->path, s->delimited.lines[row],
                            "%s: %.60s: expected a free energy, such as 2.00 kcal/mol%s", head, cell,
                            factor > 0 ? " or a number" : "; or the unit in the heading, as in experiment (kcal/mol)");
    return 0;
}

int table_error(struct campaign_reading *r, const struct open_table *s, int row, double *out)
{
    int rc = table_energy(r, s, row, "error", out);
    return !rc && *out < 0 ? campaign_bad(r, s->path, s->delimited.lines[row], "error: expected 0 or more") : rc;
}

/* With or without a unit. */
static bool is_other(const char *head, const char *const *others)
{
    for (int k = 0; others[k]; k++) {
        size_t n = strlen(others[k]);
        if (!strncmp(head, others[k], n) && (!head[n] || !strncmp(head + n, " (", 2)))
            return true;
    }
    return false;
}

/* Every column but `others` is a value for specs. */
void table_values(const struct delimited *s, int row, const char *const *others, struct values *values)
{
    for (int i = 0; i < s->columns; i++)
        if (!is_other(s->heads[i], others))
            values_add(values, s->heads[i], delimited_cell(s, row, i));
}

/* Of columns but `others`: what looks like an experiment there is a word for specs, and compared with nothing. */
void table_warn_of_energies(struct campaign_reading *r, const struct open_table *s, const char *const *others,
                            const char *expected)
{
    for (int i = 0; i < s->delimited.columns; i++)
        if (!is_other(s->delimited.heads[i], others) && heading_means_energy(s->delimited.heads[i]))
            campaign_warn(
                r, s->path, s->delimited.line,
                "column '%.60s' is a value for specs, not an experiment: gather compares nothing with it; expected %s",
                s->delimited.heads[i], expected);
}
