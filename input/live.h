/* live.h - "live" of a scenario: what a live back end does smaller or faster than the scenario says, and where.
 *
 * The simulator reads none of it. Nothing is scaled that is not said here, and a live run prints what is.
 *
 *   time_scale   a second of the live run stands for so many of the scenario: submissions, work, intervals, faults, limits and the
 *                stack's time-outs come so many times as early, and what is measured is written times this. What takes its own
 *                time (the start of a process, a collective) is not made faster, and so counts that many times
 *   processes    a job with more pods runs so many processes, each of which stands for several pods; it holds the GPUs of all
 *   pace         a step computes as long as the job says; else as fast as the machine goes
 *   model, data  what the processes train, whatever the job is in the scenario
 *   hosts        on which machines the nodes of a group are; those of other groups are this machine
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_LIVE_H
#define TRAINYARD_INPUT_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_hosts {
    uint32_t group;          /* node group; its node n is on machine n modulo n_addresses */
    const char **addresses;  /* as ssh knows them, and as the ranks reach them */
    size_t n_addresses;
    const char *worker;      /* the program there */
    const char *directory;   /* for data and checkpoints there; all machines of a job must see the same one */
};

struct live_spec {
    double time_scale;
    uint32_t processes; /* at most, of a job; 0: one a pod */
    bool pace, given;   /* given: the scenario has the section */
    uint32_t hidden, features, classes, samples, batch;
    struct live_hosts *hosts;
    size_t n_hosts;
};

#endif
