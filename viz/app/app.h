/* app.h - trainyard-view: from arguments to a window, or to files without one.
 *
 *   main.c      arguments            open.c    RUN directories to scenes
 *   window.c    the window (SDL2)    manual.c  trainyard-view(1)
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
    const char *runs[UI_MAX_RUNS];
    unsigned n_runs;
    int64_t replication;
    const char *screenshot, *script, *view, *select, *dump_on_quit, *filter;
    bool dump_state, follow, still, print_man; /* still: --no-animation */
    unsigned w, h, theme;
    double font_scale;
    bool by_job;
    int64_t at_ns, from_ns, to_ns; /* -1: not given */
};
extern const struct argp app_argp;

/* The runs that are shown. With an error: n is 0, `error` says why (to free), `code` is the exit code. */
struct app_runs {
    struct scene *scenes[UI_MAX_RUNS];
    unsigned n;
    char *error;
    int code;
};
void app_open(const struct app_options *, struct app_runs *);
void app_close(struct app_runs *);

/* Until it is closed; an exit code. */
int app_window(struct ui *, const struct app_options *);
void app_manual(FILE *);

#endif
