/* data_wait.c - see data_wait.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/train/data_wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/detmath.h"
#include "base/mem.h"

/* 32 years in ns, or an exabyte: longer and more is never. */
#define MOST 1e18

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

static struct data_place place_of_ranks(const struct sim *s, const struct job *j, const uint32_t *nodes, uint32_t ranks,
                                        uint32_t ppm, int64_t steps)
{
    uint32_t shares = job_role_shares(s->scenario, j->spec, job_detail_of(s, j)->n_roles - 1);
    uint32_t gpus = shares >= SHARES_PER_GPU ? shares / SHARES_PER_GPU : 1;
    struct data_place at = {.gpus = ranks * gpus, .cores = cores_a_gpu(s, nodes, ranks), .steps = steps, .share = 1e6 / ppm};
    count_nodes(nodes, ranks, &at);
    at.on_node *= gpus;
    return at;
}

struct data_wait data_wait_at(const struct sim *s, const struct job *j, const uint32_t *nodes, uint32_t ranks, uint32_t ppm,
                              int64_t steps, int64_t rest_ns)
{
    const struct job_detail *d = job_detail_of(s, j);
    struct data_place at = place_of_ranks(s, j, nodes, ranks, ppm, steps);
    struct data_loading l = data_loading_at(s->scenario, d, &at);
    double wait_ns = data_loading_wait_s(&l, (double)rest_ns / 1e9) * 1e9;
    double bytes = data_loaders(d->data, at.gpus) * l.samples * l.sample_bytes * (1 - l.hit) / at.nodes;
    bool shared = d->data->store != NO_STORE && !s->scenario->cluster.storage[d->data->store].local;
    return (struct data_wait){.ns = det_round(wait_ns < MOST ? wait_ns : MOST),
                              .node_bytes = shared ? det_round(bytes < MOST ? bytes : MOST) : 0,
                              .ahead = data_loads_ahead(&l)};
}
