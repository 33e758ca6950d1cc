/* test_port.c - the port on which a job's ranks meet is nobody else's from the moment it is chosen.
 *
 * By the rules of Linux' bind: a socket that is bound keeps others from its port unless both have SO_REUSEADDR and none of them listens.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "real/host/parts.h"
#include "real/worker/net.h"

/* As any program asks for it. */
static int bind_plainly(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY), .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    int bad = bind(fd, (struct sockaddr *)&a, sizeof a) ? errno : 0;
    close(fd);
    return bad;
}

/* As rank 0 does. */
static bool rank_listens(int port)
{
    int fd = net_listen(NULL, &port);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static void kept(void **state)
{
    struct host_job job = {.port_socket = -1};
    (void)state;
    job_new_port(&job);
    int first = job.port;
    assert_int_equal(bind_plainly(first), EADDRINUSE);
    for (int life = 0; life < 2; life++) assert_true(rank_listens(first));
    assert_int_equal(bind_plainly(first), EADDRINUSE);
    job_new_port(&job); /* the next group's; the first is free again */
    assert_int_not_equal(job.port, first);
    assert_int_equal(bind_plainly(first), 0);
    job_free_port(&job);
    job_free_port(&job);
    assert_int_equal(bind_plainly(job.port), 0);
}

/* Jobs that are admitted together do not get the same one: 500 of 28,232 would, but for one time in a hundred. */
static void differ(void **state)
{
    enum { JOBS = 500 };
    static struct host_job jobs[JOBS];
    static bool seen[1 << 16];
    (void)state;
    for (int i = 0; i < JOBS; i++) {
        jobs[i].port_socket = -1;
        job_new_port(&jobs[i]);
        assert_false(seen[jobs[i].port]);
        seen[jobs[i].port] = true;
    }
    for (int i = 0; i < JOBS; i++) job_free_port(&jobs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept), cmocka_unit_test(differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
