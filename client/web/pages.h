/* SPDX-License-Identifier: Apache-2.0
 *
 * The pages of `shoal web`. A page is that of an ensemble (`word`: an id, a beginning of one, a key or a name), or the
 * first one (""), with all ensembles and devices.
 */
#ifndef SHOAL_CLIENT_WEB_PAGES_H
#define SHOAL_CLIENT_WEB_PAGES_H

#include "client/command/client.h"

/* Appends the page; its script, which asks for news, carries `nonce`. Where the service refuses, the page says why and
 * *e is set. */
void pages_put(struct buf *out, const struct client *c, const char *word, const char *nonce, struct err *e);
/* Appends what a browser shows of a page, to be compared later: of the first page its tables, or why there are none;
 * of an ensemble's the parts of its state that its report is of, nothing where the service refuses (-code). */
int pages_put_shown(struct buf *out, const struct client *c, const char *word);
/* Appends an event of text/event-stream for a page that now shows this. */
void pages_put_event(struct buf *out, const char *word, const char *shown);

#endif
