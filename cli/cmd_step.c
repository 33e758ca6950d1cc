/* cmd_step.c - trainyard step: the step model as a calculator.
 *
 * The options become a small scenario, so the calculator counts as the simulator does.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/step.h"
#include "input/scenario.h"
#include "study/step_split.h"

enum { TOKENS_A_STEP = 1 << 21, SAMPLES_A_GPU = 256, GPUS_A_NODE = 8 };

enum {
    KEY_TENSOR = 256, KEY_PIPELINE, KEY_INTERLEAVE, KEY_CONTEXT, KEY_EXPERT, KEY_ZERO, KEY_OVERLAP, KEY_MICRO, KEY_RECOMPUTE,
    KEY_PRECISION, KEY_PER_NODE, KEY_RUN, KEY_INTER, KEY_JITTER, KEY_SLOWNESS, KEY_DATA, KEY_PLOT, KEY_LIST, KEY_GPU,
    KEY_KERNELS, KEY_COLLECTIVES
};

/* Options that are members of "parallelism" and "batch", in the order of the keys above. */
static const struct { int key; const char *object, *name; } members[] = {
    {KEY_TENSOR, "parallelism", "tensor"},         {KEY_PIPELINE, "parallelism", "pipeline"},
    {KEY_INTERLEAVE, "parallelism", "interleave"}, {KEY_CONTEXT, "parallelism", "context"},
    {KEY_EXPERT, "parallelism", "expert"},         {KEY_ZERO, "parallelism", "zero"},
    {KEY_OVERLAP, "parallelism", "overlap"},       {KEY_MICRO, "batch", "micro"},
    {KEY_RECOMPUTE, "batch", "recompute"},         {KEY_PRECISION, "batch", "precision"},
};
enum { N_MEMBERS = sizeof members / sizeof *members };

struct options {
    const char *model, *hardware, *network, *gpu, *inter, *kernels, *collectives, *plot;
    const char *given[N_MEMBERS];
    long gpus[STEP_SIZES_MAX];
    size_t n_gpus;
    long batch, sequence, per_node, run;
    double jitter, slowness, data_s;
    bool list;
    enum output_format format;
};

static const struct argp_option options[] = {
    {0, 0, 0, 0, "What is trained:", 1},
    {"model", 'm', "NAME", 0, "A shipped model, such as llama2-70b (default: llama2-7b); --list shows them", 1},
    {"sequence", 's', "N", 0, "Tokens of a sample (default: the model's)", 1},
    {"batch", 'b', "N", 0, "Samples of a step (default: about 2 million tokens, or 256 samples a GPU)", 1},
    {"micro", KEY_MICRO, "N", 0, "Samples at a time on a rank", 1},
    {"recompute", KEY_RECOMPUTE, "none|selective|full", 0, "Activations that are computed again", 1},
    {"precision", KEY_PRECISION, "bf16|fp16|fp32|fp8", 0, "Of computing (default: bf16)", 1},
    {"list", KEY_LIST, 0, 0, "List the models and stop", 1},
    {0, 0, 0, 0, "On what:", 2},
    {"gpus", 'g', "N", 0, "GPUs (default: 64); may be repeated, for a table", 2},
    {"hardware", 'H', "PROFILE", 0, "A hardware profile (default: h100-sxm-8)", 2},
    {"network", 'N', "PROFILE", 0, "A network profile (default: what the hardware profile says)", 2},
    {"gpu", KEY_GPU, "NAME", 0, "A GPU type with its usual node, instead of --hardware: h200, mi300x ...", 2},
    {"gpus-per-node", KEY_PER_NODE, "N", 0, "With --gpu (default: 8)", 2},
    {"inter", KEY_INTER, "BANDWIDTH", 0, "Of a node to the fabric, such as 400Gbps", 2},
    {"kernels", KEY_KERNELS, "PROFILE", 0, "What kernels reach, as `calibrate step -o` writes it (default: public measurements)", 2},
    {"collectives", KEY_COLLECTIVES, "PROFILE", 0, "A measured collective, as `calibrate collective -o` writes it", 2},
    {"run", KEY_RUN, "N", 0, "Consecutive ranks that share a node (default: as many as a node has)", 2},
    {0, 0, 0, 0, "How it is divided (default: the fastest that fits):", 3},
    {"tensor", KEY_TENSOR, "N", 0, "Tensor-parallel ranks", 3},
    {"pipeline", KEY_PIPELINE, "N", 0, "Pipeline stages", 3},
    {"interleave", KEY_INTERLEAVE, "N", 0, "Chunks of layers a stage", 3},
    {"context", KEY_CONTEXT, "N", 0, "Ranks that share a sequence", 3},
    {"expert", KEY_EXPERT, "N", 0, "Data-parallel ranks that share the experts", 3},
    {"zero", KEY_ZERO, "0|1|2|3", 0, "Stage of ZeRO; 3 is FSDP's full sharding", 3},
    {"overlap", KEY_OVERLAP, "FRACTION", 0, "Of computation, behind which data-parallel traffic hides", 3},
    {0, 0, 0, 0, "What goes wrong:", 4},
    {"jitter", KEY_JITTER, "FRACTION", 0, "Deviation of a rank's time from step to step (default: 0)", 4},
    {"slowness", KEY_SLOWNESS, "FRACTION", 0, "By which the slowest node's computation takes longer (default: 0)", 4},
    {"data-wait", KEY_DATA, "DURATION", 0, "Waiting for data, a step (default: 0)", 4},
    {0, 0, 0, 0, "How it is shown:", 5},
    {"format", 'f', "text|json|csv", 0, "Format of the result (default: text)", 5},
    {"plot", KEY_PLOT, "FILE.svg", 0, "Draw the time of a step over GPUs", 5},
    {0},
};

/* ---- options ---- */

static double fraction(const char *text, const char *option, struct argp_state *state)
{
    int64_t ppb = 0;
    if (units_parse_fraction(text, &ppb) || ppb > PPB_PER_UNIT)
        argp_error(state, "%s takes a fraction such as 0.02 or 2%%, not \"%s\"", option, text);
    return (double)ppb / (double)PPB_PER_UNIT;
}

static double duration_s(const char *text, const char *option, struct argp_state *state)
{
    return (double)command_duration(text, 0, option, state) / 1e9;
}

static const char *gpu_named(const char *text, struct argp_state *state)
{
    struct str known = {0};
    if (gpu_spec_find(text)) return text;
    for (size_t i = 0; gpu_spec_at(i); i++) str_printf(&known, "%s%s", i ? ", " : "", gpu_spec_at(i)->name);
    argp_error(state, "--gpu: \"%s\" is not known; known are %s", text, str_text(&known));
    str_free(&known);
    return NULL;
}

static void add_gpus(struct options *o, const char *text, struct argp_state *state)
{
    if (o->n_gpus == STEP_SIZES_MAX) argp_error(state, "at most %d numbers of GPUs", STEP_SIZES_MAX);
    o->gpus[o->n_gpus++] = command_number(text, 1, 4000000, "--gpus", state);
}

static const char *member_text(size_t i, const char *text, struct argp_state *state)
{
    bool word = members[i].key == KEY_RECOMPUTE || members[i].key == KEY_PRECISION;
    double x = 0;
    if (!word && units_parse_double(text, &x)) argp_error(state, "--%s takes a number, not \"%s\"", members[i].name, text);
    return text;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    for (size_t i = 0; i < N_MEMBERS; i++)
        if (members[i].key == key) {
            o->given[i] = member_text(i, arg, state);
            return 0;
        }
    switch (key) {
    case 'm': o->model = command_model(arg, "--list shows the models", state); return 0;
    case 's': o->sequence = command_number(arg, 1, 100000000, "--sequence", state); return 0;
    case 'b': o->batch = command_number(arg, 1, 1000000000, "--batch", state); return 0;
    case 'g': add_gpus(o, arg, state); return 0;
    case 'H': o->hardware = command_text(arg, "--hardware", state); return 0;
    case 'N': o->network = command_text(arg, "--network", state); return 0;
    case KEY_GPU: o->gpu = gpu_named(arg, state); return 0;
    case KEY_PER_NODE: o->per_node = command_number(arg, 1, MAX_GPUS_PER_NODE, "--gpus-per-node", state); return 0;
    case KEY_INTER: o->inter = command_text(arg, "--inter", state); return 0;
    case KEY_KERNELS: o->kernels = command_text(arg, "--kernels", state); return 0;
    case KEY_COLLECTIVES: o->collectives = command_text(arg, "--collectives", state); return 0;
    case KEY_RUN: o->run = command_number(arg, 1, 4000000, "--run", state); return 0;
    case KEY_JITTER: o->jitter = fraction(arg, "--jitter", state); return 0;
    case KEY_SLOWNESS: o->slowness = fraction(arg, "--slowness", state); return 0;
    case KEY_DATA: o->data_s = duration_s(arg, "--data-wait", state); return 0;
    case KEY_PLOT: o->plot = command_plot(arg, state); return 0;
    case KEY_LIST: o->list = true; return 0;
    case 'f': o->format = command_format(arg, state); return 0;
    case ARGP_KEY_ARG: argp_error(state, "takes options only, not \"%s\"", arg); return 0;
    case ARGP_KEY_END:
        if (o->gpu && o->hardware) argp_error(state, "give one of --gpu and --hardware");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_step = {
    options, parse, "",
    "How long a training step is, what it consists of, and whether it fits into the GPUs' memory.\v"
    "The same model as a job's \"model\", \"parallelism\" and \"batch\" in a scenario. Formulas and their measured errors: "
    "docs/models.md.\n"
    "Examples: trainyard step --model llama2-70b --gpus 64\n"
    "          trainyard step --model gpt3-175b --gpus 1024 --hardware a100-sxm-8 --network ib-hdr-200 --tensor 8 --pipeline 16 "
    "--interleave 6 --zero 1 --batch 1536 --recompute full\n"
    "          trainyard step --model llama3-8b --gpus 8 --gpus 64 --gpus 512 --batch 512 --zero 3 --format csv",
    NULL, NULL, NULL};

/* ---- the scenario ---- */

static void text_member(struct json_writer *w, const char *key, const char *text)
{
    if (!text) return;
    json_write_key(w, key);
    json_write_string(w, text);
}

static void int_member(struct json_writer *w, const char *key, long x)
{
    json_write_key(w, key);
    json_write_int64(w, x);
}

static long default_batch(const struct options *o, long gpus)
{
    const struct model_shape *m = model_known(o->model);
    if (!m->layers) return SAMPLES_A_GPU * gpus;
    long batch = TOKENS_A_STEP / (o->sequence ? o->sequence : (long)m->sequence);
    return batch < gpus ? gpus : batch / gpus * gpus;
}

static long node_size(const struct options *o)
{
    return o->per_node ? o->per_node : GPUS_A_NODE;
}

static void write_cluster(struct json_writer *w, const struct options *o, long nodes)
{
    const struct gpu_spec *gpu = o->gpu ? gpu_spec_find(o->gpu) : NULL;
    json_write_key(w, "cluster");
    json_write_object(w);
    json_write_key(w, "nodes");
    json_write_array(w);
    json_write_object(w);
    text_member(w, "group", "gpus");
    int_member(w, "count", nodes);
    text_member(w, "gpu", o->gpu);
    if (o->gpu || o->per_node) int_member(w, "gpus", node_size(o));
    if (!o->gpu) text_member(w, "profile", o->hardware ? o->hardware : "h100-sxm-8");
    json_write_end(w);
    json_write_end(w);
    json_write_key(w, "network");
    json_write_object(w);
    if (gpu) int_member(w, "intra", (long)gpu->link_bytes_per_s);
    if (o->inter) text_member(w, "inter", o->inter);
    else if (gpu) int_member(w, "inter", (long)gpu->node_bytes_per_s);
    text_member(w, "profile", o->network);
    text_member(w, "collectives", o->collectives);
    json_write_end(w);
    text_member(w, "kernels", o->kernels);
    json_write_end(w);
}

static void write_members(struct json_writer *w, const struct options *o, const char *object)
{
    for (size_t i = 0; i < N_MEMBERS; i++) {
        if (!o->given[i] || strcmp(members[i].object, object) != 0) continue;
        bool word = members[i].key == KEY_RECOMPUTE || members[i].key == KEY_PRECISION;
        json_write_key(w, members[i].name);
        if (word) json_write_string(w, o->given[i]);
        else json_write_raw(w, o->given[i]);
    }
}

static void write_job(struct json_writer *w, const struct options *o, long gpus)
{
    long pod = gpus % node_size(o) ? 1 : node_size(o);
    json_write_object(w);
    text_member(w, "id", "step");
    int_member(w, "replicas", gpus / pod);
    int_member(w, "gpus", pod);
    int_member(w, "steps", 1);
    json_write_key(w, "model");
    json_write_object(w);
    text_member(w, "name", o->model);
    if (o->sequence) int_member(w, "sequence", o->sequence);
    json_write_end(w);
    json_write_key(w, "parallelism");
    json_write_object(w);
    write_members(w, o, "parallelism");
    json_write_end(w);
    json_write_key(w, "batch");
    json_write_object(w);
    int_member(w, "global", o->batch ? o->batch : default_batch(o, gpus));
    write_members(w, o, "batch");
    json_write_end(w);
    json_write_end(w);
}

static void write_scenario(const struct options *o, long gpus, struct str *out)
{
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    int_member(&w, "trainyard", 1);
    text_member(&w, "name", "step");
    write_cluster(&w, o, (gpus + node_size(o) - 1) / node_size(o));
    json_write_key(&w, "workload");
    json_write_object(&w);
    json_write_key(&w, "jobs");
    json_write_array(&w);
    write_job(&w, o, gpus);
    json_write_end(&w);
    json_write_end(&w);
    json_write_key(&w, "approaches");
    json_write_object(&w);
    json_write_key(&w, "a");
    json_write_object(&w);
    json_write_end(&w);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
}

/* ---- the answer ---- */

static bool any_given(const struct options *o, const char *object)
{
    for (size_t i = 0; i < N_MEMBERS; i++)
        if (o->given[i] && !strcmp(members[i].object, object)) return true;
    return false;
}

static void fill_row(const struct options *o, const struct step_input *read, uint32_t gpus, struct step_row *r)
{
    struct step_freedom all = {!any_given(o, "parallelism"), !o->given[KEY_MICRO - KEY_TENSOR], !o->given[KEY_RECOMPUTE - KEY_TENSOR]};
    r->gpus = gpus;
    r->in = *read;
    if (o->run) r->in.place.run = (uint32_t)o->run;
    r->in.noise = (struct step_noise){o->jitter, 1 + o->slowness};
    r->in.data_wait_s = o->data_s;
    r->searched = all.split;
    if (r->searched) {
        struct step_input asked = r->in;
        r->fit = step_split_search(&asked, gpus, &all, &r->in);
    }
    r->time = step_time(&r->in);
    r->memory = step_memory(&r->in);
}

/* Errors are of the scenario that the options made: people are told the option instead of a place in it. */
static void name_options(struct diag *d)
{
    static const struct { const char *pointer, *option; } by_place[] = {
        {"/cluster/nodes/0/profile", "--hardware"}, {"/cluster/network/profile", "--network"}, {"/workload/jobs/0/model", "--model"},
        {"/workload/jobs/0/parallelism", "trainyard step"}, {"/workload/jobs/0/batch/global", "--batch"},
    };
    for (size_t i = 0; i < d->entries.n; i++) {
        struct diag_entry *e = &d->entries.v[i];
        const char *last = strrchr(e->pointer, '/'), *option = NULL;
        for (size_t k = 0; k < sizeof by_place / sizeof *by_place; k++)
            if (!strcmp(by_place[k].pointer, e->pointer)) option = by_place[k].option;
        for (const struct argp_option *known = options; last && !option && (known->name || known->doc); known++)
            if (known->name && !strcmp(known->name, last + 1)) option = arena_printf(&d->arena, "--%s", known->name);
        if (!option) continue;
        *e = (struct diag_entry){e->severity, option, 0, "", e->text, e->help};
    }
}

/* What only the options can say that makes no sense: a scenario has no run, and takes what is left of a batch. */
static bool possible(const struct options *o, const struct step_input *in, uint32_t node, struct diag *d)
{
    if (o->run > (long)node)
        diag_error(d, "--run", 0, NULL, "%ld ranks share no node of %u GPUs", o->run, node);
    if (o->given[KEY_MICRO - KEY_TENSOR] && in->batch.micro > in->batch.global)
        diag_error(d, "--micro", 0, NULL, "%u samples at a time, of a batch of %.0f", in->batch.micro, in->batch.global);
    return diag_errors(d) == 0;
}

static bool add_row(const struct options *o, long gpus, struct step_answer *a, struct diag *d)
{
    struct str text = {0};
    write_scenario(o, gpus, &text);
    struct scenario *s = scenario_parse("step", str_text(&text), text.n, NULL, d);
    str_free(&text);
    if (!s) {
        name_options(d);
        return false;
    }
    if (!possible(o, s->details[0].step.model, s->cluster.groups[0].gpus, d)) {
        scenario_free(s);
        return false;
    }
    struct step_row *r = &a->row[a->n++];
    fill_row(o, s->details[0].step.model, (uint32_t)gpus, r);
    if (r->in.batch.precision == PRECISION_FP8 && r->in.hardware.gpu.fp8_flops <= 0 && a->n == 1)
        fprintf(stderr, "trainyard: %s does not compute in 8 bits; the step is as long as with 16\n", a->hardware);
    scenario_free(s);
    return true;
}

static int print(const struct options *o, const struct step_answer *a, struct diag *d)
{
    struct str out = {0};
    if (o->format == FORMAT_TEXT) step_text(a, &out);
    else if (o->format == FORMAT_JSON) step_json(a, &out);
    else step_csv(a, &out);
    fputs(str_text(&out), stdout);
    str_free(&out);
    bool drawn = !o->plot || step_plot(a, o->plot, d);
    command_diag(d);
    return command_end(drawn ? EXIT_OK : EXIT_IO);
}

static int list_models(void)
{
    struct str out = {0};
    step_models_text(&out);
    fputs(str_text(&out), stdout);
    str_free(&out);
    return command_end(EXIT_OK);
}

int cmd_step(int argc, char **argv)
{
    struct options o = {.model = "llama2-7b"};
    struct diag d = {0};
    argp_parse(&argp_step, argc, argv, 0, NULL, &o);
    if (o.list) return list_models();
    if (o.n_gpus == 0) o.gpus[o.n_gpus++] = 64;
    struct step_answer *a = calloc(1, sizeof *a);
    if (!a) abort();
    a->model = o.model;
    a->hardware = o.gpu ? o.gpu : o.hardware ? o.hardware : "h100-sxm-8";
    bool ok = true;
    for (size_t i = 0; i < o.n_gpus && ok; i++) ok = add_row(&o, o.gpus[i], a, &d);
    int code = ok ? print(&o, a, &d) : command_diag(&d);
    free(a);
    return code;
}
