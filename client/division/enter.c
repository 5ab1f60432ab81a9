/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/division/division.h"

/* A campaign that was run here in one piece. */
static bool is_whole(const char *folder)
{
    struct buf state = {0};
    buf_printf(&state, "%s/state", folder);
    const bool whole = !access(state.data, F_OK);
    buf_free(&state);
    return whole;
}

/* What would be refused later is refused before the share has a folder. */
static int check_number(const char *folder, int64_t shares, struct err *e)
{
    json_t *division = division_read(folder, e);
    const long long said = answer_whole(division, "shares");
    if (division && said != shares)
        err_set(e, ERR_USAGE, "%s: this campaign is divided in %lld shares: expected --share I/%lld, or another folder",
                folder, said, said);
    json_decref(division);
    return -(int)e->code;
}

int division_enter(struct client *c, struct buf *folder, struct err *e)
{
    if (!c->share.of)
        return division_is(c->here)
                   ? err_set(e, ERR_USAGE,
                             "%s: the campaign in this folder is divided: expected the folder of one share, as in "
                             "--here %s/share-000, or of the campaign's commands --share I/N",
                             c->here, c->here)
                   : 0;
    c->division = c->here;
    if (is_whole(c->division))
        return err_set(e, ERR_USAGE,
                       "%s: the campaign in this folder is not divided: expected campaign run without --share, or "
                       "another folder",
                       c->division);
    if (division_is(c->division) && check_number(c->division, c->share.of, e))
        return -(int)e->code;
    division_share(folder, c->division, c->share.at);
    c->here = folder->data;
    return division_cancelled(c->division, e);
}
