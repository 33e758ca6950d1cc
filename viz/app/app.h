/* app.h - trainyard-view: from arguments to a window, or to files without one.
 *
 *   main.c      arguments            open.c    RUN directories to scenes
 *   window.c    the window (SDL2)    manual.c  trainyard-view(1), completion in bash
 *   frames.c    a picture a moment   select.c  --select
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_APP_APP_H
#define TRAINYARD_VIZ_APP_APP_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "viz/ui/ui.h"

enum { EXIT_OK = 0, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_IO = 4 };

struct app_options {
    const char *runs[UI_ALL_RUNS];
    unsigned n_runs;
    int64_t replication;
    bool all;              /* replications */
    enum { SHOW_AS_FITS, SHOW_GRID, SHOW_PAIR } show;
    const char *screenshot, *script, *view, *select, *dump_on_quit, *filter, *export, *frames;
    bool dump_state, follow, still, print_man, print_completion; /* still: --no-animation */
    unsigned w, h, theme;
    double font_scale;
    bool by_job;
    int64_t at_ns, from_ns, to_ns; /* -1: not given */
    int64_t every_ns, count;       /* of frames; 0: not given */
};
extern const struct argp app_argp;

/* The runs that are shown. With an error: n is 0, `error` says why (to free), `code` is the exit code; `missing` is the directory that has no run
 * yet, if that is why (the caller's argument), NULL else. */
struct app_runs {
    struct scene *scenes[UI_ALL_RUNS];
    unsigned n;
    char *left_out; /* what there is beside them, in words; NULL: nothing. To free */
    char *error;
    const char *missing;
    int code;
};
void app_open(const struct app_options *, struct app_runs *);
void app_close(struct app_runs *);

/* "job:ID", "node:NAME", "gpu:NODE/NUMBER", "event:NUMBER"; EXIT_OK, or an exit code and *err (to free). */
int app_select(struct ui *, const char *what, char **err);

/* Pictures DIR/frame-000001.png ... of moments in the window of time, `every_ns` apart or `count` of them. False and *err (to free). */
enum { FRAMES_MOST = 999999 };
bool app_frames(struct ui *, const char *dir, int64_t every_ns, int64_t count, char **err);

/* What is shown. While it waits for a run that is to be followed, ui has no run and says so. */
struct app {
    const struct app_options *options;
    const struct text_engine *text;
    struct app_runs runs;
    struct ui *ui;
    bool window, waits, seen; /* seen: a run is there; it is opened at the next look, since its files come one by one */
};
/* While it waits: looks again. True: the runs are there, or wrong, and ui is another one. */
bool app_look(struct app *);

/* Until it is closed; an exit code. */
int app_window(struct app *);
void app_manual(FILE *);
void app_bash_completion(FILE *);

#endif
