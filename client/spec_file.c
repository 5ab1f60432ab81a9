/* SPDX-License-Identifier: Apache-2.0
 *
 * A spec that this program makes: on standard output, or in a file that is not there yet.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "engine/base/printable.h"

void spec_text(struct buf *out, const char *text)
{
    bool plain = isalpha((unsigned char)*text) || *text == '/' || !strncmp(text, "../", 3);
    for (const char *p = text; *p; p++)
        plain &= isalnum((unsigned char)*p) || strchr("._/+-", *p);
    if (plain) {
        buf_printf(out, "%s", text);
        return;
    }
    struct buf quoted = {0};
    for (const char *p = text; *p; p++)
        buf_printf(&quoted, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    buf_printf(out, "\"");
    printable_add(out, quoted.data ? quoted.data : "", ""); /* its escapes are those of YAML */
    buf_printf(out, "\"");
    buf_free(&quoted);
}

int spec_file_write(const struct client *c, const struct buf *spec, struct err *e)
{
    if (!c->output)
        return c->json || fwrite(spec->data, 1, spec->len, stdout) == spec->len ? 0 : err_errno(e, "standard output");
    if (!access(c->output, F_OK))
        return err_set(e, ERR_CONFLICT, "%s is there already: expected the name of a new file", c->output);
    return buf_write_file(c->output, spec->data, spec->len, e);
}
