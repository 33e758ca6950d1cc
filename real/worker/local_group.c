/* local_group.c - the ranks of one node as processes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/local_group.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "real/worker/net.h"

enum { IO = 4, STOPPED = 130 };

struct running {
    const struct local_group *group;
    pid_t *pid; /* by local rank; 0: has ended */
    int alive;
    int failed;     /* code of the first that failed; 0: none has */
    bool told_stop; /* from outside */
    sigset_t ours, before;
};

static void child(struct running *r, int local_rank, int start, pid_t agent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != agent) _exit(IO); /* it died in between */
    sigprocmask(SIG_SETMASK, &r->before, NULL);
    int code = r->group->run(local_rank, start, r->group->arg);
    exit(code);
}

static bool start_all(struct running *r, int start)
{
    pid_t agent = getpid();
    fflush(NULL);
    for (int i = 0; i < r->group->ranks; i++) {
        pid_t pid = fork();
        if (pid == 0) child(r, i, start, agent);
        if (pid < 0) return fprintf(stderr, "trainyard-worker: cannot start local rank %d: %s\n", i, strerror(errno)), false;
        r->pid[i] = pid;
        r->alive++;
    }
    return true;
}

static void signal_all(const struct running *r, int signal)
{
    for (int i = 0; i < r->group->ranks; i++)
        if (r->pid[i] > 0) kill(r->pid[i], signal);
}

static void take_ended(struct running *r)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        int i = 0;
        while (i < r->group->ranks && r->pid[i] != pid) i++;
        if (i == r->group->ranks) continue;
        r->pid[i] = 0;
        r->alive--;
        int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (code == 0 || r->failed) continue;
        r->failed = code;
        if (!r->told_stop) fprintf(stderr, "trainyard-worker: local rank %d ended with %d\n", i, code);
    }
}

/* Until all have ended or, unless they are being stopped, one has failed. kill_ns: when those who stop are out of time; 0: none do. */
static void attend(struct running *r, int64_t kill_ns)
{
    while (r->alive > 0 && (kill_ns || !r->failed)) {
        int64_t left = kill_ns ? kill_ns - net_now_ns() : NS_PER_S;
        if (kill_ns && left <= 0) signal_all(r, SIGKILL), left = NS_PER_S;
        int signal = sigtimedwait(&r->ours, NULL, &(struct timespec){left / NS_PER_S, left % NS_PER_S});
        if (signal == SIGTERM || signal == SIGINT) {
            r->told_stop = true;
            if (!kill_ns) kill_ns = net_now_ns() + r->group->stop_ns;
            signal_all(r, SIGTERM);
        } else if (signal == SIGUSR1 || signal == SIGUSR2) {
            signal_all(r, signal);
        }
        take_ended(r);
    }
}

static void stop_rest(struct running *r)
{
    signal_all(r, SIGTERM);
    attend(r, net_now_ns() + r->group->stop_ns);
}

int local_group_run(const struct local_group *g)
{
    struct running r = {.group = g, .pid = xcalloc((size_t)g->ranks, sizeof *r.pid)};
    int start = 0;
    sigemptyset(&r.ours);
    for (size_t i = 0; i < 5; i++) sigaddset(&r.ours, ((int[]){SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGCHLD})[i]);
    sigprocmask(SIG_BLOCK, &r.ours, &r.before);
    for (;; start++) {
        r.failed = 0;
        if (!start_all(&r, start)) r.failed = IO;
        attend(&r, 0);
        if (r.alive > 0) stop_rest(&r);
        if (!r.failed || r.told_stop || start >= g->restarts) break;
        fprintf(stderr, "trainyard-worker: starts its %d ranks again, %d of %d times\n", g->ranks, start + 1, g->restarts);
    }
    free(r.pid);
    sigprocmask(SIG_SETMASK, &r.before, NULL);
    return r.told_stop && (!r.failed || r.failed == STOPPED) ? STOPPED : r.failed;
}
