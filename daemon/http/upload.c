/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies that are taken piece by piece. Where no more can be taken the connection is suspended, so that its client
 * waits.
 */
#include "daemon/http/internal.h"

struct reply request_upload(struct request *r, const struct upload_ops *ops, void *arg)
{
    r->upload = ops;
    r->upload_arg = arg;
    return (struct reply){r};
}

/* A piece may come after one that was the last for now: libmicrohttpd had it already. */
void upload_take(struct request *r, const char *data, size_t len)
{
    if (!r->upload || request_is_answered(r))
        return;
    const bool more = r->upload->piece(r->upload_arg, data, len);
    if (more || r->sm.state != REQUEST_HANDLED)
        return;
    sm_move(&r->sm, REQUEST_WAITING);
    MHD_suspend_connection(r->connection);
}

void upload_end(struct request *r, bool whole)
{
    const struct upload_ops *ops = r->upload;
    r->upload = NULL;
    if (ops && !request_is_answered(r))
        ops->end(r->upload_arg, whole);
}

void upload_more(struct request *r)
{
    if (!r->upload || r->sm.state != REQUEST_WAITING)
        return;
    sm_move(&r->sm, REQUEST_HANDLED);
    server_resume(r->server, r->connection);
}
