/* cmd_report.c - trainyard report: what the runs of each approach were.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/str.h"
#include "cli/command.h"
#include "study/report.h"
#include "study/sources.h"
#include "viz/report/page.h"

struct options {
    ARRAY(const char *) runs;
    ARRAY(const char *) approaches;
    enum output_format format;
    const char *page; /* where the HTML page goes; NULL: none */
};

static const struct argp_option options[] = {
    {"approach", 'a', "NAME", 0, "Report this approach only; may be given several times (default: all)", 0},
    {"format", 'f', "text|json|csv", 0, "Format of the result (default: text)", 0},
    {"output", 'o', "FILE.html", 0, "Write one HTML page with pictures and tables to FILE.html instead (needs no network to read); - is stdout", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'a': array_push(&o->approaches, arg); return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case 'o': o->page = command_text(arg, "--output", state); return 0;
    case ARGP_KEY_ARG: array_push(&o->runs, arg); return 0;
    case ARGP_KEY_END:
        if (!o->runs.n) argp_error(state, "RUN is missing");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_report = {
    options,
    parse,
    "RUN...",
    "Report what runs were, each approach by itself: metrics as means over its replications with 95 % intervals, where "
    "the GPU time went, why jobs waited, by queue and team, and who used the GPUs most.\v"
    "RUN is a run directory or a tree of them: all approaches and replications below it are read.\n"
    "Example: trainyard run scenarios/two-teams.json -o out && trainyard report out\n"
    "A page to send around: trainyard report out -o report.html\n"
    "Exit: 0 ok, 2 usage, 4 a run cannot be read.",
    NULL,
    NULL,
    NULL};

static void print_result(const struct options *o, const struct report *r)
{
    void (*const forms[])(const struct report *, struct str *) = {
        [FORMAT_TEXT] = report_text, [FORMAT_JSON] = report_json, [FORMAT_CSV] = report_csv};
    struct str s = {0};
    if (r->warnings) fputs(r->warnings, stderr);
    forms[o->format](r, &s);
    fputs(str_text(&s), stdout);
    str_free(&s);
}

static int write_page(const struct options *o, const struct sources *s)
{
    struct str page = {0};
    char *err = NULL, *warnings = NULL;
    struct text_engine *text = text_create(&err);
    bool ok = text && report_page(s->list.v, s->list.n, text, &page, &warnings, &err);
    if (warnings) fputs(warnings, stderr);
    int code = ok ? command_write(o->page, &page) : command_fail(EXIT_IO, "%s", err);
    if (text) text_destroy(text);
    str_free(&page);
    free(err);
    free(warnings);
    return code;
}

static int report(const struct options *o, struct sources *s)
{
    struct report r;
    char *err = NULL;
    bool ok = true;
    for (size_t i = 0; i < o->runs.n && ok; i++) ok = sources_add_tree(s, o->runs.v[i], &err);
    if (ok && o->approaches.n) ok = sources_keep(s, o->approaches.v, o->approaches.n, &err);
    if (ok && o->page) return write_page(o, s);
    if (ok) ok = report_runs(s->list.v, s->list.n, &r, &err);
    int code = ok ? EXIT_OK : command_fail(EXIT_IO, "%s", err);
    free(err);
    if (!ok) return code;
    print_result(o, &r);
    report_free(&r);
    return code;
}

int cmd_report(int argc, char **argv)
{
    struct options o = {.format = FORMAT_TEXT};
    struct sources s = {0};
    argp_parse(&argp_report, argc, argv, 0, NULL, &o);
    int code = report(&o, &s);
    sources_free(&s);
    array_free(&o.runs);
    array_free(&o.approaches);
    return command_end(code);
}
