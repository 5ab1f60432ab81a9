/* SPDX-License-Identifier: Apache-2.0
 *
 * web: a server of HTTP on 127.0.0.1, in the foreground. Other users of the machine reach its port too, and so do pages
 * of other sites in the user's browser: those are answered who have the token and who name this machine as the host.
 * The service is asked over its socket, by one request at a time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/command/handlers.h"
#include "client/web/pages.h"

enum { NEWEST = 100, CONNECTIONS = 64, IDLE_S = 60, TABLES_S = 2, REPORT_S = 5, SECRET_BYTES = 16 };

struct web {
    struct client c;
    pthread_mutex_t asking;
    char token[2 * SECRET_BYTES + 1]; /* in every address */
    char nonce[2 * SECRET_BYTES + 1]; /* of the pages' own scripts: no others run */
};

/* ---- who is answered ---- */

/* By name or number, whatever the port: that of a tunnel is another. */
static bool is_this_machine(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (!strncmp(host, names[i], n) && (!host[n] || host[n] == ':'))
            return true;
    }
    return false;
}

/* What follows "/TOKEN/"; NULL: another path. Takes as long whatever the first wrong character is. */
static const char *behind_token(const struct web *w, const char *path)
{
    const size_t n = strlen(w->token);
    unsigned char wrong = 0;
    if (strlen(path) < n + 2)
        return NULL;
    for (size_t i = 0; i < n; i++)
        wrong |= (unsigned char)(path[1 + i] ^ w->token[i]);
    return wrong || path[1 + n] != '/' ? NULL : path + n + 2;
}

/* ---- answers ---- */

static enum MHD_Result answer(const struct web *w, struct MHD_Connection *to, int status, const char *type,
                              struct MHD_Response *response)
{
    char policy[256];
    snprintf(policy, sizeof policy,
             "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-%s'; connect-src 'self'; "
             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
             w->nonce);
    const char *const headers[][2] = {{"Content-Type", type},
                                      {"Content-Security-Policy", policy},
                                      {"Cache-Control", "no-store"},
                                      {"Referrer-Policy", "no-referrer"},
                                      {"X-Content-Type-Options", "nosniff"}};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET");
    enum MHD_Result queued = MHD_queue_response(to, (unsigned)status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result answer_text_of(const struct web *w, struct MHD_Connection *to, int status, const char *type,
                                      const struct buf *text)
{
    return answer(w, to, status, type, MHD_create_response_from_buffer(text->len, text->data, MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result refuse(const struct web *w, struct MHD_Connection *to, int status, const char *why)
{
    struct buf text = {0};
    buf_printf(&text, "shoal web: %s\n", why);
    enum MHD_Result queued = answer_text_of(w, to, status, "text/plain; charset=utf-8", &text);
    buf_free(&text);
    return queued;
}

static enum MHD_Result answer_page(struct web *w, struct MHD_Connection *to, const char *word)
{
    struct buf page = {0};
    struct err e = {0};
    pthread_mutex_lock(&w->asking);
    pages_put(&page, &w->c, word, w->nonce, &e);
    pthread_mutex_unlock(&w->asking);
    enum MHD_Result queued =
        answer_text_of(w, to, e.code ? err_http(e.code) : MHD_HTTP_OK, "text/html; charset=utf-8", &page);
    buf_free(&page);
    return queued;
}

/* ---- events ---- */

struct feed {
    struct web *w;
    char *word;
    struct buf shown, out;
    size_t sent; /* bytes of out */
};

/* Waits, then makes an event of a page that has changed, else a comment: writing it tells whether the browser is still
 * there. */
static void feed_look(struct feed *f)
{
    struct buf now = {0};
    sleep(*f->word ? REPORT_S : TABLES_S);
    pthread_mutex_lock(&f->w->asking);
    const bool known = !pages_put_shown(&now, &f->w->c, f->word);
    pthread_mutex_unlock(&f->w->asking);
    f->out.len = f->sent = 0;
    if (known && strcmp(now.data, f->shown.data) != 0) {
        pages_put_event(&f->out, f->word, now.data);
        f->shown.len = 0;
        buf_add(&f->shown, now.data, now.len);
    } else {
        buf_printf(&f->out, ":\n\n");
    }
    buf_free(&now);
}

/* In the connection's own thread. */
static ssize_t feed_read(void *arg, uint64_t at, char *to, size_t most)
{
    struct feed *f = arg;
    if (f->sent == f->out.len)
        feed_look(f);
    const size_t left = f->out.len - f->sent, n = left < most ? left : most;
    memcpy(to, f->out.data + f->sent, n);
    f->sent += n;
    return (ssize_t)n;
}

static void feed_free(void *arg)
{
    struct feed *f = arg;
    buf_free(&f->shown);
    buf_free(&f->out);
    free(f->word);
    free(f);
}

static enum MHD_Result answer_events(struct web *w, struct MHD_Connection *to, const char *word, const char *shown)
{
    enum { BLOCK = 64 << 10 };
    struct feed *f = xcalloc(1, sizeof *f);
    *f = (struct feed){.w = w, .word = xstrdup(word)};
    buf_printf(&f->shown, "%s", shown);
    buf_printf(&f->out, ":\n\n"); /* the answer's head goes with it */
    return answer(w, to, MHD_HTTP_OK, "text/event-stream",
                  MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, feed_read, f, feed_free));
}

/* ---- requests ---- */

static enum MHD_Result on_request(void *arg, struct MHD_Connection *from, const char *path, const char *method,
                                  const char *version, const char *body, size_t *len, void **context)
{
    struct web *w = arg;
    const char *word = behind_token(w, path);
    const char *shown = MHD_lookup_connection_value(from, MHD_GET_ARGUMENT_KIND, "events");
    if (!is_this_machine(MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Host")))
        return refuse(w, from, MHD_HTTP_FORBIDDEN, "only 127.0.0.1 and localhost are answered");
    if (strcmp(method, "GET") != 0)
        return refuse(w, from, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is answered");
    if (!word)
        return refuse(w, from, MHD_HTTP_FORBIDDEN, "the address has another token than the one that was printed");
    return shown ? answer_events(w, from, word, shown) : answer_page(w, from, word);
}

static void make_secret(char secret[2 * SECRET_BYTES + 1])
{
    unsigned char bytes[SECRET_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        abort();
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
}

static struct MHD_Daemon *start(struct web *w)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)w->c.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0, NULL, NULL, on_request,
                            w, MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_END);
}

int web_main(struct client *c, int argc, char **argv)
{
    struct web w = {.c = *c, .asking = PTHREAD_MUTEX_INITIALIZER};
    struct err e = {0};
    json_t *version = client_get(c, "/v1/version", &e);
    if (!version)
        return client_fail(c, &e);
    json_decref(version);
    w.c.limit = c->limit ? c->limit : NEWEST;
    make_secret(w.token);
    make_secret(w.nonce);
    struct MHD_Daemon *server = start(&w);
    if (!server) {
        err_set(&e, ERR_IO, "port %lld of 127.0.0.1: %s; --port names another", (long long)c->port, strerror(errno));
        return client_fail(c, &e);
    }
    printf("http://127.0.0.1:%u/%s/\n", MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port, w.token);
    client_say(c, "until interrupted, everybody who has this address sees what you see");
    while (!fflush(stdout))
        pause();
    MHD_stop_daemon(server);
    return EXIT_OK;
}
