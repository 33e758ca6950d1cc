/* compare_page.h - what the comparison shows, and its parts: tables, waterfalls, the distribution of waits. The view lays them out
 * (compare.c), the report draws some of them each into a picture of its own.
 *
 *     struct compare_page p = {0};
 *     compare_page_make(&p, scenes, 2, twin, NULL);       // twin: job of scene 0 -> the same job of scene 1; NULL: without pairs of jobs
 *     float h = compare_waterfall_height(&p.gpu, theme);
 *     compare_waterfall_draw(&p.gpu, names, d, box);
 *     compare_page_free(&p);
 *
 * With one scene it has that run's metrics and waits, and no comparison; `why` says what to do.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_COMPARE_PAGE_H
#define TRAINYARD_VIZ_VIEWS_COMPARE_PAGE_H

#include "base/array.h"
#include "viz/draw/draw.h"
#include "viz/model/comparison.h"
#include "viz/model/scene.h"

/* One row of a decomposition: a difference that moves the sum on. */
struct waterfall_row {
    const char *name;
    unsigned show; /* how it looks */
    const struct comparison_figure *f;
    double begin;  /* sum of the differences above it */
};

struct waterfall {
    ARRAY(struct waterfall_row) rows;    /* those that differ */
    const struct comparison_figure *whole;
    const char *unit;                    /* "GPU-h", "s" */
    double low, high;                    /* range of the sums, 0 within */
    size_t left_out;                     /* parts that are equal in both */
};

/* A job that ended in both of the shown runs at another time. */
struct job_pair {
    int32_t a, b;          /* its numbers */
    int64_t base_ns, other_ns; /* completion times */
    int part;              /* that changed most: jct_part_name */
};

struct compare_page {
    struct comparison *c;  /* NULL: why */
    char *why;
    const struct scene *scenes[2];
    unsigned n;
    struct waterfall gpu, completion;
    struct wait_curve waits[2];
    ARRAY(struct job_pair) pairs; /* from the one that ends soonest under B to the one that ends latest */
};

/* `made`: the comparison of these two, which becomes the page's; NULL: it is looked for beside the runs, or made (comparison_between). */
void compare_page_make(struct compare_page *, const struct scene *const *, unsigned n, const int32_t *twin, struct comparison *made);
void compare_page_free(struct compare_page *);
/* Its jobs that end sooner (direction -1) or later (1) under B; the greatest change first; i < compare_page_jobs. */
size_t compare_page_jobs(const struct compare_page *, int direction);
const struct job_pair *compare_page_job(const struct compare_page *, int direction, size_t i);

/* A figure in words: "-3.10 min", "-3.60 to -2.60 min", "-12.3 %". */
void compare_difference(struct str *, const struct comparison_figure *);
void compare_interval(struct str *, const struct comparison_figure *); /* "" when there is none */
void compare_change(struct str *, const struct comparison_figure *);
const char *compare_verdict(const struct comparison_figure *);        /* "better", "no difference shown", "same" ... */
/* Blue for better, orange for worse, dim where nothing is shown. */
enum role compare_role(const struct comparison_figure *);

float compare_waterfall_height(const struct waterfall *, const struct theme *);
void compare_waterfall_draw(const struct waterfall *, const char *a, const char *b, struct draw_list *, struct box);
void compare_waits_draw(const struct compare_page *, struct draw_list *, struct box);
/* The colour of A's and of B's line. */
uint32_t compare_colour(const struct theme *, unsigned run);

#endif
