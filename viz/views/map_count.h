/* map_count.h - who holds which GPU at a moment, and what that leaves: idle, fragments, down.
 *
 *     struct map_counts c;
 *     map_count(&c, scene, cursor_ns);
 *     map_counts_free(&c);
 *
 * A node is free when nobody holds any of it and none of it is down, partly used when some of it is held and some is idle. Fragments are the idle GPUs of
 * partly used nodes: a job of whole nodes cannot have them. Units: shares (1 GPU = 1,000). Cost: O(log spans) a GPU; a pass over the jobs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_MAP_COUNT_H
#define TRAINYARD_VIZ_VIEWS_MAP_COUNT_H

#include "viz/model/scene.h"

struct map_gpu_state {
    int32_t job;     /* that holds the most of it; NO_JOB */
    uint16_t shares; /* that are taken */
    uint8_t show;    /* of that job, or the state of a GPU that is down; SHOW_NOTHING: idle */
    bool fragment;
};

struct map_node_state {
    int64_t total, held, down;
    unsigned down_show; /* of what is down */
};

struct map_counts {
    struct map_gpu_state *gpus;
    struct map_node_state *nodes;
    uint32_t n, nodes_free, nodes_partly, nodes_down;
    int64_t held, idle, idle_whole, fragments, down;
    int64_t by_show[N_SHOWS];
    int64_t waiting_jobs, waiting_shares; /* submitted, not ended, and nothing of them steps */
};

void map_count(struct map_counts *, const struct scene *, int64_t at_ns);
void map_counts_free(struct map_counts *);

#endif
