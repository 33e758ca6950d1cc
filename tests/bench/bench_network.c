/* bench_network.c - what a change of flow costs with 1,000 jobs on the fabric: NAME VALUE UNIT goal GOAL.
 *
 *     bench_network JOBS SCATTERED MOST NAME
 *
 * 7,168 nodes of 400 GB/s in racks of 16 and blocks of 16 racks, uplinks 2:1 and 4:1 oversubscribed, five sixths of them
 * taken. A job is a ring over 2, 4, 8, 16 or 32 nodes, each half as frequent as the one before (1,000 jobs: 6,000 nodes),
 * on neighbouring free nodes, or, SCATTERED percent of them, on free nodes drawn from everywhere; it wants 5 to MOST percent
 * of a node's link. One in five writes a checkpoint to a store from each of its nodes instead; those fill the store. Jobs
 * come and go, one after the other, each change solved by itself; a change is a start or an end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/cluster/network.h"
#include "sim/cluster/sim.h"
#include "sim/engine/stream.h"
#include "sim/simulate.h"

enum { NODES = 7168, MOST_NODES = 32, MOST_JOBS = 1100 };
static const int64_t NODE_BYTES_PER_S = 400000000000;

static const char text[] =
    "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"n\", \"count\": 7168, \"gpus\": 8 }],\n"
    "  \"topology\": { \"nodes_per_rack\": 16, \"racks_per_block\": 16 },\n"
    "  \"network\": { \"inter\": \"400GB/s\", \"oversubscription\": { \"rack\": 2, \"block\": 4 } },\n"
    "  \"storage\": [{ \"name\": \"s\", \"write\": \"4TB/s\", \"read\": \"4TB/s\" }] },\n"
    "  \"workload\": { \"jobs\": [] }, \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\" } } }";

static struct net_pace jobs[MOST_JOBS];
static uint64_t told;

static void on_share(struct sim *s, struct net_pace *p)
{
    (void)s;
    (void)p;
    told++;
}

static uint32_t below(struct stream *s, uint32_t n) { return (uint32_t)stream_uniform_int(s, n); }

static bool taken[NODES];
static uint32_t job_nodes[MOST_JOBS][MOST_NODES], job_n[MOST_JOBS];

/* Free nodes: from a random one on, neighbours when packed, else anywhere. */
static void place(struct stream *draw, uint32_t job, uint32_t n, bool packed)
{
    uint32_t at = below(draw, NODES);
    for (uint32_t i = 0; i < n; i++) {
        if (!packed) at = below(draw, NODES);
        while (taken[at]) at = (at + 1) % NODES;
        taken[at] = true;
        job_nodes[job][i] = at;
    }
    job_n[job] = n;
}

static void leave(uint32_t job)
{
    for (uint32_t i = 0; i < job_n[job]; i++) taken[job_nodes[job][i]] = false;
}

static uint32_t size(struct stream *draw)
{
    uint32_t n = 2;
    while (n < MOST_NODES && below(draw, 2)) n *= 2;
    return n;
}

static int scattered_percent, most_percent;

static void begin(struct sim *s, struct stream *draw, uint32_t job, struct net_path *path)
{
    place(draw, job, size(draw), below(draw, 100) >= (uint32_t)scattered_percent);
    if (below(draw, 5)) net_path_ring(s, path, job_nodes[job], job_n[job]);
    else net_path_store(s, path, job_nodes[job], job_n[job], 0, NET_UP);
    net_pace_start(s, &jobs[job], path, NODE_BYTES_PER_S / 100 * (5 + below(draw, (uint32_t)most_percent - 4)), on_share);
}

static void settle(struct sim *s)
{
    while (event_step(s->events, s)) {}
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void churn(struct sim *s, uint32_t n_jobs, const char *name)
{
    struct stream draw = stream_make(1, 0, STREAM_TEST, 4);
    struct net_path path = {0};
    for (uint32_t i = 0; i < n_jobs; i++) begin(s, &draw, i, &path);
    settle(s);
    uint64_t changes = 0, before = flows_work(network_flows(s));
    told = 0;
    double start_s = cpu_s(), spent_s;
    do {
        uint32_t i = below(&draw, n_jobs);
        net_pace_stop(s, &jobs[i]);
        leave(i);
        settle(s);
        begin(s, &draw, i, &path);
        settle(s);
        changes += 2;
    } while ((spent_s = cpu_s() - start_s) < 2);
    const char *goal = strcmp(name, "network_changes") == 0 ? " goal 20000" : "";
    printf("%-18s %8.0f changes/s%s (%.0f jobs and %.0f uses a change)\n", name, (double)changes / spent_s, goal,
           (double)told / (double)changes, (double)(flows_work(network_flows(s)) - before) / (double)changes);
    net_path_free(&path);
}

int main(int argc, char **argv)
{
    struct diag d = {0};
    if (argc != 5) return 2;
    uint32_t n_jobs = (uint32_t)strtoul(argv[1], NULL, 10);
    scattered_percent = atoi(argv[2]);
    most_percent = atoi(argv[3]);
    struct scenario *scenario = scenario_parse("bench.json", text, strlen(text), NULL, &d);
    char *error = NULL;
    if (!scenario || n_jobs == 0 || n_jobs > MOST_JOBS || most_percent < 5) return 1;
    struct sim *s = sim_create(scenario, &(struct sim_options){0}, &error);
    if (!s) return 1;
    churn(s, n_jobs, argv[4]);
    struct sim_result result = {0};
    sim_close(s, &result);
    sim_result_free(&result);
    scenario_free(scenario);
    diag_free(&d);
    return 0;
}
