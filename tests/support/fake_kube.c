/* fake_kube.c - see fake_kube.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/fake_kube.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

enum { MAX_CONNECTIONS = 4096 };

struct fake_kube {
    int listener;
    char server[64];
    void (*answer)(struct fake_request *, void *);
    void *arg;
    pthread_t acceptor;
    pthread_mutex_t lock, one; /* of the lists; one answer at a time */
    struct { pthread_t thread; int fd; } connections[MAX_CONNECTIONS];
    unsigned n_connections, n_requests;
};

struct connection { struct fake_kube *f; int fd; };

static bool send_all(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t k = send(fd, text, n, MSG_NOSIGNAL);
        if (k <= 0) return false;
        text += k;
        n -= (size_t)k;
    }
    return true;
}

/* Reads to the blank line; the rest of the buffer is the beginning of the body. 0 at the end of the connection. */
static size_t read_head(int fd, char *buf, size_t max, size_t *used)
{
    for (;;) {
        char *end = *used ? memmem(buf, *used, "\r\n\r\n", 4) : NULL;
        if (end) return (size_t)(end - buf) + 4;
        if (*used == max) return 0;
        ssize_t k = recv(fd, buf + *used, max - *used, 0);
        if (k <= 0) return 0;
        *used += (size_t)k;
    }
}

static size_t content_length(const char *headers)
{
    const char *at = strcasestr(headers, "\ncontent-length:");
    return at ? strtoul(at + 16, NULL, 10) : 0;
}

static bool read_body(struct fake_request *r, char *buf, size_t head, size_t *used)
{
    r->n = content_length(r->headers);
    r->body = xcalloc(r->n + 1, 1);
    size_t have = *used - head < r->n ? *used - head : r->n;
    memcpy(r->body, buf + head, have);
    memmove(buf, buf + head + have, *used - head - have);
    *used -= head + have;
    while (have < r->n) {
        ssize_t k = recv(r->fd, r->body + have, r->n - have, 0);
        if (k <= 0) return false;
        have += (size_t)k;
    }
    return true;
}

static bool serve_one(struct connection *c, char *buf, size_t max, size_t *used)
{
    struct fake_request r = { .fd = c->fd };
    size_t head = read_head(c->fd, buf, max, used);
    if (!head) return false;
    snprintf(r.headers, sizeof r.headers, "%.*s", (int)head, buf);
    bool ok = sscanf(r.headers, "%15s %2047s", r.method, r.path) == 2 && read_body(&r, buf, head, used);
    if (ok) {
        pthread_mutex_lock(&c->f->lock);
        r.number = ++c->f->n_requests;
        pthread_mutex_unlock(&c->f->lock);
        bool stream = strstr(r.path, "watch=true") != NULL; /* may last long beside others */
        if (!stream) pthread_mutex_lock(&c->f->one);
        c->f->answer(&r, c->f->arg);
        if (!stream) pthread_mutex_unlock(&c->f->one);
        if (r.begun && !r.cut) ok = send_all(c->fd, "0\r\n\r\n", 5);
        ok = ok && !r.cut && (r.begun || r.answered);
    }
    free(r.body);
    return ok;
}

static void *serve(void *arg)
{
    struct connection *c = arg;
    enum { MAX = 1 << 16 };
    char *buf = xcalloc(MAX, 1);
    size_t used = 0;
    while (serve_one(c, buf, MAX, &used)) {}
    shutdown(c->fd, SHUT_RDWR);
    free(buf);
    free(c);
    return NULL;
}

static void *accept_all(void *arg)
{
    struct fake_kube *f = arg;
    for (int fd; (fd = accept(f->listener, NULL, NULL)) >= 0;) {
        struct connection *c = xcalloc(1, sizeof *c);
        *c = (struct connection){ f, fd };
        pthread_mutex_lock(&f->lock);
        if (f->n_connections == MAX_CONNECTIONS) abort();
        f->connections[f->n_connections].fd = fd;
        pthread_create(&f->connections[f->n_connections++].thread, NULL, serve, c);
        pthread_mutex_unlock(&f->lock);
    }
    return NULL;
}

struct fake_kube *fake_kube_start(void (*answer)(struct fake_request *, void *), void *arg)
{
    struct fake_kube *f = xcalloc(1, sizeof *f);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;
    f->answer = answer;
    f->arg = arg;
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_init(&f->one, NULL);
    f->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(f->listener, (struct sockaddr *)&at, sizeof at) || listen(f->listener, 128) || getsockname(f->listener, (struct sockaddr *)&at, &n)) abort();
    snprintf(f->server, sizeof f->server, "http://127.0.0.1:%d", ntohs(at.sin_port));
    pthread_create(&f->acceptor, NULL, accept_all, f);
    return f;
}

const char *fake_kube_server(const struct fake_kube *f) { return f->server; }

unsigned fake_kube_requests(const struct fake_kube *f)
{
    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&f->lock);
    unsigned n = f->n_requests;
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&f->lock);
    return n;
}

unsigned fake_kube_connections(const struct fake_kube *f) { return f->n_connections; }

void fake_kube_stop(struct fake_kube *f)
{
    shutdown(f->listener, SHUT_RDWR);
    pthread_join(f->acceptor, NULL);
    close(f->listener);
    for (unsigned i = 0; i < f->n_connections; i++) {
        shutdown(f->connections[i].fd, SHUT_RDWR);
        pthread_join(f->connections[i].thread, NULL);
        close(f->connections[i].fd);
    }
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->one);
    free(f);
}

void fake_reply(struct fake_request *r, int code, const char *headers, const char *body)
{
    char head[1024];
    int n = snprintf(head, sizeof head, "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n", code, strlen(body), headers);
    r->answered = send_all(r->fd, head, (size_t)n) && send_all(r->fd, body, strlen(body));
}

void fake_begin(struct fake_request *r)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    r->begun = send_all(r->fd, head, sizeof head - 1);
}

bool fake_chunk(struct fake_request *r, const char *text)
{
    char size[32];
    int n = snprintf(size, sizeof size, "%zx\r\n", strlen(text));
    return send_all(r->fd, size, (size_t)n) && send_all(r->fd, text, strlen(text)) && send_all(r->fd, "\r\n", 2);
}

void fake_cut(struct fake_request *r)
{
    r->cut = true;
    shutdown(r->fd, SHUT_RDWR);
}
