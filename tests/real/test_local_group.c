/* test_local_group.c - the agent of a node: what its ranks are told, once, and that it does not wait for one that does not listen.
 *
 * Each agent is a process of its own, as its signals are the process's. Codes: 130 after a signal, 128 + N for signal N
 * (local_group.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/units.h"
#include "real/worker/local_group.h"
#include "real/worker/net.h"

enum { STOPPED = 130 };

static volatile sig_atomic_t times_told;

static void on_stop(int signal)
{
    (void)signal;
    times_told++;
}

static void pause_ns(int64_t ns)
{
    struct timespec left = {ns / NS_PER_S, ns % NS_PER_S};
    while (nanosleep(&left, &left) != 0) {}
}

struct orders {
    int said; /* where the ranks write */
    bool deaf;
};

/* Local rank 0 leaves as soon as it is told; 1 takes half a second more, and then says how often it was told. */
static int obey(int local_rank, int start, void *arg)
{
    const struct orders *o = arg;
    (void)start;
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_stop}, NULL);
    if (write(o->said, "r", 1) != 1) return 1;
    while (!times_told || o->deaf) pause_ns(milliseconds(5));
    if (local_rank == 0) return STOPPED;
    pause_ns(milliseconds(500));
    char times = (char)('0' + times_told);
    return write(o->said, &times, 1) == 1 ? STOPPED : 1;
}

/* An agent of two ranks, stopped when both have begun: its code, and the rest of what they said. */
static int stopped(bool deaf, char *said, size_t n)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t agent = fork();
    if (agent == 0) {
        alarm(60); /* one that waits for ever ends, and its ranks with it */
        close(ends[0]);
        _exit(local_group_run(&(struct local_group){2, 0, seconds(2), obey, &(struct orders){ends[1], deaf}}));
    }
    close(ends[1]);
    for (int i = 0; i < 2; i++) assert_int_equal(read(ends[0], said, 1), 1);
    kill(agent, SIGTERM);
    ssize_t got = read(ends[0], said, n - 1);
    said[got > 0 ? got : 0] = 0;
    assert_int_equal(waitpid(agent, &status, 0), agent);
    close(ends[0]);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void each_is_told_once_and_left_its_time(void **state)
{
    (void)state;
    char said[8];
    assert_int_equal(stopped(false, said, sizeof said), STOPPED);
    assert_string_equal(said, "1");
}

static void who_does_not_leave_is_killed(void **state)
{
    (void)state;
    char said[8];
    int64_t begin_ns = net_now_ns();
    int code = stopped(true, said, sizeof said);
    assert_true(net_now_ns() - begin_ns >= seconds(2));
    assert_int_equal(code, 128 + SIGKILL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_told_once_and_left_its_time),
        cmocka_unit_test(who_does_not_leave_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
