/* process.c - see process.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/host/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/str.h"

enum { CANNOT_RUN = 127 };

struct words { ARRAY(const char *) list; };

/* ---- the other machine's part ---- */

static void quote(struct str *s, const char *word)
{
    str_append_char(s, '\'');
    for (; *word; word++)
        if (*word == '\'') str_append(s, "'\\''");
        else str_append_char(s, *word);
    str_append(s, "' ");
}

/* A shell's background job has no stdin of its own: the names of signals are read from descriptor 3.
 * A process that does not lead its group yet is hit by itself. */
static char *remote_script(const struct process_spec *spec)
{
    struct str s = {0};
    str_append(&s, "exec 3<&0; setsid env -i ");
    for (size_t i = 0; spec->env[i]; i++) quote(&s, spec->env[i]);
    for (size_t i = 0; spec->argv[i]; i++) quote(&s, spec->argv[i]);
    str_append(&s, "</dev/null 3<&- & p=$!; "
                   "{ while read -r s <&3; do case $s in KILL|STOP) kill -s $s -- -$p || kill -s $s $p;; *) kill -s \"$s\" $p;; esac; done; "
                   "kill -s KILL -- -$p || kill -s KILL $p; } 2>/dev/null >/dev/null & "
                   "wait $p; c=$?; kill $! 2>/dev/null; exit $c");
    return str_take(&s);
}

/* ---- the child ---- */

/* Only what may be called between fork and exec. Tells on `tell` what went wrong. */
static void be_child(const struct process_spec *spec, const char *const *argv, int in, int out, int err, int tell, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(CANNOT_RUN); /* it died before it could be told */
    if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && (err < 0 || dup2(err, 2) >= 0)) {
        if (spec->address) execvp(argv[0], (char *const *)(uintptr_t)argv);
        else execvpe(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)spec->env);
    }
    int why = errno;
    if (write(tell, &why, sizeof why) < 0) _exit(CANNOT_RUN);
    _exit(CANNOT_RUN);
}

/* ---- start ---- */

struct pipes { int in[2], out[2], tell[2], err; };

static void close_pipes(struct pipes *p)
{
    int *fd[] = {&p->in[0], &p->in[1], &p->out[0], &p->out[1], &p->tell[0], &p->tell[1], &p->err};
    for (size_t i = 0; i < sizeof fd / sizeof *fd; i++)
        if (*fd[i] >= 0) close(*fd[i]);
}

static bool open_pipes(struct pipes *p, const struct process_spec *spec)
{
    *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, -1};
    if (spec->address ? pipe2(p->in, O_CLOEXEC) != 0 : (p->in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0) return false;
    if (pipe2(p->out, O_CLOEXEC) != 0 || pipe2(p->tell, O_CLOEXEC) != 0) return false;
    if (spec->log && (p->err = open(spec->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) < 0) return false;
    return fcntl(p->out[0], F_SETFL, O_NONBLOCK) == 0;
}

static int take(int *fd)
{
    int x = *fd;
    *fd = -1;
    return x;
}

static pid_t fork_child(const struct process_spec *spec, const char *const *argv, struct pipes *p)
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) be_child(spec, argv, p->in[0], p->out[1], p->err, p->tell[1], parent);
    if (pid < 0) return pid;
    setpgid(pid, pid); /* here too: a signal may follow at once */
    int why = 0;
    close(take(&p->tell[1]));
    while (read(p->tell[0], &why, sizeof why) < 0 && errno == EINTR) {}
    if (!why) return pid;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
    errno = why;
    return -1;
}

static bool start(struct process *p, const struct process_spec *spec, const char *const *argv, char **err)
{
    struct pipes pipes;
    pid_t pid = open_pipes(&pipes, spec) ? fork_child(spec, argv, &pipes) : -1;
    if (pid > 0) {
        *p = (struct process){pid, take(&pipes.out[0]), spec->address ? take(&pipes.in[1]) : -1};
    } else {
        struct str s = {0};
        str_printf(&s, "%s: cannot be started: %s", argv[0], strerror(errno));
        *err = str_take(&s);
    }
    close_pipes(&pipes);
    return pid > 0;
}

bool process_start(struct process *p, const struct process_spec *spec, char **err)
{
    *p = (struct process){0, -1, -1};
    if (!spec->address) return start(p, spec, spec->argv, err);
    char *script = remote_script(spec);
    const char *ssh[] = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
                         "--", spec->address, script, NULL};
    bool ok = start(p, spec, ssh, err);
    free(script);
    return ok;
}

/* ---- life ---- */

void process_signal(const struct process *p, int signal)
{
    char word[32];
    if (!p->pid) return;
    bool to_all = signal == SIGKILL || signal == SIGSTOP; /* others the worker hands on to what it has started */
    if (p->control < 0) {
        kill(to_all ? -p->pid : p->pid, signal);
        return;
    }
    struct str s = {0};
    str_printf(&s, "%s\n", sigabbrev_np(signal));
    size_t n = s.n < sizeof word ? s.n : sizeof word;
    memcpy(word, str_text(&s), n);
    if (write(p->control, word, n) < 0) kill(-p->pid, SIGKILL); /* ssh is gone, and with it what it ran */
    str_free(&s);
}

void process_abandon(const struct process *p)
{
    if (p->pid && p->control >= 0) kill(-p->pid, SIGKILL);
}

void process_close_out(struct process *p)
{
    if (p->out >= 0) close(p->out);
    p->out = -1;
}

bool process_reap(struct process *p, int *code)
{
    int status;
    if (!p->pid || waitpid(p->pid, &status, WNOHANG) != p->pid) return false;
    *code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (p->control >= 0) close(p->control);
    p->control = -1;
    p->pid = 0;
    return true;
}
