/* timed_run.c - see timed_run.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/timed_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "run/run.h"
#include "sim/simulate.h"
#include "tests/support/temp_run.h"

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *why)
{
    fprintf(stderr, "%s\n", why ? why : "out of memory");
    exit(1);
}

static double run_once(const struct scenario *s, const char *dir)
{
    struct sim_options o = {.dir = dir, .record_level = RECORD_NONE, .force = true};
    struct sim_result r = {.jobs = 0};
    char *error = NULL;
    struct sim *sim = sim_create(s, &o, &error);
    if (!sim) die(error);
    double from = cpu_s();
    while (sim_step(sim)) {
    }
    if (!sim_close(sim, &r)) die(r.error);
    double spent = cpu_s() - from;
    sim_result_free(&r);
    return spent;
}

double timed_least(const struct scenario *s, int rounds, char dir[TIMED_DIR])
{
    if (!temp_run_dir(dir, TIMED_DIR)) die("no temporary directory can be made");
    double least = run_once(s, dir);
    for (int i = 1; i < rounds; i++) {
        double t = run_once(s, dir);
        if (t < least) least = t;
    }
    return least;
}
