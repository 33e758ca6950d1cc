/* main.c - trainyard-view: the arguments, and what is done without a window.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/str.h"
#include "base/units.h"
#include "base/version.h"
#include "viz/app/app.h"
#include "viz/ui/export.h"
#include "viz/ui/picture.h"
#include "viz/ui/script.h"
#include "viz/ui/time_axis.h"
#include "viz/ui/view.h"

/* ---- arguments ---- */

enum { KEY_SIZE = 0x100, KEY_VIEW, KEY_AT, KEY_RANGE, KEY_SELECT, KEY_THEME, KEY_SCRIPT, KEY_DUMP, KEY_DUMP_ON_QUIT, KEY_FOLLOW, KEY_STILL, KEY_MAN,
       KEY_REPLICATION, KEY_FONT, KEY_FILTER, KEY_BY_JOB, KEY_EXPORT, KEY_FRAMES, KEY_EVERY, KEY_COUNT, KEY_COMPLETION, KEY_ALL, KEY_SHOW };

static const struct argp_option options[] = {
    {"screenshot", 's', "FILE", 0, "Write a picture (.png, .svg, .pdf) instead of opening a window", 0},
    {"frames", KEY_FRAMES, "DIR", 0, "Write a picture a moment of the range into DIR, the cursor going through it: frame-000001.png ... (needs --every or --count)", 0},
    {"every", KEY_EVERY, "TIME", 0, "Of --frames: so far apart, such as 10m", 0},
    {"count", KEY_COUNT, "N", 0, "Of --frames: so many, at even distances", 0},
    {"export", KEY_EXPORT, "FILE", 0, "Write the range: .json is a Chrome trace (ui.perfetto.dev), .csv the timeline, NAME.jobs.csv and NAME.nodes.csv these tables", 0},
    {"size", KEY_SIZE, "WxH", 0, "Size of picture or window in pixels (default: 1280x800)", 0},
    {"view", KEY_VIEW, "NAME", 0, "Begin with this view: gantt, map, curves, ledger, events, compare, job", 0},
    {"at", KEY_AT, "TIME", 0, "Cursor: 2d 03:15, 90m, 12h", 0},
    {"range", KEY_RANGE, "FROM:TO", 0, "Show this range of time; FROM..TO where the times have colons", 0},
    {"select", KEY_SELECT, "WHAT", 0, "Select job:ID, node:NAME, gpu:NODE/NUMBER or event:NUMBER", 0},
    {"filter", KEY_FILTER, "WORDS", 0, "Grey out jobs that do not match: \"queue:research gpus>=64\"", 0},
    {"by-job", KEY_BY_JOB, 0, 0, "A row a job instead of a row a GPU", 0},
    {"theme", KEY_THEME, "NAME", 0, "light, dark or contrast (default: light)", 0},
    {"font-size", KEY_FONT, "PX", 0, "Size of type (default: 12)", 0},
    {"replication", KEY_REPLICATION, "N", 0, "Of a tree of runs, show this replication (default: 0)", 0},
    {"all", KEY_ALL, 0, 0, "Of trees of runs, show all approaches and replications, up to 16 runs", 0},
    {"show", KEY_SHOW, "grid|pair", 0, "Begin with all runs in a grid, or with A over B (default: the grid where there are more than two)", 0},
    {"follow", KEY_FOLLOW, 0, 0, "Read on while the runs grow; wait for those that are not there yet", 0},
    {"no-animation", KEY_STILL, 0, 0, "\"Run until\" jumps instead of playing", 0},
    {"script", KEY_SCRIPT, "FILE", 0, "Play keys, clicks and screenshots from a file (-: stdin) instead of opening a window", 0},
    {"dump-state", KEY_DUMP, "json", 0, "Print what the picture tells instead of opening a window", 0},
    {"dump-on-quit", KEY_DUMP_ON_QUIT, "FILE", 0, "Write the same to FILE when the window is closed", 0},
    {"print-man", KEY_MAN, 0, 0, "Print the manual page", 0},
    {"print-bash-completion", KEY_COMPLETION, 0, 0, "Print a completion file for bash", 0},
    {0},
};

static void size_parse(struct app_options *o, const char *arg, struct argp_state *state)
{
    char behind;
    if (sscanf(arg, "%5ux%5u%c", &o->w, &o->h, &behind) != 2 || o->w < 320 || o->h < 240 || o->w > 16384 || o->h > 16384)
        argp_error(state, "--size %s: WIDTHxHEIGHT in pixels is needed, such as 1600x900; from 320x240 to 16384x16384", arg);
}

static int64_t moment_parse(const char *what, const char *arg, struct argp_state *state)
{
    int64_t ns = 0;
    const char *wrong = time_parse(arg, &ns);
    if (wrong) argp_error(state, "%s %s: %s", what, arg, wrong);
    return ns;
}

static void range_parse(struct app_options *o, const char *arg, struct argp_state *state)
{
    const char *wrong = time_parse_range(arg, &o->from_ns, &o->to_ns);
    if (wrong) argp_error(state, "--range %s: %s", arg, wrong);
}

static unsigned theme_parse(const char *arg, struct argp_state *state)
{
    for (unsigned i = 0; i < N_THEMES; i++)
        if (strcmp(theme_names[i], arg) == 0) return i;
    argp_error(state, "--theme %s: light, dark or contrast is needed", arg);
    return 0;
}

static void view_check(const char *arg, struct argp_state *state)
{
    struct str s = {0};
    for (unsigned i = 0; i < n_view_kinds; i++)
        if (strcmp(view_kinds[i]->name, arg) == 0) return;
    for (unsigned i = 0; i < n_view_kinds; i++) str_printf(&s, "%s%s", i ? ", " : "", view_kinds[i]->name);
    argp_error(state, "--view %s: there is no such view; there are: %s", arg, str_text(&s));
}

static double number_parse(const char *what, const char *arg, double least, double most, struct argp_state *state)
{
    double x = 0;
    if (units_parse_double(arg, &x) || x < least || x > most) argp_error(state, "%s %s: a number from %g to %g is needed", what, arg, least, most);
    return x;
}

static void end_check(const struct app_options *o, struct argp_state *state)
{
    if (o->print_man || o->print_completion) return;
    if (o->n_runs == 0) argp_error(state, "RUN is missing: give the directory that `trainyard run -o` wrote");
    if (o->screenshot && picture_ending_wrong(o->screenshot)) argp_error(state, "--screenshot %s: %s", o->screenshot, picture_ending_wrong(o->screenshot));
    if (o->export && export_ending_wrong(o->export)) argp_error(state, "--export %s: %s", o->export, export_ending_wrong(o->export));
    if (o->frames ? !o->every_ns == !o->count : o->every_ns || o->count) argp_error(state, "--frames DIR and either --every TIME or --count N belong together");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct app_options *o = state->input;
    switch (key) {
    case 's': o->screenshot = arg; return 0;
    case KEY_SIZE: size_parse(o, arg, state); return 0;
    case KEY_VIEW:
        view_check(arg, state);
        o->view = arg;
        return 0;
    case KEY_AT: o->at_ns = moment_parse("--at", arg, state); return 0;
    case KEY_RANGE: range_parse(o, arg, state); return 0;
    case KEY_SELECT: o->select = arg; return 0;
    case KEY_FILTER: o->filter = arg; return 0;
    case KEY_BY_JOB: o->by_job = true; return 0;
    case KEY_THEME: o->theme = theme_parse(arg, state); return 0;
    case KEY_FONT: o->font_scale = number_parse("--font-size", arg, 9, 36, state) / 12; return 0;
    case KEY_EXPORT: o->export = arg; return 0;
    case KEY_FRAMES: o->frames = arg; return 0;
    case KEY_EVERY:
        o->every_ns = moment_parse("--every", arg, state);
        if (o->every_ns <= 0) argp_error(state, "--every %s: more than 0 is needed", arg);
        return 0;
    case KEY_COUNT: o->count = (int64_t)number_parse("--count", arg, 1, FRAMES_MOST, state); return 0;
    case KEY_REPLICATION: o->replication = (int64_t)number_parse("--replication", arg, 0, UINT32_MAX, state); return 0;
    case KEY_ALL: o->all = true; return 0;
    case KEY_SHOW:
        if (strcmp(arg, "grid") != 0 && strcmp(arg, "pair") != 0) argp_error(state, "--show %s: grid or pair is needed", arg);
        o->show = arg[0] == 'g' ? SHOW_GRID : SHOW_PAIR;
        return 0;
    case KEY_FOLLOW: o->follow = true; return 0;
    case KEY_STILL: o->still = true; return 0;
    case KEY_SCRIPT: o->script = arg; return 0;
    case KEY_DUMP:
        if (strcmp(arg, "json") != 0) argp_error(state, "--dump-state %s: json is the only format", arg);
        o->dump_state = true;
        return 0;
    case KEY_DUMP_ON_QUIT: o->dump_on_quit = arg; return 0;
    case KEY_MAN: o->print_man = true; return 0;
    case KEY_COMPLETION: o->print_completion = true; return 0;
    case ARGP_KEY_ARG:
        if (o->n_runs == UI_ALL_RUNS) argp_error(state, "%d runs can be shown, not more", UI_ALL_RUNS);
        o->runs[o->n_runs++] = arg;
        return 0;
    case ARGP_KEY_END: end_check(o, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp app_argp = {
    options, parse, "RUN...",
    "Look at runs of trainyard: who held which GPU when, queues and ledgers over time, why jobs waited, and how two runs of the same jobs "
    "differ. RUN is the directory of a run, or a tree of runs: then its approaches are shown. The first two runs are A and B, which comparisons are "
    "between; more than two are shown in a grid, from which A and B can be chosen.\v"
    "`?` in the window lists the keys; trainyard-view(1) has them too.\n"
    "Exit: 0 ok, 2 wrong usage, 3 no run or a bad one, 4 a file or the display failed.\n"
    "Example: trainyard run scenarios/demo.json -n 1 -r full -o out && trainyard-view out",
    NULL, NULL, NULL};

/* ---- what was asked for ---- */

static int fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int fail(int code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("trainyard-view: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    return code;
}

/* The part of the range that the runs have, so that exports hold no other; one that is followed, or has just begun, may get there yet. */
static int apply_range(struct ui *u, const struct app_options *o)
{
    int64_t end = 0;
    for (unsigned i = 0; i < ui_n_runs(u); i++)
        if (ui_scene_at(u, i)->end_ns > end) end = ui_scene_at(u, i)->end_ns;
    if (o->from_ns < end || o->follow || end == 0) {
        ui_window(u, o->from_ns, o->to_ns > end && o->from_ns < end ? end : o->to_ns);
        return EXIT_OK;
    }
    struct str at = {0};
    time_text(&at, end - end % NS_PER_S, NS_PER_S);
    fail(EXIT_INPUT, "--range: it begins after the end of the runs, %s", str_text(&at));
    str_free(&at);
    return EXIT_INPUT;
}

static int apply(struct ui *u, const struct app_options *o)
{
    ui_event(u, &(struct ui_event){.kind = UI_RESIZE, .x = (float)o->w, .y = (float)o->h});
    if (!u->n_runs) return EXIT_OK;
    if (o->view) ui_view(u, o->view);
    u->by_job = o->by_job;
    if (o->from_ns >= 0 && apply_range(u, o) != EXIT_OK) return EXIT_INPUT;
    if (o->at_ns >= 0) ui_cursor(u, o->at_ns);
    if (o->filter) {
        char *err = NULL;
        if (!ui_filter(u, o->filter, &err)) {
            fail(EXIT_USAGE, "--filter %s", err);
            free(err);
            return EXIT_USAGE;
        }
    }
    char *err = NULL;
    int code = o->select ? app_select(u, o->select, &err) : EXIT_OK;
    if (code != EXIT_OK) fail(code, "--select %s: %s", o->select, err);
    free(err);
    return code;
}

static int headless(struct ui *u, const struct app_options *o)
{
    struct diag d = {0};
    char *err = NULL;
    bool io = false, ok = !o->script || script_run(u, o->script, &io, &d);
    if (!ok) diag_print(&d, stderr);
    diag_free(&d);
    if (!ok) return io ? EXIT_IO : EXIT_INPUT;
    if (o->screenshot && !ui_picture_write(u, o->screenshot, &err)) ok = false;
    if (ok && o->export && !ui_export_write(u, o->export, &err)) ok = false;
    if (ok && o->frames && !app_frames(u, o->frames, o->every_ns, o->count, &err)) ok = false;
    if (ok && o->dump_state && !ui_dump_write(u, "-", &err)) ok = false;
    if (!ok) fail(EXIT_IO, "%s", err);
    free(err);
    return ok ? EXIT_OK : EXIT_IO;
}

/* Whole lines, each of which names its file or run. */
static void tell_notes(const char *notes)
{
    for (const char *end; notes && *notes; notes = end + (*end == '\n')) {
        end = notes + strcspn(notes, "\n");
        fprintf(stderr, "trainyard-view: %.*s\n", (int)(end - notes), notes);
    }
}

/* An error of the runs is told on stderr at once, and in the window where there is one. */
static void make_ui(struct app *a, float font_scale, unsigned theme)
{
    const struct app_options *o = a->options;
    struct app_runs *r = &a->runs;
    a->waits = a->window && o->follow && r->missing;
    if (a->waits) {
        struct str says = {0};
        str_printf(&says, "waiting for a run in %s", r->missing);
        free(r->error);
        r->error = str_take(&says);
        r->code = EXIT_OK;
    }
    if (r->error) fail(r->code, "%s", r->error);
    for (unsigned i = 0; i < r->n; i++) tell_notes(r->scenes[i]->notes);
    struct ui_options uo = {.theme = theme, .font_scale = font_scale, .follow = o->follow, .animate = a->window && !o->still, .error = r->error,
                            .left_out = r->left_out, .grid = o->show == SHOW_AS_FITS ? r->n > 2 : o->show == SHOW_GRID};
    if (r->left_out) fprintf(stderr, "trainyard-view: %s\n", r->left_out);
    a->ui = ui_create(r->scenes, r->n, a->text, &uo);
    if (ui_differ(a->ui)) fprintf(stderr, "trainyard-view: %s\n", ui_differ(a->ui));
}

bool app_look(struct app *a)
{
    struct app_runs runs;
    struct ui *before = a->ui;
    app_open(a->options, &runs);
    bool yet = runs.missing || !a->seen;
    a->seen = !runs.missing;
    if (yet) {
        app_close(&runs);
        return false;
    }
    app_close(&a->runs);
    a->runs = runs;
    make_ui(a, (float)before->font_scale, before->theme_index);
    apply(a->ui, a->options);
    ui_event(a->ui, &(struct ui_event){.kind = UI_RESIZE, .x = before->w, .y = before->h});
    ui_destroy(before);
    if (!runs.error) fprintf(stderr, "trainyard-view: %s has a run\n", a->options->runs[a->options->n_runs - 1]);
    return true;
}

static int show(const struct app_options *o, const struct text_engine *text)
{
    struct app a = {.options = o, .text = text, .window = !o->screenshot && !o->script && !o->dump_state && !o->export && !o->frames};
    app_open(o, &a.runs);
    if (a.runs.error && !a.window) {
        int code = fail(a.runs.code, "%s", a.runs.error);
        app_close(&a.runs);
        return code;
    }
    make_ui(&a, (float)o->font_scale, o->theme);
    int code = apply(a.ui, o);
    if (code == EXIT_OK) code = a.window ? app_window(&a) : headless(a.ui, o);
    ui_destroy(a.ui);
    if (code == EXIT_OK) code = a.runs.code;
    app_close(&a.runs);
    return code;
}

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    fprintf(to, "trainyard-view %s\n", TRAINYARD_VERSION);
}

int main(int argc, char **argv)
{
    struct app_options o = {.w = 1280, .h = 800, .font_scale = 1, .at_ns = -1, .from_ns = -1, .to_ns = -1};
    char *err = NULL;
    argp_err_exit_status = EXIT_USAGE;
    argp_program_version_hook = print_version;
    argp_parse(&app_argp, argc, argv, 0, NULL, &o);
    if (o.print_man || o.print_completion) {
        (o.print_man ? app_manual : app_bash_completion)(stdout);
        return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_OK : fail(EXIT_IO, "standard output: cannot write: %s", strerror(errno));
    }
    struct text_engine *text = text_create(&err);
    if (!text) {
        fail(EXIT_IO, "%s", err);
        free(err);
        return EXIT_IO;
    }
    int code = show(&o, text);
    text_destroy(text);
    return code;
}
