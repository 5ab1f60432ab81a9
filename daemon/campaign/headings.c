/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/campaign/headings.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "daemon/spec/document/value.h"

/* "NAME (UNIT)" or "NAME [UNIT]". */
static bool has_energy_unit(const char *head)
{
    const char *at = strpbrk(head, "([");
    char one[40];
    struct quantity q = {0};
    if (!at)
        return false;
    snprintf(one, sizeof one, "1 %.*s", (int)strcspn(at + 1, ")]"), at + 1);
    return value_quantity(one, "kJ/mol", false, &q) == QUANTITY_OK;
}

bool heading_means_energy(const char *head)
{
    static const char *const words[] = {"exp",   "expt",   "exptl",    "experimental", "dg",         "ddg",
                                        "delta", "deltag", "affinity", "uncertainty",  "measurement"};
    head += strspn(head, " ");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if (!strncasecmp(head, words[i], n) && !isalpha((unsigned char)head[n]))
            return true;
    }
    return has_energy_unit(head);
}
