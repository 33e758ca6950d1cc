/* data_wait.c - see data_wait.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/train/data_wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/detmath.h"
#include "base/mem.h"

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Nodes, and ranks on the fullest of them. */
static void count_nodes(const uint32_t *nodes, uint32_t ranks, struct data_place *at)
{
    uint32_t *sorted = xcalloc(ranks, sizeof *sorted), run = 0;
    memcpy(sorted, nodes, ranks * sizeof *sorted);
    qsort(sorted, ranks, sizeof *sorted, by_number);
    for (uint32_t i = 0; i < ranks; i++) {
        run = i && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        at->nodes += run == 1;
        if (run > at->on_node) at->on_node = run;
    }
    free(sorted);
}

/* The fewest cores for each GPU of a node; 0: no node says. */
static double cores_a_gpu(const struct sim *s, const uint32_t *nodes, uint32_t ranks)
{
    double least = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        const struct node_group *g = &s->scenario->cluster.groups[pool_node_group(s->pool, nodes[i])];
        if (g->cpu_milli == INT64_MAX) continue;
        double cores = (double)g->cpu_milli / 1000 / (g->gpus ? g->gpus : 1);
        if (least == 0 || cores < least) least = cores;
    }
    return least;
}

struct data_loading data_loading_of(const struct sim *s, const struct job *j, const uint32_t *nodes, uint32_t ranks, uint32_t ppm,
                                    int64_t steps)
{
    const struct job_detail *d = job_detail_of(s, j);
    uint32_t shares = job_role_shares(s->scenario, j->spec, d->n_roles - 1);
    uint32_t gpus = shares >= SHARES_PER_GPU ? shares / SHARES_PER_GPU : 1;
    struct data_place at = {.gpus = ranks * gpus, .cores = cores_a_gpu(s, nodes, ranks), .steps = steps, .share = 1e6 / ppm};
    count_nodes(nodes, ranks, &at);
    at.on_node *= gpus;
    return data_loading_at(s->scenario, d, &at);
}

int64_t data_wait_ns(const struct sim *s, const struct job *j, const uint32_t *nodes, uint32_t ranks, uint32_t ppm,
                     int64_t steps, int64_t rest_ns)
{
    if (!job_detail_of(s, j)->data) return 0;
    struct data_loading l = data_loading_of(s, j, nodes, ranks, ppm, steps);
    double wait_ns = data_loading_wait_s(&l, (double)rest_ns / 1e9) * 1e9;
    return wait_ns < 1e18 ? det_round(wait_ns) : INT64_C(1000000000000000000); /* 32 years: longer is never */
}
