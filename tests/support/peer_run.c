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

#include "base/str.h"
#include "input/scenario.h"
#include "tests/support/temp_run.h"

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
    struct scenario *s = load(c);
    struct run *r = temp_run(s, RECORD_JOBS);
    scenario_free(s);
    assert_non_null(r);
    qsort(r->jobs, r->n_jobs, sizeof *r->jobs, by_id);
    return r;
}

const struct run_job_view *peer_job(struct run *r, uint64_t id)
{
    struct run_job_view key = {.row.number = id};
    const struct run_job_view *j = bsearch(&key, r->jobs, r->n_jobs, sizeof *r->jobs, by_id);
    if (!j) fail_msg("no job %llu", (unsigned long long)id);
    return j;
}
