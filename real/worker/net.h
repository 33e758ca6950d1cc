/* net.h - TCP connections with deadlines.
 *
 * Each wait ends at a deadline on the monotonic clock, so that a peer that says nothing cannot hold a rank for ever.
 * Sockets are non-blocking, close on exec, and send at once (TCP_NODELAY).
 *
 *     int64_t deadline_ns = net_now_ns() + seconds(30);
 *     int fd = net_connect("worker-0", 29400, deadline_ns);          // tries again until then: a peer may start later
 *     if (fd < 0 || !net_send(fd, &hello, sizeof hello, deadline_ns)) ...   // errno says why; ETIMEDOUT, ECONNRESET
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_NET_H
#define TRAINYARD_REAL_WORKER_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct net_address { /* IPv4 or IPv6, with its port */
    struct sockaddr_storage address;
    socklen_t bytes;
};

int64_t net_now_ns(void);

int net_port(const struct net_address *);
void net_set_port(struct net_address *, int port);
bool net_is_loopback(const struct net_address *); /* reaches nothing but the own machine */
bool net_peer(int fd, struct net_address *);      /* the other end of a connection */

/* Whether this machine has an address of that name. */
bool net_is_here(const char *host);

/* A listening socket, on all addresses when `host` is NULL, else on that one; port 0: any, *port is set. -1 and errno. */
int net_listen(const char *host, int *port);

/* -1 and errno; a name that cannot be resolved is EHOSTUNREACH. Tries again as net_pause says, but asks for the name no more than once
 * in half a second to a second (by chance): a thousand ranks may wait for one that is not there yet. */
int net_connect(const char *host, int port, int64_t deadline_ns);
int net_connect_to(const struct net_address *, int64_t deadline_ns);

/* Before another try: 1 ms, then each time twice as long, 50 ms at most. pause_ms is 0 at first. False when the time is up; errno
 * stays as it was. */
bool net_pause(int *pause_ms, int64_t deadline_ns);

/* The next connection; -1 with ETIMEDOUT. */
int net_accept(int listener, int64_t deadline_ns);

bool net_send(int fd, const void *data, size_t n, int64_t deadline_ns);
bool net_receive(int fd, void *data, size_t n, int64_t deadline_ns);

/* Sends to one and receives from another at the same time, as a ring needs; the two may be the same. */
bool net_exchange(int to, const void *out, size_t out_n, int from, void *in, size_t in_n, int64_t deadline_ns);

/* Whether the peer has closed, or its process has ended. */
bool net_gone(int fd);

#endif
