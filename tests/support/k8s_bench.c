/* k8s_bench.c - see k8s_bench.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/k8s_bench.h"
#include "tests/support/temp_run.h"

struct scenario *k8s_bench_scenario(const char *jobs, const char *more, bool kueue)
{
    struct str text = {0};
    struct diag d = {0};
    str_printf(&text, "{ \"trainyard\": 1, \"name\": \"t\", \"cluster\": { \"nodes\": [{ \"group\": \"g\", \"count\": 2, \"gpus\": 8 }] }, %s"
                      "\"queues\": [{ \"name\": \"q\", \"quota\": 16 }], \"workload\": { \"jobs\": [%s] }, \"approaches\": { \"a\": {"
                      "\"lifecycle\": { \"Job\": \"batch-job\", \"PyTorchJob\": \"training-operator-v1\", \"RayJob\": \"ray-train-v2\" }%s } } }",
               more, jobs, kueue ? ", \"admission\": \"kueue\"" : "");
    struct scenario *s = scenario_parse("t.json", text.s, text.n, NULL, &d);
    if (!s) diag_print(&d, stderr);
    assert_non_null(s);
    diag_free(&d);
    str_free(&text);
    return s;
}

void k8s_bench_begin(struct k8s_bench *b, const char *jobs, const char *more, bool kueue)
{
    char *err = NULL;
    *b = (struct k8s_bench){.s = k8s_bench_scenario(jobs, more, kueue)};
    assert_non_null(temp_run_dir(b->dir, sizeof b->dir));
    b->r = (struct k8s_run){.s = b->s, .o = &b->o, .d = &b->d, .kueue = kueue};
    b->r.live = live_create(b->s, &(struct live_options){.dir = b->dir, .back_end = "kubernetes", .record_level = RECORD_FULL, .force = true}, &err);
    assert_non_null(b->r.live);
    b->r.phases = open_memstream(&b->text, &b->n);
    assert_true(manifests_make(b->s, &(struct manifest_options){0}, &b->r.set, &b->d));
    assert_true(k8s_mark_begin(&b->r.mark, b->s, &b->r.set, "https://a"));
    k8s_plan_label(&b->r.mark, &b->r.set);
    k8s_find_jobs(&b->r);
}

void k8s_bench_end(struct k8s_bench *b)
{
    char *err = NULL;
    fclose(b->r.phases);
    assert_true(live_finish(b->r.live, RUN_COMPLETE, &err)); /* its ledger adds up */
    k8s_free_run(&b->r);
    scenario_free(b->s);
    diag_free(&b->d);
    free(b->text);
    temp_run_remove(b->dir);
}

char *k8s_bench_text(const struct k8s_bench *b, const char *text)
{
    struct str out = {0};
    for (const char *c = text; *c; c++) {
        bool ns = strncmp(c, "@NS", 3) == 0, id = strncmp(c, "@ID", 3) == 0;
        if (ns || id) str_append(&out, ns ? b->r.mark.ns[0] : b->r.mark.id), c += 2;
        else str_append_char(&out, *c);
    }
    return str_take(&out);
}
