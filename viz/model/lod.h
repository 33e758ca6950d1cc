/* lod.h - level of detail: what to paint in each pixel of a range of tracks and time, whatever the zoom.
 *
 *     struct lod *l = lod_create(scene, SCENE_GPUS);
 *     lod_row(l, first, n, from_ns, to_ns, width, cells);   // tracks [first, first + n) merged into one row of `width` cells
 *     lod_update(l);                                        // after scene_poll said that something is new
 *     lod_destroy(l);
 *
 * A cell tells the show and job that take most of its GPU time, how much of it is taken at all, and marks that no zoom may
 * hide: a failure, however short the span (class down, stalled, hung, back-off,
 * redone; of jobs' tracks also detection and the container's back-off), and "not one job and show alone".
 *
 * Where spans are wider than a cell they are walked: `taken` is then the true share of the cell's time. Where they are narrower, cells
 * are made from buckets of equal length that are kept for each track, and for each block of 4, 16, 64 ... tracks that begins at
 * a multiple of its size: rows of 4 or 16 tracks cost least when they begin at such a multiple. Buckets are at most a cell wide, so a span may be
 * seen one cell off, and `taken` is right in the mean; the show of a merged cell is the winner among winners, not a full count.
 *
 * Cost: about 2 ns a cell and 7 ns a span that is walked; a row of many tracks reads one block for most of them. Memory: at most 48 bytes
 * a span, and 48 KB, for each track and block with more than 256 spans; in all about 40 bytes a span where tracks have 1,000 spans, 30 at 2,500.
 * Making: 40 to 70 ns a span. lod_update extends what is there, to what would be made anew: from the first moment on that has changed, about 1 us a
 * track of which something has, 2 ns one of which nothing has. All is made anew when the run has grown by half since the last time, and
 * when a version of the scene was missed.
 * One thread at a time: queries keep scratch memory in the lod.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_MODEL_LOD_H
#define TRAINYARD_VIZ_MODEL_LOD_H

#include "viz/model/scene.h"

/* The order of the fields lets lod.c compare cells as one number. */
struct lod_cell {
    int32_t job;      /* NO_JOB */
    uint8_t show;     /* SHOW_NOTHING: nobody held it */
    uint8_t many;     /* more than one job or show */
    uint8_t failure;  /* the show to mark, SHOW_NOTHING: none; the gravest of several */
    uint8_t taken;    /* of 255: part of the cell that is taken by any span; at least 1 when there is one */
};

struct lod *lod_create(const struct scene *, enum scene_set);
void lod_update(struct lod *);
/* Tracks beyond the last are empty. from < to, width > 0. */
void lod_row(const struct lod *, uint32_t first, uint32_t n, int64_t from_ns, int64_t to_ns, unsigned width, struct lod_cell *);
void lod_destroy(struct lod *);

#endif
