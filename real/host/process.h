/* process.h - a worker as a child process, here or on another machine.
 *
 *     struct process p;
 *     if (!process_start(&p, &(struct process_spec){.argv = argv, .env = env, .log = "w0.err"}, &err)) ...
 *     ... read p.out until it ends; process_signal(&p, SIGKILL); process_reap(&p, &code) after SIGCHLD ...
 *
 * Here: a child in a process group of its own that dies with its parent, however that dies (PR_SET_PDEATHSIG). Its environment
 * is what is given and nothing else; its stdout is a pipe, its stderr is appended to a file.
 * There: the child is ssh, which runs a few lines of shell that start the worker, send it each signal whose name comes on
 * stdin, and kill it when stdin ends. So it too dies with its parent, if the connection ends. Keys must be set up: ssh asks
 * for nothing (BatchMode). A machine that does not answer for 10 s when it is called, or for 45 s later, ends ssh (exit 255).
 * A signal that has been sent there may never arrive: process_abandon ends ssh alone, at once.
 *
 * A process that cannot be started (no such program) is told by process_start.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_HOST_PROCESS_H
#define TRAINYARD_REAL_HOST_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct process_spec {
    const char *const *argv; /* NULL at the end, as the next */
    const char *const *env;  /* "NAME=value" */
    const char *log;         /* for stderr; NULL: as the parent's */
    const char *address;     /* NULL: this machine */
};

struct process {
    pid_t pid;   /* 0: none */
    int out;     /* to be read; nonblocking; -1: closed */
    int control; /* stdin of ssh; -1: here */
};

/* False and *err (to free): the system refuses. Then *p is no process. */
bool process_start(struct process *p, const struct process_spec *, char **err);
/* SIGKILL and SIGSTOP to the process and what it has started, others to it alone; of one that has ended, nothing happens. */
void process_signal(const struct process *, int signal);
/* Of a process on another machine: kills ssh. What runs there dies when that machine sees the end of the connection. */
void process_abandon(const struct process *);
/* False while it runs. *code: exit code, or 128 + the signal that ended it. Closes nothing but `control`. */
bool process_reap(struct process *, int *code);
void process_close_out(struct process *);

#endif
