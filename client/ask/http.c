/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ask/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define STALLED_S 60L /* a download of which nothing came for so long is given up */

struct http {
    CURL *curl;
    const char *socket, *tried;
};

struct http *http_new(const char *socket, const char *tried)
{
    struct http *h = xcalloc(1, sizeof *h);
    h->socket = socket;
    h->tried = tried;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    h->curl = curl_easy_init();
    return h;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    curl_easy_cleanup(h->curl);
    curl_global_cleanup();
    free(h);
}

static void escape(struct buf *out, const char *text, const char *plain)
{
    for (const char *p = text; *p; p++) {
        if (isalnum((unsigned char)*p) || strchr(plain, *p))
            buf_add(out, p, 1);
        else
            buf_printf(out, "%%%02X", (unsigned char)*p);
    }
}

void http_escape_path(struct buf *out, const char *path)
{
    escape(out, path, "/._-~");
}

void http_escape(struct buf *out, const char *text)
{
    escape(out, text, "._-~");
}

/* Why curl gave up, as an error that says what to do. */
static int fail_on(CURL *curl, const struct http *h, CURLcode rc, struct err *e)
{
    const size_t most = sizeof((struct sockaddr_un *)0)->sun_path - 1;
    long os = 0;
    curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &os);
    if (strlen(h->socket) > most)
        return err_set(
            e, ERR_USAGE,
            "socket path %s: it has %zu bytes, at most %zu are possible; --socket or SHOAL_SOCKET names another",
            h->socket, strlen(h->socket), most);
    if (rc == CURLE_OPERATION_TIMEDOUT)
        return err_set(e, ERR_BUSY, "no answer from the service at %s in time", h->socket);
    if (rc == CURLE_COULDNT_CONNECT && (os == EACCES || os == EPERM))
        return err_set(e, ERR_FORBIDDEN, "%s: not permitted; ask to be in the group that owns the socket", h->socket);
    struct stat st;
    if (rc == CURLE_COULDNT_CONNECT && stat(h->socket, &st))
        return err_set(
            e, errno == EACCES ? ERR_FORBIDDEN : ERR_UNREACHABLE,
            "no service at %s: %s; is shoald running? `shoal up` starts one of your own, --socket names another",
            h->tried, strerror(errno));
    if (rc == CURLE_COULDNT_CONNECT)
        return err_set(e, ERR_UNREACHABLE, "%s: nothing answers; is shoald running? `shoal up` starts one of your own",
                       h->socket);
    return err_set(e, ERR_UNREACHABLE, "%s: %s", h->socket, curl_easy_strerror(rc));
}

static int fail(const struct http *h, CURLcode rc, struct err *e)
{
    return fail_on(h->curl, h, rc, e);
}

/* Sets what all kinds of request share; the list is for the caller to free. */
static struct curl_slist *prepare_on(CURL *curl, const struct http *h, const char *method, const char *path,
                                     const struct buf *body, struct buf *url)
{
    struct curl_slist *headers = NULL;
    buf_printf(url, "http://shoal%s", path);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, h->socket);
    curl_easy_setopt(curl, CURLOPT_URL, url->data);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); /* ".." is an id that no ensemble has */
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "shoal/" SHOAL_VERSION);
    if (body) {
        headers = curl_slist_append(headers, "Content-Type: application/json");
        headers = curl_slist_append(headers, "Expect:");
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->data);
    } else if (!strcmp(method, "POST")) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
    }
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    return headers;
}

static struct curl_slist *prepare(struct http *h, const char *method, const char *path, const struct buf *body,
                                  struct buf *url)
{
    return prepare_on(h->curl, h, method, path, body, url);
}

static size_t keep(char *data, size_t size, size_t n, void *arg)
{
    buf_add(arg, data, size * n);
    return size * n;
}

/* Carries out the request; its headers and URL are freed, and what comes goes to the end of `reply`. */
static CURLcode answered(struct http *h, struct curl_slist *headers, struct buf *url, long *status, struct buf *reply)
{
    curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, reply);
    CURLcode rc = curl_easy_perform(h->curl);
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, status);
    curl_slist_free_all(headers);
    buf_free(url);
    buf_add(reply, "", 0);
    return rc;
}

int http_request(struct http *h, const char *method, const char *path, const struct buf *body, long *status,
                 struct buf *reply, struct err *e)
{
    struct buf url = {0};
    struct curl_slist *headers = prepare(h, method, path, body, &url);
    curl_easy_setopt(h->curl, CURLOPT_TIMEOUT, 600L);
    CURLcode rc = answered(h, headers, &url, status, reply);
    return rc ? fail(h, rc, e) : 0;
}

/* ---- many at once ---- */

struct transfer {
    CURL *curl;
    struct curl_slist *headers;
    struct buf url, body, reply;
    int number; /* of the request that it carries; -1: none */
};

struct many {
    struct http *h;
    CURLM *multi;
    const struct http_batch *batch;
    int next; /* request to be sent; batch->count: no more */
    struct err *e;
};

static void lane_start(struct many *m, struct transfer *l)
{
    struct buf path = {0};
    l->number = -1;
    if (m->next >= m->batch->count)
        return;
    l->number = m->next++;
    l->url.len = l->body.len = l->reply.len = 0;
    m->batch->fill(m->batch->arg, l->number, &path, &l->body);
    l->headers = prepare_on(l->curl, m->h, m->batch->method, path.data, l->body.len ? &l->body : NULL, &l->url);
    curl_easy_setopt(l->curl, CURLOPT_TIMEOUT, 600L);
    curl_easy_setopt(l->curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(l->curl, CURLOPT_WRITEDATA, &l->reply);
    curl_easy_setopt(l->curl, CURLOPT_PRIVATE, l);
    curl_multi_add_handle(m->multi, l->curl);
    buf_free(&path);
}

static void lane_end(struct many *m, struct transfer *l, CURLcode rc)
{
    struct err e = {0};
    long status = 0;
    curl_easy_getinfo(l->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(m->multi, l->curl);
    curl_slist_free_all(l->headers);
    buf_add(&l->reply, "", 0);
    if (rc && fail_on(l->curl, m->h, rc, &e) && !m->e->code) {
        *m->e = e; /* so it will be for the others */
        m->next = m->batch->count;
    }
    if (!rc)
        m->batch->done(m->batch->arg, l->number, status, &l->reply);
    lane_start(m, l);
}

int http_batch(struct http *h, const struct http_batch *batch, struct err *e)
{
    enum { LANES = 4 };
    struct transfer lanes[LANES] = {0};
    struct many m = {.h = h, .multi = curl_multi_init(), .batch = batch, .e = e};
    int running = 1, left;
    for (int i = 0; i < LANES; i++) {
        lanes[i].curl = curl_easy_init();
        lane_start(&m, &lanes[i]);
    }
    for (bool busy = true; busy;) {
        CURLMsg *message;
        curl_multi_perform(m.multi, &running);
        while ((message = curl_multi_info_read(m.multi, &left))) {
            struct transfer *l = NULL;
            CURLcode rc = message->data.result;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&l);
            lane_end(&m, l, rc);
        }
        busy = false;
        for (int i = 0; i < LANES; i++)
            busy |= lanes[i].number >= 0;
        if (busy)
            curl_multi_poll(m.multi, NULL, 0, 100, NULL);
    }
    for (int i = 0; i < LANES; i++) {
        curl_easy_cleanup(lanes[i].curl);
        buf_free(&lanes[i].url);
        buf_free(&lanes[i].body);
        buf_free(&lanes[i].reply);
    }
    curl_multi_cleanup(m.multi);
    return -(int)e->code;
}

struct download {
    struct http *h;
    FILE *file;
    long long bytes;
    struct buf *reply;
};

static size_t take_bytes(char *data, size_t size, size_t n, void *arg)
{
    struct download *d = arg;
    long status = 0;
    curl_easy_getinfo(d->h->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return keep(data, size, n, d->reply);
    size_t wrote = fwrite(data, 1, size * n, d->file);
    d->bytes += (long long)wrote;
    return wrote;
}

int http_download(struct http *h, const char *path, FILE *file, long long *bytes, long *status, struct buf *reply,
                  struct err *e)
{
    struct buf url = {0};
    struct download d = {.h = h, .file = file, .reply = reply};
    struct curl_slist *headers = prepare(h, "GET", path, NULL, &url);
    curl_easy_setopt(h->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(h->curl, CURLOPT_LOW_SPEED_TIME, STALLED_S);
    curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &d);
    CURLcode rc = curl_easy_perform(h->curl);
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, status);
    curl_slist_free_all(headers);
    buf_free(&url);
    buf_add(reply, "", 0);
    *bytes = d.bytes;
    if (rc == CURLE_PARTIAL_FILE || rc == CURLE_WRITE_ERROR)
        return err_set(e, ERR_IO, "%s", curl_easy_strerror(rc));
    return rc ? fail(h, rc, e) : 0;
}

static size_t give_bytes(char *data, size_t size, size_t n, void *arg)
{
    FILE *file = arg;
    size_t got = fread(data, size, n, file);
    return ferror(file) ? CURL_READFUNC_ABORT : got;
}

/* Of a file its length from here on; -1: not known. */
static curl_off_t length_of(FILE *file)
{
    struct stat st;
    off_t at = ftello(file);
    if (at < 0 || fstat(fileno(file), &st) || !S_ISREG(st.st_mode))
        return -1;
    return st.st_size > at ? st.st_size - at : 0;
}

/* A service that refuses answers before all was sent: what it says counts. */
int http_upload(struct http *h, const char *path, FILE *file, long *status, struct buf *reply, struct err *e)
{
    struct buf url = {0};
    curl_slist_free_all(prepare(h, "POST", path, NULL, &url));
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/zstd");
    const curl_off_t length = length_of(file);
    if (length < 0)
        headers = curl_slist_append(headers, "Transfer-Encoding: chunked");
    curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(h->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, NULL);
    curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, length);
    curl_easy_setopt(h->curl, CURLOPT_READFUNCTION, give_bytes);
    curl_easy_setopt(h->curl, CURLOPT_READDATA, file);
    CURLcode rc = answered(h, headers, &url, status, reply);
    if (ferror(file))
        return err_set(e, ERR_IO, "the file cannot be read");
    return rc && *status < 400 ? fail(h, rc, e) : 0;
}

struct line_stream {
    struct http *h;
    http_line_fn *on_line;
    void *arg;
    struct buf line;
    struct buf *reply;
    bool stopped;
};

static size_t take_lines(char *data, size_t size, size_t n, void *arg)
{
    struct line_stream *s = arg;
    long status = 0;
    curl_easy_getinfo(s->h->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return keep(data, size, n, s->reply);
    for (size_t i = 0; i < size * n; i++) {
        if (data[i] != '\n') {
            buf_add(&s->line, &data[i], 1);
            continue;
        }
        if (s->line.len && s->on_line(s->arg, s->line.data)) {
            s->stopped = true;
            return 0;
        }
        s->line.len = 0;
    }
    return size * n;
}

int http_lines(struct http *h, const char *path, double timeout_s, http_line_fn *on_line, void *arg, long *status,
               struct buf *reply, struct err *e)
{
    struct buf url = {0};
    struct line_stream s = {.h = h, .on_line = on_line, .arg = arg, .reply = reply};
    struct curl_slist *headers = prepare(h, "GET", path, NULL, &url);
    if (timeout_s > 0)
        curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, (long)(timeout_s * 1000) + 1);
    curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, take_lines);
    curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &s);
    CURLcode rc = curl_easy_perform(h->curl);
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, status);
    curl_slist_free_all(headers);
    buf_free(&url);
    buf_free(&s.line);
    buf_add(reply, "", 0);
    if (s.stopped)
        return HTTP_ENDED;
    if (rc == CURLE_OPERATION_TIMEDOUT && timeout_s > 0)
        return HTTP_TIMEOUT;
    if (rc)
        return fail(h, rc, e);
    return *status == 200 ? HTTP_ENDED : HTTP_REFUSED;
}
