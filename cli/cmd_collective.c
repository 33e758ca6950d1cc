/* cmd_collective.c - trainyard collective: the model of collective operations as a calculator.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/svg_plot.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/sizes.h"
#include "input/collective_fabric.h"
#include "study/figures.h"
#include "study/words.h"

#define DEFAULT_HARDWARE "h100-sxm-8"

struct options {
    const char *hardware, *network, *sizes, *calibration, *plot;
    long nodes, local, groups, per_process;
    int op, library;
    unsigned algorithms;
    enum output_format format;
};

enum { OPTION_LIBRARY = 256, OPTION_GROUPS, OPTION_PER_PROCESS, OPTION_CALIBRATION, OPTION_PLOT };

static const struct argp_option options[] = {
    {"hardware",         'H',                "PROFILE",       0, "Hardware profile (default: " DEFAULT_HARDWARE "; trainyard profiles lists them)", 0},
    {"network",          'N',                "PROFILE",       0, "Network profile (default: the hardware's own cards)", 0},
    {"nodes",            'n',                "N",             0, "Nodes (default: 1)", 0},
    {"ranks-per-node",   'r',                "N",             0, "Ranks a node (default: one a GPU)", 0},
    {"op",               'O',                "NAME",          0, "all-reduce (default), all-gather, reduce-scatter, broadcast, all-to-all, point-to-point", 0},
    {"sizes",            's',                "SIZES",         0, "Message sizes, such as 8,4KiB,1GiB, or a file of them (default: 8 B to 16 GiB, doubled)", 0},
    {"library",          OPTION_LIBRARY,     "NAME",          0, "nccl, rccl, mpi or gloo (default: the hardware's)", 0},
    {"algorithm",        'a',                "NAME",          0, "Allow only this one; may be repeated: ring, tree, nvls, nvls-tree, collnet, pat", 0},
    {"groups",           OPTION_GROUPS,      "N",             0, "Like groups at once on the same nodes, which share the network cards (default: 1)", 0},
    {"gpus-per-process", OPTION_PER_PROCESS, "N",             0, "GPUs that one process drives, as nccl-tests' -g (default: 1)", 0},
    {"calibration",      OPTION_CALIBRATION, "FILE",          0, "A profile that calibrate collective wrote, instead of hardware and network", 0},
    {"format",           'f',                "text|json|csv", 0, "Of the table (default: text)", 0},
    {"plot",             OPTION_PLOT,        "FILE.svg",      0, "Draw bus bandwidth over size", 0},
    {0},
};

static int word(const char *text, const char *const *words, int n, const char *what, struct argp_state *state)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(words[i], text)) return i;
    const char *near = str_suggest(text, words, (size_t)n);
    argp_error(state, "%s: there is no \"%s\"%s%s%s", what, text, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'H': o->hardware = command_text(arg, "--hardware", state); return 0;
    case 'N': o->network = command_text(arg, "--network", state); return 0;
    case 'n': o->nodes = command_number(arg, 1, 1000000, "--nodes", state); return 0;
    case 'r': o->local = command_number(arg, 1, 1024, "--ranks-per-node", state); return 0;
    case 'O': o->op = word(arg, collective_op_names, COLLECTIVE_N_OPS, "--op", state); return 0;
    case 's': o->sizes = command_text(arg, "--sizes", state); return 0;
    case OPTION_LIBRARY: o->library = word(arg, collective_library_names, COLLECTIVE_N_LIBRARIES, "--library", state); return 0;
    case 'a': o->algorithms |= 1u << word(arg, collective_algorithm_names, COLLECTIVE_N_ALGORITHMS, "--algorithm", state); return 0;
    case OPTION_GROUPS: o->groups = command_number(arg, 1, 1024, "--groups", state); return 0;
    case OPTION_PER_PROCESS: o->per_process = command_number(arg, 1, 1024, "--gpus-per-process", state); return 0;
    case OPTION_CALIBRATION: o->calibration = command_text(arg, "--calibration", state); return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case OPTION_PLOT: o->plot = command_plot(arg, state); return 0;
    case ARGP_KEY_ARG: argp_error(state, "\"%s\" is too much; sizes are given by --sizes", arg); return 0;
    case ARGP_KEY_END:
        if (o->calibration && (o->hardware || o->network)) argp_error(state, "--calibration goes without --hardware and --network");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_collective = {
    options,
    parse,
    "",
    "How long an all-reduce, all-gather, reduce-scatter, broadcast, all-to-all or a message takes over message size: the "
    "algorithm and protocol that the library chooses, time, algorithm and bus bandwidth, from public specifications alone or "
    "from a calibration."
    "\v"
    "A size is the buffer of a rank; of an all-gather the gathered result, of a reduce-scatter the whole input. Bandwidths are "
    "those of nccl-tests: size over time, and what the slowest link would carry in a ring.\n"
    "Example: trainyard collective --hardware h100-sxm-8 --network ib-ndr-400 --nodes 4\n"
    "Example: trainyard collective --op all-gather --sizes 1MiB,1GiB --format csv",
    NULL,
    NULL,
    NULL};

/* ---- the table ---- */

struct table {
    const char *machine; /* profiles, or the calibration */
    enum collective_op op;
    unsigned local, nodes;
    size_t n;
    double *bytes, *busbw;
    struct collective_choice *choice;
};

static double algbw(const struct table *t, size_t i)
{
    return t->choice[i].time_s > 0 ? t->bytes[i] / t->choice[i].time_s / 1e9 : 0;
}

static struct table make_table(const struct options *o, const struct collective_fabric *f, const struct sizes *s)
{
    struct table t = {.op = (enum collective_op)o->op, .local = (unsigned)o->local, .nodes = (unsigned)o->nodes, .n = s->v.n};
    t.bytes = s->v.v;
    t.busbw = xcalloc(t.n, sizeof *t.busbw);
    t.choice = xcalloc(t.n, sizeof *t.choice);
    for (size_t i = 0; i < t.n; i++) {
        collective_time_s(f, t.op, t.bytes[i], t.local, t.nodes, &t.choice[i]);
        t.busbw[i] = algbw(&t, i) * collective_bus_factor(t.op, t.local * t.nodes);
    }
    return t;
}

static const char *algorithm(const struct table *t, size_t i) { return collective_algorithm_names[t->choice[i].algorithm]; }
static const char *protocol(const struct table *t, size_t i) { return collective_protocol_names[t->choice[i].protocol]; }

static void print_text(const struct table *t)
{
    printf("%s, %u node%s x %u rank%s of %s\n\n", collective_op_names[t->op], t->nodes, t->nodes == 1 ? "" : "s", t->local,
           t->local == 1 ? "" : "s", t->machine);
    printf("%12s  %-18s %-10s %12s  %10s  %10s\n", "size B", "algorithm", "protocol", "time us", "algbw GB/s", "busbw GB/s");
    for (size_t i = 0; i < t->n; i++) {
        struct str row = {0};
        str_printf(&row, "%12.0f  %-18s %-10s", t->bytes[i], algorithm(t, i), protocol(t, i));
        words_number_cell(&row, t->choice[i].time_s * 1e6, 12);
        words_number_cell(&row, algbw(t, i), 11);
        words_number_cell(&row, t->busbw[i], 11);
        puts(str_text(&row));
        str_free(&row);
    }
}

static void print_csv(const struct table *t)
{
    puts("size_bytes,algorithm,protocol,time_us,algbw_gbs,busbw_gbs");
    for (size_t i = 0; i < t->n; i++)
        printf("%.0f,%s,%s,%.6g,%.6g,%.6g\n", t->bytes[i], algorithm(t, i), protocol(t, i), t->choice[i].time_s * 1e6,
               algbw(t, i), t->busbw[i]);
}

static void print_json(const struct table *t)
{
    struct str out = {0};
    struct json_writer w;
    json_write_begin(&w, &out);
    json_write_object(&w);
    figure_double(&w, "trainyard_collective", 1);
    figure_string(&w, "op", collective_op_names[t->op]);
    figure_double(&w, "nodes", t->nodes);
    figure_double(&w, "ranks_per_node", t->local);
    json_write_key(&w, "sizes");
    json_write_array(&w);
    for (size_t i = 0; i < t->n; i++) {
        json_write_object_inline(&w);
        figure_double(&w, "size_bytes", t->bytes[i]);
        figure_string(&w, "algorithm", algorithm(t, i));
        figure_string(&w, "protocol", protocol(t, i));
        figure_double(&w, "time_us", t->choice[i].time_s * 1e6);
        figure_double(&w, "algbw_gbs", algbw(t, i));
        figure_double(&w, "busbw_gbs", t->busbw[i]);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
    fputs(str_text(&out), stdout);
    str_free(&out);
}

static bool plot(const struct table *t, const char *path, struct diag *d)
{
    char title[128];
    struct plot_series bus = {.name = "bus bandwidth", .x = t->bytes, .y = t->busbw, .n = t->n, .style = PLOT_LINE_AND_MARKS};
    snprintf(title, sizeof title, "%s, %u x %u ranks", collective_op_names[t->op], t->nodes, t->local);
    struct svg_plot p = {.title = title,
                         .x = {.title = "message size", .log = true, .unit = PLOT_BYTES},
                         .y = {.title = "bus bandwidth (GB/s)"},
                         .series = &bus,
                         .n_series = 1};
    return svg_plot_write(&p, path, d);
}

/* ---- the command ---- */

/* The library falls back on what it has where an algorithm does not go with the operation or the machine. */
static void say_other_algorithms(const struct options *o, const struct table *t)
{
    size_t other = 0;
    for (size_t i = 0; i < t->n; i++) other += !(o->algorithms >> t->choice[i].algorithm & 1);
    if (o->algorithms && other)
        fprintf(stderr, "trainyard: %zu of %zu sizes are not done by the algorithms asked for: not with this operation, library or machine\n",
                other, t->n);
}

static const char *machine_words(const struct options *o, const struct collective_fabric *f, struct arena *arena)
{
    if (o->calibration) return o->calibration;
    const char *hardware = o->hardware ? o->hardware : DEFAULT_HARDWARE;
    if (o->network) return arena_printf(arena, "%s with %s", hardware, o->network);
    return o->nodes > 1 ? arena_printf(arena, "%s with %u %s card%s", hardware, f->nics, collective_nic_names[f->nic],
                                       f->nics == 1 ? "" : "s") : hardware;
}

static bool read_fabric(struct options *o, struct collective_fabric *f, struct diag *d)
{
    if (o->calibration) {
        if (!collective_fabric_measured(o->calibration, f, d)) return false;
        if (o->local == 0) o->local = f->measured_ranks_per_node;
        if (o->nodes == 0) o->nodes = f->measured_nodes;
        if (o->op < 0) o->op = (int)f->measured_op;
    } else if (!collective_fabric_profiles(o->hardware ? o->hardware : DEFAULT_HARDWARE, o->network, f, d)) {
        return false;
    }
    if (o->library >= 0) f->library = (enum collective_library)o->library;
    if (o->algorithms) f->algorithms = o->algorithms;
    if (o->per_process) f->gpus_per_process = (unsigned)o->per_process;
    *f = collective_fabric_share(*f, (unsigned)o->groups);
    if (o->local == 0) o->local = f->gpus_per_node ? (long)f->gpus_per_node : 1;
    if (o->nodes == 0) o->nodes = 1;
    if (o->op < 0) o->op = COLLECTIVE_ALL_REDUCE;
    if (f->gpus_per_node && o->local > (long)f->gpus_per_node && f->library <= COLLECTIVE_RCCL)
        diag_error(d, "--ranks-per-node", 0, NULL, "%ld ranks on a node of %u GPUs", o->local, f->gpus_per_node);
    if (o->per_process > o->local)
        diag_error(d, "--gpus-per-process", 0, NULL, "%ld GPUs of a process on a node of %ld ranks", o->per_process, o->local);
    return diag_errors(d) == 0;
}

int cmd_collective(int argc, char **argv)
{
    static void (*const print[])(const struct table *) = {
        [FORMAT_TEXT] = print_text, [FORMAT_JSON] = print_json, [FORMAT_CSV] = print_csv};
    struct options o = {.op = -1, .library = -1, .groups = 1};
    struct collective_fabric f;
    struct sizes sizes = {0};
    struct diag d = {0};
    int code = EXIT_OK;
    argp_parse(&argp_collective, argc, argv, 0, NULL, &o);
    if (o.sizes)
        sizes_read(o.sizes, "--sizes", &sizes, &d);
    else
        sizes_double(&sizes, 8, 16.0 * 1024 * 1024 * 1024);
    if (read_fabric(&o, &f, &d)) {
        struct arena arena = {0};
        struct table t = make_table(&o, &f, &sizes);
        t.machine = machine_words(&o, &f, &arena);
        print[o.format](&t);
        say_other_algorithms(&o, &t);
        struct diag io = {0};
        if (o.plot && !plot(&t, o.plot, &io)) code = EXIT_IO;
        diag_print(&io, stderr);
        diag_free(&io);
        free(t.busbw);
        free(t.choice);
        arena_free(&arena);
    }
    int input = command_diag(&d);
    array_free(&sizes.v);
    return command_end(code == EXIT_OK ? input : code);
}
