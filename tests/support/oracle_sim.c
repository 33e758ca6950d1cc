/* oracle_sim.c - see oracle_sim.h: scenarios and the watch on them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/oracle_sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "base/str.h"
#include "sim/lifecycle.h"
#include "sim/simulate.h"

struct scenario *oracle_scenario(const char *fmt, ...)
{
    struct str text = {0};
    struct diag d = {0};
    va_list args;
    va_start(args, fmt);
    str_vprintf(&text, fmt, args);
    va_end(args);
    struct scenario *s = scenario_parse("oracle.json", str_text(&text), text.n, NULL, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    assert_non_null(s);
    return s;
}

/* One simulation at a time. */
static struct watched *now;
static struct lifecycle_ops ops; /* none's, watched */

static void on_start(struct sim *s, struct job *j)
{
    if (now->started) now->started(now, j);
    lifecycle_none.start(s, j);
}

void watched_open(struct watched *w, uint32_t replication)
{
    struct sim_options o = {.replication = replication};
    char *error = NULL;
    w->sim = sim_create(w->scenario, &o, &error);
    assert_non_null(w->sim);
    ops = lifecycle_none;
    ops.start = on_start;
    for (int k = 0; k < N_JOB_KINDS; k++)
        if (w->sim->lifecycle[k] == &lifecycle_none) w->sim->lifecycle[k] = &ops;
    now = w;
}

void watched_run(struct watched *w)
{
    while (sim_step(w->sim)) {}
}

void watched_close(struct watched *w)
{
    struct sim_result r = {0};
    for (size_t i = 0; i < w->sim->next_arrival; i++) { /* those that are alive are freed by who made them */
        struct job *j = w->sim->by_index[i];
        if (j && j->live && j->live->life == &ops) j->live->life = &lifecycle_none;
    }
    if (!sim_close(w->sim, &r)) fail_msg("%s", r.error ? r.error : "the run could not be closed");
    sim_result_free(&r);
    w->sim = NULL;
}

void oracle_add(struct oracle_row *row, const char *name, double value, struct estimate e, const char *params, ...)
{
    va_list args;
    va_start(args, params);
    vsnprintf(row->params, sizeof row->params, params, args);
    va_end(args);
    row->name = name;
    row->value = value;
    row->measured = e;
}
