/* job_page.h - the pieces of the job page: what one column of it shows, of the selected job in one run.
 *
 * A column is laid out by drawing it: each section draws from `y` down and moves it. With no draw list it only measures, and gathers the links;
 * keys, the pointer and the wheel read those. Both columns share the scale of time, so that what is later stands further to the right.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_JOB_PAGE_H
#define TRAINYARD_VIZ_VIEWS_JOB_PAGE_H

#include "study/diagnose.h"
#include "viz/ui/view.h"
#include "viz/views/job_facts.h"
#include "viz/views/job_members.h"
#include "viz/views/job_series.h"

struct job_link { /* to the job that a wait ended by, or that took its GPUs; or a group that Enter folds and unfolds */
    struct box box;
    unsigned run;
    int32_t job;        /* -1: a fold */
    int64_t at_ns;
    uint32_t fold;      /* of a member of the group: its place among pods, or FOLD_ACTORS + among actors */
};
enum { FOLD_ACTORS = 1 << 21 };

struct job_page {
    struct ui *ui;
    struct box box;                            /* of all columns */
    unsigned n_columns, runs[UI_MAX_RUNS];
    const struct job_facts *facts[UI_MAX_RUNS]; /* by column; NULL: the job is not in that run */
    const struct job_facts *other[UI_MAX_RUNS]; /* the same job in the other run, for differences; NULL */
    int64_t from_ns, to_ns;                    /* of the strips */
    float scroll, height;                      /* px; height: of the longest column */
    ARRAY(struct job_link) links;
};

/* One column while it is drawn or measured. */
struct job_column {
    struct job_page *page;
    struct draw_list *d;            /* NULL: only measured */
    const struct job_facts *facts, *other;
    unsigned run;
    float x, y, w, table;           /* table: the width of what has columns, which must not be far apart */
};

bool job_page_begin(struct job_page *, struct ui *, const struct pane *); /* false: no job is selected */
void job_page_end(struct job_page *);

/* Sections, from top to bottom. */
void job_draw_figures(struct job_column *);
void job_draw_life(struct job_column *);
void job_draw_members(struct job_column *); /* pods and actors (job_pods.c) */
void job_draw_waits(struct job_column *);
void job_draw_gpu_time(struct job_column *);
void job_draw_diagnosis(struct job_column *);
void job_draw_attempts(struct job_column *);
void job_draw_series(struct job_column *);
/* The same job's points in a live run that lies over this simulated one; NULL. */
const job_points *job_measured(const struct job_page *, unsigned run, const struct job_facts *);

/* For sections. */
void job_heading(struct job_column *, const char *text);
bool job_visible(const struct job_column *, float h);  /* whether the next h px are in sight, and to be drawn */
void job_cell(struct job_column *, float x, float w, enum face, enum role, enum align, const char *text); /* in the present line */
void job_next_line(struct job_column *);
void job_note(struct job_column *, enum role, const char *text);   /* lines of text, broken at blanks */
void job_add_link(struct job_column *, struct box, int32_t job, int64_t at_ns);
void job_add_fold(struct job_column *, struct box, uint32_t fold);
bool job_link_focused(const struct job_column *); /* of the link that comes next */

/* The longest waits first; and what is told of GPU time: shares by activity of the job's row. */
enum { JOB_WAITS_SHOWN = 8, JOB_ATTEMPTS_SHOWN = 8, JOB_PLACES_SHOWN = 4 };
size_t job_longest_waits(const struct job_facts *, const struct job_wait *out[JOB_WAITS_SHOWN]);

struct job_use { const char *name; unsigned show; share_ns sum; };
enum { JOB_MOST_USES = N_WORK_ACTIVITIES + 4 };
size_t job_uses(const struct job_facts *, struct job_use out[JOB_MOST_USES]);

/* What the studies say of it; kept between draws. NULL: nothing, and why. */
struct job_diagnosis { bool made; struct diagnosis d; };
const struct diagnosis *job_diagnosis(struct ui *, unsigned run, const struct job_facts *);
void job_dump(struct job_page *, struct json_writer *);

/* Its pods, or the actors of its group, with who is alike at a moment; kept between draws. */
struct job_crew {
    struct job_members members;
    struct member_groups groups;
    int64_t at_ns;   /* the cursor; or the job's end, while the cursor lies outside of its life */
};
const struct job_crew *job_crew(struct ui *, unsigned run, const struct job_facts *, bool actors);
void job_dump_members(struct job_page *, unsigned column, struct json_writer *);
float job_x_of(const struct job_column *, int64_t ns); /* on the strips */

#endif
