/* map_layout.h - where each block, rack, node and GPU stands on the map: cells that fill a box, as square as can be.
 *
 *     struct map_layout m;
 *     map_layout_make(&m, scene, box, line);
 *     struct box cell = map_gpu(&m, gpu), node = map_node(&m, node);
 *     map_layout_free(&m);
 *
 * Four grids in one another: blocks, racks of a block, nodes of a rack, GPUs of a node. All places of a level have the size of the largest one, so that
 * equal things look equal. The columns of the four grids are those that give the largest cells; gaps shrink, and names go, when cells become small.
 * Cells may be smaller than a pixel.
 *
 * Cost: trying columns, some thousand combinations; a box O(1) or, of a GPU, O(log nodes); 8 bytes a rack.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_MAP_LAYOUT_H
#define TRAINYARD_VIZ_VIEWS_MAP_LAYOUT_H

#include "viz/draw/draw.h"
#include "viz/model/scene.h"

enum map_level { MAP_BLOCK, MAP_RACK, MAP_NODE, MAP_GPU, N_MAP_LEVELS };

struct map_grid {
    unsigned n, columns, rows; /* places, at the most */
    float gap, head, pad;      /* px: between places; above them, for the name of what is around; at their sides */
    float w, h;                /* of a place */
};

struct map_layout {
    const struct scene *scene;
    struct box box;
    struct map_grid grid[N_MAP_LEVELS];
    struct map_rack_place { uint32_t block, in_block; } *racks; /* by rack */
};

void map_layout_make(struct map_layout *, const struct scene *, struct box, float line);
void map_layout_free(struct map_layout *);
struct box map_rack(const struct map_layout *, uint32_t rack);
struct box map_block(const struct map_layout *, uint32_t rack); /* the block of a rack */
struct box map_node(const struct map_layout *, uint32_t node);
struct box map_gpu(const struct map_layout *, uint32_t gpu);
/* The GPU at a point, -1: none. */
int64_t map_gpu_at(const struct map_layout *, float x, float y);
/* The GPU whose cell is next in a direction (dx, dy: -1, 0, 1); the same when there is none. */
uint32_t map_step(const struct map_layout *, uint32_t gpu, int dx, int dy);

#endif
