/* cmd_checkpoint.c - trainyard checkpoint: the checkpoint model as a calculator.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/units.h"
#include "cli/checkpoint.h"
#include "cli/command.h"
#include "input/checkpoint_optimum.h"
#include "input/failure_rate.h"
#include "models/flops.h"

/* A GPU's copy to pinned host memory: PCIe 4.0 x16 has 31.5 GB/s on the wire, of which about 25 reach memory (NVIDIA's
 * bandwidthTest on A100). Time to restart besides loading: 5 to 20 minutes on Meta's clusters (arXiv 2410.21680, u0). */
#define COPY_BYTES_PER_S 25e9
#define RESTART_S        300.0

struct options {
    const char *model, *state, *plot, *failures;
    double parameters, size_bytes, save_s, load_s;
    double write, read, node, process, copy, host, fixed_s;
    double mtbf_s, down_s, restart_s;
    long gpus, gpus_per_node, savers, copies;
    bool unsharded, async;
    double asked_s[CHECKPOINT_ASKED_MAX];
    size_t n_asked;
    enum output_format format;
};

enum {
    KEY_SIZE = 256, KEY_SAVE, KEY_LOAD, KEY_NODE, KEY_PROCESS, KEY_COPY, KEY_HOST, KEY_FIXED, KEY_DOWN, KEY_RESTART,
    KEY_PER_NODE, KEY_SAVERS, KEY_COPIES, KEY_UNSHARDED, KEY_PLOT, KEY_FAILURES,
};

static const struct argp_option options[] = {
    {0, 0, 0, 0, "What is saved:", 1},
    {"model", 'm', "NAME", 0, "A known model, such as gpt3-175b or llama2-70b", 1},
    {"parameters", 'p', "N", 0, "Its parameters: 176e9, 70B, 350M", 1},
    {"optimizer", 'O', "NAME", 0, "What is kept of a parameter (default: adam-mixed, 14 bytes); the list is below", 1},
    {"size", KEY_SIZE, "BYTES", 0, "Of the whole checkpoint, instead", 1},
    {"save", KEY_SAVE, "DURATION", 0, "A measured save instead of a size", 1},
    {"load", KEY_LOAD, "DURATION", 0, "A measured load", 1},
    {0, 0, 0, 0, "By whom and to where:", 2},
    {"gpus", 'g', "N", 0, "Of the job (default: 8)", 2},
    {"gpus-per-node", KEY_PER_NODE, "N", 0, "Default: 8", 2},
    {"unsharded", KEY_UNSHARDED, 0, 0, "Rank 0 writes all (default: each GPU its share)", 2},
    {"async", 'a', 0, 0, "Training stops for the copy to host memory only", 2},
    {"write", 'w', "BANDWIDTH", 0, "Of the store, all writers together", 2},
    {"read", 'r', "BANDWIDTH", 0, "Of the store, all readers together (default: as --write)", 2},
    {"node", KEY_NODE, "BANDWIDTH", 0, "Of a node to the store (default: no limit)", 2},
    {"process", KEY_PROCESS, "BANDWIDTH", 0, "Of one process that writes or reads (default: no limit)", 2},
    {"copy", KEY_COPY, "BANDWIDTH", 0, "Of a GPU to host memory (default: 25GB/s, PCIe 4.0)", 2},
    {"host", KEY_HOST, "BANDWIDTH", 0, "Of a node's memory for such copies (default: no limit)", 2},
    {"fixed", KEY_FIXED, "DURATION", 0, "Of each save and load besides: planning, metadata (default: 0)", 2},
    {"savers", KEY_SAVERS, "N", 0, "Jobs that use the store at once, this one counted (default: 1)", 2},
    {"copies", KEY_COPIES, "N", 0, "Processes that each read all of it when loading (default: 1; --unsharded: one a node)", 2},
    {0, 0, 0, 0, "What goes wrong:", 3},
    {"mtbf", 'M', "DURATION", 0, "Between failures of the whole job; without it or a profile no intervals", 3},
    {"failures", KEY_FAILURES, "PROFILE", 0, "A failure profile, such as meta-rsc1, for a job of --gpus instead", 3},
    {"down", KEY_DOWN, "DURATION", 0, "After a failure, in which nothing fails (default: 0)", 3},
    {"restart", KEY_RESTART, "DURATION", 0, "Until the checkpoint is read (default: 5m)", 3},
    {"interval", 'i', "DURATION", 0, "Between saves, of training time: show this one, too; may be repeated", 3},
    {0, 0, 0, 0, "How it is shown:", 4},
    {"format", 'f', "text|json|csv", 0, "Format of the result (default: text)", 4},
    {"plot", KEY_PLOT, "FILE.svg", 0, "Draw goodput over intervals", 4},
    {0},
};

/* ---- options ---- */

static double duration_s(const char *text, const char *option, struct argp_state *state)
{
    return (double)command_duration(text, 0, option, state) / 1e9;
}

/* Of what would mean "not given" at 0. */
static double some_time_s(const char *text, const char *option, struct argp_state *state)
{
    return (double)command_duration(text, 1, option, state) / 1e9;
}

static double bandwidth(const char *text, const char *option, struct argp_state *state)
{
    int64_t x = 0;
    const char *wrong = units_parse_bandwidth(text, &x);
    if (wrong || x <= 0) argp_error(state, "%s takes a bandwidth such as 20GB/s or 400Gbps, not \"%s\"", option, text);
    return (double)x;
}

static double bytes(const char *text, const char *option, struct argp_state *state)
{
    int64_t x = 0;
    const char *wrong = units_parse_bytes(text, &x);
    if (wrong || x <= 0) argp_error(state, "%s takes a size such as 2.3TB, not \"%s\"", option, text);
    return (double)x;
}

/* A number, with K, M, B (billion) or T behind it. */
static double parameters(const char *text, struct argp_state *state)
{
    static const struct { char letter; double factor; } suffixes[] = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}};
    char number[40];
    size_t n = strlen(text);
    double x = 0, factor = 1;
    for (size_t i = 0; n && i < sizeof suffixes / sizeof *suffixes; i++)
        if (text[n - 1] == suffixes[i].letter) factor = suffixes[i].factor;
    if (factor > 1) n--;
    snprintf(number, sizeof number, "%.*s", (int)(n < 39 ? n : 39), text);
    if (n >= sizeof number || units_parse_double(number, &x) || !(x * factor >= 1 && x * factor <= 1e15))
        argp_error(state, "--parameters takes a number such as 176e9 or 70B, not \"%s\"", text);
    return x * factor;
}

static const char *state_named(const char *text, struct argp_state *state)
{
    const char *names[32];
    for (size_t i = 0; i < n_checkpoint_states; i++) names[i] = checkpoint_states[i].name;
    return command_one_of(text, names, n_checkpoint_states, "--optimizer", "trainyard checkpoint --help tells them", state);
}

static void ask(struct options *o, const char *text, struct argp_state *state)
{
    if (o->n_asked == CHECKPOINT_ASKED_MAX) argp_error(state, "at most %d intervals", CHECKPOINT_ASKED_MAX);
    o->asked_s[o->n_asked++] = some_time_s(text, "--interval", state);
}

static void check(const struct options *o, struct argp_state *state)
{
    int given = (o->model != NULL) + (o->parameters > 0) + (o->size_bytes > 0) + (o->save_s > 0);
    if (!given) argp_error(state, "what is saved? Give --model, --parameters, --size or --save");
    if (given > 1) argp_error(state, "give one of --model, --parameters, --size and --save");
    if (!(o->save_s > 0) && !(o->write > 0) && !(o->process > 0) && !(o->node > 0))
        argp_error(state, "how fast is it written? Give --write (the store), --node or --process");
    if (o->save_s > 0 && o->async) argp_error(state, "--async needs a size: what is copied, and how fast");
    if (o->failures && o->mtbf_s > 0) argp_error(state, "give either --mtbf or --failures");
    bool fails = o->failures || o->mtbf_s > 0;
    if (o->n_asked && !fails) argp_error(state, "--interval needs --mtbf or --failures");
    if (o->plot && !fails) argp_error(state, "--plot needs --mtbf or --failures: it draws goodput over intervals");
    if (o->copies > 1 && !o->unsharded) argp_error(state, "--copies goes with --unsharded: of a sharded checkpoint each reads its share");
}

static error_t parse_rates(int key, const char *arg, struct options *o, struct argp_state *state)
{
    switch (key) {
    case 'w': o->write = bandwidth(arg, "--write", state); return 0;
    case 'r': o->read = bandwidth(arg, "--read", state); return 0;
    case KEY_NODE: o->node = bandwidth(arg, "--node", state); return 0;
    case KEY_PROCESS: o->process = bandwidth(arg, "--process", state); return 0;
    case KEY_COPY: o->copy = bandwidth(arg, "--copy", state); return 0;
    case KEY_HOST: o->host = bandwidth(arg, "--host", state); return 0;
    case KEY_FIXED: o->fixed_s = duration_s(arg, "--fixed", state); return 0;
    case KEY_SAVE: o->save_s = some_time_s(arg, "--save", state); return 0;
    case KEY_LOAD: o->load_s = some_time_s(arg, "--load", state); return 0;
    case 'M': o->mtbf_s = some_time_s(arg, "--mtbf", state); return 0;
    case KEY_DOWN: o->down_s = duration_s(arg, "--down", state); return 0;
    case KEY_RESTART: o->restart_s = duration_s(arg, "--restart", state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'm': o->model = command_model(arg, "give --parameters", state); return 0;
    case 'p': o->parameters = parameters(arg, state); return 0;
    case 'O': o->state = state_named(arg, state); return 0;
    case KEY_SIZE: o->size_bytes = bytes(arg, "--size", state); return 0;
    case 'g': o->gpus = command_number(arg, 1, 10000000, "--gpus", state); return 0;
    case KEY_PER_NODE: o->gpus_per_node = command_number(arg, 1, 1024, "--gpus-per-node", state); return 0;
    case KEY_SAVERS: o->savers = command_number(arg, 1, 1000000, "--savers", state); return 0;
    case KEY_COPIES: o->copies = command_number(arg, 1, 10000000, "--copies", state); return 0;
    case KEY_UNSHARDED: o->unsharded = true; return 0;
    case 'a': o->async = true; return 0;
    case 'i': ask(o, arg, state); return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case KEY_FAILURES: o->failures = command_text(arg, "--failures", state); return 0;
    case KEY_PLOT: o->plot = command_plot(arg, state); return 0;
    case ARGP_KEY_ARG: argp_error(state, "takes options only, not \"%s\"", arg); return 0;
    case ARGP_KEY_END: check(o, state); return 0;
    default: return parse_rates(key, arg, o, state);
    }
}

const struct argp argp_checkpoint = {
    options, parse, "",
    "How large a checkpoint is, how long it takes to save and load, and how often to save.\v"
    "Optimizers, with bytes a parameter: adam-mixed 14, adam-universal 12, adam-gradients 16, adam-fp32 12, adam-bf16 6, "
    "adam-8bit 8, adafactor 4, sgd-momentum 8, sgd 4, weights 2.\n"
    "Failures are exponential. An interval is work between saves; exact is the best there is (Lambert's W), Daly and Young "
    "approximate it. Redone is work after the last save that a failure took, and recovery.\n"
    "Examples: trainyard checkpoint --parameters 176e9 --gpus 384 --write 57GB/s --mtbf 12h\n"
    "          trainyard checkpoint --model llama2-70b --gpus 512 --write 20GB/s --async --mtbf 8h --plot goodput.svg\n"
    "          trainyard checkpoint --parameters 405B --gpus 16384 --write 100GB/s --failures llama3-h100\n"
    "          trainyard checkpoint --save 60s --load 5m --down 2m --restart 0 --mtbf 3h --interval 1h",
    NULL, NULL, NULL};

/* ---- the answer ---- */

static void size_and_times(const struct options *o, struct checkpoint_answer *a)
{
    long nodes = (o->gpus + o->gpus_per_node - 1) / o->gpus_per_node;
    double copies = o->copies ? (double)o->copies : o->unsharded ? (double)nodes : 1;
    a->model = o->model;
    a->state = checkpoint_state_named(o->state);
    a->parameters = o->model ? model_known(o->model)->parameters : o->parameters;
    double size = o->size_bytes > 0 ? o->size_bytes : a->parameters * checkpoint_state_bytes(a->state);
    a->layout = (struct checkpoint_layout){size,   (uint32_t)o->gpus, (uint32_t)nodes, (uint32_t)o->savers,
                                           copies, !o->unsharded,         o->async};
    struct checkpoint_path p = {o->write, o->read > 0 ? o->read : o->write, o->node, o->process, o->copy, o->host, o->fixed_s};
    a->times = checkpoint_times(&a->layout, &p);
    if (o->save_s > 0) a->times = (struct checkpoint_times){.save_s = o->save_s, .stall_s = o->save_s, .load_s = o->save_s};
    if (o->load_s > 0) a->times.load_s = o->load_s, a->times.load_limit = LIMIT_NONE;
    a->cost = (struct checkpoint_cost){a->times.stall_s, a->times.background_s};
}

/* Mean time between failures of a job of this size under a profile: a scenario of that job alone says it. */
static int mtbf_of_profile(struct options *o)
{
    struct diag d = {0};
    struct str text = {0};
    long nodes = (o->gpus + o->gpus_per_node - 1) / o->gpus_per_node;
    long gpus = o->gpus < o->gpus_per_node ? o->gpus : o->gpus_per_node;
    str_printf(&text, "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": %ld, \"gpus\": %ld } ] },", nodes,
               o->gpus_per_node);
    str_printf(&text, " \"workload\": { \"jobs\": [ { \"replicas\": %ld, \"gpus\": %ld, \"duration\": 1 } ] }, \"faults\": { \"profile\": ", nodes, gpus);
    json_escape(&text, o->failures, strlen(o->failures));
    str_append(&text, " } }");
    struct scenario *s = scenario_parse("--failures", str_text(&text), text.n, NULL, &d);
    str_free(&text);
    if (s) {
        double rate = job_failures_per_s(s, &s->details[0], (double)o->gpus, (double)nodes);
        if (rate > 0) o->mtbf_s = 1 / rate;
        else diag_error(&d, "--failures", 0, NULL, "profile \"%s\" stops no job", o->failures);
        scenario_free(s);
    }
    return command_diag(&d);
}

static bool intervals(const struct options *o, struct checkpoint_answer *a)
{
    double least = interval_least_s(a->cost);
    a->failures = o->failures;
    a->risk = (struct checkpoint_risk){o->mtbf_s, o->down_s, o->restart_s + a->times.load_s};
    if (!(o->mtbf_s > 0)) return true;
    for (size_t i = 0; i < o->n_asked; i++)
        if (o->asked_s[i] < least) {
            command_fail(EXIT_USAGE, "--interval %g s: a save takes %g s to be durable, and one is under way at a time",
                         o->asked_s[i], least);
            return false;
        }
    interval_rules(a->cost, &a->risk, a->rules);
    a->n_spread = interval_spread(a->rules[0].interval_s, 2, CHECKPOINT_SPREAD, a->cost, &a->risk, a->spread);
    for (size_t i = 0; i < o->n_asked; i++)
        a->asked[i] = interval_row("asked", o->asked_s[i], a->cost, &a->risk);
    a->n_asked = o->n_asked;
    return true;
}

int cmd_checkpoint(int argc, char **argv)
{
    struct options o = {.state = "adam-mixed", .gpus = 8, .gpus_per_node = 8, .savers = 1, .copy = COPY_BYTES_PER_S,
                        .restart_s = RESTART_S};
    struct checkpoint_answer a = {0};
    struct str out = {0};
    struct diag d = {0};
    argp_parse(&argp_checkpoint, argc, argv, 0, NULL, &o);
    int code = o.failures ? mtbf_of_profile(&o) : EXIT_OK;
    if (code != EXIT_OK) return code;
    size_and_times(&o, &a);
    if (!intervals(&o, &a)) return EXIT_USAGE;
    if (o.format == FORMAT_TEXT) checkpoint_text(&a, &out);
    else if (o.format == FORMAT_JSON) checkpoint_json(&a, &out);
    else checkpoint_csv(&a, &out);
    fputs(str_text(&out), stdout);
    str_free(&out);
    bool drawn = !o.plot || checkpoint_plot(&a, o.plot, &d);
    command_diag(&d);
    return command_end(drawn ? EXIT_OK : EXIT_IO);
}
