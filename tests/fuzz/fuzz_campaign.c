/* SPDX-License-Identifier: Apache-2.0
 *
 * campaign_read on any bytes: an error that begins with a file and line, or systems, edges and legs that there are. A
 * line "%%" ends the campaign; what follows is the table t.csv beside it.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/campaign/campaign.h"
#include "engine/base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/shoal-fuzz-XXXXXX", campaign[64], table[64];

static void clean(void)
{
    unlink(campaign);
    unlink(table);
    rmdir(folder);
}

static void make_folder(void)
{
    if (campaign[0])
        return;
    assert(mkdtemp(folder));
    snprintf(campaign, sizeof campaign, "%s/c.yaml", folder);
    snprintf(table, sizeof table, "%s/t.csv", folder);
    atexit(clean);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

static void check_leg(const struct campaign *c, const struct campaign_leg *leg)
{
    char key[CAMPAIGN_KEY + 1];
    assert(leg->name[0] && leg->spec && leg->sign >= -1 && leg->sign <= 1);
    for (int i = 0; i < campaign_items(c, leg); i++) {
        int n;
        struct variable *v = campaign_variables(c, leg, i, &n);
        free(v);
        campaign_key(c, leg, i, 0, key);
        assert(key[0] && strlen(key) <= CAMPAIGN_KEY && campaign_item(c, leg, i)[0]);
    }
}

static void check_campaign(const struct campaign *c)
{
    assert(c->name[0] && c->repeats > 0 && c->nsystems > 0 && c->nlegs > 0);
    assert(c->budget.time >= 0 && isfinite(c->budget.time));
    for (int i = 0; i < c->nsystems; i++)
        assert(c->systems[i].name[0] && !(c->systems[i].error < 0));
    for (int i = 0; i < c->nedges; i++)
        for (int k = 0; k < 2; k++)
            assert(c->edges[i].ligand[k] >= 0 && c->edges[i].ligand[k] < c->nsystems);
    for (int i = 0; i < c->nlegs; i++)
        check_leg(c, &c->legs[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct campaign *c;
    struct err e = {0};
    const uint8_t *cut = size ? memmem(data, size, "\n%%\n", 4) : NULL;
    size_t first = cut ? (size_t)(cut - data) + 1 : size;
    make_folder();
    write_file(campaign, data, first);
    write_file(table, cut ? data + first + 3 : data, cut ? size - first - 3 : 0);
    if (campaign_read(&c, campaign, &e)) {
        assert(!c && (e.code == ERR_SPEC || e.code == ERR_MISSING_FILE));
        assert(strchr(e.msg, ':')); /* which file it is of */
        return 0;
    }
    check_campaign(c);
    campaign_free(c);
    return 0;
}
