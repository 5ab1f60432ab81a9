/* SPDX-License-Identifier: Apache-2.0
 *
 * Driving libmicrohttpd: it runs when its descriptor, its timeout or a resumed connection asks for it.
 */
#include <stdlib.h>

#include "daemon/http/internal.h"

void connection_free(struct server_connection *c)
{
    *c->all_link = c->all_next;
    if (c->all_next)
        c->all_next->all_link = c->all_link;
    quota_return(&c->charge);
    if (c->refused.code)
        c->server->refused--;
    free(c);
}

void server_forget_pending(struct server *s)
{
    while (s->pending) {
        struct server_connection *c = s->pending;
        s->pending = c->next;
        connection_free(c);
    }
}

static void on_timer(uv_timer_t *t);

void server_run(struct server *s)
{
    uv_idle_stop(&s->soon);
    MHD_run(s->mhd);
    server_forget_pending(s);
    MHD_UNSIGNED_LONG_LONG ms;
    if (MHD_get_timeout(s->mhd, &ms) == MHD_YES)
        uv_timer_start(&s->timer, on_timer, ms, 0);
    else
        uv_timer_stop(&s->timer);
}

static void on_timer(uv_timer_t *t)
{
    server_run(t->data);
}

void server_on_poll(uv_poll_t *p, int status, int events)
{
    server_run(p->data);
}

static void on_soon(uv_idle_t *i)
{
    server_run(i->data);
}

void server_resume(struct server *s, struct MHD_Connection *c)
{
    MHD_resume_connection(c);
    uv_idle_start(&s->soon, on_soon);
}
