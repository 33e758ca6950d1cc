/* lod.h - level of detail: what to paint in each pixel of a range of tracks and time, whatever the zoom.
 *
 *     struct lod *l = lod_create(scene, SCENE_GPUS);
 *     lod_row(l, first, n, from_ns, to_ns, width, cells);   // tracks [first, first + n) merged into one row of `width` cells
 *     lod_update(l);                                        // after scene_poll said that something is new
 *     lod_destroy(l);
 *
 * A cell tells the show and job that take most of its GPU time, how much of it is taken at all, and marks that no zoom may
 * hide: a failure (a span of class down, stalled, hung, back-off or redone, however short) and "more than one span".
 * Found by a pyramid of time buckets over each track and each node, so a cell costs O(1) at any zoom: about 4 ns.
 * Exact where spans are wider than a cell: `taken` is then the true share of the cell's time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_MODEL_LOD_H
#define TRAINYARD_VIZ_MODEL_LOD_H

#include "viz/model/scene.h"

struct lod_cell {
    int32_t job;      /* NO_JOB */
    uint8_t show;     /* SHOW_NOTHING: nobody held it */
    uint8_t taken;    /* of 255: part of the cell that is taken by any span */
    uint8_t failure;  /* the show to mark, SHOW_NOTHING: none */
    uint8_t many;     /* more than one span lies in it */
};

struct lod *lod_create(const struct scene *, enum scene_set);
void lod_update(struct lod *);
void lod_row(const struct lod *, uint32_t first, uint32_t n, int64_t from_ns, int64_t to_ns, unsigned width, struct lod_cell *);
void lod_destroy(struct lod *);

#endif
