/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal ladder SPEC.yaml: the windows of one spec, placed and proven by pilots as a campaign does it
 * (place.c). The spec is the only leg of a campaign that is written for it, whose name has a checksum of the
 * spec in it: said again this goes on with the pilots that there are, and a spec that was edited has others.
 */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/campaign/campaign.h"
#include "client/specs/spec_file.h"
#include "engine/base/checksum.h"
#include "engine/base/path.h"

enum { NAME_MOST = 20 };

/* "SPEC-0123456789abcdef", as names of campaigns have to be. */
static int name_of(const char *file, struct buf *out, struct err *e)
{
    struct buf text = {0};
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strrchr(base, '.');
    if (buf_read_file(&text, file, e)) {
        buf_free(&text);
        return -(int)(e->code = ERR_MISSING_FILE);
    }
    buf_printf(out, "ladder-");
    for (const char *p = base; p < dot && p < base + NAME_MOST; p++)
        buf_printf(out, "%c", isalnum((unsigned char)*p) ? *p : '-');
    buf_printf(out, "-%08" PRIx32, (uint32_t)checksum(text.data ? text.data : "", text.len));
    buf_free(&text);
    return 0;
}

/* The campaign as a file, whose path is appended. */
static int write_campaign(const struct client *c, const char *file, struct buf *path, struct err *e)
{
    struct buf name = {0}, text = {0};
    char whole[PATH_MAX];
    const char *folder = getenv("TMPDIR");
    int rc = name_of(file, &name, e);
    if (!rc && !realpath(file, whole))
        rc = err_errno(e, "%s", file);
    buf_printf(path, "%s/shoal-ladder-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = rc ? -1 : mkstemp(path->data);
    if (!rc && fd < 0)
        rc = err_errno(e, "%s", path->data);
    buf_printf(&text, "name: %s\nsystems: {list: [{name: spec}]}\nlegs:\n  - name: ladder\n    spec: ", name.data);
    spec_text(&text, rc ? "" : whole);
    buf_printf(&text, "\nladder: {pilot: ");
    spec_text(&text, c->pilot ? c->pilot : "20 ps");
    if (c->overlap > 0)
        buf_printf(&text, ", overlap: %.10g", c->overlap);
    if (c->windows > 0)
        buf_printf(&text, ", windows: %" PRId64, c->windows);
    buf_printf(&text, "}\n");
    if (!rc && write(fd, text.data, text.len) != (ssize_t)text.len)
        rc = err_errno(e, "%s", path->data);
    if (fd >= 0)
        close(fd);
    buf_free(&name);
    buf_free(&text);
    return rc;
}

static void print_windows(const struct client *c, const json_t *entry)
{
    const char *component;
    const json_t *ladder, *value;
    size_t i;
    if (c->json) {
        client_print(entry);
        return;
    }
    printf("# Thermodynamic length %.2f. Neighbours overlap by %.2g or more in the pilot %s.\nwindows:\n",
           answer_number(entry, "length"), answer_number(entry, "overlap"), answer_text(entry, "from"));
    json_object_foreach ((json_t *)json_object_get(entry, "windows"), component, ladder) {
        printf("  %s: [", component);
        json_array_foreach (ladder, i, value)
            printf("%s%.10g", i ? ", " : "", json_number_value(value));
        printf("]\n");
    }
}

int ladder_of_spec(struct client *c, const char *file)
{
    struct err e = {0};
    struct buf path = {0};
    struct campaign_view k = {0};
    int rc = write_campaign(c, file, &path, &e) ? client_fail(c, &e) : campaign_prove(&k, c, path.data);
    if (rc == EXIT_OK)
        print_windows(c, json_object_get(k.ladders, "ladder/spec"));
    campaign_close(&k);
    if (path.data)
        unlink(path.data);
    buf_free(&path);
    return rc;
}
