/* temp_run.c - see temp_run.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/temp_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/simulate.h"

/* In memory where that is to be had: a run syncs its files, and tests make thousands of them. */
const char *temp_run_dir(char *dir, size_t n)
{
    snprintf(dir, n, "%s/trainyard-run-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(dir);
}

void temp_run_remove(const char *dir)
{
    static const char *const files[] = {"run.json",     "scenario.json", "scenario.jobs.csv",
                                        "timeline.bin", "jobs.csv",      "ledger.csv"};
    char path[320];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        unlink(path);
    }
    rmdir(dir);
}

struct run *temp_run(const struct scenario *s, int record_level)
{
    char dir[64], *warnings = NULL, *error = NULL;
    struct sim_result result;
    if (!temp_run_dir(dir, sizeof dir)) return NULL;
    bool ok = sim_run(s, &(struct sim_options){.dir = dir, .force = true, .record_level = record_level}, &result);
    if (!ok) fprintf(stderr, "%s: %s\n", dir, result.error);
    sim_result_free(&result);
    struct run *r = ok ? run_open(dir, &warnings, &error) : NULL;
    if (r && !warnings) return r;
    fprintf(stderr, "%s: %s\n", dir, warnings ? warnings : error ? error : "no run");
    return NULL;
}

void temp_run_close(struct run *r)
{
    char dir[256];
    snprintf(dir, sizeof dir, "%s", r->dir);
    run_close(r);
    temp_run_remove(dir);
}
