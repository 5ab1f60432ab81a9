/* SPDX-License-Identifier: Apache-2.0 */
#include "client/programs/service.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/http.h"
#include "client/command/option_rows.h"

int service_words(const struct client *c, const struct service_places *places, const char **words)
{
    int n = 0;
    words[n++] = "shoald";
    words[n++] = "--state";
    words[n++] = places->state;
    words[n++] = "--socket";
    words[n++] = places->socket;
    if (geteuid() == 0) { /* the folder is root's, and so is the service */
        words[n++] = "--user";
        words[n++] = "root";
    }
    for (int i = 0; i < c->ngiven; i++)
        if (c->given[i].option == OPTION_DEVICE) {
            words[n++] = "--device";
            words[n++] = c->given[i].value;
        }
    words[n] = NULL;
    return n;
}

int service_log(const struct service_places *places, struct err *e)
{
    int fd = open(places->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return fd < 0 ? err_errno(e, "%s", places->log) : fd;
}

void service_last_words(const struct service_places *places, struct buf *out)
{
    struct buf text = {0};
    struct err e = {0};
    if (!buf_read_file(&text, places->log, &e) && text.len) {
        text.data[text.len - 1] = '\0';
        const char *line = strrchr(text.data, '\n'), *said = strstr(line ? line : text.data, " shoald: ");
        buf_printf(out, "%s", said ? said + strlen(" shoald: ") : line ? line + 1 : text.data);
    }
    buf_free(&text);
}

bool service_answers(const char *socket)
{
    struct http *http = http_new(socket, socket);
    struct buf reply = {0};
    struct err why = {0};
    long status = 0;
    bool answers = !access(socket, F_OK) && !http_request(http, "GET", "/healthz/live", NULL, &status, &reply, &why) &&
                   status == 200;
    buf_free(&reply);
    http_free(http);
    return answers;
}
