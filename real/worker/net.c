/* net.c - TCP connections with deadlines.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/net.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

enum { FIRST_RETRY_MS = 1, MOST_RETRY_MS = 50, NAME_RETRY_MS = 500, BACKLOG = 512 };

int64_t net_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Milliseconds for poll, rounded up; 0 once the deadline has passed. */
static int left_ms(int64_t deadline_ns)
{
    int64_t left = deadline_ns - net_now_ns();
    if (left <= 0) return 0;
    return left > NS_PER_HOUR ? 3600000 : (int)((left + NS_PER_MS - 1) / NS_PER_MS);
}

static int close_keeping_errno(int fd)
{
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static int stream_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static void send_at_once(int fd)
{
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

static struct addrinfo *resolve(const char *host, int port, int flags)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    if (getaddrinfo(host, service, &hints, &found) == 0) return found;
    errno = EHOSTUNREACH;
    return NULL;
}

static in_port_t *port_field(struct net_address *a)
{
    bool six = a->address.ss_family == AF_INET6;
    return six ? &((struct sockaddr_in6 *)&a->address)->sin6_port : &((struct sockaddr_in *)&a->address)->sin_port;
}

int net_port(const struct net_address *a)
{
    struct net_address copy = *a;
    return ntohs(*port_field(&copy));
}

void net_set_port(struct net_address *a, int port)
{
    *port_field(a) = htons((uint16_t)port);
}

static int port_of(int fd)
{
    struct net_address at = {.bytes = sizeof at.address};
    return getsockname(fd, (struct sockaddr *)&at.address, &at.bytes) == 0 ? net_port(&at) : 0;
}

static int listen_on(const struct sockaddr *address, socklen_t bytes)
{
    int fd = stream_socket(address->sa_family);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (address->sa_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){0}, sizeof(int));
    if (bind(fd, address, bytes) || listen(fd, BACKLOG)) return close_keeping_errno(fd);
    return fd;
}

int net_listen(const char *host, int *port)
{
    int fd = -1;
    if (!host) { /* both families where the machine has IPv6 */
        struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)*port)};
        struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
        fd = listen_on((struct sockaddr *)&any6, sizeof any6);
        if (fd < 0 && errno != EADDRINUSE) fd = listen_on((struct sockaddr *)&any4, sizeof any4);
    } else {
        struct addrinfo *found = resolve(host, *port, AI_PASSIVE);
        for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next) fd = listen_on(a->ai_addr, a->ai_addrlen);
        if (found) freeaddrinfo(found);
    }
    if (fd >= 0) *port = port_of(fd);
    return fd;
}

static bool wait_for(int fd, short events, int64_t deadline_ns)
{
    struct pollfd p = {.fd = fd, .events = events};
    for (;;) {
        int n = poll(&p, 1, left_ms(deadline_ns));
        if (n > 0) return true;
        if (n < 0 && errno != EINTR) return false;
        if (n == 0) return errno = ETIMEDOUT, false;
    }
}

static int try_connect(const struct sockaddr *address, socklen_t bytes, int64_t deadline_ns)
{
    int fd = stream_socket(address->sa_family), reason = 0;
    socklen_t n = sizeof reason;
    if (fd < 0) return -1;
    if (connect(fd, address, bytes) == 0) return send_at_once(fd), fd;
    if (errno != EINPROGRESS || !wait_for(fd, POLLOUT, deadline_ns)) return close_keeping_errno(fd);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &n) == 0 && reason == 0) return send_at_once(fd), fd;
    errno = reason;
    return close_keeping_errno(fd);
}

bool net_pause(int *pause_ms, int64_t deadline_ns)
{
    int reason = errno, ms = left_ms(deadline_ns);
    *pause_ms = *pause_ms ? *pause_ms * 2 : FIRST_RETRY_MS;
    if (*pause_ms > MOST_RETRY_MS) *pause_ms = MOST_RETRY_MS;
    poll(NULL, 0, ms < *pause_ms ? ms : *pause_ms);
    errno = reason;
    return ms > 0;
}

/* When a name may be asked for again: the clocks of no two machines agree in their microseconds, so ranks do not ask all at once. */
static int64_t name_again_ns(void)
{
    int64_t now_ns = net_now_ns();
    return now_ns + NAME_RETRY_MS * NS_PER_MS + now_ns / 1000 % NAME_RETRY_MS * NS_PER_MS;
}

/* Until then, or until the time is up: false then. errno stays as it was. */
static bool pause_until(int64_t ns, int64_t deadline_ns)
{
    int reason = errno;
    poll(NULL, 0, left_ms(ns < deadline_ns ? ns : deadline_ns));
    errno = reason;
    return net_now_ns() < deadline_ns;
}

int net_connect(const char *host, int port, int64_t deadline_ns)
{
    struct addrinfo *found = NULL;
    int pause_ms = 0, fd = -1;
    int64_t again_ns = 0;
    do {
        if (net_now_ns() >= again_ns) {
            if (found) freeaddrinfo(found);
            found = resolve(host, port, 0);
            again_ns = name_again_ns();
        }
        for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
            fd = try_connect(a->ai_addr, a->ai_addrlen, deadline_ns);
    } while (fd < 0 && (found ? net_pause(&pause_ms, deadline_ns) : pause_until(again_ns, deadline_ns)));
    if (found) freeaddrinfo(found);
    return fd;
}

bool net_is_loopback(const struct net_address *a)
{
    static const unsigned char mapped[13] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127}; /* ::ffff:127.x.y.z */
    if (a->address.ss_family == AF_INET) return ntohl(((const struct sockaddr_in *)&a->address)->sin_addr.s_addr) >> 24 == 127;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)&a->address)->sin6_addr;
    return a->address.ss_family == AF_INET6 && (IN6_IS_ADDR_LOOPBACK(six) || memcmp(six, mapped, sizeof mapped) == 0);
}

bool net_peer(int fd, struct net_address *at)
{
    at->bytes = sizeof at->address;
    return getpeername(fd, (struct sockaddr *)&at->address, &at->bytes) == 0;
}

bool net_is_here(const char *host)
{
    struct addrinfo *found = resolve(host, 0, AI_PASSIVE);
    bool here = false;
    for (struct addrinfo *a = found; a && !here; a = a->ai_next) {
        int fd = stream_socket(a->ai_family);
        here = fd >= 0 && bind(fd, a->ai_addr, a->ai_addrlen) == 0; /* to any port */
        if (fd >= 0) close(fd);
    }
    if (found) freeaddrinfo(found);
    return here;
}

int net_connect_to(const struct net_address *to, int64_t deadline_ns)
{
    int pause_ms = 0;
    do {
        int fd = try_connect((const struct sockaddr *)&to->address, to->bytes, deadline_ns);
        if (fd >= 0) return fd;
    } while (net_pause(&pause_ms, deadline_ns));
    return -1;
}

int net_accept(int listener, int64_t deadline_ns)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) return send_at_once(fd), fd;
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) return -1;
        if (!wait_for(listener, POLLIN, deadline_ns)) return -1;
    }
}

/* Bytes that went, 0 when none could go now, -1 on an error. */
static ssize_t put_some(int fd, const char *data, size_t n)
{
    ssize_t put = send(fd, data, n, MSG_NOSIGNAL);
    return put < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : put;
}

static ssize_t get_some(int fd, char *data, size_t n)
{
    ssize_t got = recv(fd, data, n, 0);
    if (got == 0) return errno = ECONNRESET, -1;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : got;
}

bool net_exchange(int to, const void *out, size_t out_n, int from, void *in, size_t in_n, int64_t deadline_ns)
{
    size_t sent = 0, got = 0;
    while (sent < out_n || got < in_n) {
        ssize_t put = sent < out_n ? put_some(to, (const char *)out + sent, out_n - sent) : 0;
        ssize_t had = put >= 0 && got < in_n ? get_some(from, (char *)in + got, in_n - got) : 0;
        if (put < 0 || had < 0) return false;
        sent += (size_t)put;
        got += (size_t)had;
        if (put > 0 || had > 0) continue;
        struct pollfd p[2] = {
            {.fd = sent < out_n ? to : -1, .events = POLLOUT},
            {.fd = got < in_n ? from : -1, .events = POLLIN }
        };
        int ready = poll(p, 2, left_ms(deadline_ns));
        if (ready < 0 && errno != EINTR) return false;
        if (ready == 0) return errno = ETIMEDOUT, false;
    }
    return true;
}

bool net_send(int fd, const void *data, size_t n, int64_t deadline_ns)
{
    return net_exchange(fd, data, n, -1, NULL, 0, deadline_ns);
}

bool net_receive(int fd, void *data, size_t n, int64_t deadline_ns)
{
    return net_exchange(-1, NULL, 0, fd, data, n, deadline_ns);
}

bool net_gone(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}
