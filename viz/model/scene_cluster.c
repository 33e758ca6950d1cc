/* scene_cluster.c - nodes, racks and blocks of a scene, and a track a GPU.
 *
 * They are the scenario's. Where there is none that can be read, nodes are those that the records name, all in one rack "all".
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "viz/model/scene_parts.h"

enum { MAX_NODES = 1 << 20, MAX_GPUS = 1 << 22, GPUS_OF_A_GUESS = 8 };

/* ---- the scenario ---- */

static bool too_large(const struct scenario *s)
{
    uint64_t gpus = 0;
    for (uint32_t g = 0; g < s->cluster.n_groups; g++) gpus += (uint64_t)s->cluster.groups[g].count * s->cluster.groups[g].gpus;
    return s->cluster.n_nodes > MAX_NODES || gpus > MAX_GPUS;
}

static void why_not(struct builder *b, const char *path, const char *what)
{
    b->cluster_note = arena_printf(&b->arena, "%s: %s; nodes are shown as the records name them, in one rack", path, what);
}

static void load_scenario(struct builder *b)
{
    struct diag d = {0};
    const char *path = path_join(&b->arena, b->scene.run->dir, "scenario.json");
    b->scenario = file_exists(path) ? scenario_load(path, b->scene.run->approach, NULL, &d) : NULL;
    if (!b->scenario) {
        why_not(b, path, d.entries.n ? d.entries.v[0].text : "is not there");
    } else if (too_large(b->scenario)) {
        why_not(b, path, "has more nodes than can be shown");
        scenario_free(b->scenario);
        b->scenario = NULL;
    }
    diag_free(&d);
}

/* ---- nodes ---- */

static void add_nodes(struct builder *b, const char *group, uint32_t count, uint32_t gpus)
{
    struct scene *s = &b->scene;
    struct groups_now *g = &b->groups[b->n_groups++];
    *g = (struct groups_now){s->n_tracks[SCENE_GPUS], count * gpus, s->n_tracks[SCENE_GPUS]};
    for (uint32_t i = 0; i < count; i++) {
        s->nodes[s->n_nodes++] = (struct scene_node){.name = arena_printf(&b->arena, "%s-%u", group, i),
                                                     .group = group, .first_gpu = g->first_track + i * gpus, .n_gpus = gpus};
    }
    s->n_tracks[SCENE_GPUS] += g->n_tracks;
}

static void nodes_of_scenario(struct builder *b)
{
    const struct cluster_spec *c = &b->scenario->cluster;
    b->groups = arena_array(&b->arena, c->n_groups + 1, struct groups_now);
    b->scene.nodes = arena_array(&b->arena, c->n_nodes + 1, struct scene_node);
    for (uint32_t g = 0; g < c->n_groups; g++)
        add_nodes(b, arena_strdup(&b->arena, c->groups[g].name), c->groups[g].count, c->groups[g].gpus);
    b->scene.total_shares = c->total_shares;
}

/* ---- racks ---- */

static void one_rack(struct builder *b)
{
    struct scene *s = &b->scene;
    s->racks = arena_array(&b->arena, 1, struct scene_rack);
    s->racks[0] = (struct scene_rack){"all", "", 0, s->n_nodes};
    s->n_racks = 1;
}

/* Nodes are numbered along racks, racks along blocks. */
static void racks_of(struct builder *b, const struct topology *t)
{
    struct scene *s = &b->scene;
    if (!t || t->nodes_per_rack == 0 || s->n_nodes == 0) {
        one_rack(b);
        return;
    }
    s->n_racks = (s->n_nodes - 1) / t->nodes_per_rack + 1;
    s->racks = arena_array(&b->arena, s->n_racks, struct scene_rack);
    for (uint32_t n = 0; n < s->n_nodes; n++) {
        struct scene_rack *r = &s->racks[s->nodes[n].rack = n / t->nodes_per_rack];
        if (r->n_nodes++ == 0) {
            uint32_t rack = s->nodes[n].rack;
            r->first_node = n;
            r->name = arena_printf(&b->arena, "rack %u", rack);
            r->block = t->racks_per_block ? arena_printf(&b->arena, "block %u", rack / t->racks_per_block) : "";
        }
    }
}

/* ---- a guess ---- */

/* The nodes and GPUs a node that a record needs; false: none, or more than is believed. */
static bool needs(const struct record *r, uint64_t *nodes, uint32_t *gpus)
{
    *gpus = 0;
    *nodes = 0;
    if (r->type == REC_NODE_STATE) {
        *nodes = (uint64_t)r->subject + 1;
        if (r->a > 0 && r->a <= 64 * 1000) *gpus = (uint32_t)(r->a / 1000);
    } else if (r->type == REC_GROUP_NODES && r->a >> 32) {
        *nodes = (uint64_t)(uint32_t)r->a + (uint32_t)(r->a >> 32);
        if (r->b) *gpus = 64 - (uint32_t)__builtin_clzll((uint64_t)r->b);
    }
    return *nodes > 0 && *nodes <= MAX_GUESSED_GPUS && *nodes * (*gpus ? *gpus : 1) <= MAX_GUESSED_GPUS;
}

bool cluster_lacks(const struct builder *b, const struct record *r)
{
    uint64_t nodes;
    uint32_t gpus;
    if (b->scenario || !needs(r, &nodes, &gpus)) return false;
    if (nodes < b->guessed_nodes) nodes = b->guessed_nodes;
    if (gpus < b->guessed_gpus) gpus = b->guessed_gpus;
    return (nodes > b->guessed_nodes || gpus > b->guessed_gpus) && nodes * gpus <= MAX_GUESSED_GPUS;
}

static void grow_guess(struct builder *b, const struct record *r)
{
    uint64_t nodes;
    uint32_t gpus;
    if (!cluster_lacks(b, r) || !needs(r, &nodes, &gpus)) return;
    if (nodes > b->guessed_nodes) b->guessed_nodes = (uint32_t)nodes;
    if (gpus > b->guessed_gpus) b->guessed_gpus = gpus;
}

/* Of a run that only counts GPUs: as many as its manifest says existed, on average. */
static uint64_t existing_gpus(const struct run *r)
{
    share_ns sum = 0;
    for (size_t g = 0; g < r->n_groups; g++) sum += r->groups[g].existing;
    return r->end_ns > 0 ? (uint64_t)(sum / (uint64_t)r->end_ns / SHARES_PER_GPU) : 0;
}

static void guess(struct builder *b)
{
    struct record r;
    struct timeline_reader *t = timeline_open(b->scene.run->dir, NULL);
    b->guessed_nodes = b->guessed_gpus = 0;
    while (t && timeline_next(t, &r)) grow_guess(b, &r);
    timeline_close(t);
    if (b->guessed_nodes) return;
    uint64_t nodes = (existing_gpus(b->scene.run) + GPUS_OF_A_GUESS - 1) / GPUS_OF_A_GUESS;
    b->guessed_nodes = nodes * GPUS_OF_A_GUESS > MAX_GUESSED_GPUS ? MAX_GUESSED_GPUS / GPUS_OF_A_GUESS : (uint32_t)nodes;
    b->guessed_gpus = GPUS_OF_A_GUESS;
}

static void nodes_of_guess(struct builder *b)
{
    b->groups = arena_array(&b->arena, 1, struct groups_now);
    b->scene.nodes = arena_array(&b->arena, b->guessed_nodes + 1, struct scene_node);
    add_nodes(b, b->scene.run->n_groups == 1 ? arena_strdup(&b->arena, b->scene.run->groups[0].name) : "node",
              b->guessed_nodes, b->guessed_gpus);
    b->scene.total_shares = (int64_t)b->scene.n_tracks[SCENE_GPUS] * SHARES_PER_GPU;
}

/* ---- the whole ---- */

static void tracks_of_nodes(struct builder *b)
{
    struct scene *s = &b->scene;
    uint32_t n = s->n_tracks[SCENE_GPUS];
    s->tracks[SCENE_GPUS] = xcalloc(n + 1, sizeof *s->tracks[SCENE_GPUS]);
    b->gpu_now = arena_array(&b->arena, n + 1, struct gpu_now);
    b->node_show = arena_array(&b->arena, s->n_nodes + 1, uint8_t);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        b->node_show[i] = SHOW_NOTHING;
        for (uint32_t k = 0; k < s->nodes[i].n_gpus; k++)
            b->gpu_now[s->nodes[i].first_gpu + k] = (struct gpu_now){.node = i, .pool = NO_HOLD, .down_show = SHOW_NOTHING};
    }
}

void cluster_build(struct builder *b)
{
    load_scenario(b);
    if (b->scenario) {
        nodes_of_scenario(b);
    } else {
        guess(b);
        nodes_of_guess(b);
    }
    racks_of(b, b->scenario ? &b->scenario->cluster.topology : NULL);
    tracks_of_nodes(b);
}
