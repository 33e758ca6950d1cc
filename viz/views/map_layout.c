/* map_layout.c - see map_layout.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/map_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- how many of each ---- */

static bool begins_block(const struct scene *s, uint32_t rack)
{
    return rack == 0 || strcmp(s->racks[rack].block, s->racks[rack - 1].block) != 0;
}

static void count(struct map_layout *m)
{
    const struct scene *s = m->scene;
    unsigned in_block = 0;
    m->racks = xcalloc(s->n_racks + 1, sizeof *m->racks);
    for (uint32_t k = 0; k < s->n_racks; k++) {
        bool begins = begins_block(s, k);
        in_block = begins ? 1 : in_block + 1;
        m->grid[MAP_BLOCK].n += begins;
        m->racks[k] = (struct map_rack_place){m->grid[MAP_BLOCK].n - 1, in_block - 1};
        if (in_block > m->grid[MAP_RACK].n) m->grid[MAP_RACK].n = in_block;
        if (s->racks[k].n_nodes > m->grid[MAP_NODE].n) m->grid[MAP_NODE].n = s->racks[k].n_nodes;
    }
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].n_gpus > m->grid[MAP_GPU].n) m->grid[MAP_GPU].n = s->nodes[i].n_gpus;
    for (int l = 0; l < N_MAP_LEVELS; l++)
        if (m->grid[l].n == 0) m->grid[l].n = 1;
}

/* ---- the best columns ---- */

static void divide(struct map_grid *g, unsigned columns, float w, float h)
{
    g->columns = columns;
    g->rows = (g->n + columns - 1) / columns;
    g->w = (w - 2 * g->pad - g->gap * (float)(columns - 1)) / (float)columns;
    g->h = (h - g->pad - g->head - g->gap * (float)(g->rows - 1)) / (float)g->rows;
}

/* More columns that save no row only make cells narrower. */
static unsigned next_columns(const struct map_grid *g)
{
    unsigned rows = g->rows - 1;
    return rows ? (g->n + rows - 1) / rows : g->n + 1;
}

static float smaller_side(const struct map_grid *g)
{
    return fminf(g->w, g->h);
}

static float best(struct map_grid *g, int level, float w, float h)
{
    float most = -INFINITY;
    struct map_grid chosen[N_MAP_LEVELS];
    for (divide(&g[level], 1, w, h);; divide(&g[level], next_columns(&g[level]), w, h)) {
        float side = level == MAP_GPU ? smaller_side(&g[level]) : best(g, level + 1, g[level].w, g[level].h);
        if (side > most) {
            most = side;
            memcpy(chosen, g, sizeof chosen);
        }
        if (g[level].rows == 1) break;
    }
    memcpy(g + level, chosen + level, sizeof *g * (size_t)(N_MAP_LEVELS - level));
    return most;
}

/* From airy to dense; the first whose cells are at least `least` px is taken. */
struct spacing { float least, gap[N_MAP_LEVELS], pad; bool blocks, racks, nodes; };
static const struct spacing spacings[] = {
    {14, {12, 8, 6, 2}, 4, true,  true,  true },
    {5,  {10, 6, 3, 1}, 3, true,  true,  false},
    {3,  {6, 3, 2, 1},  1, true,  false, false},
    {2,  {4, 2, 1, 0},  0, false, false, false},
    {0,  {2, 1, 0, 0},  0, false, false, false},
};

static float space(struct map_layout *m, const struct spacing *s, float line)
{
    bool racks = m->scene->n_racks > 1; /* the only one has no name to tell */
    const bool heads[] = {false, s->blocks && m->grid[MAP_BLOCK].n > 1, s->racks && racks, s->nodes};
    for (int l = 0; l < N_MAP_LEVELS; l++) {
        m->grid[l].gap = s->gap[l];
        m->grid[l].head = l && heads[l] ? line : l ? s->pad : 0;
        m->grid[l].pad = l ? s->pad : 0;
    }
    return best(m->grid, 0, m->box.w, m->box.h);
}

void map_layout_make(struct map_layout *m, const struct scene *s, struct box box, float line)
{
    *m = (struct map_layout){.scene = s, .box = box};
    count(m);
    for (size_t i = 0; i < sizeof spacings / sizeof *spacings; i++)
        if (space(m, &spacings[i], line) >= spacings[i].least) return;
}

void map_layout_free(struct map_layout *m)
{
    free(m->racks);
}

/* ---- boxes ---- */

static struct box place(const struct map_grid *g, struct box around, uint32_t i)
{
    float column = (float)(i % g->columns), row = (float)(i / g->columns);
    return (struct box){around.x + g->pad + column * (g->w + g->gap), around.y + g->head + row * (g->h + g->gap), g->w, g->h};
}

struct box map_block(const struct map_layout *m, uint32_t rack)
{
    return place(&m->grid[MAP_BLOCK], m->box, m->racks[rack].block);
}

struct box map_rack(const struct map_layout *m, uint32_t rack)
{
    return place(&m->grid[MAP_RACK], map_block(m, rack), m->racks[rack].in_block);
}

struct box map_node(const struct map_layout *m, uint32_t node)
{
    uint32_t rack = m->scene->nodes[node].rack;
    return place(&m->grid[MAP_NODE], map_rack(m, rack), node - m->scene->racks[rack].first_node);
}

struct box map_gpu(const struct map_layout *m, uint32_t gpu)
{
    uint32_t node = scene_node_of(m->scene, gpu);
    return place(&m->grid[MAP_GPU], map_node(m, node), gpu - m->scene->nodes[node].first_gpu);
}

/* ---- points ---- */

static bool inside(struct box b, float x, float y)
{
    return x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h;
}

static int64_t gpu_in_node(const struct map_layout *m, uint32_t node, float x, float y)
{
    const struct scene_node *n = &m->scene->nodes[node];
    struct box around = map_node(m, node);
    for (uint32_t k = 0; k < n->n_gpus; k++)
        if (inside(place(&m->grid[MAP_GPU], around, k), x, y)) return n->first_gpu + k;
    return n->n_gpus ? (int64_t)n->first_gpu : -1; /* its name or a gap: the node's first */
}

int64_t map_gpu_at(const struct map_layout *m, float x, float y)
{
    for (uint32_t k = 0; k < m->scene->n_racks; k++) {
        const struct scene_rack *r = &m->scene->racks[k];
        struct box around = map_rack(m, k);
        if (!inside(around, x, y)) continue;
        for (uint32_t i = 0; i < r->n_nodes; i++)
            if (inside(place(&m->grid[MAP_NODE], around, i), x, y)) return gpu_in_node(m, r->first_node + i, x, y);
    }
    return -1;
}

uint32_t map_step(const struct map_layout *m, uint32_t gpu, int dx, int dy)
{
    struct box here = map_gpu(m, gpu);
    float least = INFINITY;
    uint32_t found = gpu;
    for (uint32_t i = 0; i < m->scene->n_nodes; i++) {
        const struct scene_node *n = &m->scene->nodes[i];
        struct box around = map_node(m, i);
        for (uint32_t k = 0; k < n->n_gpus; k++) {
            struct box b = place(&m->grid[MAP_GPU], around, k);
            float x = b.x - here.x, y = b.y - here.y, along = x * (float)dx + y * (float)dy, aside = fabsf(x * (float)dy) + fabsf(y * (float)dx);
            float far = along + 3 * aside;
            if (along < (dx ? here.w : here.h) / 2 || far >= least) continue;
            least = far;
            found = n->first_gpu + k;
        }
    }
    return found;
}
