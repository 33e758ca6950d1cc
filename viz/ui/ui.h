/* ui.h - the state of the viewer: what is shown, from when to when, what is selected. No window, no clock, no pixels.
 *
 *     struct ui *u = ui_create(scenes, n, text, &options);
 *     ui_event(u, &(struct ui_event){.kind = UI_KEY, .key = 'w'});
 *     ui_draw(u, list);                        // the whole window
 *     ui_dump(u, &json);                       // the same as text, for tests and for people who cannot see it
 *     ui_destroy(u);
 *
 * The SDL program, --script and the tests feed the same events; views (view.h) read and change this state through the functions below. Nothing
 * happens without an event or ui_tick. Two runs A and B share time window, cursor, selection, filter and scroll; a job is the same job when its id is.
 *
 * What keys do stands in one table (actions.h) from which key handling, the help overlay, the manual page and the tests are made.
 *
 * Cost: an event O(log n) beside searches; drawing what the view costs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_UI_H
#define TRAINYARD_VIZ_UI_UI_H

#include "base/json_write.h"
#include "viz/draw/draw.h"
#include "viz/model/curves.h"
#include "viz/model/lod.h"
#include "viz/model/scene.h"
#include "viz/ui/filter.h"

/* A and B; all that the grid shows. */
enum { UI_MAX_RUNS = 2, UI_ALL_RUNS = 16, UI_MAX_PINS = 16 };

enum ui_event_kind { UI_KEY, UI_TEXT, UI_WHEEL, UI_PRESS, UI_RELEASE, UI_MOVE, UI_RESIZE, UI_QUIT };
enum ui_mods { UI_SHIFT = 1, UI_CTRL = 2, UI_ALT = 4 };
/* Keys: ASCII in lower case, or these. */
enum ui_key {
    UI_ESC = 0x100, UI_ENTER, UI_TAB, UI_BACKSPACE, UI_DELETE, UI_LEFT, UI_RIGHT, UI_UP, UI_DOWN, UI_HOME, UI_END, UI_PAGE_UP, UI_PAGE_DOWN, UI_F1
};
enum ui_button { UI_BUTTON_LEFT = 1, UI_BUTTON_MIDDLE, UI_BUTTON_RIGHT };

struct ui_event {
    enum ui_event_kind kind;
    int key;              /* UI_KEY */
    unsigned mods;        /* enum ui_mods */
    float x, y;           /* of the pointer; UI_RESIZE: the new size */
    float wheel;          /* > 0: away from the user */
    enum ui_button button;
    char text[32];        /* UI_TEXT, UTF-8 */
};

enum ui_selected { SELECTED_NOTHING, SELECTED_JOB, SELECTED_NODE, SELECTED_GPU, SELECTED_EVENT };

struct ui_selection {
    enum ui_selected kind;
    unsigned run;         /* in which of the runs it was picked */
    int32_t job;          /* number in that run */
    uint32_t node, gpu;   /* index of a node; a track of SCENE_GPUS */
    uint32_t event;       /* index of scene.events */
    int64_t at_ns;        /* the moment that was picked; -1 */
};

enum ui_colour_by { COLOUR_STATE, COLOUR_JOB, COLOUR_QUEUE, COLOUR_TEAM, N_COLOUR_BY };
enum ui_show { UI_BOTH, UI_ONLY_A, UI_ONLY_B, N_UI_SHOW };

/* One run as it is shown. */
struct ui_run {
    unsigned place;            /* among all runs: by it ui_run_name and ui_scene_at know it */
    struct scene *scene;
    struct lod *lod[N_SCENE_SETS];
    struct curves *curves;
    int32_t *twin;             /* job number -> the same job's number in the other run; -1. NULL with one run */
    bool *passes;              /* by job: whether the filter lets it through; recomputed with it */
    uint32_t matches;          /* how many of them */
    uint32_t *key;             /* by job: what it is coloured by, see colours.c */
    struct memo *memos;        /* of views, while it is alone before them in the grid */
};

/* A row that stays at the top of the Gantt. place: gantt_focus of gantt_rows.h, numbers of jobs as in that run. */
struct ui_pin { unsigned run, place; };

/* Where things are; a part that is not shown has no height or width. body: for the views; panes share it, with the
 * ribbon of differences between them. */
struct ui_layout { struct box window, title, tabs, notes, legend, body, ribbon, details, axis, status; };

struct ui {
    struct ui_run runs[UI_MAX_RUNS];
    unsigned n_runs;
    const struct text_engine *text;
    struct theme theme;
    unsigned theme_index;
    float font_scale;
    float w, h;
    struct ui_layout layout;   /* of the last draw */

    unsigned view;             /* index of view_kinds */
    enum ui_show show;
    int64_t from_ns, to_ns;    /* the time window; from < to */
    int64_t cursor_ns;         /* always within the run */
    int64_t mark_from_ns, mark_to_ns; /* selected range; -1: none */
    int64_t anchor_ns;         /* second cursor: the range lies between it and the cursor; -1: none */
    struct ui_selection selection;
    enum ui_colour_by colour_by;
    uint32_t isolated;         /* what the legend isolates, + 1: a show, or a queue or team by its place in the legend; 0: all */
    bool by_job;               /* Gantt: a row a job */
    unsigned grid_columns;     /* 0: as fits */
    bool grid;                 /* all runs, small, where the view shows one run a pane; then runs[0] is the one with the focus, and the only one */
    bool normalise;            /* curves and ledger: each run to its own scale */
    bool large;                /* curves: the chosen one alone */
    unsigned ledger_by;        /* ledger: enum ledger_by of views/ledger.c */
    struct hmap *collapsed;    /* racks and nodes that are folded: key of gantt.h */
    float scroll[16];          /* of each view, in its own rows or pixels */
    struct ui_pin pins[UI_MAX_PINS];
    unsigned n_pins;
    unsigned focus;            /* row or item with the keyboard focus, of the view */
    struct filter *filter;     /* NULL: none */
    const char *filter_text;

    bool playing, follow, animate, help, details;
    double speed;              /* simulated seconds a second */
    bool dirty;                /* the picture changed */
    bool quit;
    char message[256];         /* in the status line until the next event */
    struct memo *memos;        /* memo.h */
    struct ui_private *private;
};

struct ui_options {
    unsigned theme;
    float font_scale;          /* 1 */
    bool follow, animate;
    const char *error;         /* with no scene: what the window says instead of showing a run */
    const char *left_out;      /* which runs are not shown; NULL; to live as long as the ui */
    bool grid;
};

/* The scenes stay the caller's and must outlive it; the first two are A and B. n <= UI_ALL_RUNS; 0: a window that only tells options->error. */
struct ui *ui_create(struct scene *const *scenes, unsigned n, const struct text_engine *, const struct ui_options *);
void ui_destroy(struct ui *);
void ui_event(struct ui *, const struct ui_event *);
void ui_tick(struct ui *, double seconds);  /* plays */
void ui_grown(struct ui *);                 /* a scene changed: update levels of detail and curves, move the window when it stood at the end */
void ui_draw(struct ui *, struct draw_list *);
void ui_dump(struct ui *, struct json_writer *);
bool ui_filter(struct ui *, const char *text, char **err); /* "": none; false: nothing changed, err (to free) says what is wrong */
void ui_font_scale(struct ui *, float scale);              /* 1: type of 12 px */
void ui_theme_set(struct ui *, unsigned index, float scale);
/* The strip of colours and states of the present view, also for pictures without a frame; its height depends on the width. */
float legend_height(const struct ui *, float width);
void legend_draw(struct ui *, struct draw_list *, struct box);
/* For pictures without a frame: the grid with its time axes, if the view has them; one run alone before the views, until the next event. */
void grid_picture(struct ui *, struct draw_list *, struct box body, struct box axis);
void ui_alone(struct ui *, unsigned place);

/* All runs; the name says in what it differs from the others. */
unsigned ui_n_runs(const struct ui *);
const struct scene *ui_scene_at(const struct ui *, unsigned place); /* NULL: there is none */
void ui_run_name(const struct ui *, unsigned place, struct str *);

/* For views. */
unsigned ui_n_scaled(const struct ui *);                               /* runs that share scales and rows: A and B, or all of the grid */
const struct ui_run *ui_scaled(const struct ui *, unsigned i);
struct ui_run *ui_run(struct ui *, unsigned i);
float ui_x_of(const struct ui *, struct box plot, int64_t ns);         /* time to pixel within a plot that spans the window */
int64_t ui_time_of(const struct ui *, struct box plot, float x);
void ui_window(struct ui *, int64_t from_ns, int64_t to_ns);            /* clamped to the run; remembered for Ctrl+Z */
void ui_cursor(struct ui *, int64_t ns);                               /* clamped; scrolls the window to keep it in sight */
void ui_select(struct ui *, const struct ui_selection *);              /* remembered */
int32_t ui_selected_job(const struct ui *, unsigned run);              /* the selected job in this run (its twin), -1 */
bool ui_job_passes(const struct ui *, unsigned run, int32_t job);      /* filter */
uint32_t ui_colour(const struct ui *, unsigned run, unsigned show, int32_t job); /* by colour_by, greyed when filtered or isolated away */
void ui_say(struct ui *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ui_view(struct ui *, const char *name);                            /* by name */

/* Why A and B can be compared in part only; NULL. The window says so, too. */
const char *ui_differ(const struct ui *);

#endif
