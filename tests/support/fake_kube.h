/* fake_kube.h - an HTTP server on loopback that plays an API server by a script in C.
 *
 *     static void answer(struct fake_request *r, void *arg) { if (strstr(r->path, "/pods")) fake_reply(r, 200, "", "{...}"); }
 *     struct fake_kube *f = fake_kube_start(answer, arg);
 *     ... requests to fake_kube_server(f), "http://127.0.0.1:PORT" ...
 *     fake_kube_stop(f);
 *
 * Each connection is a thread and may carry many requests; answer is called by one thread at a time. A request that is answered by nothing
 * is cut off. Streams: fake_begin, then fake_chunk as often as wished; the stream ends when answer returns, in order, or
 * after fake_cut, without an end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_FAKE_KUBE_H
#define TRAINYARD_TESTS_SUPPORT_FAKE_KUBE_H

#include <stdbool.h>
#include <stddef.h>

struct fake_request {
    char method[16], path[2048]; /* path with the query, as sent */
    char headers[4096];
    char *body;
    size_t n;
    unsigned number; /* from 1, of all requests */
    int fd;
    bool begun, answered, cut;
};

struct fake_kube;
struct fake_kube *fake_kube_start(void (*answer)(struct fake_request *, void *arg), void *arg);
const char *fake_kube_server(const struct fake_kube *);
unsigned fake_kube_requests(const struct fake_kube *);
unsigned fake_kube_connections(const struct fake_kube *);
void fake_kube_stop(struct fake_kube *);

/* `headers`: whole lines, each with \r\n. */
void fake_reply(struct fake_request *, int code, const char *headers, const char *body);
void fake_begin(struct fake_request *);
/* False when the client has gone. */
bool fake_chunk(struct fake_request *, const char *text);
void fake_cut(struct fake_request *);

#endif
