/* peer_run.c - see peer_run.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/peer_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "sim/simulate.h"

static struct scenario *load(const struct peer_case *c)
{
    struct diag d = {0};
    struct str text = {0};
    str_printf(&text,
               "{ \"trainyard\": 1, \"name\": \"peer\","
               " \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": %u, \"gpus\": %u } ] },"
               " \"workload\": { \"trace\": { \"file\": \"%s\", \"format\": \"%s\", \"defaults\": { \"kind\": \"train\" } } },"
               " \"approaches\": { \"peer\": { \"lifecycle\": \"none\", \"admission\": \"%s\", \"scheduler\": \"batch\","
               " \"placement\": \"%s\" } } }",
               c->nodes, c->gpus, c->trace, c->format, c->admission, c->placement);
    struct scenario *s = scenario_parse("peer.json", text.s, text.n, NULL, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    assert_non_null(s);
    return s;
}

static uint64_t id_of(const struct run_job_view *j) { return j->row.id ? strtoull(j->row.id, NULL, 10) : j->row.number; }

static int by_id(const void *x, const void *y)
{
    uint64_t a = id_of(x), b = id_of(y);
    return (a > b) - (a < b);
}

struct run *peer_run(const struct peer_case *c)
{
    char dir[] = "/tmp/trainyard-peer-XXXXXX", *warnings = NULL, *error = NULL;
    struct scenario *s = load(c);
    struct sim_result result;
    assert_non_null(mkdtemp(dir));
    bool ok = sim_run(s, &(struct sim_options){.dir = dir, .force = true}, &result);
    if (!ok) fail_msg("%s", result.error);
    sim_result_free(&result);
    scenario_free(s);
    struct run *r = run_open(dir, &warnings, &error);
    if (!r || warnings) fail_msg("%s", r ? warnings : error);
    qsort(r->jobs, r->n_jobs, sizeof *r->jobs, by_id);
    return r;
}

void peer_run_close(struct run *r)
{
    static const char *const files[] = {"run.json", "scenario.json", "scenario.jobs.csv", "timeline.bin", "jobs.csv",
                                        "ledger.csv"};
    char path[320], dir[256];
    snprintf(dir, sizeof dir, "%s", r->dir);
    run_close(r);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        unlink(path);
    }
    rmdir(dir);
}

const struct run_job_view *peer_job(struct run *r, uint64_t id)
{
    struct run_job_view key = {.row.number = id};
    const struct run_job_view *j = bsearch(&key, r->jobs, r->n_jobs, sizeof *r->jobs, by_id);
    if (!j) fail_msg("no job %llu", (unsigned long long)id);
    return j;
}
