/* loop.c - see loop.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/host/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"

struct watched { int fd; loop_fn *fn; void *arg; }; /* fd -1: not any more */

struct loop {
    int64_t zero_ns;
    int signals;
    sigset_t before;
    struct sigaction pipe_before;
    void (*on_signal)(void *, int);
    void *signal_arg;
    uint64_t order;
    ARRAY(struct loop_timer *) heap;
    ARRAY(struct watched) watched;
    ARRAY(struct pollfd) polled;
};

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t loop_now(const struct loop *l) { return clock_ns(CLOCK_MONOTONIC) - l->zero_ns; }

void loop_restart(struct loop *l) { l->zero_ns = clock_ns(CLOCK_MONOTONIC); }

int64_t loop_of_wall(const struct loop *l, int64_t epoch_ns) { return epoch_ns - clock_ns(CLOCK_REALTIME) + loop_now(l); }

struct loop *loop_create(char **err)
{
    struct loop *l = xcalloc(1, sizeof *l);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, hang_up;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD), sigaddset(&set, SIGINT), sigaddset(&set, SIGTERM);
    sigaction(SIGHUP, NULL, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP); /* nohup wants it to go on */
    l->zero_ns = clock_ns(CLOCK_MONOTONIC);
    sigprocmask(SIG_BLOCK, &set, &l->before);
    sigaction(SIGPIPE, &ignore, &l->pipe_before);
    l->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (l->signals >= 0) return l;
    struct str s = {0};
    str_printf(&s, "signalfd: %s", strerror(errno));
    *err = str_take(&s);
    loop_destroy(l);
    return NULL;
}

void loop_destroy(struct loop *l)
{
    if (!l) return;
    if (l->signals >= 0) close(l->signals);
    sigaction(SIGPIPE, &l->pipe_before, NULL);
    sigprocmask(SIG_SETMASK, &l->before, NULL);
    array_free(&l->heap);
    array_free(&l->watched);
    array_free(&l->polled);
    free(l);
}

/* ---- timers: a binary heap, places from 1 ---- */

static bool is_before(const struct loop_timer *a, const struct loop_timer *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void put(struct loop *l, size_t place, struct loop_timer *t)
{
    l->heap.v[place - 1] = t;
    t->place = place;
}

static void sift(struct loop *l, struct loop_timer *t, size_t place)
{
    for (size_t up; place > 1 && is_before(t, l->heap.v[(up = place / 2) - 1]); place = up) put(l, place, l->heap.v[up - 1]);
    for (size_t down; (down = place * 2) <= l->heap.n; place = down) {
        if (down < l->heap.n && is_before(l->heap.v[down], l->heap.v[down - 1])) down++;
        if (!is_before(l->heap.v[down - 1], t)) break;
        put(l, place, l->heap.v[down - 1]);
    }
    put(l, place, t);
}

void loop_disarm(struct loop *l, struct loop_timer *t)
{
    size_t place = t->place;
    if (!place) return;
    struct loop_timer *last = array_pop(&l->heap);
    t->place = 0;
    if (last != t) sift(l, last, place);
}

void loop_arm(struct loop *l, struct loop_timer *t, int64_t at_ns, loop_fn *fn, void *arg)
{
    loop_disarm(l, t);
    *t = (struct loop_timer){.at_ns = at_ns, .order = l->order++, .fn = fn, .arg = arg};
    array_push(&l->heap, t);
    sift(l, t, l->heap.n);
}

/* Those that were due when the round began: one that a callback arms for now comes in the next. */
static void call_due(struct loop *l)
{
    int64_t now = loop_now(l);
    uint64_t order = l->order;
    while (l->heap.n && l->heap.v[0]->at_ns <= now && l->heap.v[0]->order < order) {
        struct loop_timer *t = l->heap.v[0];
        loop_disarm(l, t);
        t->fn(t->arg);
    }
}

/* ---- descriptors ---- */

void loop_watch(struct loop *l, int fd, loop_fn *fn, void *arg)
{
    array_push(&l->watched, (struct watched){fd, fn, arg});
}

void loop_unwatch(struct loop *l, int fd)
{
    for (size_t i = 0; i < l->watched.n; i++)
        if (l->watched.v[i].fd == fd) l->watched.v[i].fd = -1;
}

static void forget_unwatched(struct loop *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->watched.n; i++)
        if (l->watched.v[i].fd >= 0) l->watched.v[kept++] = l->watched.v[i];
    l->watched.n = kept;
}

void loop_on_signal(struct loop *l, void (*fn)(void *arg, int signal), void *arg)
{
    l->on_signal = fn;
    l->signal_arg = arg;
}

static void read_signals(struct loop *l)
{
    struct signalfd_siginfo info;
    while (read(l->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (l->on_signal) l->on_signal(l->signal_arg, (int)info.ssi_signo);
}

static int wait_for_any(struct loop *l)
{
    struct timespec left = {0}, *most = NULL;
    if (l->heap.n) {
        int64_t ns = l->heap.v[0]->at_ns - loop_now(l);
        if (ns > 0) left = (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
        most = &left;
    }
    return ppoll(l->polled.v, l->polled.n, most, NULL);
}

bool loop_wait(struct loop *l, char **err)
{
    forget_unwatched(l);
    array_clear(&l->polled);
    array_push(&l->polled, (struct pollfd){.fd = l->signals, .events = POLLIN});
    for (size_t i = 0; i < l->watched.n; i++) array_push(&l->polled, (struct pollfd){.fd = l->watched.v[i].fd, .events = POLLIN});
    if (wait_for_any(l) < 0 && errno != EINTR) {
        struct str s = {0};
        str_printf(&s, "poll: %s", strerror(errno));
        *err = str_take(&s);
        return false;
    }
    call_due(l);
    for (size_t i = 1; i < l->polled.n; i++) {
        struct watched w = l->watched.v[i - 1]; /* the list may grow meanwhile */
        if (l->polled.v[i].revents && w.fd >= 0) w.fn(w.arg);
    }
    if (l->polled.v[0].revents) read_signals(l); /* last: what a process wrote is read before its end is seen */
    return true;
}
