/* private.h - what the files of viz/ui share and nobody else reads: the rest of the state, and their functions.
 *
 * state.c     create, destroy, what views ask for       actions.c   the table of keys        input.c     events to actions
 * navigate.c  zoom, pan, fit, cursor                    steps.c     events, play, run until  history.c   back and forward
 * time_axis.c, axis_labels.c                            the axis, and what is named on it
 * export.c    the range as a file for other programs
 * field.c     the text field: search, go to, queue      pairs.c     A and B: same jobs, who ended earlier
 * colours.c   colours by state, job, queue, team        legend.c    its entries
 * details.c   what is selected, in lines                details_range.c the range and the second cursor
 * frame.c     the window around the views
 * bookmarks.c moments and ranges with a name            menu.c      lists to choose from
 * runs.c      A, B and the others           grid.c      all of them at once
 * overlay.c   help, tooltip                             dump.c      the state as JSON        script.c    --script
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_PRIVATE_H
#define TRAINYARD_VIZ_UI_PRIVATE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/hmap.h"
#include "viz/ui/actions.h"
#include "viz/ui/view.h"

/* ---- all runs, two of which are A and B ---- */

/* A selection that finds its run again: its `run` by the place among all. */
struct place_selection {
    struct ui_selection selection;
    unsigned place;
};
void runs_make(struct ui *, struct scene *const *, unsigned n);
void runs_drop(struct ui *);
struct ui_run *runs_at(struct ui *, unsigned place);     /* where it is now */
struct place_selection runs_selection(const struct ui *);
void runs_select(struct ui *, const struct place_selection *); /* in what is loaded */
void runs_sync(struct ui *);                             /* loads A and B, or the focus of the grid, as view and grid ask for; idle when it is so */
void runs_swap(struct ui *);
void runs_choose(struct ui *, bool b, unsigned place);   /* A or B; to be synced */
/* One run of the grid alone before the views for a while. */
struct lent_run { struct place_selection selection; unsigned place; };
void runs_lend(struct ui *, unsigned place, struct lent_run *);
void runs_return(struct ui *, const struct lent_run *);

bool grid_shown(const struct ui *);
unsigned grid_columns(const struct ui *);
struct box grid_tile(const struct ui *, unsigned place); /* for the view: without its name */
int grid_at(const struct ui *, float x, float y);        /* -1: none is there */
struct box grid_plot(const struct ui *);                 /* of the one below the pointer, else of the focus */
void grid_focus(struct ui *, unsigned place);
void grid_draw(struct ui *, struct draw_list *);
void grid_axes_draw(struct ui *, struct draw_list *);
bool grid_hover(struct ui *, float x, float y, struct hover *);
void grid_dump(struct ui *, struct json_writer *);
void pane_draw(struct ui *, struct draw_list *, const struct pane *);

/* ---- back and forward ---- */

struct moment {
    unsigned view;
    enum ui_show show;
    bool by_job;
    int64_t from_ns, to_ns, cursor_ns;
    bool grid;
    unsigned focus;            /* of the grid */
    struct place_selection selection;
};
typedef ARRAY(struct moment) moment_list;

void history_note(struct ui *);  /* call before view, window, show or selection change */

/* ---- the text field ---- */

enum field_kind { FIELD_NONE, FIELD_SEARCH, FIELD_GOTO, FIELD_QUEUE, FIELD_BOOKMARK, FIELD_COMMAND, FIELD_EXPORT };
enum { FIELD_BYTES = 256 };
struct field {
    enum field_kind kind;
    char text[FIELD_BYTES], before[FIELD_BYTES]; /* before: the filter when it was opened */
    size_t n, caret;
    char *error; /* NULL: none */
};
void field_key(struct ui *, int key, unsigned mods);
void field_text(struct ui *, const char *text);
void field_close(struct ui *);
void filter_apply(struct ui *);                             /* passes[] anew */

enum until { UNTIL_FAILURE, UNTIL_PREEMPTION, UNTIL_QUEUE };
void run_until(struct ui *, enum until, double x);

/* ---- pointer, focus and what can be clicked ---- */

enum drag { DRAG_NONE, DRAG_RANGE, DRAG_PAN, DRAG_SCRUB };
struct pointer {
    float x, y;       /* below 0: not in the window */
    enum drag drag;
    bool moved;       /* beyond a click */
    float from_x, from_y;
    int64_t from_ns, window_from_ns, window_to_ns;
    float rows;       /* scrolled so far by this drag, in pixels */
};

enum area { AREA_BODY, AREA_DETAILS, AREA_LEGEND, AREA_TABS, N_AREAS, AREA_MENU = N_AREAS /* not for Tab */ };
struct hit {
    struct box box;
    enum area area; /* of the thing: a tab, an entry of the legend, a link of the details */
    unsigned index;
};

/* ---- colours and legend ---- */

struct colours {
    uint32_t full[N_SHOWS], grey[N_SHOWS];
    struct intern names;                 /* of queues or teams */
    bool has[N_SCENE_SETS][N_SHOWS];     /* which shows there are in the runs */
};

struct legend_entry {
    uint32_t key;
    const char *name, *help;
    struct look look;
};
typedef ARRAY(struct legend_entry) legend_list;

void colours_update(struct ui *);      /* after a change of theme, colour_by or scenes */
void colours_count(struct ui *);       /* after a change of scenes: which shows there are */
void colours_free(struct colours *);
void legend_entries(const struct ui *, legend_list *);
unsigned legend_count(const struct ui *);
void legend_isolate(struct ui *, unsigned entry); /* again: all */

/* ---- A and B ---- */

struct delta {
    int64_t at_ns;    /* the earlier of both finishes, else of both starts */
    int64_t start_ns, finish_ns; /* B - A; 0 when not known in both */
    int32_t job;      /* in run 0 */
};
typedef ARRAY(struct delta) delta_list;
void pairs_update(struct ui *);
void ribbon_draw(struct ui *, struct draw_list *, struct box ribbon, struct box plot);
void ribbon_count(const struct ui *, unsigned *earlier, unsigned *later);  /* within the window */

/* ---- details ---- */

enum detail_kind { DETAIL_TITLE, DETAIL_HEADING, DETAIL_ROW, DETAIL_TEXT, DETAIL_BAR };
struct detail {
    enum detail_kind kind;
    const char *label, *value, *other; /* other: of the second run; NULL */
    uint32_t argb;             /* a swatch before the label when not 0 */
    enum pattern pattern;      /* of the swatch */
    int32_t link_job;          /* < 0: no link */
    unsigned link_run;
    int64_t link_ns;
};
struct details {
    struct arena arena;
    ARRAY(struct detail) lines;
};
void details_build(struct ui *, struct details *);
void details_free(struct details *);
void details_draw(struct ui *, struct draw_list *, struct box);
void details_range(struct ui *, struct details *);
unsigned details_links(struct ui *);
void details_follow(struct ui *, unsigned link);

/* ---- bookmarks ---- */

struct bookmark {
    int64_t from_ns, to_ns; /* equal: a moment */
    char name[FIELD_BYTES];
};
typedef ARRAY(struct bookmark) bookmark_list;
const char *bookmark_here(const struct ui *);     /* the name of the one that K would set; NULL: there is none yet */
void bookmark_put(struct ui *, const char *name); /* of the range, else of the cursor's moment */
void bookmark_remove(struct ui *, size_t);
void bookmark_show(struct ui *, size_t);
void bookmark_when(const struct ui *, const struct bookmark *, struct str *);
void bookmarks_dump(const struct ui *, struct json_writer *);

/* ---- lists to choose from ---- */

enum menu_kind { MENU_NONE, MENU_COMMANDS, MENU_BOOKMARKS };
struct menu {
    enum menu_kind kind;
    unsigned at; /* the chosen row */
};
bool menu_key(struct ui *, int key, unsigned mods); /* true: taken */
void menu_click(struct ui *, unsigned index);
void menu_close(struct ui *);
void menu_draw(struct ui *, struct draw_list *);
void menu_dump(const struct ui *, struct json_writer *);

/* ---- the range, and the second cursor ---- */

void range_set(struct ui *, int64_t a, int64_t b); /* in any order; cut to the run; nothing between: none */
void range_clear(struct ui *);                     /* with the second cursor */
void range_follow(struct ui *);                    /* the cursor has moved */
void range_dump(struct ui *, struct json_writer *);

/* ---- all together ---- */

struct ui_private {
    const char *error, *left_out;
    struct ui_run all[UI_ALL_RUNS]; /* by place; what is in ui.runs is newer there (runs.c) */
    unsigned n_all, a, b, focus;    /* places; focus: of the grid */
    struct memo *pair_memos;        /* while the grid is shown */
    moment_list back, forward;
    int did, doing;            /* actions, for history: -1 none, N_ACTIONS + event kind for the pointer */
    int prefix;                /* first key of a two-key chord; 0 */
    struct field field;
    struct pointer pointer;
    bookmark_list bookmarks;   /* in order of their begin */
    struct menu menu;
    unsigned help_page;
    enum area area;
    unsigned item;             /* focused thing of the area */
    ARRAY(struct hit) hits;
    struct pane pane[UI_MAX_RUNS];
    unsigned n_panes;
    struct colours colours;
    delta_list deltas;
    int64_t until_ns;          /* play stops there; -1 */
    double until_speed;
    struct ui_selection until; /* what is selected then */
    int64_t fit_from_ns, fit_to_ns, unfit_ns; /* the last fit, and the width before it */
    float details_scroll;
    const char *differ;        /* why A and B are not the same scenario; NULL */
    char filter_words[FIELD_BYTES]; /* filter_text */
    struct draw_list *list;    /* of ui_dump */
};

#define X_FUNCTION(e, name, group, one, two, function, ...) void function(struct ui *, int);
ACTIONS(X_FUNCTION)
#undef X_FUNCTION

const struct view_kind *ui_kind(const struct ui *); /* the current view; NULL: there is none */
struct box ui_plot(const struct ui *);              /* of the first pane, as wide as all */
int64_t ui_begin(const struct ui *);                /* of all runs */
int64_t ui_end(const struct ui *);
void ui_zoom(struct ui *, double factor);           /* at the pointer, or the cursor */
void ui_window_quietly(struct ui *, int64_t from_ns, int64_t to_ns); /* not remembered */
void ui_layout_make(struct ui *);
void ui_hit(struct ui *, struct box, enum area, unsigned index);
void overlay_help(struct ui *, struct draw_list *);
void overlay_tooltip(struct ui *, struct draw_list *);
void status_draw(struct ui *, struct draw_list *, struct box);
/* A line of text in the middle of the height of a box; gives its width. */
float ui_label(const struct ui *, struct draw_list *, struct box, struct text_style, const char *text);
void select_job(struct ui *, unsigned run, int32_t job, int64_t at_ns);
bool box_has(struct box, float x, float y);

#endif
