/* fault.h - faults to play: what a process does to itself, at a step or on a signal.
 *
 *     KIND@STEP[:VALUE][/RANK]     at the beginning of that step, on that rank (without /RANK on all)
 *
 *     crash@120/1                  SIGKILL
 *     exit@120:137                 leaves with that code at once (1 without one)
 *     hang@120:30s                 stands still that long, without a duration for ever
 *     slow@120:2.5                 from then on computing takes so many times as long
 *     store-down@120:10s           saving fails for so long
 *
 * Signals: SIGUSR1 hangs for ever, where the process is, in a collective too; SIGUSR2 makes computing twice as slow and, sent again, as fast as before.
 * The rank is the one that the process was given when it first joined; each fault is played once in a process.
 * Whoever starts it again decides whether it gets the fault again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_FAULT_H
#define TRAINYARD_REAL_WORKER_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind { FAULT_CRASH, FAULT_EXIT, FAULT_HANG, FAULT_SLOW, FAULT_STORE_DOWN };

struct fault {
    enum fault_kind kind;
    int rank; /* -1: all */
    int64_t step;
    int64_t duration_ns; /* hang, store-down; 0: for ever */
    double factor;       /* slow */
    int code;            /* exit */
    bool played;
};

/* NULL, or what is wrong with the text. */
const char *fault_parse(const char *text, struct fault *);

/* Crashes, leaves or hangs; the other kinds are their caller's. */
void fault_play(const struct fault *);

/* Lets the signals do as said above. */
void fault_catch_signals(void);
double fault_told_factor(void); /* 1, or 2 after SIGUSR2 */

#endif
