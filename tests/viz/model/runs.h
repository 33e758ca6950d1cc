/* runs.h - runs of random and shipped scenarios in a folder of their own, for the tests of viz/model.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_VIZ_MODEL_RUNS_H
#define TRAINYARD_TESTS_VIZ_MODEL_RUNS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "sim/simulate.h"
#include "tests/support/any_scenario.h"

/* A path below the folder; good until the program ends. */
static inline const char *below(const char *top, const char *name)
{
    static struct arena paths;
    return path_join(&paths, top, name);
}

static inline void remove_top(const char *top)
{
    struct diag d = {0};
    file_remove_tree(top, &d);
    diag_free(&d);
}

/* False: it does not end by itself. */
static inline bool run_scenario(const struct scenario *s, const char *dir, int level)
{
    enum { MOST_EVENTS = 10000000 };
    struct sim_options o = {.dir = dir, .record_level = level, .force = true};
    struct sim_result r = {0};
    int n = 0;
    struct sim *sim = sim_create(s, &o, &r.error);
    while (sim && n < MOST_EVENTS && sim_step(sim)) n++;
    bool ok = sim && sim_close(sim, &r) && n < MOST_EVENTS;
    if (r.error) fprintf(stderr, "%s\n", r.error);
    sim_result_free(&r);
    return ok;
}

static inline bool run_any(uint64_t seed, unsigned parts, const char *approach, const char *dir, int level)
{
    struct str json = {0};
    struct diag d = {0};
    any_scenario_part(seed, parts, 1000, &json);
    struct scenario *s = scenario_parse("any.json", json.s, json.n, approach, &d);
    if (!s) diag_print(&d, stderr);
    bool ok = s && run_scenario(s, dir, level);
    if (s) scenario_free(s);
    diag_free(&d);
    str_free(&json);
    return ok;
}

static inline bool run_file(const char *file, const char *approach, const char *dir, int level)
{
    struct diag d = {0};
    struct scenario *s = scenario_load(file, approach, NULL, &d);
    if (!s) diag_print(&d, stderr);
    bool ok = s && run_scenario(s, dir, level);
    if (s) scenario_free(s);
    diag_free(&d);
    return ok;
}

#endif
