/* test_rendezvous.c - ranks meet over TCP: given and not given, late, restarted, strangers, elastic, in vain, lost on the way.
 *
 * Some peers and one keeper are played by hand, by the messages as rendezvous.c sends them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/units.h"
#include "real/worker/comm.h"
#include "real/worker/net.h"
#include "real/worker/rendezvous.h"

enum { MOST = 8 };

struct joiner {
    pthread_t thread;
    struct world world;
    struct rendezvous_options options;
    int64_t after_ns;
    struct mesh mesh;
    struct diag diag;
    bool ok, pairs_talk;
};

static void pause_ns(int64_t ns)
{
    nanosleep(&(struct timespec){ns / NS_PER_S, ns % NS_PER_S}, NULL);
}

/* Each pair exchanges its ranks. */
static bool talk(const struct mesh *m)
{
    for (int r = 0; r < m->size; r++) {
        int32_t mine = m->rank, theirs = -1;
        if (r == m->rank) continue;
        if (!net_exchange(m->fd[r], &mine, 4, m->fd[r], &theirs, 4, net_now_ns() + seconds(10)) || theirs != r)
            return false;
    }
    return true;
}

static void *join(void *arg)
{
    struct joiner *j = arg;
    pause_ns(j->after_ns);
    j->ok = rendezvous_join(&j->world, &j->options, &j->mesh, &j->diag);
    if (j->ok) j->pairs_talk = talk(&j->mesh);
    return NULL;
}

static int free_port(void)
{
    int port = 0, fd = net_listen("127.0.0.1", &port);
    close(fd);
    return port;
}

static void prepare(struct joiner *j, int n, int size, int min_size)
{
    int port = free_port();
    memset(j, 0, (size_t)n * sizeof *j);
    for (int i = 0; i < n; i++) {
        j[i].world = (struct world){"test", i, size, min_size, "127.0.0.1", port, 1, 0, 0};
        j[i].options = (struct rendezvous_options){seconds(20), milliseconds(300), seconds(10), 1};
    }
}

static void run(struct joiner *j, int n)
{
    for (int i = 0; i < n; i++) assert_int_equal(pthread_create(&j[i].thread, NULL, join, &j[i]), 0);
    for (int i = 0; i < n; i++) pthread_join(j[i].thread, NULL);
}

static void finish(struct joiner *j, int n)
{
    for (int i = 0; i < n; i++) mesh_close(&j[i].mesh), diag_free(&j[i].diag);
}

static void given_ranks_keep_theirs_whoever_is_first(void **state)
{
    (void)state;
    struct joiner j[MOST];
    prepare(j, 5, 5, 5);
    j[0].after_ns = milliseconds(150); /* the place opens when others try already */
    run(j, 5);
    for (int i = 0; i < 5; i++) {
        assert_true(j[i].ok && j[i].pairs_talk);
        assert_int_equal(j[i].mesh.rank, i);
        assert_int_equal(j[i].mesh.size, 5);
    }
    finish(j, 5);
}

static void ranks_not_given_are_each_given_once(void **state)
{
    (void)state;
    struct joiner j[MOST];
    unsigned seen = 0;
    prepare(j, 4, 4, 4);
    for (int i = 0; i < 4; i++) j[i].world.rank = WORLD_ANY_RANK;
    run(j, 4);
    for (int i = 0; i < 4; i++) {
        assert_true(j[i].ok && j[i].pairs_talk);
        seen |= 1u << j[i].mesh.rank;
    }
    assert_int_equal(seen, 0xf);
    finish(j, 4);
}

/* From 2 to 5 ranks: with 3 it goes on 0.3 s after the third has come, with 5 at once. */
static void an_elastic_world_goes_on_with_enough(void **state)
{
    (void)state;
    for (int n = 3; n <= 5; n += 2) {
        struct joiner j[MOST];
        prepare(j, n, 5, 2);
        for (int i = 0; i < n; i++)
            j[i].world.rank = WORLD_ANY_RANK, j[i].options.last_call_ns = n == 5 ? seconds(15) : milliseconds(300);
        int64_t begin_ns = net_now_ns();
        run(j, n);
        int64_t took_ns = net_now_ns() - begin_ns;
        for (int i = 0; i < n; i++) assert_true(j[i].ok && j[i].pairs_talk && j[i].mesh.size == n);
        if (n == 3) assert_true(took_ns >= milliseconds(300));
        assert_true(took_ns < seconds(10));
        finish(j, n);
    }
}

static void *stranger(void *arg)
{
    const struct world *w = arg;
    int fd = net_connect(w->master, w->port, net_now_ns() + seconds(5)),
        silent = net_connect(w->master, w->port, net_now_ns() + seconds(5));
    if (fd >= 0) net_send(fd, "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n", 36, net_now_ns() + seconds(5));
    pause_ns(milliseconds(600));
    close(fd);
    close(silent);
    return NULL;
}

static void strangers_hold_up_nobody(void **state)
{
    (void)state;
    struct joiner j[MOST];
    pthread_t scan;
    prepare(j, 3, 3, 3);
    j[2].after_ns = milliseconds(300);
    int64_t begin_ns = net_now_ns();
    assert_int_equal(pthread_create(&scan, NULL, stranger, &j[0].world), 0);
    run(j, 3);
    assert_true(net_now_ns() - begin_ns < seconds(3));
    for (int i = 0; i < 3; i++) assert_true(j[i].ok && j[i].pairs_talk);
    pthread_join(scan, NULL);
    finish(j, 3);
}

/* Rank 1 says hello and ends; its next life takes the place. */
static void a_restarted_rank_takes_its_place(void **state)
{
    (void)state;
    struct joiner j[MOST];
    prepare(j, 4, 3, 3);
    j[3].world.rank = 1; /* the first life: gives up after 0.2 s */
    j[3].options.timeout_ns = milliseconds(200);
    j[1].after_ns = j[2].after_ns = milliseconds(400);
    run(j, 4);
    assert_false(j[3].ok);
    for (int i = 0; i < 3; i++) assert_true(j[i].ok && j[i].pairs_talk);
    finish(j, 4);
}

static void who_does_not_fit_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct joiner j[MOST];
    prepare(j, 4, 2, 2);
    j[2].world.rank = 1, j[2].world.size = j[2].world.min_size = 3;
    j[3].world.rank = 1, j[3].options.settings = 2;
    j[1].after_ns = milliseconds(400);
    run(j, 4);
    assert_true(j[0].ok && j[1].ok && !j[2].ok && !j[3].ok);
    assert_non_null(strstr(j[2].diag.entries.v[0].text, "another number of ranks"));
    assert_non_null(strstr(j[3].diag.entries.v[0].text, "other data or options"));
    finish(j, 4);
}

static void who_waits_in_vain_is_told(void **state)
{
    (void)state;
    struct joiner j[MOST];
    prepare(j, 2, 3, 3);
    for (int i = 0; i < 2; i++) j[i].options.timeout_ns = milliseconds(300 + 400 * i);
    run(j, 2);
    assert_true(!j[0].ok && !j[1].ok);
    assert_non_null(strstr(j[0].diag.entries.v[0].text, "2 of 3 ranks came in time"));
    assert_non_null(strstr(j[1].diag.entries.v[0].text, "not all ranks came"));
    finish(j, 2);
}

/* ---- peers played by hand ---- */

static const uint64_t magic = 0x31645a5279547254;

struct hello {
    uint64_t magic, settings;
    int32_t rank, size, port, spare;
};
struct welcome {
    uint64_t magic;
    int32_t answer, rank, size, spare;
};

struct phantom {
    pthread_t thread;
    struct world world;
    int64_t after_ns;
    bool lets_connect; /* those of higher rank, before it ends */
    bool welcomed;
};

/* Says hello, is told its rank and who is there, and ends. */
static void *vanish(void *arg)
{
    struct phantom *p = arg;
    int port = 0, listener = net_listen(NULL, &port);
    if (!p->lets_connect) close(listener);
    int64_t deadline_ns = net_now_ns() + seconds(10);
    struct hello h = {magic, 1, p->world.rank, p->world.size, port, 0};
    struct welcome w = {0};
    pause_ns(p->after_ns);
    int fd = net_connect(p->world.master, p->world.port, deadline_ns);
    p->welcomed = net_send(fd, &h, sizeof h, deadline_ns) && net_receive(fd, &w, sizeof w, deadline_ns) && w.magic == magic && w.answer == 0;
    int higher[MOST], n = 0;
    for (; p->lets_connect && n < w.size - w.rank - 1; n++) {
        char name[12];
        higher[n] = net_accept(listener, deadline_ns);
        net_receive(higher[n], name, sizeof name, deadline_ns);
    }
    while (n > 0) close(higher[--n]);
    if (p->lets_connect) close(listener);
    close(fd);
    return NULL;
}

static void run_with_phantom(struct joiner *j, int n, struct phantom *p)
{
    assert_int_equal(pthread_create(&p->thread, NULL, vanish, p), 0);
    run(j, n);
    pthread_join(p->thread, NULL);
    assert_true(p->welcomed);
}

/* Three of an elastic world of two to four, whose ranks follow from their coming; the first is the keeper. */
static void prepare_any(struct joiner *j)
{
    prepare(j, 3, 4, 2);
    for (int i = 0; i < 3; i++) {
        j[i].world.rank = WORLD_ANY_RANK;
        j[i].options.pairing_ns = milliseconds(300);
        j[i].after_ns = i == 0 ? 0 : milliseconds(100);
    }
}

/* The last to come has the highest rank, to which the others do not connect but which they wait for; the first one some connect to. */
static void an_elastic_world_meets_again_without_one_that_ends_on_the_way(void **state)
{
    (void)state;
    for (int last = 0; last < 2; last++) {
        struct joiner j[MOST];
        prepare_any(j);
        struct phantom p = {.world = j[0].world, .after_ns = last ? milliseconds(200) : milliseconds(50)};
        run_with_phantom(j, 3, &p);
        for (int i = 0; i < 3; i++) {
            if (!j[i].ok) fail_msg("rank %d: %s", i, j[i].diag.entries.n ? j[i].diag.entries.v[0].text : "");
            assert_true(j[i].pairs_talk);
            assert_int_equal(j[i].mesh.size, 3);
        }
        finish(j, 3);
    }
}

/* As the worker does: closes a comm that has lost a peer before it was of use, and opens another. */
static void *open_until_sound(void *arg)
{
    struct joiner *j = arg;
    const struct comm_options o = {.timeout_ns = seconds(10), .rendezvous = j->options};
    struct comm *c = NULL;
    float one = 1;
    pause_ns(j->after_ns);
    for (int tries = 0; tries < 4 && (c = comm_open(&j->world, &o, &j->diag)) != NULL && *comm_error(c); tries++)
        comm_close(c), c = NULL;
    j->ok = c != NULL;
    if (c) j->mesh.size = c->size, j->pairs_talk = comm_all_reduce(c, &one, 1) && one == (float)c->size;
    comm_close(c);
    return NULL;
}

/* Two have connected to it and take all for connected; the third waits for it. */
static void one_that_ends_when_some_are_connected_is_a_lost_peer(void **state)
{
    (void)state;
    struct joiner j[MOST];
    prepare_any(j);
    struct phantom p = {.world = j[0].world, .after_ns = milliseconds(50), .lets_connect = true};
    assert_int_equal(pthread_create(&p.thread, NULL, vanish, &p), 0);
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&j[i].thread, NULL, open_until_sound, &j[i]), 0);
    for (int i = 0; i < 3; i++) pthread_join(j[i].thread, NULL);
    pthread_join(p.thread, NULL);
    for (int i = 0; i < 3; i++) {
        if (!j[i].ok) fail_msg("%d: %s", i, j[i].diag.entries.n ? j[i].diag.entries.v[0].text : "");
        assert_true(p.welcomed && j[i].pairs_talk);
        assert_int_equal(j[i].mesh.size, 3);
        diag_free(&j[i].diag);
    }
}

static void a_static_world_says_soon_that_one_has_ended_on_the_way(void **state)
{
    (void)state;
    struct joiner j[MOST];
    prepare(j, 2, 3, 3);
    for (int i = 0; i < 2; i++) j[i].options.pairing_ns = milliseconds(300);
    struct phantom p = {.world = j[0].world};
    p.world.rank = 2;
    int64_t begin_ns = net_now_ns();
    run_with_phantom(j, 2, &p);
    assert_true(net_now_ns() - begin_ns < seconds(5)); /* of the 20 s that all of it may take */
    for (int i = 0; i < 2; i++) {
        assert_false(j[i].ok);
        assert_non_null(strstr(j[i].diag.entries.v[0].text, "a peer does not connect"));
    }
    finish(j, 2);
}

/* Debian gives a machine's own name the address 127.0.1.1; the others reach it by another. */
static void a_place_named_by_a_loopback_address_is_open_on_all(void **state)
{
    (void)state;
    struct joiner j[MOST];
    prepare(j, 2, 2, 2);
    for (int i = 0; i < 2; i++) j[i].world.rank = WORLD_ANY_RANK;
    j[0].world.master = "127.0.1.1";
    j[1].after_ns = milliseconds(200);
    run(j, 2);
    for (int i = 0; i < 2; i++) {
        assert_true(j[i].ok && j[i].pairs_talk);
        assert_int_equal(j[i].mesh.rank, i);
    }
    finish(j, 2);
}

/* An address of this machine that others may reach; false: it has none. */
static bool own_address(char text[INET_ADDRSTRLEN])
{
    struct ifaddrs *all = NULL;
    bool found = false;
    assert_int_equal(getifaddrs(&all), 0);
    for (const struct ifaddrs *a = all; a && !found; a = a->ifa_next)
        if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET && !(a->ifa_flags & IFF_LOOPBACK))
            found = inet_ntop(AF_INET, &((struct sockaddr_in *)a->ifa_addr)->sin_addr, text, INET_ADDRSTRLEN) != NULL;
    freeifaddrs(all);
    return found;
}

struct keeper {
    pthread_t thread;
    char address[INET_ADDRSTRLEN];
    int place, listener, port; /* both on that address alone */
    bool paired;
};

/* Keeps the place of two, has seen itself as 127.0.0.1, and is rank 0. */
static void *keep_by_hand(void *arg)
{
    struct keeper *k = arg;
    int64_t deadline_ns = net_now_ns() + seconds(10);
    struct hello h = {0};
    struct welcome w = {magic, 0, 1, 2, 0};
    struct net_address at[2] = {0};
    struct sockaddr_in *self = (struct sockaddr_in *)&at[0].address;
    int32_t peer[2] = {-1, -1}, zero = 0;
    uint64_t said = 0;
    *self = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)k->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    at[0].bytes = sizeof *self;
    int guest = net_accept(k->place, deadline_ns);
    bool told = net_receive(guest, &h, sizeof h, deadline_ns) && net_send(guest, &w, sizeof w, deadline_ns) &&
                net_send(guest, at, sizeof at, deadline_ns);
    int fd = told ? net_accept(k->listener, deadline_ns) : -1;
    k->paired = fd >= 0 && net_receive(fd, &said, sizeof said, deadline_ns) && net_receive(fd, peer, sizeof peer, deadline_ns) &&
                net_send(fd, &zero, sizeof zero, deadline_ns) && said == magic && peer[0] == 1 && peer[1] == 1; /* its name; talk() */
    close(guest);
    close(fd);
    return NULL;
}

static void who_is_at_the_place_is_found_where_the_place_is(void **state)
{
    (void)state;
    struct keeper k = {0};
    struct joiner j[MOST];
    if (!own_address(k.address)) skip();
    prepare(j, 1, 2, 2);
    k.listener = net_listen(k.address, &k.port);
    k.place = net_listen(k.address, &j[0].world.port);
    assert_true(k.listener >= 0 && k.place >= 0);
    j[0].world.master = k.address;
    j[0].world.rank = 1;
    j[0].options.pairing_ns = seconds(2);
    assert_int_equal(pthread_create(&k.thread, NULL, keep_by_hand, &k), 0);
    run(j, 1);
    pthread_join(k.thread, NULL);
    assert_true(j[0].ok && j[0].pairs_talk && k.paired);
    close(k.listener);
    close(k.place);
    finish(j, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_ranks_keep_theirs_whoever_is_first),
        cmocka_unit_test(ranks_not_given_are_each_given_once),
        cmocka_unit_test(an_elastic_world_goes_on_with_enough),
        cmocka_unit_test(strangers_hold_up_nobody),
        cmocka_unit_test(a_restarted_rank_takes_its_place),
        cmocka_unit_test(who_does_not_fit_is_refused_with_the_reason),
        cmocka_unit_test(who_waits_in_vain_is_told),
        cmocka_unit_test(an_elastic_world_meets_again_without_one_that_ends_on_the_way),
        cmocka_unit_test(one_that_ends_when_some_are_connected_is_a_lost_peer),
        cmocka_unit_test(a_static_world_says_soon_that_one_has_ended_on_the_way),
        cmocka_unit_test(a_place_named_by_a_loopback_address_is_open_on_all),
        cmocka_unit_test(who_is_at_the_place_is_found_where_the_place_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
