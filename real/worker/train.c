/* train.c - data-parallel training: the loop of one rank.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/detmath.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/units.h"
#include "real/worker/net.h"

enum { OK = 0, INPUT = 3, IO = 4, STOPPED = 130 };

/* Behind the gradient in the all-reduce. */
enum { LOSS, ASKED_TO_STOP, NEWCOMER, WRITTEN, FAILED, N_EXTRAS };

struct training {
    const struct train_options *options;
    const struct dataset *data;
    struct comm *comm;
    struct steplog *log;
    struct model model;
    float *parameters, *momenta, *sum; /* sum: gradient and extras */
    double *gradient;
    struct loader *loader;
    struct store *store;
    struct saver *saver;
    bool saving, last_save_failed;
    int64_t step, save_step, save_begin_ns;
    double slow;       /* by a fault */
    bool stop, resize; /* agreed */
};

uint64_t train_settings(const struct train_options *o, const struct dataset *s)
{
    struct hash h;
    hash_init(&h);
    hash_bytes(&h, &s->shape, sizeof s->shape);
    hash_u64(&h, s->crc);
    for (int i = 0; i < o->n_hidden; i++) hash_i64(&h, o->hidden[i]);
    hash_u64(&h, o->batch);
    hash_i64(&h, o->steps);
    hash_bytes(&h, &o->rate, sizeof o->rate);
    hash_bytes(&h, &o->momentum, sizeof o->momentum);
    hash_i64(&h, o->warmup);
    hash_u64(&h, o->seed);
    hash_i64(&h, o->checkpoints ? o->every : 0);
    hash_u64(&h, (uint64_t)o->async * 2 + o->saver.sharded);
    return hash_end(&h).lo;
}

/* A checkpoint fits any training of a model of these widths. */
static uint64_t model_fingerprint(const struct model *m)
{
    return hash64(m->width, sizeof *m->width * (size_t)(m->depth + 1));
}

int train_lost(const struct comm *c)
{
    fprintf(stderr, "trainyard-worker: rank %d of %d: %s\n", c->rank, c->size, comm_error(c));
    return TRAIN_LOST;
}

static int lost(const struct training *t)
{
    return train_lost(t->comm);
}

/* Prints what is in d, errors that do not end the run. */
static void tell(struct diag *d)
{
    diag_print(d, stderr);
    diag_free(d);
}

/* ---- begin ---- */

struct beginning {
    uint64_t token;
    int64_t step; /* resumed, or CHECKPOINT_ */
};

static int64_t load(struct training *t)
{
    const struct train_options *o = t->options;
    struct diag d = {0};
    int64_t step = CHECKPOINT_NONE;
    uint64_t print = model_fingerprint(&t->model);
    if (o->resume == TRAIN_RESUME_NEWEST) {
        step = checkpoint_load_newest(t->store, print, t->model.parameters, t->parameters, t->momenta, &d);
    } else if (o->resume >= 0) {
        bool ok = checkpoint_load(t->store, o->resume, print, t->model.parameters, t->parameters, t->momenta, &d);
        step = ok ? o->resume : t->store->fails ? CHECKPOINT_STORE_FAILS : CHECKPOINT_OTHER_MODEL;
    }
    /* Only who was told to go back drops what is newer: what was passed over may be read another time. */
    bool goes_back = o->resume != TRAIN_RESUME_NEWEST && step >= CHECKPOINT_NONE;
    if (goes_back && !checkpoint_drop_newer(t->store, step, &d)) step = CHECKPOINT_STORE_FAILS;
    if (step == CHECKPOINT_NONE) { /* a damaged one may have been read in part */
        model_start(&t->model, o->seed, t->parameters);
        memset(t->momenta, 0, t->model.parameters * sizeof *t->momenta);
    }
    tell(&d);
    return step;
}

static int begin_checkpoints(struct training *t, struct start_record *start)
{
    struct beginning b = {.step = CHECKPOINT_NONE};
    struct diag d = {0};
    size_t bytes = t->model.parameters * sizeof(float);
    int64_t begin_ns = net_now_ns();
    t->store = store_open(t->options->checkpoints, &d);
    tell(&d);
    if (!t->store) return INPUT;
    if (t->comm->rank == 0 && getrandom(&b.token, sizeof b.token, 0) != sizeof b.token) return IO;
    if (t->comm->rank == 0) b.step = load(t);
    if (!comm_broadcast(t->comm, &b, sizeof b) || (b.step >= 0 && (!comm_broadcast(t->comm, t->parameters, bytes) ||
                                                                   !comm_broadcast(t->comm, t->momenta, bytes))))
        return lost(t);
    if (b.step < CHECKPOINT_NONE) return b.step == CHECKPOINT_STORE_FAILS ? IO : INPUT;
    t->step = b.step < 0 ? 0 : b.step;
    start->resumed_step = b.step;
    start->load_ns = net_now_ns() - begin_ns;
    const struct saver_life life = {t->comm->rank, t->comm->size, b.token, model_fingerprint(&t->model), b.step};
    t->saver = saver_open(t->store, &t->options->saver, &life, &d);
    tell(&d);
    return t->saver ? OK : IO;
}

static int begin(struct training *t, struct start_record *start)
{
    const struct train_options *o = t->options;
    model_make(&t->model, (int)t->data->shape.features, o->hidden, o->n_hidden, (int)t->data->shape.classes);
    size_t n = t->model.parameters;
    t->parameters = xcalloc(n, sizeof *t->parameters);
    t->momenta = xcalloc(n, sizeof *t->momenta);
    t->gradient = xcalloc(n, sizeof *t->gradient);
    t->sum = xcalloc(n + N_EXTRAS, sizeof *t->sum);
    model_start(&t->model, o->seed, t->parameters);
    start->parameters = n;
    start->resumed_step = -1;
    int code = o->checkpoints ? begin_checkpoints(t, start) : OK;
    if (code != OK) return code;
    struct share share = {o->batch, t->comm->rank, t->comm->size, o->seed};
    t->loader = loader_start(t->data, share, t->step, o->prefetch);
    steplog_start(t->log, start);
    return OK;
}

/* ---- checkpoints ---- */

/* All parts are written, or one has failed: each rank ends its own, rank 0 gives the name or takes the rest away. */
static void finish_save(struct training *t, bool all_written)
{
    struct diag d = {0};
    bool ok = saver_wait(t->saver, &d) && all_written;
    if (t->comm->rank == 0 && ok)
        ok = saver_commit(t->saver, &d);
    else if (t->comm->rank == 0)
        saver_abandon(t->saver);
    if (t->comm->rank == 0) steplog_checkpoint(t->log, t->save_step, net_now_ns() - t->save_begin_ns, ok);
    t->saving = false;
    t->last_save_failed = !ok;
    tell(&d);
}

/* Stands until the save under way is over on all ranks; false when a peer is lost. */
static bool await_save(struct training *t)
{
    while (saver_state(t->saver) == SAVER_WRITING) nanosleep(&(struct timespec){0, 200000}, NULL);
    float failed = saver_state(t->saver) == SAVER_FAILED;
    if (!comm_all_reduce(t->comm, &failed, 1)) return false;
    finish_save(t, failed == 0);
    return true;
}

/* False when a peer is lost. */
static bool save(struct training *t, bool wait)
{
    if (t->saving && !await_save(t)) return false;
    t->save_begin_ns = net_now_ns();
    t->save_step = t->step;
    if (t->comm->rank == 0) steplog_save(t->log, t->step);
    saver_begin(t->saver, t->step, t->model.parameters, t->parameters, t->momenta);
    t->saving = true;
    return !wait || await_save(t);
}

/* ---- a step ---- */

static void play_faults(struct training *t)
{
    const struct train_options *o = t->options;
    for (size_t i = 0; i < o->n_faults; i++) {
        struct fault *f = &o->faults[i];
        bool due = f->kind == FAULT_SLOW ? t->step >= f->step : t->step == f->step && !f->played;
        if (!due || (f->rank >= 0 && f->rank != o->first_rank)) continue;
        f->played = true;
        if (f->kind == FAULT_SLOW) t->slow = f->factor;
        if (f->kind == FAULT_STORE_DOWN && t->saver) saver_store_down_until(t->saver, net_now_ns() + f->duration_ns);
        fault_play(f);
    }
}

/* Paced computing takes pace_ns; slowed, so many times what it would have taken. */
static void pace(const struct training *t, int64_t begin_ns)
{
    int64_t took_ns = net_now_ns() - begin_ns;
    double factor = t->slow * fault_told_factor();
    int64_t pace_ns = t->options->pace_ns;
    if (t->options->pace_ranks) pace_ns = (int64_t)((double)pace_ns * t->options->pace_ranks / t->comm->size);
    if (took_ns < pace_ns) took_ns = pace_ns;
    if (factor > 1 || pace_ns > 0) comm_sleep_until(t->comm, begin_ns + (int64_t)((double)took_ns * factor));
}

/* False when the device fails; it computes meanwhile. */
static bool compute(struct training *t, const struct batch *b)
{
    struct device *v = t->options->device;
    struct diag d = {0};
    size_t n = t->model.parameters;
    int64_t begin_ns = net_now_ns();
    bool ok = !v || device_begin(v, &d);
    memset(t->gradient, 0, n * sizeof *t->gradient);
    double loss = model_gradient(&t->model, t->parameters, b->x, b->label, b->n, t->gradient);
    for (size_t i = 0; i < n; i++) t->sum[i] = (float)t->gradient[i];
    t->sum[n + LOSS] = (float)loss;
    t->sum[n + ASKED_TO_STOP] = t->options->stop && *t->options->stop;
    t->sum[n + NEWCOMER] = t->options->on_resize != RESIZE_IGNORES && rendezvous_newcomer(&t->comm->mesh);
    t->sum[n + WRITTEN] = t->saving && saver_state(t->saver) == SAVER_WRITTEN;
    t->sum[n + FAILED] = t->saving && saver_state(t->saver) == SAVER_FAILED;
    ok = ok && (!v || device_end(v, &d));
    tell(&d);
    pace(t, begin_ns);
    return ok;
}

static double rate_at(const struct train_options *o, int64_t step)
{
    return step < o->warmup ? o->rate * (double)(step + 1) / (double)o->warmup : o->rate;
}

static void update(struct training *t, struct step_record *r)
{
    size_t n = t->model.parameters;
    double square = 0;
    for (size_t i = 0; i < n; i++) {
        t->sum[i] = (float)((double)t->sum[i] / t->options->batch);
        square += (double)t->sum[i] * (double)t->sum[i];
    }
    r->loss = (double)t->sum[n + LOSS] / t->options->batch;
    r->rate = rate_at(t->options, t->step);
    r->gradient_norm = det_sqrt(square);
    model_update(&t->model, t->parameters, t->momenta, t->sum, r->rate, t->options->momentum);
}

/* What the counts behind the gradient say, alike on all ranks. */
static void agree(struct training *t)
{
    const float *extras = t->sum + t->model.parameters;
    t->stop = extras[ASKED_TO_STOP] > 0;
    t->resize = extras[NEWCOMER] > 0;
    if (t->saving && extras[WRITTEN] + extras[FAILED] == (float)t->comm->size) finish_save(t, extras[FAILED] == 0);
}

static bool checkpoint_due(const struct training *t)
{
    if (t->step == t->options->steps && t->options->no_last_save) return false;
    return t->saver && (t->step % t->options->every == 0 || t->step == t->options->steps || t->stop ||
                        (t->resize && t->options->on_resize == RESIZE_SAVES));
}

static int one_step(struct training *t, struct step_record *r)
{
    int64_t at[5] = {net_now_ns()};
    play_faults(t);
    const struct batch *b = loader_next(t->loader);
    if (!b) return fprintf(stderr, "trainyard-worker: %s: %s\n", t->options->data, loader_error(t->loader)), INPUT;
    at[1] = net_now_ns();
    if (!compute(t, b)) return IO;
    at[2] = net_now_ns();
    if (!comm_all_reduce(t->comm, t->sum, t->model.parameters + N_EXTRAS)) return lost(t);
    at[3] = net_now_ns();
    r->step = t->step++;
    update(t, r);
    at[4] = net_now_ns();
    agree(t);
    bool last = t->stop || t->resize || t->step == t->options->steps;
    if (checkpoint_due(t) && !save(t, !t->options->async || last)) return lost(t);
    int64_t end_ns = net_now_ns();
    r->times = (struct step_times){at[1] - at[0], at[2] - at[1] + at[4] - at[3], at[3] - at[2], end_ns - at[4],
                                   end_ns - at[0]};
    return OK;
}

static int loop(struct training *t)
{
    struct step_record r = {.loss = NAN};
    while (t->step < t->options->steps && !t->stop && !t->resize) {
        int code = one_step(t, &r);
        if (code != OK) return code;
        steplog_step(t->log, &r);
    }
    char weights[HASH_TEXT_BYTES];
    struct hash h;
    hash_init(&h);
    hash_bytes(&h, t->parameters, t->model.parameters * sizeof *t->parameters);
    hash_text(hash_end(&h), weights);
    bool done = t->step == t->options->steps;
    if (t->options->device) {
        struct gpu_record g;
        device_tell(t->options->device, &g);
        steplog_gpu(t->log, &g);
    }
    steplog_end(t->log, t->step, r.loss, weights, done ? "done" : t->stop ? "stopped" : "resize");
    if (t->last_save_failed) return IO; /* told already */
    return done ? OK : t->stop ? STOPPED : TRAIN_RESIZE;
}

static void finish(struct training *t)
{
    loader_stop(t->loader);
    saver_close(t->saver);
    store_close(t->store);
    free(t->parameters);
    free(t->momenta);
    free(t->gradient);
    free(t->sum);
}

int train(const struct train_options *o, const struct dataset *data, struct comm *c, struct steplog *log,
          struct start_record *start)
{
    struct training t = {.options = o, .data = data, .comm = c, .log = log, .slow = 1};
    int code = begin(&t, start);
    if (code == OK) code = loop(&t);
    finish(&t);
    return code;
}
