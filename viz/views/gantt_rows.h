/* gantt_rows.h - which rows the Gantt has, how high they are, and which tracks each stands for.
 *
 *     struct gantt_rows rows = {0};
 *     gantt_rows_make(&rows, &(struct gantt_want){.scene = scene, .height = 640, .line = 18, ...});
 *     for (struct gantt_row r = {0}; gantt_row_next(&rows, top, bottom, &r);) paint tracks [r.first, r.first + r.n) at r.y, r.h
 *     gantt_rows_free(&rows);
 *
 * The tree is block, rack, node, GPU. A row is a GPU, or a block, rack or node that is folded and then about as high as a line of text. The height of GPU rows
 * is given or, at 0, what fits: at most a line, and below a pixel where there are more GPUs than pixels. Rows of less than a pixel are merged: a
 * row of one pixel then stands for several tracks, in their order, and every track is in exactly one row. By job, the tree is a list: the jobs
 * that lived in the window, in order of submission; with a filter only those that pass it, at no less than a line.
 *
 * Merged rows of jobs are a range of tracks too: a job between them that is not in the list has no span in the window.
 *
 * Units: px, y from the top of all rows. Cost: O(racks + folds) for the tree, O(jobs) by job; memory: 32 bytes a fold, 4 a job.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_GANTT_ROWS_H
#define TRAINYARD_VIZ_VIEWS_GANTT_ROWS_H

#include "base/array.h"
#include "base/hmap.h"
#include "viz/model/scene.h"

enum gantt_level { GANTT_NONE, GANTT_BLOCK, GANTT_RACK, GANTT_NODE, GANTT_GPU, GANTT_JOB };

/* A place in the tree. item: of a block its first rack; of others their index; of a job its number. */
struct gantt_item {
    enum gantt_level level;
    uint32_t item;
};

struct gantt_want {
    const struct scene *scene;
    const struct hmap *collapsed; /* keys: gantt_key; NULL: nothing is folded */
    bool by_job;
    const bool *passes;           /* by job; NULL: no filter */
    int64_t from_ns, to_ns;
    float height, line;           /* px: of the sight; of a line of text */
    float row;                    /* px of a GPU's or job's row; 0: what fits */
};

/* Neighbours that are laid out alike. */
struct gantt_stretch {
    float y, h;
    struct gantt_item folded; /* level GANTT_NONE: rows of single tracks */
    uint32_t first, n;        /* tracks; by job: places in the list */
};

struct gantt_rows {
    const struct scene *scene;
    enum scene_set set;
    ARRAY(struct gantt_stretch) stretches;
    ARRAY(uint32_t) jobs; /* by job: the list */
    uint32_t others;      /* jobs that lived in the window, but do not pass the filter */
    float height, row;    /* of all rows; of a row of one track */
};

struct gantt_row {
    float y, h;
    struct gantt_item item; /* what it is, when it is one thing; level GANTT_NONE: several GPUs or jobs */
    uint32_t first, n;      /* tracks of the set */
    uint32_t stretch, next; /* where gantt_row_next goes on */
};

uint64_t gantt_key(struct gantt_item);
/* As one number, 0: none; and back, none where the scene has no such place. */
unsigned gantt_focus(struct gantt_item);
struct gantt_item gantt_unfocus(const struct scene *, unsigned);

void gantt_rows_make(struct gantt_rows *, const struct gantt_want *);
void gantt_rows_free(struct gantt_rows *);
/* The next row that touches [top, bottom); begin with a zeroed row. False: no more. */
bool gantt_row_next(const struct gantt_rows *, float top, float bottom, struct gantt_row *);
/* The row at y; false: none. */
bool gantt_row_at(const struct gantt_rows *, float y, struct gantt_row *);

/* From where to where a place of the tree reaches, folded or not; false: it lies in a fold around it, or is not in the list. */
bool gantt_extent(const struct gantt_rows *, struct gantt_item, float *y, float *h);
bool gantt_is_folded(const struct gantt_rows *, struct gantt_item);
struct gantt_item gantt_parent(const struct scene *, struct gantt_item);
/* Its tracks. */
void gantt_tracks(const struct scene *, struct gantt_item, uint32_t *first, uint32_t *n);
/* The next (forward) or previous place whose extent is at least `least` high: a walk through what can be read. The same place at the end. */
struct gantt_item gantt_walk(const struct gantt_rows *, struct gantt_item, bool forward, float least);

/* "block 0", "rack 3", "h100-17", "h100-17 / gpu 3", "tune-3", "h100-0 / gpu 0 to h100-0 / gpu 3". */
struct str;
void gantt_item_name(const struct scene *, struct gantt_item, struct str *);
void gantt_row_name(const struct gantt_rows *, const struct gantt_row *, struct str *);

#endif
