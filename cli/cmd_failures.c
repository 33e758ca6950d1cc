/* cmd_failures.c - trainyard failures: how often jobs of so many GPUs fail, and how much of their time is useful.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_write.h"
#include "base/units.h"
#include "cli/command.h"
#include "input/checkpoint_optimum.h"
#include "models/checkpoint.h"
#include "study/figures.h"
#include "study/profile_hazard.h"
#include "study/published_failures.h"
#include "study/words.h"

struct options {
    const char *profile;
    ARRAY(long) gpus;
    long per_node;
    int64_t interval_ns, save_ns, background_ns, restart_ns, load_ns, period_ns; /* interval 0: the best */
    enum output_format format;
    bool published, hardware;
};

enum { KEY_PUBLISHED = 256, KEY_HARDWARE, KEY_PER_NODE, KEY_INTERVAL, KEY_SAVE, KEY_BACKGROUND, KEY_RESTART, KEY_LOAD, KEY_PERIOD };

static const struct argp_option options[] = {
    {"profile",       'p',            "NAME",          0, "A failure profile (trainyard profiles failures), or a file", 0},
    {"gpus",          'n',            "N,...",         0, "Sizes of the job (default: 8 to 131,072)", 0},
    {"gpus-per-node", KEY_PER_NODE,   "N",             0, "GPUs of a node (default: 8)", 0},
    {"hardware",      KEY_HARDWARE,   NULL,            0, "Only failures of hardware, not those of processes and jobs", 0},
    {"restart",       KEY_RESTART,    "DURATION",      0, "From a failure to the load of the checkpoint (default: 10m)", 0},
    {"load",          KEY_LOAD,       "DURATION",      0, "Loading the checkpoint (default: 2m)", 0},
    {"save",          KEY_SAVE,       "DURATION",      0, "What a checkpoint stops training for (default: 30s)", 0},
    {"background",    KEY_BACKGROUND, "DURATION",      0, "... and until it is durable afterwards (default: 0s)", 0},
    {"interval",      KEY_INTERVAL,   "DURATION",      0, "Work between checkpoints (default: the best one)", 0},
    {"for",           KEY_PERIOD,     "DURATION",      0, "Count failures in this time (default: 30d)", 0},
    {"published",     KEY_PUBLISHED,  NULL,            0, "What others published, beside what the profiles predict", 0},
    {"format",        'f',            "text|json|csv", 0, "Of the result (default: text)", 0},
    {0},
};

static void add_sizes(struct options *o, char *list, struct argp_state *state)
{
    for (char *rest = NULL, *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        array_push(&o->gpus, command_number(word, 1, 100000000, "--gpus", state));
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'p': o->profile = command_text(arg, "--profile", state); return 0;
    case 'n': add_sizes(o, arg, state); return 0;
    case KEY_PER_NODE: o->per_node = command_number(arg, 1, 64, "--gpus-per-node", state); return 0;
    case KEY_HARDWARE: o->hardware = true; return 0;
    case KEY_INTERVAL: o->interval_ns = command_duration(arg, 1, "--interval", state); return 0;
    case KEY_SAVE: o->save_ns = command_duration(arg, 1, "--save", state); return 0;
    case KEY_BACKGROUND: o->background_ns = command_duration(arg, 0, "--background", state); return 0;
    case KEY_RESTART: o->restart_ns = command_duration(arg, 0, "--restart", state); return 0;
    case KEY_LOAD: o->load_ns = command_duration(arg, 0, "--load", state); return 0;
    case KEY_PERIOD: o->period_ns = command_duration(arg, 1, "--for", state); return 0;
    case KEY_PUBLISHED: o->published = true; return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case ARGP_KEY_ARG: argp_error(state, "\"%s\" is too much; a profile is given by --profile", arg); return 0;
    case ARGP_KEY_END:
        if (!o->profile && !o->published) argp_error(state, "--profile NAME or --published is missing");
        if (o->profile && o->published) argp_error(state, "--published takes no --profile");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_failures = {
    options,
    parse,
    "",
    "How often jobs fail by their size, and how much of their time is useful, from a failure profile."
    "\v"
    "A job fails with any of its nodes or processes, or as a whole. Useful time is that of work which is not done again, over all "
    "time, for failures without memory; first order is the formula of Kokolis et al. (HPCA 2025), good where losses are small.\n"
    "Example: trainyard failures --profile meta-rsc1 --gpus 1024,4096 --interval 1h --save 5m",
    NULL,
    NULL,
    NULL};

/* ---- one size ---- */

struct size_row { long gpus, nodes; double mttf_s, failures, interval_s, useful, first_order; };

static struct size_row row_of(const struct options *o, const struct failure_hazard *h, long gpus)
{
    struct size_row r = {.gpus = gpus, .nodes = (gpus + o->per_node - 1) / o->per_node};
    double save = (double)o->save_ns / 1e9, lag = (double)o->background_ns / 1e9, load = (double)o->load_ns / 1e9,
           restart = (double)o->restart_ns / 1e9;
    r.mttf_s = failure_mttf_s(h, (double)r.nodes);
    bool fails = isfinite(r.mttf_s);
    r.failures = (double)o->period_ns / 1e9 / r.mttf_s;
    r.interval_s = o->interval_ns ? (double)o->interval_ns / 1e9 : fails ? fmax(checkpoint_optimum_s(save, r.mttf_s), save + lag) : INFINITY;
    struct checkpoint_risk risk = {fails ? r.mttf_s : 0, restart, load};
    r.useful = isfinite(r.interval_s) ? checkpoint_goodput(r.interval_s, (struct checkpoint_cost){save, lag}, &risk) : 1;
    r.first_order = isfinite(r.interval_s) ? ettr_first_order(1 / r.mttf_s, restart + load + lag, r.interval_s, save) : 1;
    return r;
}

static const struct { const char *key, *head; int width; } columns[] = {
    {"gpus", "GPUs", 9}, {"nodes", "nodes", 8}, {"mttf_s", "MTTF", 12}, {"failures", "failures", 10}, {"interval_s", "interval", 11},
    {"useful", "useful", 9}, {"first_order", "first order", 12},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static void values_of(const struct size_row *r, double v[N_COLUMNS])
{
    const double all[N_COLUMNS] = {(double)r->gpus, (double)r->nodes, r->mttf_s, r->failures, r->interval_s, r->useful, r->first_order};
    memcpy(v, all, sizeof all);
}

static void text_row(const struct size_row *r, struct str *s)
{
    static const char *const unit[N_COLUMNS] = {"", "", "s", "", "s", "ratio", "ratio"};
    double v[N_COLUMNS];
    values_of(r, v);
    for (int i = 0; i < N_COLUMNS; i++) {
        struct str cell = {0};
        if (*unit[i]) words_amount(&cell, unit[i], v[i]);
        else words_number(&cell, v[i]);
        words_cell(s, &cell, (size_t)columns[i].width - 1);
        str_free(&cell);
    }
    str_append(s, "\n");
}

static void csv_row(const struct size_row *r, struct str *s)
{
    double v[N_COLUMNS];
    values_of(r, v);
    for (int i = 0; i < N_COLUMNS; i++) {
        if (isfinite(v[i])) str_append_double(s, v[i]);
        str_append(s, i + 1 < N_COLUMNS ? "," : "\n");
    }
}

static void print_json(const struct options *o, const struct failure_hazard *h, struct str *s)
{
    struct json_writer w;
    json_write_begin(&w, s);
    json_write_array(&w);
    for (size_t i = 0; i < o->gpus.n; i++) {
        struct size_row r = row_of(o, h, o->gpus.v[i]);
        double v[N_COLUMNS];
        values_of(&r, v);
        json_write_object_inline(&w);
        for (int k = 0; k < N_COLUMNS; k++) figure_double(&w, columns[k].key, v[k]);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
}

static void print_table(const struct options *o, const struct failure_hazard *h, struct str *s)
{
    bool text = o->format == FORMAT_TEXT;
    for (int i = 0; i < N_COLUMNS; i++)
        if (text) words_right(s, columns[i].head, (size_t)columns[i].width);
        else str_printf(s, "%s%s", i ? "," : "", columns[i].key);
    str_append(s, "\n");
    for (size_t i = 0; i < o->gpus.n; i++) {
        struct size_row r = row_of(o, h, o->gpus.v[i]);
        if (text) text_row(&r, s);
        else csv_row(&r, s);
    }
}

static void print_heading(const struct options *o, const struct failure_hazard *h, struct str *s)
{
    str_printf(s, "%s: ", o->profile);
    words_number(s, h->per_node_per_s * 86400e3);
    str_append(s, " failures per 1,000 node-days");
    if (h->per_job_per_s > 0) {
        str_append(s, " and ");
        words_number(s, h->per_job_per_s * 86400e3);
        str_append(s, " per 1,000 job-days");
    }
    str_append(s, "; failures in ");
    words_amount(s, "s", (double)o->period_ns / 1e9);
    str_append(s, "\n\n");
}

/* ---- the command ---- */

static bool sizes(struct options *o, struct str *out, struct diag *d)
{
    static const long usual[] = {8, 64, 512, 1024, 4096, 16384, 131072};
    struct failure_hazard h, processes;
    if (!profile_hazard(o->profile, (uint32_t)o->per_node, &h, &processes, d)) return false;
    if (!o->hardware) h.per_job_per_s += processes.per_job_per_s, h.per_node_per_s += processes.per_node_per_s;
    for (size_t i = 0; o->gpus.n < sizeof usual / sizeof *usual && i == o->gpus.n; i++) array_push(&o->gpus, usual[i]);
    if (o->format == FORMAT_TEXT) print_heading(o, &h, out);
    if (o->format == FORMAT_JSON) print_json(o, &h, out);
    else print_table(o, &h, out);
    return true;
}

static bool published(const struct options *o, struct str *out, struct diag *d)
{
    static void (*const print[])(const struct published_list *, struct str *) = {
        [FORMAT_TEXT] = published_text, [FORMAT_JSON] = published_json, [FORMAT_CSV] = published_csv};
    struct published_list p = {0};
    bool ok = published_failures(&p, d);
    if (ok) print[o->format](&p, out);
    published_free(&p);
    return ok;
}

int cmd_failures(int argc, char **argv)
{
    struct options o = {.per_node = 8, .save_ns = seconds(30), .restart_ns = seconds(600), .load_ns = seconds(120), .period_ns = 30 * NS_PER_DAY};
    struct diag d = {0};
    struct str out = {0};
    argp_parse(&argp_failures, argc, argv, 0, NULL, &o);
    bool ok = o.published ? published(&o, &out, &d) : sizes(&o, &out, &d);
    int code = command_diag(&d);
    if (ok) fputs(str_text(&out), stdout);
    str_free(&out);
    array_free(&o.gpus);
    return command_end(code);
}
