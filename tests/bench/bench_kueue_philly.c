/* bench_kueue_philly.c - Kueue and a life cycle with pods over Philly's 82,247 jobs on 52 x 8 GPUs.
 *
 *     bench_kueue_philly [LIFECYCLE [FAULTS]]     (default batch-job; faults: a profile's name, or none)
 *
 * Import is left out, jobs.csv is written; CPU time. One line a figure: NAME VALUE UNIT goal GOAL. The trace is
 * ../shared/traces/philly/philly.csv.gz or below $TRAINYARD_SHARED. Pods: replicas of all jobs, each counted once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/str.h"
#include "sim/simulate.h"

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct scenario *load(const char *life, const char *faults)
{
    const char *shared = getenv("TRAINYARD_SHARED") ? getenv("TRAINYARD_SHARED") : "../shared";
    struct str text = {0};
    struct diag d = {0};
    char trace[4096];
    snprintf(trace, sizeof trace, "%s/traces/philly/philly.csv.gz", shared);
    if (access(trace, R_OK) != 0) {
        fprintf(stderr, "bench_kueue_philly: no %s\n", trace);
        return NULL;
    }
    str_printf(&text, "{ \"trainyard\": 1, \"name\": \"philly\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 52, \"gpus\": 8 } ] },"
                      "\"queues\": [ { \"name\": \"all\", \"quota\": { \"n\": 416 } } ],"
                      "\"workload\": { \"trace\": { \"file\": \"%s\", \"format\": \"philly\","
                      " \"defaults\": { \"kind\": \"%s\", \"queue\": \"all\" } } },",
               trace, strcmp(life, "batch-job") == 0 ? "Job" : "train");
    if (faults) str_printf(&text, "\"faults\": { \"profile\": \"%s\" }, ", faults);
    str_printf(&text, "\"approaches\": { \"a\": { \"lifecycle\": \"%s\", \"admission\": \"kueue\", \"stack\": \"kueue-0.18\" } } }", life);
    struct scenario *s = scenario_parse("philly", str_text(&text), text.n, NULL, &d);
    if (!s) diag_print(&d, stderr);
    diag_free(&d);
    str_free(&text);
    return s;
}

static uint64_t pods_of(const struct scenario *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n_jobs; i++)
        for (uint32_t r = 0; r < s->details[s->jobs[i].detail].n_roles; r++) n += job_role_replicas(s, &s->jobs[i], r);
    return n;
}

int main(int argc, char **argv)
{
    const char *life = argc > 1 ? argv[1] : "batch-job";
    char dir[64];
    struct sim_result r = {0};
    struct scenario *s = load(life, argc > 2 ? argv[2] : NULL);
    if (!s) return 0;
    snprintf(dir, sizeof dir, "%s/trainyard-bench-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(dir)) return 1;
    uint64_t pods = pods_of(s);
    double from = cpu_s();
    bool ok = sim_run(s, &(struct sim_options){.dir = dir, .force = true, .record_level = 0}, &r);
    double spent = cpu_s() - from;
    if (!ok) fprintf(stderr, "%s\n", r.error);
    fprintf(stderr, "%s: %zu jobs (%zu ended), %llu pods, %llu events, %.3f s; fingerprint %s\n", life, r.jobs, r.succeeded + r.failed,
            (unsigned long long)pods, (unsigned long long)r.events, spent, r.fingerprint);
    printf("philly_kueue_%s_pods_per_s %.0f pods/s goal 200000\n", life, (double)pods / spent);
    if (r.no_progress_text) fprintf(stderr, "%.500s\n", r.no_progress_text);
    sim_result_free(&r);
    scenario_free(s);
    snprintf(dir + strlen(dir), sizeof dir - strlen(dir), "/");
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command) != 0 || !ok;
}
