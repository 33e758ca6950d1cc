/* test_net.c - names that are not there yet, and which addresses reach what.
 *
 * The resolver is this program's own. How often it may be asked is said in net.h: once in half a second to a second.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
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

#include "base/mem.h"
#include "base/units.h"
#include "real/worker/net.h"

static int asked, known_from; /* the first time that the name is known */

/* Any name is this machine's, when it is known. One block a result, as the library's own, whose freeaddrinfo frees it. */
int getaddrinfo(const char *restrict name, const char *restrict service, const struct addrinfo *restrict hints,
                struct addrinfo **restrict out)
{
    asked++;
    if (asked < known_from) return EAI_NONAME;
    struct addrinfo *a = xcalloc(1, sizeof *a + sizeof(struct sockaddr_in));
    struct sockaddr_in *at = (struct sockaddr_in *)(a + 1);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(service))};
    at->sin_addr.s_addr = inet_addr(strcmp(name, "elsewhere") == 0 ? "192.0.2.1" : "127.0.0.1"); /* of RFC 5737: nobody's */
    *a = (struct addrinfo){.ai_family = AF_INET, .ai_socktype = hints->ai_socktype, .ai_addrlen = sizeof *at, .ai_addr = (struct sockaddr *)at};
    *out = a;
    return 0;
}

static void a_name_that_is_not_there_is_asked_for_seldom(void **state)
{
    (void)state;
    asked = 0, known_from = 1000;
    int64_t begin_ns = net_now_ns();
    assert_int_equal(net_connect("not-yet", 1, begin_ns + milliseconds(3200)), -1);
    assert_int_equal(errno, EHOSTUNREACH);
    assert_true(net_now_ns() - begin_ns >= milliseconds(3200));
    assert_in_range(asked, 3, 7); /* 3.2 s: at once, and then every 0.5 to 1 s */
}

static void a_name_that_comes_is_found(void **state)
{
    (void)state;
    int port = 0, listener = net_listen(NULL, &port);
    asked = 0, known_from = 3;
    int fd = net_connect("late", port, net_now_ns() + seconds(20));
    assert_true(fd >= 0);
    assert_int_equal(asked, 3);
    close(fd);
    close(listener);
}

static void *open_late(void *arg)
{
    int port = *(int *)arg;
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    int listener = net_listen(NULL, &port);
    int fd = net_accept(listener, net_now_ns() + seconds(20));
    close(fd);
    close(listener);
    return NULL;
}

/* Who does not listen yet is tried often, and his name not asked for each time. */
static void a_port_that_opens_late_is_found_without_asking_again(void **state)
{
    (void)state;
    int port = 0;
    pthread_t thread;
    close(net_listen(NULL, &port));
    assert_int_equal(pthread_create(&thread, NULL, open_late, &port), 0);
    asked = 0, known_from = 0;
    int fd = net_connect("here", port, net_now_ns() + seconds(20));
    assert_true(fd >= 0);
    assert_in_range(asked, 1, 2); /* 0.3 s, and what a busy machine adds */
    pthread_join(thread, NULL);
    close(fd);
}

static struct net_address address(int family, const char *text)
{
    struct net_address a = {.bytes = sizeof(struct sockaddr_in6)};
    a.address.ss_family = (sa_family_t)family;
    void *at = family == AF_INET ? (void *)&((struct sockaddr_in *)&a.address)->sin_addr : &((struct sockaddr_in6 *)&a.address)->sin6_addr;
    assert_int_equal(inet_pton(family, text, at), 1);
    return a;
}

/* RFC 1122, 3.2.1.3 (g): 127.0.0.0/8; RFC 4291, 2.5.3: ::1. */
static void loopback_addresses_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int family;
        bool loopback;
    } rows[] = {
        {"127.0.0.1", AF_INET, true},         {"127.0.1.1", AF_INET, true},      {"10.0.0.127", AF_INET, false},
        {"128.0.0.1", AF_INET, false},        {"::1", AF_INET6, true},           {"fe80::1", AF_INET6, false},
        {"::ffff:127.0.1.1", AF_INET6, true}, {"::ffff:10.0.0.1", AF_INET6, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct net_address a = address(rows[i].family, rows[i].text);
        net_set_port(&a, 29400);
        assert_int_equal(net_port(&a), 29400);
        if (net_is_loopback(&a) != rows[i].loopback) fail_msg("%s", rows[i].text);
    }
}

static void a_machine_knows_its_own_names(void **state)
{
    (void)state;
    known_from = 0;
    assert_true(net_is_here("here"));
    assert_false(net_is_here("elsewhere"));
    known_from = 1000, asked = 0;
    assert_false(net_is_here("not-yet"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_is_not_there_is_asked_for_seldom),
        cmocka_unit_test(a_name_that_comes_is_found),
        cmocka_unit_test(a_port_that_opens_late_is_found_without_asking_again),
        cmocka_unit_test(loopback_addresses_are_known),
        cmocka_unit_test(a_machine_knows_its_own_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
