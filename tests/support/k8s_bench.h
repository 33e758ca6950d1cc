/* k8s_bench.h - a run on Kubernetes whose objects a test plays itself.
 *
 *     struct k8s_bench b;
 *     k8s_bench_begin(&b, "{ \"id\": \"j\", \"kind\": \"Job\", \"gpus\": 4, \"duration\": 60 }", "", true);
 *     char *text = k8s_bench_text(&b, "{\"metadata\":{\"namespace\":\"@NS\",\"labels\":{\"trainyard/run\":\"@ID\"}}}");
 *     k8s_bench_end(&b);                         // fails the test when the ledger does not add up
 *
 * Two nodes of 8 GPUs (group g), a queue q of 16. `more`: further keys of the scenario, each followed by a comma.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_K8S_BENCH_H
#define TRAINYARD_TESTS_SUPPORT_K8S_BENCH_H

#include "real/kubernetes/run_parts.h"

struct k8s_bench {
    char dir[300];
    struct k8s_options o;
    struct k8s_run r;
    struct scenario *s;
    struct diag d;
    char *text; /* of phases.csv */
    size_t n;
};

/* The scenario alone; the caller's. */
struct scenario *k8s_bench_scenario(const char *jobs, const char *more, bool kueue);
void k8s_bench_begin(struct k8s_bench *, const char *jobs, const char *more, bool kueue);
void k8s_bench_end(struct k8s_bench *);
/* @NS becomes the run's first namespace, @ID its label's value. To free. */
char *k8s_bench_text(const struct k8s_bench *, const char *text);

#endif
