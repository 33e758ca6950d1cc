/* rendezvous.c - the meeting place, and how a process joins.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/rendezvous.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "real/worker/net.h"

/* Messages go between machines of one byte order (a mixed pair fails at the magic number). */
static const uint64_t MAGIC = 0x31645a5279547254;

/* How long training may stand for a stranger who says nothing. */
static const int64_t NEWCOMER_NS = 20000000;

struct hello {
    uint64_t magic, settings;
    int32_t rank, size, port, spare;
};

enum answer { WELCOME, OTHER_SIZE, OTHER_SETTINGS, RANK_BEYOND, TOO_MANY, N_ANSWERS };

static const char *const reasons[N_ANSWERS] = {"welcome", "it expects another number of ranks",
                                               "it runs with other data or options than the others",
                                               "its rank is beyond the number of ranks", "all ranks are taken already"};

struct welcome {
    uint64_t magic;
    int32_t answer, rank, size, spare;
};

struct guest {
    int fd;
    bool said;        /* its hello is whole */
    size_t got;       /* bytes of it */
    int64_t until_ns; /* by when it must be */
    struct hello hello;
    struct net_address at; /* where it listens */
};

typedef ARRAY(struct guest) guest_list;

struct place {
    const struct world *world;
    const struct rendezvous_options *options;
    int listener;
    guest_list guests;
    int64_t last_come_ns;
    const char *refused; /* why the last was that was refused; NULL: none was */
    struct diag *diag;
};

/* ---- the keeper ---- */

static void drop(struct place *p, size_t i)
{
    close(p->guests.v[i].fd);
    p->guests.v[i] = array_last(&p->guests);
    p->guests.n--;
}

static void refuse(struct place *p, size_t i, enum answer answer)
{
    struct welcome w = {MAGIC, (int32_t)answer, 0, 0, 0};
    net_send(p->guests.v[i].fd, &w, sizeof w, net_now_ns() + RENDEZVOUS_HELLO_NS);
    p->refused = reasons[answer];
    drop(p, i);
}

static int present(const struct place *p)
{
    int n = 0;
    for (size_t i = 0; i < p->guests.n; i++) n += p->guests.v[i].said;
    return n;
}

/* The guest that has said this rank before; -1: none. */
static int older(const struct place *p, int rank, int new_fd)
{
    for (size_t i = 0; rank >= 0 && i < p->guests.n; i++)
        if (p->guests.v[i].said && p->guests.v[i].hello.rank == rank && p->guests.v[i].fd != new_fd) return (int)i;
    return -1;
}

static enum answer judge(const struct place *p, const struct hello *h, bool replaces)
{
    if (h->size != p->world->size) return OTHER_SIZE;
    if (h->settings != p->options->settings) return OTHER_SETTINGS;
    if (h->rank >= p->world->size || h->rank < WORLD_ANY_RANK) return RANK_BEYOND;
    return present(p) - replaces >= p->world->size ? TOO_MANY : WELCOME;
}

static void note_where_it_listens(struct guest *g)
{
    net_peer(g->fd, &g->at);
    net_set_port(&g->at, g->hello.port);
}

/* Its hello is whole: it stays, in place of the process that it was before a restart, or goes. */
static void seat(struct place *p, size_t i)
{
    struct guest *g = &p->guests.v[i];
    int before = older(p, g->hello.rank, g->fd);
    enum answer answer = judge(p, &g->hello, before >= 0);
    if (answer != WELCOME) {
        refuse(p, i, answer);
        return;
    }
    note_where_it_listens(g);
    g->said = true;
    p->last_come_ns = net_now_ns();
    if (before >= 0) drop(p, (size_t)before);
}

/* Takes in what has come of a hello; a guest that has said it is only watched for its end. */
static void listen_to(struct place *p, size_t i)
{
    struct guest *g = &p->guests.v[i];
    char spare[64];
    ssize_t n = g->said ? recv(g->fd, spare, sizeof spare, 0)
                        : recv(g->fd, (char *)&g->hello + g->got, sizeof g->hello - g->got, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        drop(p, i);
        return;
    }
    if (g->said) return;
    g->got += (size_t)n;
    if (g->got >= sizeof g->hello.magic && g->hello.magic != MAGIC)
        drop(p, i);
    else if (g->got == sizeof g->hello)
        seat(p, i);
}

static bool complete(const struct place *p)
{
    int n = present(p);
    return n == p->world->size ||
           (n >= p->world->min_size && net_now_ns() >= p->last_come_ns + p->options->last_call_ns);
}

/* One look at the listener and all guests, at most 20 ms long. */
static void look(struct place *p)
{
    struct pollfd *polls = xcalloc(p->guests.n + 1, sizeof *polls);
    size_t n = p->guests.n;
    for (size_t i = 0; i < n; i++) polls[i] = (struct pollfd){.fd = p->guests.v[i].fd, .events = POLLIN};
    polls[n] = (struct pollfd){.fd = p->listener, .events = POLLIN};
    if (poll(polls, n + 1, 20) > 0) {
        for (size_t i = n; i-- > 0;) /* from the end: dropping moves only what was looked at */
            if (polls[i].revents && i < p->guests.n && p->guests.v[i].fd == polls[i].fd) listen_to(p, i);
        if (polls[n].revents) {
            int fd = net_accept(p->listener, 0);
            if (fd >= 0)
                array_push(&p->guests, (struct guest){.fd = fd, .until_ns = net_now_ns() + RENDEZVOUS_HELLO_NS});
        }
    }
    free(polls);
    for (size_t i = p->guests.n; i-- > 0;)
        if (!p->guests.v[i].said && net_now_ns() > p->guests.v[i].until_ns) drop(p, i);
}

/* Ranks that were not given are the free ones, in order of arrival; an elastic world may have gaps to close too. */
static void give_ranks(struct place *p, int size)
{
    bool *taken = xcalloc((size_t)size, sizeof *taken);
    int next = 0;
    for (size_t i = 0; i < p->guests.n; i++) {
        int32_t *rank = &p->guests.v[i].hello.rank;
        if (*rank >= size) *rank = WORLD_ANY_RANK;
        if (*rank >= 0) taken[*rank] = true;
    }
    for (size_t i = 0; i < p->guests.n; i++) {
        if (p->guests.v[i].hello.rank >= 0) continue;
        while (taken[next]) next++;
        p->guests.v[i].hello.rank = next++;
    }
    free(taken);
}

static bool tell_all(struct place *p, int64_t deadline_ns)
{
    int size = (int)p->guests.n;
    struct net_address *at = xcalloc((size_t)size, sizeof *at);
    bool ok = true;
    give_ranks(p, size);
    for (int i = 0; i < size; i++) at[p->guests.v[i].hello.rank] = p->guests.v[i].at;
    for (int i = 0; ok && i < size; i++) {
        struct welcome w = {MAGIC, WELCOME, p->guests.v[i].hello.rank, size, 0};
        ok = net_send(p->guests.v[i].fd, &w, sizeof w, deadline_ns) &&
             net_send(p->guests.v[i].fd, at, (size_t)size * sizeof *at, deadline_ns);
    }
    free(at);
    return ok;
}

static void drop_the_silent(struct place *p)
{
    for (size_t i = p->guests.n; i-- > 0;)
        if (!p->guests.v[i].said) drop(p, i);
}

/* ---- who joins ---- */

struct joining {
    const struct world *world;
    const struct rendezvous_options *options;
    int listener, port; /* its own */
    int place;          /* the meeting place's, when this process keeps it; else -1 */
    bool at_place;      /* it may keep it */
    bool told;          /* its rank, in this try */
    int to_place, pause_ms;
    int64_t deadline_ns;
    const char *what; /* what failed last, and why */
    int reason;
    struct diag *diag;
};

static bool failed(struct joining *j, const char *what)
{
    j->what = what;
    j->reason = errno;
    return false;
}

static bool report(const struct joining *j)
{
    if (!j->what) return false; /* told already */
    diag_error(j->diag, "rendezvous", 0, NULL, "%s, %s port %d: %s", j->what, j->world->master, j->world->port,
               strerror(j->reason));
    if (j->told)
        diag_help(j->diag, "a rank has ended since all had come, or this machine cannot reach its port: see what the others say");
    else if (j->reason == ETIMEDOUT)
        diag_help(j->diag, "check that all ranks were started, and give more time with --rendezvous-timeout");
    return false;
}

static bool say_hello(struct joining *j, int rank)
{
    struct hello h = {MAGIC, j->options->settings, rank, j->world->size, j->port, 0};
    j->to_place = net_connect(j->world->master, j->world->port, j->deadline_ns);
    if (j->to_place < 0) return failed(j, "cannot reach the meeting place");
    return net_send(j->to_place, &h, sizeof h, j->deadline_ns) || failed(j, "cannot say hello");
}

/* By when the next peer must be connected. */
static int64_t pairing_deadline(const struct joining *j)
{
    int64_t ns = net_now_ns() + j->options->pairing_ns;
    return ns < j->deadline_ns ? ns : j->deadline_ns;
}

static bool connect_lower(struct joining *j, const struct net_address *at, struct mesh *m)
{
    for (int r = 0; r < m->rank; r++) {
        int32_t me = m->rank;
        int64_t until_ns = pairing_deadline(j);
        m->fd[r] = net_connect_to(&at[r], until_ns);
        if (m->fd[r] < 0 || !net_send(m->fd[r], &MAGIC, sizeof MAGIC, until_ns) || !net_send(m->fd[r], &me, sizeof me, until_ns))
            return failed(j, "cannot connect to a peer");
    }
    return true;
}

static bool accept_higher(struct joining *j, struct mesh *m)
{
    int64_t deadline_ns = pairing_deadline(j);
    for (int missing = m->size - 1 - m->rank; missing > 0;) {
        uint64_t magic = 0;
        int32_t peer = -1;
        int fd = net_accept(j->listener, deadline_ns);
        if (fd < 0) return failed(j, "a peer does not connect");
        int64_t until_ns = net_now_ns() + RENDEZVOUS_HELLO_NS;
        bool ours = net_receive(fd, &magic, sizeof magic, until_ns) && magic == MAGIC &&
                    net_receive(fd, &peer, sizeof peer, until_ns) && peer > m->rank && peer < m->size &&
                    m->fd[peer] < 0;
        if (ours)
            m->fd[peer] = fd, missing--, deadline_ns = pairing_deadline(j);
        else
            close(fd);
    }
    return true;
}

/* Who came to the place from its own machine, as where the place's name is a loopback address there, is for those elsewhere where the
 * place is. */
static void see_from_here(int to_place, struct net_address *at, int size)
{
    struct net_address place;
    if (!net_peer(to_place, &place) || net_is_loopback(&place)) return;
    for (int i = 0; i < size; i++) {
        if (!net_is_loopback(&at[i])) continue;
        int port = net_port(&at[i]);
        at[i] = place;
        net_set_port(&at[i], port);
    }
}

static bool sane(const struct joining *j, const struct welcome *w)
{
    if (w->magic == MAGIC && w->answer > WELCOME && w->answer < N_ANSWERS) {
        diag_error(j->diag, "rendezvous", 0, NULL, "this process was refused: %s", reasons[w->answer]);
        return false;
    }
    if (w->magic == MAGIC && w->size >= 1 && w->size <= WORLD_SIZE_MAX && w->rank >= 0 && w->rank < w->size)
        return true;
    diag_error(j->diag, "rendezvous", 0, NULL, "%s port %d is something else, not the meeting place", j->world->master,
               j->world->port);
    return false;
}

/* When no port is at work at the place, its keeper having ended, the wait ends at once: the connection breaks. */
static bool be_welcomed(struct joining *j, struct mesh *m)
{
    struct welcome w;
    if (!net_receive(j->to_place, &w, sizeof w, j->deadline_ns)) return failed(j, "not all ranks came");
    if (!sane(j, &w)) return false;
    j->told = true;
    struct net_address *at = xcalloc((size_t)w.size, sizeof *at);
    *m = (struct mesh){.rank = w.rank, .size = w.size, .fd = xcalloc((size_t)w.size, sizeof *m->fd)};
    for (int i = 0; i < w.size; i++) m->fd[i] = -1;
    bool ok = net_receive(j->to_place, at, (size_t)w.size * sizeof *at, j->deadline_ns) ||
              failed(j, "the list of ranks broke off");
    if (ok) see_from_here(j->to_place, at, w.size);
    ok = ok && connect_lower(j, at, m) && accept_higher(j, m);
    free(at);
    return ok;
}

/* Looks until all are there, and tells them. The keeper is the first of its own guests. */
static bool keep(struct place *p, struct joining *j)
{
    while (!complete(p)) {
        if (net_now_ns() > j->deadline_ns) {
            errno = ETIMEDOUT;
            diag_error(p->diag, "rendezvous", 0, NULL, "%d of %d ranks came in time%s%s", present(p),
                       p->world->min_size, p->refused ? "; one was refused: " : "", p->refused ? p->refused : "");
            diag_help(p->diag, "check that all ranks were started, and give more time with --rendezvous-timeout");
            return false;
        }
        look(p);
    }
    drop_the_silent(p);
    return tell_all(p, j->deadline_ns) || failed(j, "a rank left while all were being told");
}

static bool join_as_keeper(struct joining *j, struct mesh *m)
{
    struct place p = {.world = j->world, .options = j->options, .listener = j->place, .diag = j->diag};
    int rank = j->world->rank == WORLD_ANY_RANK ? 0 : j->world->rank; /* so that the keeper is rank 0 */
    bool ok = say_hello(j, rank) && keep(&p, j) && be_welcomed(j, m);
    for (size_t i = p.guests.n; i-- > 0;) drop(&p, i);
    array_free(&p.guests);
    return ok;
}

static bool join_as_guest(struct joining *j, struct mesh *m)
{
    return say_hello(j, j->world->rank) && be_welcomed(j, m);
}

/* The place is open on all addresses: its name may be one here that nobody else can reach. */
static bool join_once(struct joining *j, struct mesh *m)
{
    int port = j->world->port;
    if (j->place < 0 && j->at_place) j->place = net_listen(NULL, &port);
    if (j->place < 0 && j->world->rank == 0) return failed(j, "cannot open the meeting place");
    return j->place >= 0 ? join_as_keeper(j, m) : join_as_guest(j, m);
}

static bool alone(struct mesh *m)
{
    *m = (struct mesh){.size = 1, .fd = xmalloc(sizeof *m->fd)};
    m->fd[0] = -1;
    return true;
}

/* What is left of a try. A new port, since who has not noticed may still connect to the old one. */
static bool begin_anew(struct joining *j, struct mesh *m)
{
    mesh_close(m);
    if (j->to_place >= 0) close(j->to_place);
    if (j->listener >= 0) close(j->listener);
    j->to_place = -1;
    j->what = NULL;
    j->told = false;
    j->port = 0;
    j->listener = net_listen(NULL, &j->port);
    return j->listener >= 0 || failed(j, "cannot open a port");
}

/* Elastic: the place changes hands, all are about to join again, or one has ended since all were told: worth another try while there
 * is time. */
static bool try_again(struct joining *j)
{
    static const int passing[] = {ECONNRESET, ECONNREFUSED, EPIPE, ETIMEDOUT};
    bool passes = false;
    for (size_t i = 0; j->what && i < sizeof passing / sizeof *passing; i++) passes |= j->reason == passing[i];
    if (!j->told) j->at_place = false; /* turned away: the place is for those who were here before */
    return j->world->min_size < j->world->size && passes && net_pause(&j->pause_ms, j->deadline_ns);
}

bool rendezvous_join(const struct world *w, const struct rendezvous_options *o, struct mesh *m, struct diag *d)
{
    struct joining j = {.world = w, .options = o, .listener = -1, .place = -1, .to_place = -1, .diag = d};
    j.deadline_ns = net_now_ns() + o->timeout_ns;
    if (w->size == 1) return alone(m);
    j.at_place = w->rank == 0 || (w->rank == WORLD_ANY_RANK && net_is_here(w->master));
    bool ok;
    do ok = begin_anew(&j, m) && join_once(&j, m);
    while (!ok && try_again(&j));
    if (ok && j.place >= 0 && w->min_size < w->size)
        m->keeps_place = true, m->place = j.place;
    else if (j.place >= 0)
        close(j.place);
    if (j.to_place >= 0) close(j.to_place);
    if (j.listener >= 0) close(j.listener);
    if (!ok) mesh_close(m), report(&j);
    return ok;
}

bool rendezvous_newcomer(const struct mesh *m)
{
    struct pollfd p = {.fd = m->place, .events = POLLIN};
    uint64_t magic = 0;
    if (!m->keeps_place || poll(&p, 1, 0) <= 0) return false;
    int fd = net_accept(m->place, 0);
    if (fd < 0) return false;
    bool ours = net_receive(fd, &magic, sizeof magic, net_now_ns() + NEWCOMER_NS) && magic == MAGIC;
    close(fd);
    return ours;
}

void mesh_close(struct mesh *m)
{
    for (int i = 0; m->fd && i < m->size; i++)
        if (m->fd[i] >= 0) close(m->fd[i]);
    if (m->keeps_place) close(m->place);
    free(m->fd);
    *m = (struct mesh){0};
}
