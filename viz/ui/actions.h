/* actions.h - what the keys do: one table. Key handling, the help overlay, the manual page and the tests all read it.
 *
 *     const struct action *a = action_of_key(0, 'w', 0);        // NULL: nothing is bound
 *     a->run(u, a->arg);
 *     struct str s = {0}; action_keys(a, &s);                   // "Ctrl+Shift+Z, Ctrl+Y"
 *
 * Chords. A letter is bound with or without Shift; of other printable characters Shift is not asked, since keyboards differ
 * in where they keep them. A chord with a prefix is two keys, one after the other ("R, then F").
 * While a text field is open, only its own keys are heard (field.h).
 *
 * To add an action: a row here, its function below viz/ui, and its case in tests/viz/ui/test_actions.c, which fails without one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_ACTIONS_H
#define TRAINYARD_VIZ_UI_ACTIONS_H

#include "viz/ui/ui.h"

struct chord {
    int prefix, key; /* prefix 0: none; key 0: no chord */
    unsigned mods;
};

enum action_group { GROUP_TIME, GROUP_STEP, GROUP_FIND, GROUP_VIEW, GROUP_SELECT, GROUP_WINDOW, N_ACTION_GROUPS };

#define NO_KEY         {0, 0, 0}
#define KEY(k)         {0, (k), 0}
#define SHIFT(k)       {0, (k), UI_SHIFT}
#define CTRL(k)        {0, (k), UI_CTRL}
#define CTRL_SHIFT(k)  {0, (k), UI_CTRL | UI_SHIFT}
#define AFTER(p, k)    {(p), (k), 0}

/* X(enum, name, group, chord, other chord, function, its argument, what it does) */
#define ACTIONS(X)                                                                                                                                   \
    X(DO_ZOOM_IN, "zoom-in", GROUP_TIME, KEY('w'), NO_KEY, act_zoom, 1, "zoom in at the pointer, or at the cursor")                                  \
    X(DO_ZOOM_OUT, "zoom-out", GROUP_TIME, KEY('s'), NO_KEY, act_zoom, -1, "zoom out")                                                               \
    X(DO_PAN_LEFT, "pan-left", GROUP_TIME, KEY('a'), NO_KEY, act_pan, -1, "move to earlier times")                                                   \
    X(DO_PAN_RIGHT, "pan-right", GROUP_TIME, KEY('d'), NO_KEY, act_pan, 1, "move to later times")                                                    \
    X(DO_FIT, "fit", GROUP_TIME, KEY('f'), NO_KEY, act_fit, 0, "show all of the range or selection; again: only centre it")                          \
    X(DO_ALL, "all", GROUP_TIME, KEY('0'), KEY(UI_HOME), act_all, 0, "show the whole run")                                                           \
    X(DO_GOTO, "goto", GROUP_TIME, KEY('g'), NO_KEY, act_field, FIELD_GOTO, "go to a time that you type: 2d 03:15, 90m")                             \
    X(DO_NEXT, "next-event", GROUP_STEP, KEY('.'), NO_KEY, act_next, 1, "next event of the selected job, GPU or node")                               \
    X(DO_PREVIOUS, "previous-event", GROUP_STEP, KEY(','), NO_KEY, act_next, -1, "previous event of the selection")                                  \
    X(DO_STEP, "step", GROUP_STEP, KEY(']'), NO_KEY, act_step, 1, "next event of the run")                                                           \
    X(DO_STEP_BACK, "step-back", GROUP_STEP, KEY('['), NO_KEY, act_step, -1, "previous event of the run")                                            \
    X(DO_PLAY, "play", GROUP_STEP, KEY(' '), NO_KEY, act_play, 0, "play or pause")                                                                   \
    X(DO_FASTER, "faster", GROUP_STEP, KEY('+'), KEY('='), act_speed, 1, "play faster")                                                              \
    X(DO_SLOWER, "slower", GROUP_STEP, KEY('-'), NO_KEY, act_speed, -1, "play slower")                                                               \
    X(DO_UNTIL_FAILURE, "until-failure", GROUP_STEP, AFTER('r', 'f'), NO_KEY, act_until, UNTIL_FAILURE, "run until the next failure")                \
    X(DO_UNTIL_PREEMPTION, "until-preemption", GROUP_STEP, AFTER('r', 'p'), NO_KEY, act_until, UNTIL_PREEMPTION, "run until the next preemption")    \
    X(DO_UNTIL_QUEUE, "until-queue", GROUP_STEP, AFTER('r', 'q'), NO_KEY, act_field, FIELD_QUEUE, "run until more jobs wait than you type")          \
    X(DO_SEARCH, "search", GROUP_FIND, KEY('/'), NO_KEY, act_field, FIELD_SEARCH, "search and filter: queue:team-a gpus>=64 state:failed")           \
    X(DO_NEXT_MATCH, "next-match", GROUP_FIND, KEY('n'), NO_KEY, act_match, 1, "select the next job that matches")                                   \
    X(DO_PREVIOUS_MATCH, "previous-match", GROUP_FIND, SHIFT('n'), NO_KEY, act_match, -1, "select the previous one")                                 \
    X(DO_BOOKMARK, "bookmark", GROUP_FIND, KEY('k'), NO_KEY, act_field, FIELD_BOOKMARK, "bookmark the range or the cursor, with a name")             \
    X(DO_NEXT_BOOKMARK, "next-bookmark", GROUP_FIND, KEY('}'), NO_KEY, act_bookmark, 1, "go to the next bookmark")                                   \
    X(DO_PREVIOUS_BOOKMARK, "previous-bookmark", GROUP_FIND, KEY('{'), NO_KEY, act_bookmark, -1, "go to the previous bookmark")                      \
    X(DO_BOOKMARKS, "bookmarks", GROUP_FIND, SHIFT('k'), NO_KEY, act_menu, MENU_BOOKMARKS, "list the bookmarks: go to one, remove one")              \
    X(DO_COMMANDS, "commands", GROUP_FIND, KEY(':'), CTRL('p'), act_menu, MENU_COMMANDS, "find a command by its words")                              \
    X(DO_VIEW_1, "view-1", GROUP_VIEW, KEY('1'), NO_KEY, act_view, 0, "first view")                                                                  \
    X(DO_VIEW_2, "view-2", GROUP_VIEW, KEY('2'), NO_KEY, act_view, 1, "second view")                                                                 \
    X(DO_VIEW_3, "view-3", GROUP_VIEW, KEY('3'), NO_KEY, act_view, 2, "third view")                                                                  \
    X(DO_VIEW_4, "view-4", GROUP_VIEW, KEY('4'), NO_KEY, act_view, 3, "fourth view")                                                                 \
    X(DO_VIEW_5, "view-5", GROUP_VIEW, KEY('5'), NO_KEY, act_view, 4, "fifth view")                                                                  \
    X(DO_VIEW_6, "view-6", GROUP_VIEW, KEY('6'), NO_KEY, act_view, 5, "sixth view")                                                                  \
    X(DO_VIEW_7, "view-7", GROUP_VIEW, KEY('7'), NO_KEY, act_view, 6, "seventh view")                                                                \
    X(DO_BY_JOB, "by-job", GROUP_VIEW, KEY('j'), NO_KEY, act_by_job, 0, "a row a job, or a row a GPU")                                               \
    X(DO_COLOUR, "colour-by", GROUP_VIEW, KEY('c'), NO_KEY, act_colour, 0, "colour by state, job, queue, team")                                      \
    X(DO_LEGEND, "legend", GROUP_VIEW, KEY('l'), SHIFT('l'), act_legend, 0, "show only the next entry of the legend; after the last: all")           \
    X(DO_SWAP, "swap", GROUP_VIEW, KEY('x'), NO_KEY, act_swap, 0, "swap A and B")                                                                    \
    X(DO_BOTH, "both", GROUP_VIEW, KEY('b'), NO_KEY, act_both, 0, "show A and B, only A, only B")                                                    \
    X(DO_GRID, "all-runs", GROUP_VIEW, KEY('o'), NO_KEY, act_grid, 0, "all runs in a grid, each in this view; again: A over B")                       \
    X(DO_MAKE_A, "make-a", GROUP_VIEW, SHIFT('a'), NO_KEY, act_choose, 0, "in the grid: this run becomes A, the base of comparisons")               \
    X(DO_MAKE_B, "make-b", GROUP_VIEW, SHIFT('b'), NO_KEY, act_choose, 1, "in the grid: this run becomes B, which is compared with A")              \
    X(DO_RUN_LEFT, "run-left", GROUP_VIEW, CTRL(UI_LEFT), NO_KEY, act_run, -1, "in the grid: the run before this one")                              \
    X(DO_RUN_RIGHT, "run-right", GROUP_VIEW, CTRL(UI_RIGHT), NO_KEY, act_run, 1, "in the grid: the next run")                                       \
    X(DO_RUN_UP, "run-up", GROUP_VIEW, CTRL(UI_UP), NO_KEY, act_run, -2, "in the grid: the run above")                                              \
    X(DO_RUN_DOWN, "run-down", GROUP_VIEW, CTRL(UI_DOWN), NO_KEY, act_run, 2, "in the grid: the run below")                                         \
    X(DO_DETAILS, "details", GROUP_VIEW, KEY('i'), NO_KEY, act_details, 0, "details on the right, or more room")                                     \
    X(DO_TAB, "next-part", GROUP_SELECT, KEY(UI_TAB), NO_KEY, act_area, 1, "next part: picture, details, legend, tabs")                              \
    X(DO_TAB_BACK, "previous-part", GROUP_SELECT, SHIFT(UI_TAB), NO_KEY, act_area, -1, "previous part")                                              \
    X(DO_UP, "up", GROUP_SELECT, KEY(UI_UP), NO_KEY, act_vertical, -1, "previous row or line")                                                       \
    X(DO_DOWN, "down", GROUP_SELECT, KEY(UI_DOWN), NO_KEY, act_vertical, 1, "next row or line")                                                      \
    X(DO_PAGE_UP, "page-up", GROUP_SELECT, KEY(UI_PAGE_UP), NO_KEY, act_page, -1, "scroll up")                                                       \
    X(DO_PAGE_DOWN, "page-down", GROUP_SELECT, KEY(UI_PAGE_DOWN), NO_KEY, act_page, 1, "scroll down")                                                \
    X(DO_LEFT, "left", GROUP_SELECT, KEY(UI_LEFT), NO_KEY, act_horizontal, -1, "cursor to the left")                                                 \
    X(DO_RIGHT, "right", GROUP_SELECT, KEY(UI_RIGHT), NO_KEY, act_horizontal, 1, "cursor to the right")                                              \
    X(DO_ENTER, "follow", GROUP_SELECT, KEY(UI_ENTER), NO_KEY, act_enter, 0, "who blocked it: select that job; else open the job's page")            \
    X(DO_ANCHOR, "second-cursor", GROUP_SELECT, KEY('v'), NO_KEY, act_anchor, 0, "second cursor: measure from here; again: leave the range")         \
    X(DO_CLEAR, "clear", GROUP_SELECT, KEY(UI_ESC), NO_KEY, act_clear, 0, "close, stop or clear what is there")                                      \
    X(DO_BACK, "back", GROUP_WINDOW, CTRL('z'), NO_KEY, act_history, -1, "back to what was shown before")                                            \
    X(DO_FORWARD, "forward", GROUP_WINDOW, CTRL_SHIFT('z'), CTRL('y'), act_history, 1, "forward again")                                              \
    X(DO_LARGER, "larger", GROUP_WINDOW, CTRL('+'), CTRL('='), act_font, 1, "larger type")                                                           \
    X(DO_SMALLER, "smaller", GROUP_WINDOW, CTRL('-'), NO_KEY, act_font, -1, "smaller type")                                                          \
    X(DO_THEME, "theme", GROUP_WINDOW, KEY('t'), NO_KEY, act_theme, 0, "light, dark, high contrast")                                                 \
    X(DO_HELP, "help", GROUP_WINDOW, KEY('?'), KEY(UI_F1), act_help, 0, "these keys")                                                                \
    X(DO_EXPORT, "export", GROUP_WINDOW, KEY('e'), NO_KEY, act_field, FIELD_EXPORT, "write the range: FILE.json (Chrome trace) or FILE.csv")          \
    X(DO_QUIT, "quit", GROUP_WINDOW, CTRL('q'), NO_KEY, act_quit, 0, "leave")

/* X(gesture, what it does) */
#define GESTURES(X)                                                      \
    X("Wheel", "zoom at the pointer; over labels and lists: scroll")     \
    X("Shift+wheel", "scroll the rows")                                  \
    X("Ctrl+wheel", "zoom in small steps")                               \
    X("Click", "select, and set the cursor")                             \
    X("Drag", "select a range of time; on the axis: move the cursor")    \
    X("Middle, right or Shift+drag", "move the picture")                 \
    X("Click on the legend", "show only this entry; again: all")

#define X_ENUM(e, ...) e,
enum action_id { ACTIONS(X_ENUM) N_ACTIONS };
#undef X_ENUM

struct action {
    const char *name;
    enum action_group group;
    struct chord chord[2];
    void (*run)(struct ui *, int arg);
    int arg;
    const char *help;
};
extern const struct action actions[N_ACTIONS];
extern const char *const action_group_names[N_ACTION_GROUPS];

struct gesture {
    const char *what, *help;
};
extern const struct gesture gestures[];
extern const unsigned n_gestures;

const struct action *action_of_key(int prefix, int key, unsigned mods);
bool action_is_prefix(int key, unsigned mods);
void action_keys(const struct action *, struct str *); /* "W", "0, Home", "R, then F" */

/* The reverse, for scripts: "w", "ctrl+shift+z", "page-down", "N" (Shift+N); false: no such key. */
bool key_parse(const char *text, int *key, unsigned *mods);
void key_text(int key, unsigned mods, struct str *);

/* Sections of the manual page: keys and gestures, as roff. */
void actions_manual(struct str *);

#endif
