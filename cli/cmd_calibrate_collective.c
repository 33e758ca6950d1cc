/* cmd_calibrate_collective.c - trainyard calibrate collective: from measured tables to other sizes and scales.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "cli/calibrate.h"
#include "cli/sizes.h"
#include "input/collective_fabric.h"
#include "study/calibrate_collective.h"
#include "study/collective_machine.h"
#include "study/words.h"

enum { MAX_FILES = 256, NUMBERS = 4 /* of a curve: three, and which form */ };

struct options {
    const char *train[MAX_FILES], *predict, *out, *hardware, *network;
    size_t n_train;
    unsigned nodes, ranks, measured_nodes;
    int op; /* -1: as the table says */
    enum output_format format;
};

enum { OPTION_RANKS = 256, OPTION_OP, OPTION_HARDWARE, OPTION_NETWORK, OPTION_MEASURED_NODES };

static const struct argp_option options[] = {
    {"train",          't',                   "FILE",          0, "A measured table: CSV with size_bytes,time_us, or the text of nccl-tests, rccl-tests or an OSU benchmark; more FILEs may follow", 0},
    {"predict",        'p',                   "SIZES",         0, "Message sizes, such as 8,4KiB,1GiB, or a file of them; default: those measured", 0},
    {"nodes",          'n',                   "N",             0, "Predict for this many nodes; default: as measured", 0},
    {"output",         'o',                   "FILE",          0, "Write the calibration as a profile (JSON)", 0},
    {"format",         'f',                   "text|json|csv", 0, "Of the predictions (default: text)", 0},
    {"ranks",          OPTION_RANKS,          "N",             0, "Ranks of the table; default: what it tells", 0},
    {"measured-nodes", OPTION_MEASURED_NODES, "N",             0, "Nodes of the table; default: what it tells, else the likeliest", 0},
    {"op",             OPTION_OP,             "NAME",          0, "Operation of the table: all-reduce, all-gather, reduce-scatter, broadcast, all-to-all, point-to-point", 0},
    {"hardware",       OPTION_HARDWARE,       "PROFILE",       0, "Its hardware (for --nodes); default: the profile that predicts the table best", 0},
    {"network",        OPTION_NETWORK,        "PROFILE",       0, "Its network (for --nodes)", 0},
    {0},
};

static int op_of(const char *text, struct argp_state *state)
{
    for (int i = 0; i < COLLECTIVE_N_OPS; i++)
        if (!strcmp(collective_op_names[i], text)) return i;
    argp_error(state, "--op takes all-reduce, all-gather, reduce-scatter, broadcast, all-to-all or point-to-point, not \"%s\"", text);
    return 0;
}

static void add_train(struct options *o, const char *file, struct argp_state *state)
{
    if (o->n_train == MAX_FILES) argp_error(state, "more than %d tables", MAX_FILES);
    o->train[o->n_train++] = command_text(file, "--train", state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 't': case ARGP_KEY_ARG: add_train(o, arg, state); return 0;
    case 'p': o->predict = command_text(arg, "--predict", state); return 0;
    case 'n': o->nodes = (unsigned)command_number(arg, 1, 1000000, "--nodes", state); return 0;
    case 'o': o->out = command_text(arg, "--output", state); return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case OPTION_RANKS: o->ranks = (unsigned)command_number(arg, 2, 1000000, "--ranks", state); return 0;
    case OPTION_MEASURED_NODES:
        o->measured_nodes = (unsigned)command_number(arg, 1, 1000000, "--measured-nodes", state);
        return 0;
    case OPTION_OP: o->op = op_of(arg, state); return 0;
    case OPTION_HARDWARE: o->hardware = command_text(arg, "--hardware", state); return 0;
    case OPTION_NETWORK: o->network = command_text(arg, "--network", state); return 0;
    case ARGP_KEY_END:
        if (!o->n_train) argp_error(state, "--train FILE is missing");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_calibrate_collective = {
    options,
    parse,
    "",
    "Fit four numbers (latency, plateau bandwidth, a third that the form names: a size, a bandwidth or a time; and which form) to a measured table of a collective operation; "
    "predict other message sizes, and other numbers of nodes by the model of the machine that the table is most like."
    "\v"
    "csv: size_bytes,predicted_us. What the tables are of (ranks, operation) is read from their content, not from file names.\n"
    "Example: trainyard calibrate collective --train nccl.txt --predict 1MiB,16MiB,1GiB --format csv\n"
    "Example: trainyard calibrate collective --train two-nodes.csv --nodes 8",
    NULL,
    NULL,
    NULL};

static void read_sizes(const struct options *o, const struct collective_table *t, struct sizes *to, struct diag *d)
{
    if (!o->predict) {
        for (size_t i = 0; i < t->rows.n; i++) array_push(&to->v, t->rows.v[i].bytes);
    } else {
        sizes_read(o->predict, "--predict", to, d);
    }
}

/* ---- tables ---- */

/* The tables of one scale together: with --nodes the largest, else they must be of one scale. */
static void join(const struct options *o, struct collective_table *into, struct collective_table *t, const char *file,
                 struct diag *d)
{
    if (into->rows.n == 0 || (o->nodes && t->ranks > into->ranks)) {
        collective_table_free(into);
        *into = *t;
        return;
    }
    if (t->ranks == into->ranks && t->op == into->op) {
        collective_table_join(into, t);
    } else if (!o->nodes) {
        diag_error(d, file, 0, NULL, t->op != into->op ? "a table of another operation beside that of %s"
                                     : "a table of another number of ranks, or of an unknown one, beside that of %s", o->train[0]);
        diag_help(d, "calibrate one scale at a time, or say --nodes: then the largest is taken");
    }
    collective_table_free(t);
}

static bool read_tables(const struct options *o, struct collective_table *into, struct diag *d)
{
    for (size_t i = 0; i < o->n_train; i++) {
        struct collective_table t = {0};
        if (!collective_table_read(o->train[i], &t, d)) continue;
        if (o->op >= 0) {
            t.op = (enum collective_op)o->op;
            t.op_known = true;
        }
        if (o->ranks) t.ranks = o->ranks;
        join(o, into, &t, o->train[i], d);
    }
    return diag_errors(d) == 0;
}

/* ---- results ---- */

static void print_csv(const struct sizes *s, const double *predicted_s)
{
    puts("size_bytes,predicted_us");
    for (size_t i = 0; i < s->v.n; i++) printf("%.0f,%.6g\n", s->v.v[i], predicted_s[i] * 1e6);
}

static void print_json(const struct sizes *s, const double *predicted_s)
{
    struct str out = {0};
    struct json_writer w;
    json_write_begin(&w, &out);
    json_write_array(&w);
    for (size_t i = 0; i < s->v.n; i++) {
        json_write_object_inline(&w);
        json_write_key(&w, "size_bytes");
        json_write_double(&w, s->v.v[i]);
        json_write_key(&w, "predicted_us");
        json_write_double(&w, predicted_s[i] * 1e6);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
    fputs(str_text(&out), stdout);
    str_free(&out);
}

static void print_text(const struct sizes *s, const double *predicted_s)
{
    printf("%14s  %14s  %10s\n", "size B", "predicted us", "algbw GB/s");
    for (size_t i = 0; i < s->v.n; i++) {
        struct str row = {0};
        str_printf(&row, "%14.0f ", s->v.v[i]);
        words_number_cell(&row, predicted_s[i] * 1e6, 14);
        words_number_cell(&row, s->v.v[i] / predicted_s[i] / 1e9, 11);
        puts(str_text(&row));
        str_free(&row);
    }
}

/* The third number by what it is in its kind of form (models/collective_curve.h). */
static void third_words(const struct collective_curve *c, struct str *out)
{
    enum collective_curve_kind kind = collective_curve_form(c->form).kind;
    if (kind == COLLECTIVE_FILLING) str_printf(out, "channels full at %.4g B", c->third);
    else if (kind == COLLECTIVE_LATE_START) str_printf(out, "words at %.4g GB/s", c->third / 1e9);
    else str_printf(out, "buffers start in %.4g us", c->third * 1e6);
}

/* Rows come by size. */
static void say_few_sizes(const struct collective_table *t)
{
    size_t sizes = 1;
    for (size_t i = 1; i < t->rows.n; i++) sizes += t->rows.v[i].bytes > t->rows.v[i - 1].bytes;
    if (sizes < NUMBERS)
        fprintf(stderr, "trainyard: %zu size%s not determine %d numbers: what is predicted for others is a guess\n", sizes,
                sizes == 1 ? " does" : "s do", NUMBERS);
}

static void say(const struct collective_table *t, const struct collective_calibration *c)
{
    struct str form = {0}, third = {0};
    collective_form_name(c->curve.form, &form);
    third_words(&c->curve, &third);
    fprintf(stderr, "trainyard: %s%s, %zu row%s", collective_op_names[t->op], t->op_known ? "" : " (taken; --op says another)",
            c->n_rows, c->n_rows == 1 ? "" : "s");
    if (t->ranks) fprintf(stderr, ", %u ranks", t->ranks);
    fprintf(stderr, ": latency %.3g us, plateau %.4g GB/s, %s, %s; fitted within %.1f %% (median), %.1f %% (9 of 10)\n",
            c->curve.latency_s * 1e6, c->curve.plateau_bytes_per_s / 1e9, str_text(&third), str_text(&form), 100 * c->median,
            100 * c->p90);
    say_few_sizes(t);
    str_free(&form);
    str_free(&third);
}

static void say_machine(const struct collective_machine *m)
{
    fprintf(stderr, "trainyard: most like %u x %u ranks of %s%s%s (nothing fitted: %.0f %% off on the mean)\n", m->nodes,
            m->ranks_per_node, m->hardware, *m->network ? " with " : "", m->network, 100 * m->error);
}

/* The machine is needed only where its model comes in: at another scale, and in a profile. */
static bool find_machine(const struct options *o, const struct collective_table *t, const struct collective_calibration *c,
                         struct collective_machine *m, struct diag *d)
{
    struct collective_hints hints = {o->hardware, o->network, t->ranks, o->measured_nodes, o->nodes > 0};
    if (!collective_machine(t, &hints, m, d)) return false;
    m->fabric.measured = c->curve;
    m->fabric.measured_op = t->op;
    m->fabric.measured_ranks_per_node = m->ranks_per_node;
    m->fabric.measured_nodes = m->nodes;
    say_machine(m);
    return true;
}

static int write_profile(const struct options *o, const struct collective_machine *m)
{
    struct str out = {0};
    collective_fabric_write(&m->fabric, o->train[0], &out);
    int code = command_write(o->out, &out);
    str_free(&out);
    return code;
}

static void print_predictions(const struct options *o, const struct collective_table *t, const struct sizes *s,
                              const struct collective_calibration *c, const struct collective_machine *m)
{
    static void (*const print[])(const struct sizes *, const double *) = {
        [FORMAT_TEXT] = print_text, [FORMAT_JSON] = print_json, [FORMAT_CSV] = print_csv};
    double *predicted_s = xcalloc(s->v.n, sizeof *predicted_s);
    for (size_t i = 0; i < s->v.n; i++)
        predicted_s[i] = o->nodes ? collective_time_s(&m->fabric, t->op, s->v.v[i], m->ranks_per_node, o->nodes, NULL)
                                  : collective_curve_s(&c->curve, s->v.v[i]);
    print[o->format](s, predicted_s);
    free(predicted_s);
}

static int calibrate(const struct options *o, const struct collective_table *t, const struct sizes *s, struct diag *d)
{
    struct collective_calibration c;
    struct collective_machine m;
    calibrate_collective(t->rows.v, t->rows.n, &c);
    say(t, &c);
    if ((o->nodes || o->out) && !find_machine(o, t, &c, &m, d)) return EXIT_OK;
    if (o->predict || !o->out) print_predictions(o, t, s, &c, &m);
    return o->out ? write_profile(o, &m) : EXIT_OK;
}

int cmd_calibrate_collective(int argc, char **argv)
{
    struct options o = {.op = -1};
    struct collective_table t = {0};
    struct sizes sizes = {0};
    struct diag d = {0};
    int code = EXIT_OK;
    argp_parse(&argp_calibrate_collective, argc, argv, 0, NULL, &o);
    if (read_tables(&o, &t, &d)) {
        read_sizes(&o, &t, &sizes, &d);
        if (diag_errors(&d) == 0) code = calibrate(&o, &t, &sizes, &d);
    }
    int input = command_diag(&d);
    collective_table_free(&t);
    array_free(&sizes.v);
    return command_end(code == EXIT_OK ? input : code);
}
