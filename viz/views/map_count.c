/* map_count.c - see map_count.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/map_count.h"

#include <stdlib.h>

#include "base/mem.h"

static bool is_down(unsigned show)
{
    return show < N_ACTIVITIES && (show_class(show) == CLASS_DOWN || show_class(show) == CLASS_ABSENT);
}

static void add_span(struct map_counts *c, struct map_gpu_state *g, const struct scene_span *p, unsigned *most)
{
    unsigned shares = p->shares ? p->shares : 1000;
    g->shares = (uint16_t)(g->shares + shares);
    if (p->show < N_SHOWS) c->by_show[p->show] += shares;
    if (shares <= *most) return;
    *most = shares;
    g->show = p->show;
    g->job = p->job;
}

/* Of one GPU: several jobs may share it, whose spans stand before the first that begins later. */
static void count_gpu(struct map_counts *c, const struct scene *s, uint32_t k, int64_t at)
{
    const struct scene_track *t = &s->tracks[SCENE_GPUS][k];
    struct map_gpu_state *g = &c->gpus[k];
    unsigned most = 0;
    *g = (struct map_gpu_state){.job = NO_JOB, .show = SHOW_NOTHING};
    uint32_t i = scene_seek(s, SCENE_GPUS, k, at + 1);
    for (unsigned seen = 0; i > 0 && seen < 64 && g->shares < 1000; seen++) {
        i--;
        if (scene_to(s, &t->v[i]) > at) add_span(c, g, &t->v[i], &most);
        else if (t->v[i].shares == 0 || t->v[i].shares >= 1000) break; /* it had the whole GPU: all before it has ended */
    }
}

static void count_node(struct map_counts *c, const struct scene *s, uint32_t i)
{
    const struct scene_node *node = &s->nodes[i];
    struct map_node_state *n = &c->nodes[i];
    n->down_show = SHOW_NOTHING;
    for (uint32_t k = node->first_gpu; k < node->first_gpu + node->n_gpus; k++) {
        const struct map_gpu_state *g = &c->gpus[k];
        n->total += 1000;
        if (is_down(g->show)) {
            n->down += 1000;
            n->down_show = g->show;
        } else
            n->held += g->shares;
    }
    int64_t idle = n->total - n->held - n->down;
    c->held += n->held;
    c->down += n->down;
    c->idle += idle;
    c->nodes_down += n->down > 0;
    c->nodes_free += idle == n->total && n->total > 0;
    c->nodes_partly += n->held > 0 && idle > 0;
    if (idle == n->total) c->idle_whole += idle;
    else if (n->held > 0) c->fragments += idle;
    for (uint32_t k = node->first_gpu; k < node->first_gpu + node->n_gpus; k++)
        c->gpus[k].fragment = n->held > 0 && c->gpus[k].show == SHOW_NOTHING;
}

static void count_waiting(struct map_counts *c, const struct scene *s, int64_t at)
{
    for (uint32_t j = 0; j < s->n_jobs && j < s->n_tracks[SCENE_JOBS]; j++) {
        const struct scene_job *job = &s->jobs[j];
        if (job->submit_ns < 0 || job->submit_ns > at || (job->finished_ns >= 0 && job->finished_ns <= at)) continue;
        const struct scene_span *p = scene_at(s, SCENE_JOBS, j, at);
        if (!p || p->show < SHOW_WAIT) continue;
        c->waiting_jobs++;
        c->waiting_shares += job->gpu_shares;
    }
}

void map_count(struct map_counts *c, const struct scene *s, int64_t at_ns)
{
    *c = (struct map_counts){.n = s->n_tracks[SCENE_GPUS]};
    c->gpus = xcalloc(c->n + 1, sizeof *c->gpus);
    c->nodes = xcalloc(s->n_nodes + 1, sizeof *c->nodes);
    for (uint32_t k = 0; k < c->n; k++) count_gpu(c, s, k, at_ns);
    for (uint32_t i = 0; i < s->n_nodes; i++) count_node(c, s, i);
    count_waiting(c, s, at_ns);
}

void map_counts_free(struct map_counts *c)
{
    free(c->gpus);
    free(c->nodes);
}
