/* worker.c - trainyard-worker as a program: options, environment, data, ranks, training, exit code.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/worker.h"

#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lines.h"
#include "base/mem.h"
#include "base/roff.h"
#include "base/str.h"
#include "base/units.h"
#include "base/version.h"
#include "real/worker/local_group.h"
#include "real/worker/net.h"
#include "real/worker/train.h"

enum { OK = 0, USAGE = 2, INPUT = 3, IO = 4, STOPPED = 130 };
enum { MOST_FAULTS = 32 };

struct settings {
    struct train_options train;
    struct comm_options comm;
    const char *make_data, *log, *prometheus;
    int64_t log_every, restarts;
    int64_t samples, features, classes;
    double noise;
    struct fault faults[MOST_FAULTS];
    bool on_gpu;
    struct gpu_shape shape;
};

/* ---- options ---- */

enum key {
    KEY_DATA = 256, KEY_MAKE_DATA, KEY_SAMPLES, KEY_FEATURES, KEY_CLASSES, KEY_NOISE, KEY_PREFETCH, KEY_HIDDEN, KEY_BATCH,
    KEY_STEPS, KEY_RATE, KEY_MOMENTUM, KEY_WARMUP, KEY_SEED, KEY_PACE, KEY_PACE_RANKS, KEY_DEVICE, KEY_GPU_SHAPE, KEY_TRANSPORT, KEY_ALGORITHM, KEY_RENDEZVOUS, KEY_LAST_CALL, KEY_RESTARTS,
    KEY_COLLECTIVE, KEY_CHECKPOINT, KEY_EVERY, KEY_KEEP, KEY_SHARDED, KEY_ASYNC, KEY_RESUME, KEY_ON_RESIZE, KEY_LAST_SAVE, KEY_LOG, KEY_LOG_EVERY,
    KEY_PROMETHEUS, KEY_FAULT, KEY_MAN
};

static const struct argp_option option_table[] = {
    {0, 0, 0, 0, "Data:", 1},
    {"data", KEY_DATA, "FILE", 0, "Train on this data set", 0},
    {"make-data", KEY_MAKE_DATA, "FILE", 0, "Write a data set and leave: a class is a cloud around its centre", 0},
    {"samples", KEY_SAMPLES, "N", 0, "Of --make-data: samples (10000)", 0},
    {"features", KEY_FEATURES, "N", 0, "Of --make-data: features a sample (32)", 0},
    {"classes", KEY_CLASSES, "N", 0, "Of --make-data: classes (4)", 0},
    {"noise", KEY_NOISE, "X", 0, "Of --make-data: width of the clouds; centres lie within -1 and 1 (0.5)", 0},
    {"prefetch", KEY_PREFETCH, "N", 0, "Batches read ahead (2)", 0},
    {0, 0, 0, 0, "Model and training:", 2},
    {"hidden", KEY_HIDDEN, "N,N,...", 0, "Widths of hidden layers; without it the model is logistic regression", 0},
    {"batch", KEY_BATCH, "N", 0, "Samples a step, of all ranks together (256)", 0},
    {"steps", KEY_STEPS, "N", 0, "Steps in all, those before a restart included (100)", 0},
    {"rate", KEY_RATE, "X", 0, "Learning rate (0.1)", 0},
    {"momentum", KEY_MOMENTUM, "X", 0, "From 0 to below 1 (0.9)", 0},
    {"warmup", KEY_WARMUP, "N", 0, "Steps over which the rate grows to its value (0)", 0},
    {"seed", KEY_SEED, "N", 0, "Of first weights, order of data, and --make-data (1)", 0},
    {"pace", KEY_PACE, "DURATION", 0, "Computing a step takes at least this long", 0},
    {"pace-ranks", KEY_PACE_RANKS, "N", 0, "... on N ranks; on fewer or more in proportion (on any number)", 0},
    {"device", KEY_DEVICE, "cpu|gpu", 0, "gpu: each step also computes a transformer's matrix products on a GPU (cpu)", 0},
    {"gpu-shape", KEY_GPU_SHAPE, "LAYERS,WIDTH,TOKENS", 0, "... of that shape (8,4096,4096)", 0},
    {0, 0, 0, 0, "Ranks:", 3},
    {"transport", KEY_TRANSPORT, "auto|tcp|shm|nccl", 0, "Shared memory where all ranks can; nccl needs --device gpu (auto)", 0},
    {"algorithm", KEY_ALGORITHM, "auto|ring|tree", 0, "All-reduce over tcp (auto: tree for small ones)", 0},
    {"rendezvous-timeout", KEY_RENDEZVOUS, "DURATION", 0, "How long to wait for all ranks (10m)", 0},
    {"last-call", KEY_LAST_CALL, "DURATION", 0, "Elastic: how long to wait for more once enough are there (30s)", 0},
    {"restarts", KEY_RESTARTS, "N", 0, "Elastic: how often to join again after a lost rank (3)", 0},
    {"collective-timeout", KEY_COLLECTIVE, "DURATION", 0, "How long a collective may take (10m)", 0},
    {0, 0, 0, 0, "Checkpoints:", 4},
    {"checkpoint", KEY_CHECKPOINT, "STORE", 0, "Save there, at the end and as --every says; go on from the newest. A directory, or s3://BUCKET/PREFIX with AWS_* in the environment", 0},
    {"every", KEY_EVERY, "N", 0, "Steps between checkpoints (100)", 0},
    {"keep", KEY_KEEP, "N", 0, "Keep the newest N (3)", 0},
    {"sharded", KEY_SHARDED, 0, 0, "Each rank writes its part; else rank 0 writes all", 0},
    {"async", KEY_ASYNC, 0, 0, "Train on while it is written", 0},
    {"resume", KEY_RESUME, "newest|none|STEP", 0, "Where to go on; none or a step drops the newer checkpoints (newest)", 0},
    {"last-save", KEY_LAST_SAVE, "yes|no", 0, "Whether to save when training is done (yes)", 0},
    {"on-resize", KEY_ON_RESIZE, "save|drop|ignore", 0, "Elastic, when a rank comes: save first, lose the steps since the last save, or train on until ended from outside (save)", 0},
    {0, 0, 0, 0, "Records and faults:", 5},
    {"log", KEY_LOG, "FILE", 0, "JSON lines, appended; - is stdout (-)", 0},
    {"log-every", KEY_LOG_EVERY, "N", 0, "A line for each Nth step (1)", 0},
    {"prometheus", KEY_PROMETHEUS, "FILE", 0, "The present metrics as Prometheus text, replaced each second", 0},
    {"fault", KEY_FAULT, "KIND@STEP[:VALUE][/RANK]", 0,
     "crash, exit:CODE, hang:DURATION, slow:FACTOR, store-down:DURATION; may be repeated", 0},
    {"print-man", KEY_MAN, 0, OPTION_HIDDEN, 0, 0},
    {0}};

static const char *option_name(int key)
{
    const struct argp_option *o = option_table;
    while (o->key != key) o++;
    return o->name;
}

static int64_t whole(const char *text, int64_t least, int64_t most, int key, struct argp_state *state)
{
    int64_t x = least;
    if (units_parse_int64(text, &x) || x < least || x > most)
        argp_error(state, "--%s takes a whole number from %lld to %lld, not \"%s\"", option_name(key), (long long)least,
                   (long long)most, text);
    return x;
}

static double number(const char *text, double least, double below, int key, struct argp_state *state)
{
    double x = least;
    if (units_parse_double(text, &x) || !(x >= least && x < below))
        argp_error(state, "--%s takes a number from %g to below %g, not \"%s\"", option_name(key), least, below, text);
    return x;
}

static int64_t duration(const char *text, int key, struct argp_state *state)
{
    int64_t ns = 0;
    if (units_parse_duration(text, &ns) || ns <= 0)
        argp_error(state, "--%s takes a duration such as 90s or 200ms, not \"%s\"", option_name(key), text);
    return ns;
}

static int word(const char *text, const char *const *words, int n, int key, struct argp_state *state)
{
    for (int i = 0; i < n; i++)
        if (str_equal(text, words[i])) return i;
    const char *near = str_suggest(text, words, (size_t)n);
    argp_error(state, "--%s: \"%s\" is not known; did you mean \"%s\"?", option_name(key), text, near ? near : words[0]);
    return 0;
}

static const char *path(const char *text, int key, struct argp_state *state)
{
    if (!*text) argp_error(state, "--%s is empty", option_name(key));
    return text;
}

static void read_hidden(struct train_options *t, const char *text, struct argp_state *state)
{
    char *copy = xstrdup(text), *field[MODEL_LAYERS_MAX];
    size_t n = line_split(copy, ',', field, MODEL_LAYERS_MAX);
    if (n >= MODEL_LAYERS_MAX) argp_error(state, "--hidden takes at most %d widths", MODEL_LAYERS_MAX - 1);
    for (size_t i = 0; i < n; i++) t->hidden[i] = (int)whole(field[i], 1, MODEL_WIDTH_MAX, KEY_HIDDEN, state);
    t->n_hidden = (int)n;
    free(copy);
}

static struct gpu_shape read_shape(const char *text, struct argp_state *state)
{
    char *copy = xstrdup(text), *field[3];
    int64_t x[3] = {0};
    size_t n = line_split(copy, ',', field, 3);
    for (size_t i = 0; n == 3 && i < 3; i++)
        if (units_parse_int64(field[i], &x[i]) || x[i] < 1 || x[i] > 1 << 20) n = 0;
    free(copy);
    if (n != 3) argp_error(state, "--gpu-shape takes LAYERS,WIDTH,TOKENS, each from 1 to %d, not \"%s\"", 1 << 20, text);
    return (struct gpu_shape){(int)x[0], (int)x[1], (int)x[2]};
}

static void read_fault(struct settings *s, const char *text, struct argp_state *state)
{
    if (s->train.n_faults == MOST_FAULTS) argp_error(state, "--fault is given more than %d times", MOST_FAULTS);
    const char *wrong = fault_parse(text, &s->faults[s->train.n_faults]);
    if (wrong) argp_error(state, "--fault %s: %s", text, wrong);
    s->train.n_faults++;
}

static int64_t read_resume(const char *text, struct argp_state *state)
{
    int64_t step;
    if (str_equal(text, "newest")) return TRAIN_RESUME_NEWEST;
    if (str_equal(text, "none")) return TRAIN_RESUME_NONE;
    if (units_parse_int64(text, &step) || step < 0 || step > CHECKPOINT_STEP_MAX)
        argp_error(state, "--resume takes newest, none or a step, not \"%s\"", text);
    return step;
}

static void print_man(void);

static error_t parse_data(int key, char *text, struct argp_state *state)
{
    struct settings *s = state->input;
    switch (key) {
    case KEY_DATA: s->train.data = path(text, key, state); return 0;
    case KEY_MAKE_DATA: s->make_data = path(text, key, state); return 0;
    case KEY_SAMPLES: s->samples = whole(text, 1, 100000000, key, state); return 0;
    case KEY_FEATURES: s->features = whole(text, 1, 65536, key, state); return 0;
    case KEY_CLASSES: s->classes = whole(text, 2, 65536, key, state); return 0;
    case KEY_NOISE: s->noise = number(text, 0, 1e6, key, state); return 0;
    case KEY_PREFETCH: s->train.prefetch = (int)whole(text, 1, 1000, key, state); return 0;
    case KEY_LOG: s->log = path(text, key, state); return 0;
    case KEY_LOG_EVERY: s->log_every = whole(text, 1, INT32_MAX, key, state); return 0;
    case KEY_PROMETHEUS: s->prometheus = path(text, key, state); return 0;
    case KEY_FAULT: read_fault(s, text, state); return 0;
    case KEY_MAN: print_man(); exit(fflush(stdout) == 0 ? OK : IO);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_training(int key, char *text, struct argp_state *state)
{
    static const char *const on_resize[] = {"save", "drop", "ignore"}, *const yes[] = {"yes", "no"}, *const devices[] = {"cpu", "gpu"};
    struct train_options *t = &((struct settings *)state->input)->train;
    switch (key) {
    case KEY_HIDDEN: read_hidden(t, text, state); return 0;
    case KEY_BATCH: t->batch = (uint32_t)whole(text, 1, 1 << 24, key, state); return 0;
    case KEY_STEPS: t->steps = whole(text, 1, CHECKPOINT_STEP_MAX, key, state); return 0;
    case KEY_RATE: t->rate = number(text, 0, 1e6, key, state); return 0;
    case KEY_MOMENTUM: t->momentum = number(text, 0, 1, key, state); return 0;
    case KEY_WARMUP: t->warmup = whole(text, 0, CHECKPOINT_STEP_MAX, key, state); return 0;
    case KEY_SEED: t->seed = (uint64_t)whole(text, 0, INT64_MAX, key, state); return 0;
    case KEY_PACE: t->pace_ns = duration(text, key, state); return 0;
    case KEY_PACE_RANKS: t->pace_ranks = (int)whole(text, 1, WORLD_SIZE_MAX, key, state); return 0;
    case KEY_DEVICE: ((struct settings *)state->input)->on_gpu = word(text, devices, 2, key, state) == 1; return 0;
    case KEY_GPU_SHAPE: ((struct settings *)state->input)->shape = read_shape(text, state); return 0;
    case KEY_CHECKPOINT: t->checkpoints = path(text, key, state); return 0;
    case KEY_EVERY: t->every = whole(text, 1, CHECKPOINT_STEP_MAX, key, state); return 0;
    case KEY_KEEP: t->saver.keep = (int)whole(text, 1, 1000000, key, state); return 0;
    case KEY_SHARDED: t->saver.sharded = true; return 0;
    case KEY_ASYNC: t->async = true; return 0;
    case KEY_RESUME: t->resume = read_resume(text, state); return 0;
    case KEY_LAST_SAVE: t->no_last_save = word(text, yes, 2, key, state) == 1; return 0;
    case KEY_ON_RESIZE: t->on_resize = (enum resize_way)word(text, on_resize, 3, key, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_ranks(int key, char *text, struct argp_state *state)
{
    static const char *const transports[] = {"auto", "tcp", "shm", "nccl"}, *const algorithms[] = {"auto", "ring", "tree"};
    struct comm_options *c = &((struct settings *)state->input)->comm;
    switch (key) {
    case KEY_TRANSPORT: c->transport = (enum comm_transport)word(text, transports, 4, key, state); return 0;
    case KEY_ALGORITHM: c->algorithm = (enum comm_algorithm)word(text, algorithms, 3, key, state); return 0;
    case KEY_RENDEZVOUS: c->rendezvous.timeout_ns = duration(text, key, state); return 0;
    case KEY_LAST_CALL: c->rendezvous.last_call_ns = duration(text, key, state); return 0;
    case KEY_RESTARTS: ((struct settings *)state->input)->restarts = whole(text, 0, INT32_MAX, key, state); return 0;
    case KEY_COLLECTIVE: c->timeout_ns = duration(text, key, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void check_together(const struct settings *s, struct argp_state *state)
{
    if (!s->train.data && !s->make_data) argp_error(state, "--data is missing: what to train on (--make-data makes one)");
    if (s->train.data && s->make_data) argp_error(state, "--make-data only makes a data set; train on it with --data in another call");
    if (!s->train.checkpoints && s->train.resume >= 0) argp_error(state, "--resume STEP needs --checkpoint STORE");
    if (s->comm.transport == COMM_NCCL && !s->on_gpu) argp_error(state, "--transport nccl needs --device gpu");
    if (s->comm.transport != COMM_TCP && s->comm.transport != COMM_AUTO && s->comm.algorithm != COMM_ANY) argp_error(state, "--algorithm is of tcp alone");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    if (key == ARGP_KEY_ARG) argp_error(state, "\"%s\": all is given by options", text);
    if (key == ARGP_KEY_END) check_together(state->input, state);
    error_t e = parse_data(key, text, state);
    if (e == ARGP_ERR_UNKNOWN) e = parse_training(key, text, state);
    return e == ARGP_ERR_UNKNOWN ? parse_ranks(key, text, state) : e;
}

static const char summary[] =
    "Train a model on one rank of many: data-parallel, with real gradients, all-reduce and checkpoints.";
static const char details[] =
    "Which rank of how many it is, and where the ranks meet, stands in the environment, as PyTorchJob, torchrun, MPIJob, TFJob, "
    "JAXJob, XGBoost, PaddleJob, Trainer or Ray Train set it; without any it trains alone. SIGTERM ends training after the step, with a "
    "checkpoint, and at once who still waits for the others; SIGUSR1 hangs the process, SIGUSR2 makes it twice as slow or as fast again.";

static void print_man(void)
{
    struct str s = {0};
    str_printf(&s, ".TH TRAINYARD\\-WORKER 1 \"\" \"trainyard %s\"\n.SH NAME\ntrainyard\\-worker \\- ", TRAINYARD_VERSION);
    roff_text(&s, "data-parallel training on live machines");
    str_append(&s, "\n.SH SYNOPSIS\n.B trainyard\\-worker\n[OPTION...]\n.SH DESCRIPTION\n");
    roff_text(&s, summary);
    str_append(&s, "\n.PP\n");
    roff_text(&s, details);
    str_append(&s, "\n.SH OPTIONS\n");
    for (const struct argp_option *o = option_table; o->name || o->doc; o++) {
        if (o->flags & OPTION_HIDDEN) continue;
        str_append(&s, o->name ? ".TP\n.B \\-\\-" : ".SS ");
        roff_text(&s, o->name ? o->name : o->doc);
        if (o->arg) str_append(&s, "=\\fI"), roff_text(&s, o->arg), str_append(&s, "\\fR");
        str_append_char(&s, '\n');
        if (o->name) roff_text(&s, o->doc), str_append_char(&s, '\n');
    }
    str_append(&s, ".SH EXIT STATUS\n");
    roff_text(&s, "0 done, 2 usage, 3 bad input, 4 I/O or a lost rank, 130 stopped by a signal.");
    str_append_char(&s, '\n');
    fputs(str_text(&s), stdout);
    str_free(&s);
}

/* ---- the program ---- */

/* What these signal handlers touch. */
static volatile int asked_to_stop, meeting;

/* Who only waits for the others, or for their name to be found, has nothing to save: each record is out, each save has its name. */
static void on_stop(int signal)
{
    (void)signal;
    if (meeting) _exit(STOPPED);
    asked_to_stop = 1;
}

/* SIGTERM may come more than once for one order: to the whole process group (systemd, Slurm, timeout) and again from who started this
 * process. So does SIGINT to a rank of an agent, who ends it when it takes too long; else a second one ends the process at once. */
static void catch_signals(bool by_agent)
{
    struct sigaction stop = {.sa_handler = on_stop};
    sigaction(SIGTERM, &stop, NULL);
    if (!by_agent) stop.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &stop, NULL);
    fault_catch_signals();
}

static int told(struct diag *d, int code)
{
    diag_print(d, stderr);
    diag_free(d);
    return code;
}

static int make_data(const struct settings *s)
{
    struct diag d = {0};
    struct dataset_shape shape = {(uint32_t)s->samples, (uint32_t)s->features, (uint32_t)s->classes};
    bool ok = dataset_generate(s->make_data, shape, s->noise, s->train.seed, &d);
    return told(&d, ok ? OK : IO);
}

static bool open_log(const struct settings *s, struct steplog *log, struct diag *d)
{
    log->lines = str_equal(s->log, "-") ? stdout : fopen(s->log, "ae");
    log->prometheus = s->prometheus;
    log->every = s->log_every;
    if (!log->lines) diag_error(d, s->log, 0, NULL, "cannot open: %s", strerror(errno));
    return log->lines != NULL;
}

/* NULL and no error in d: told to stop. */
static struct comm *meet(const struct world *w, const struct comm_options *o, worker_opener *open, struct diag *d)
{
    meeting = 1; /* before the look: a signal finds the one or is seen by the other */
    struct comm *c = asked_to_stop ? NULL : open(w, o, d);
    meeting = 0;
    return c;
}

/* From joining to the end, or to the next join. */
static int run_ranks(struct settings *s, const struct world *w, const struct dataset *data, worker_opener *open,
                     struct steplog *log)
{
    struct diag d = {0};
    struct start_record start = {.kind = w->kind};
    struct comm_options options = s->comm;
    options.rendezvous.settings = train_settings(&s->train, data);
    int64_t begin_ns = net_now_ns();
    log->rank = s->train.first_rank < 0 ? w->rank : log->rank;
    steplog_join(log, w->kind);
    struct comm *c = meet(w, &options, open, &d);
    if (!c) return told(&d, diag_errors(&d) ? IO : STOPPED);
    if (*comm_error(c)) { /* before there was anything to train on */
        int code = train_lost(c);
        comm_close(c);
        return told(&d, code);
    }
    start.rendezvous_ns = net_now_ns() - begin_ns;
    start.transport = c->size == 1 ? "none" : c->ops->name;
    log->rank = c->rank;
    if (s->train.first_rank < 0) s->train.first_rank = c->rank;
    log->size = c->size;
    steplog_met(log);
    int code = train(&s->train, data, c, log, &start);
    comm_close(c);
    return told(&d, code);
}

/* An elastic world goes on with who is left, or with who has come. */
static int run_world(struct settings *s, const struct world *w, const struct dataset *data, worker_opener *open,
                     struct steplog *log)
{
    int code = run_ranks(s, w, data, open, log);
    for (int64_t lost = 0; code < 0 && w->min_size < w->size;) {
        if (code == TRAIN_LOST && ++lost > s->restarts) break;
        s->train.resume = TRAIN_RESUME_NEWEST; /* where it was told to go back it has done so already */
        code = run_ranks(s, w, data, open, log);
    }
    return code < 0 ? IO : code;
}

/* The device is there before the ranks meet: who has none says so at once. */
static int run_on_device(struct settings *s, const struct world *w, const struct dataset *data, worker_opener *open,
                         struct steplog *log)
{
    struct device device;
    struct diag d = {0};
    if (!s->on_gpu) return run_world(s, w, data, open, log);
    bool collectives = s->comm.transport == COMM_NCCL;
    if (!device_open(&device, w->local_rank, s->shape, collectives ? GPU_COLLECTIVES : 0, &d)) return told(&d, IO);
    s->train.device = &device;
    s->comm.gpu = &device.gpu;
    int code = run_world(s, w, data, open, log);
    device_close(&device);
    return code;
}

static int run_one(struct settings *s, const struct world *w, worker_opener *open)
{
    struct diag d = {0};
    struct steplog log = {0};
    int code = INPUT;
    struct dataset *data = dataset_open(s->train.data, &d);
    if (data && s->train.batch > data->shape.samples) {
        diag_error(&d, s->train.data, 0, NULL, "has %u samples, fewer than a batch of %u", data->shape.samples, s->train.batch);
    } else if (data) {
        code = open_log(s, &log, &d) ? run_on_device(s, w, data, open, &log) : IO;
        if (!steplog_close(&log, &d) && code == OK) code = IO;
    }
    dataset_close(data);
    return told(&d, code);
}

struct local {
    struct settings *settings;
    const struct world *world;
    worker_opener *open;
    struct arena *arena;
};

/* "dir/worker.prom" of local rank 2 is "dir/worker-2.prom". */
static const char *with_rank(struct arena *a, const char *path_given, int local_rank)
{
    const char *slash = strrchr(path_given, '/'), *dot = strrchr(slash ? slash : path_given, '.');
    size_t n = dot ? (size_t)(dot - path_given) : strlen(path_given);
    return arena_printf(a, "%.*s-%d%s", (int)n, path_given, local_rank, path_given + n);
}

/* A rank that its agent has started; faults are played in the first life only. */
static int run_local(int local_rank, int start, void *arg)
{
    const struct local *l = arg;
    struct settings s = *l->settings;
    struct world w = world_of_local_rank(l->world, local_rank);
    if (start > 0) s.train.n_faults = 0;
    if (l->world->max_restarts > 0) s.restarts = 0; /* its agent's part */
    if (start > 0) s.train.resume = TRAIN_RESUME_NEWEST;
    if (s.prometheus && l->world->local_ranks > 1) s.prometheus = with_rank(l->arena, s.prometheus, local_rank);
    catch_signals(true);
    return run_one(&s, &w, l->open);
}

static int run(struct settings *s, worker_opener *open)
{
    struct diag d = {0};
    struct arena arena = {0};
    struct world w;
    int code = INPUT;
    if (!world_read(environ, &arena, &w, &d)) {
        code = told(&d, INPUT);
    } else if (w.local_ranks == 1 && w.max_restarts == 0) {
        catch_signals(false);
        code = run_one(s, &w, open);
    } else {
        struct local l = {s, &w, open, &arena};
        code = local_group_run(&(struct local_group){w.local_ranks, w.max_restarts, LOCAL_STOP_NS, run_local, &l});
    }
    arena_free(&arena);
    return code;
}

int worker_main(int argc, char **argv, worker_opener *open)
{
    struct settings s = {
        .train = {.batch = 256, .steps = 100, .rate = 0.1, .momentum = 0.9, .seed = 1, .prefetch = 2, .every = 100,
                  .saver = {.keep = 3}, 
                  .resume = TRAIN_RESUME_NEWEST, .first_rank = -1, .stop = &asked_to_stop},
        .comm = {.timeout_ns = COMM_TIMEOUT_NS,
                 .rendezvous = {.timeout_ns = RENDEZVOUS_TIMEOUT_NS, .last_call_ns = RENDEZVOUS_LAST_CALL_NS,
                                .pairing_ns = RENDEZVOUS_PAIRING_NS}},
        .log = "-", .log_every = 1, .restarts = 3, .samples = 10000, .features = 32, .classes = 4, .noise = DATASET_NOISE, .shape = {8, 4096, 4096}};
    char doc[sizeof summary + sizeof details + 1];
    const struct argp argp = {option_table, parse, NULL, doc, NULL, NULL, NULL};
    setlocale(LC_NUMERIC, "C");
    argp_program_version = "trainyard-worker " TRAINYARD_VERSION;
    argp_err_exit_status = USAGE;
    snprintf(doc, sizeof doc, "%s\v%s", summary, details);
    s.train.faults = s.faults;
    argp_parse(&argp, argc, argv, 0, NULL, &s);
    return s.make_data ? make_data(&s) : run(&s, open);
}
