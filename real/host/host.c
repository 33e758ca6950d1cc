/* host.c - see host.h: begin and end of a run, its clock, signals; ends of jobs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/host/host.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/units.h"
#include "real/host/parts.h"
#include "real/worker/dataset.h"

static const struct host_life *const lives[N_LIFECYCLES] = {
    [LIFE_NONE] = &host_none, [LIFE_TRAINING_OPERATOR_V1] = &host_operator, [LIFE_RAY_TRAIN_V2] = &host_actor,
};

/* ---- the clock ---- */

int64_t host_now(const struct host *h) { return (int64_t)((double)loop_now(h->loop) * h->live->time_scale); }

void host_after(struct host *h, struct loop_timer *t, int64_t ns, loop_fn *fn, void *arg)
{
    double real = (double)(ns > 0 ? ns : 0) / h->live->time_scale;
    loop_arm(h->loop, t, loop_now(h->loop) + (int64_t)(real < 9e18 ? real : 9e18), fn, arg);
}

void host_tell(struct host *h, const struct host_job *j, const char *fmt, ...)
{
    struct str s = {0};
    va_list args;
    if (!h->options->tell) return;
    va_start(args, fmt);
    str_vprintf(&s, fmt, args);
    va_end(args);
    fprintf(h->options->tell, "%10.3f s  %s %s\n", (double)host_now(h) / NS_PER_S, j->plan.id, str_text(&s));
    str_free(&s);
}

/* ---- what this back end cannot play ---- */

static void check_approach(const struct scenario *s, struct diag *d)
{
    enum admission_name a = s->approach.admission;
    if (a != ADMIT_NONE && a != ADMIT_FIFO && a != ADMIT_FIFO_SKIP) {
        diag_error(d, s->file, 0, "/approaches", "approach %s: the host back end has no admission %s", s->approach.name, admission_names[a]);
        diag_help(d, "it has none, fifo and fifo-skip; --set /approaches/%s/admission=fifo", s->approach.name);
    }
    if (s->approach.ray_cluster == RAY_SHARED)
        diag_error(d, s->file, 0, "/approaches", "approach %s: the host back end has no shared Ray cluster", s->approach.name);
}

static void check_job(const struct scenario *s, const struct job_spec *j, struct diag *d)
{
    const struct job_detail *k = &s->details[j->detail];
    char id[24];
    const char *name = job_id(s, j, id);
    if (lives[s->approach.lifecycle[k->kind]]) plan_check(s, j, d);
    else job_error(d, s, j, "job %s: the host back end has no lifecycle %s", name, lifecycle_names[s->approach.lifecycle[k->kind]]);
    if (j->work_ns == TIME_NEVER) job_error(d, s, j, "job %s does not end by itself", name);
    if (k->crash_mtbf_ns || k->hang_mtbf_ns || k->job_crash_mtbf_ns)
        job_error(d, s, j, "job %s: crashes at random are not played on hosts; script them", name);
    if (s->live->processes && s->live->processes < k->elastic.max && plan_is_elastic(s, k))
        job_error(d, s, j, "job %s is elastic up to %u: \"live\" may not allow fewer processes", name, k->elastic.max);
    for (uint32_t r = 0; r < k->n_roles; r++)
        if (job_role_shares(s, j, r) % SHARES_PER_GPU)
            job_error(d, s, j, "job %s: parts of GPUs are not played on hosts", name);
}

bool host_check(const struct scenario *s, struct diag *d)
{
    size_t before = diag_errors(d);
    check_approach(s, d);
    for (size_t i = 0; i < s->n_jobs; i++) check_job(s, &s->jobs[i], d);
    if (s->n_generated) diag_error(d, s->file, 0, "/workload/generate", "the host back end plays jobs that are listed, not drawn");
    if (s->faults.n_components)
        diag_error(d, s->file, 0, "/faults", "components that fail at random are not played on hosts; script what is to fail");
    script_check(s, d);
    return diag_errors(d) == before;
}

void host_describe(const struct scenario *s, struct str *out)
{
    const struct live_spec *l = s->live;
    str_printf(out, "time: a second here is %.10g s of the scenario\n", l->time_scale);
    if (l->processes) str_printf(out, "processes: at most %u a job\n", l->processes);
    else str_append(out, "processes: one a pod\n");
    str_append(out, l->pace ? "compute: paced, as long as the job says\n" : "compute: as fast as the machine goes\n");
    str_printf(out, "model: one hidden layer of %u, %u features, %u classes, batch %u of %u samples\n", l->hidden, l->features,
               l->classes, l->batch, l->samples);
    if (!l->given) str_append(out, "(the scenario has no \"live\": these are the defaults)\n");
}

/* ---- ends ---- */

static void on_patience(void *arg)
{
    struct host *h = arg;
    h->done = true;
}

static bool any_process(const struct host *h)
{
    for (size_t i = 0; i < h->n_jobs; i++)
        if (job_has_processes(&h->jobs[i])) return true;
    return false;
}

static void stop_timers(struct host_job *j)
{
    loop_disarm(j->host->loop, &j->timer);
    loop_disarm(j->host->loop, &j->limit);
    loop_disarm(j->host->loop, &j->scaler);
    for (uint32_t i = 0; i < j->plan.n; i++) loop_disarm(j->host->loop, &j->pods[i].timer);
}

/* All is killed; the loop ends when all has ended, or does not after 10 s. */
static void close_run(struct host *h)
{
    if (h->closing) return;
    h->closing = true;
    for (size_t i = 0; i < h->n_jobs; i++) {
        stop_timers(&h->jobs[i]);
        job_kill_all(&h->jobs[i]);
    }
    h->done = !any_process(h);
    loop_arm(h->loop, &h->patience, loop_now(h->loop) + seconds(10), on_patience, h);
}

void host_fail(struct host *h, char *error)
{
    if (!h->result->error) h->result->error = error;
    else free(error);
    close_run(h);
}

void host_look_for_end(struct host *h)
{
    bool left = h->next_submit < h->n_jobs, moves = left || host_script_more(h);
    for (size_t i = 0; i < h->n_jobs; i++) {
        const struct host_job *j = &h->jobs[i];
        if (j->stage == STAGE_OVER || j->stage == STAGE_FUTURE) continue;
        left = true;
        moves |= j->stage >= STAGE_ACTIVE && j->stage != STAGE_SUSPENDED;
    }
    if (h->closing || h->pass.place || (left && moves)) return;
    h->result->no_progress = left;
    close_run(h);
}

/* GPUs of pods that have no process are free at once; the others' when it has ended. */
static void let_go(struct host_job *j, bool spare)
{
    stop_timers(j);
    job_free_port(j);
    if (!spare) job_kill_all(j);
    for (uint32_t i = 0; i < j->plan.n; i++) {
        if (j->pods[i].process.pid) continue;
        j->pods[i].state = SEAT_NONE;
        queue_free(&j->pods[i]);
    }
}

void job_over(struct host_job *j, enum job_state state, bool spare)
{
    struct host *h = j->host;
    host_tell(h, j, "is over: %s", job_state_names[state]);
    live_ended(h->run, j->index, state);
    h->result->succeeded += state == JOB_SUCCEEDED;
    h->result->failed += state == JOB_FAILED;
    j->stage = STAGE_ENDING;
    let_go(j, spare);
    if (!job_has_processes(j)) j->stage = STAGE_OVER;
    queue_job_ended(h);
    host_look_for_end(h);
}

void job_take_back(struct host_job *j, enum stop_reason reason)
{
    live_evicted(j->host->run, j->index, reason, NO_JOB);
    j->stage = STAGE_STOPPING;
    j->stop_reason = reason == STOP_SUSPENDED ? WAIT_SUSPENDED : WAIT_ORDER;
    j->regrouping = j->resizing = j->noticing = false;
    j->step = j->durable;
    let_go(j, false);
    if (!job_has_processes(j)) pods_none_left(j);
}

/* ---- begin ---- */

static void make_nodes(struct host *h)
{
    const struct cluster_spec *c = &h->scenario->cluster;
    h->free_shares = xcalloc(c->n_nodes + 1, sizeof *h->free_shares);
    h->node_group = xcalloc(c->n_nodes + 1, sizeof *h->node_group);
    h->node_up = xcalloc(c->n_nodes + 1, sizeof *h->node_up);
    for (uint32_t g = 0; g < c->n_groups; g++)
        for (uint32_t n = c->groups[g].first_node; n < c->groups[g].first_node + c->groups[g].count; n++) {
            h->node_group[n] = (uint16_t)g;
            h->node_up[n] = true;
            h->free_shares[n] = (int64_t)c->groups[g].gpus * SHARES_PER_GPU;
        }
}

static bool make_job(struct host *h, size_t i, struct diag *d)
{
    struct host_job *j = &h->jobs[i];
    const struct scenario *s = h->scenario;
    *j = (struct host_job){.host = h, .index = (uint32_t)i, .spec = &s->jobs[i], .detail = &s->details[s->jobs[i].detail], .port_socket = -1};
    j->life = lives[s->approach.lifecycle[j->detail->kind]];
    plan_make(&h->arena, s, j->spec, &j->plan);
    j->plan.gpus = h->options->gpus;
    j->plan.first_gpu = (uint32_t)i;
    j->wanted = j->plan.max && j->life == &host_actor ? j->plan.min : j->plan.nominal; /* Ray's autoscaler brings the others */
    j->pods = xcalloc(j->plan.n + 1, sizeof *j->pods);
    for (uint32_t k = 0; k < j->plan.n; k++) j->pods[k] = (struct host_pod){.job = j, .number = k, .process = {0, -1, -1}, .told_code = -1, .noted = N_POD_STATES};
    return plan_folder(arena_printf(&h->arena, "%s/%s", h->work, j->plan.id), d);
}

static void on_early_signal(void *arg, int signal)
{
    struct host *h = arg;
    h->result->interrupted |= signal != SIGCHLD;
}

/* Until it has ended, or the run is to end. */
static bool wait_there(struct host *h, struct process *p, int *code, char **err)
{
    loop_on_signal(h->loop, on_early_signal, h);
    while (!process_reap(p, code)) {
        if (h->result->interrupted) process_abandon(p); /* its end comes as SIGCHLD */
        if (!loop_wait(h->loop, err)) return process_abandon(p), false;
    }
    process_close_out(p);
    return true;
}

/* On other machines the worker makes it: the same seed gives the same data. */
static bool make_data_there(struct host *h, const struct live_hosts *o, const char *address)
{
    struct arena a = {0};
    const struct live_spec *l = h->live;
    const char *argv[] = {o->worker, arena_printf(&a, "--make-data=%s/train.data", o->directory), arena_printf(&a, "--samples=%u", l->samples),
                          arena_printf(&a, "--features=%u", l->features), arena_printf(&a, "--classes=%u", l->classes), NULL};
    const char *env[] = {NULL};
    struct process p;
    int code = -1;
    char *err = NULL;
    bool ok = process_start(&p, &(struct process_spec){.argv = argv, .env = env, .address = address}, &err);
    if (ok && wait_there(h, &p, &code, &err) && code != 0 && !h->result->interrupted) {
        struct str s = {0};
        str_printf(&s, "%s: %s could not make its data in %s (exit %d)", address, o->worker, o->directory, code);
        err = str_take(&s);
    }
    arena_free(&a);
    if (err) h->result->error = err;
    return !err && !h->result->interrupted;
}

static bool make_data(struct host *h, struct diag *d)
{
    const struct live_spec *l = h->live;
    h->data = arena_printf(&h->arena, "%s/train.data", h->work);
    if (!dataset_generate(h->data, (struct dataset_shape){l->samples, l->features, l->classes}, DATASET_NOISE, 1, d)) return false;
    for (size_t i = 0; i < l->n_hosts; i++)
        for (size_t k = 0; k < l->hosts[i].n_addresses; k++)
            if (!make_data_there(h, &l->hosts[i], l->hosts[i].addresses[k])) return false;
    return true;
}

static int64_t epoch_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static char *first_error(const struct diag *d, const char *work)
{
    struct str s = {0};
    const struct diag_entry *e = d->entries.n ? &d->entries.v[0] : NULL;
    str_printf(&s, "%s: %s", e && e->file ? e->file : work, e ? e->text : "cannot be made");
    if (e && e->help) str_printf(&s, "; %s", e->help);
    char *text = xstrdup(str_text(&s));
    str_free(&s);
    return text;
}

static bool prepare(struct host *h, const struct host_options *o)
{
    struct diag d = {0};
    h->work = o->work ? o->work : arena_printf(&h->arena, "%s/work", o->dir);
    h->id = arena_printf(&h->arena, "%llx", (unsigned long long)epoch_ns());
    make_nodes(h);
    h->n_jobs = h->scenario->n_jobs;
    h->jobs = xcalloc(h->n_jobs + 1, sizeof *h->jobs);
    bool ok = file_make_dirs(h->work, &d) && make_data(h, &d);
    for (size_t i = 0; i < h->n_jobs && ok; i++) ok = make_job(h, i, &d);
    if (!ok && !h->result->error && !h->result->interrupted) h->result->error = first_error(&d, h->work);
    diag_free(&d);
    return ok;
}

/* ---- the run ---- */

static void on_signal(void *arg, int signal)
{
    struct host *h = arg;
    if (signal == SIGCHLD) {
        pods_reap(h);
        if (h->closing) h->done = !any_process(h);
        return;
    }
    h->result->interrupted = true;
    close_run(h);
}

static void on_flush(void *arg)
{
    struct host *h = arg;
    live_at(h->run, host_now(h));
    if (!live_flush(h->run)) host_fail(h, xstrdup("the run cannot be written"));
    loop_arm(h->loop, &h->flush, loop_now(h->loop) + seconds(1), on_flush, h);
}

static void on_horizon(void *arg)
{
    close_run(arg);
}

static void play(struct host *h)
{
    char *err = NULL;
    loop_restart(h->loop);
    loop_on_signal(h->loop, on_signal, h);
    on_flush(h);
    if (h->scenario->run.horizon_ns != TIME_NEVER) host_after(h, &h->horizon, h->scenario->run.horizon_ns, on_horizon, h);
    queue_begin(h);
    host_script_begin(h);
    while (!h->done)
        if (!loop_wait(h->loop, &err)) {
            host_fail(h, err);
            break;
        }
}

static bool finish(struct host *h)
{
    struct host_result *r = h->result;
    enum run_state state = r->error ? RUN_FAILED : r->interrupted ? RUN_INTERRUPTED : RUN_COMPLETE;
    char *err = NULL;
    live_at(h->run, host_now(h));
    r->end_ns = live_now(h->run);
    r->jobs = h->n_jobs;
    for (size_t i = 0; i < h->n_jobs; i++) r->unfinished += h->jobs[i].stage < STAGE_ENDING;
    bool ok = live_finish(h->run, state, &err);
    if (!r->error) r->error = err;
    else free(err);
    return ok && !r->error;
}

static void destroy(struct host *h)
{
    for (size_t i = 0; h->jobs && i < h->n_jobs; i++) {
        for (uint32_t k = 0; k < h->jobs[i].plan.n; k++) {
            array_free(&h->jobs[i].pods[k].holds);
            str_free(&h->jobs[i].pods[k].text);
        }
        free(h->jobs[i].pods);
        if (h->jobs[i].host) job_free_port(&h->jobs[i]); /* else it was not made */
    }
    free(h->jobs);
    free(h->free_shares);
    free(h->node_group);
    free(h->node_up);
    loop_destroy(h->loop);
    arena_free(&h->arena);
}

bool host_run(const struct scenario *s, const struct host_options *o, struct host_result *r)
{
    struct host h = {.scenario = s, .live = s->live, .options = o, .result = r};
    struct live_options live = {.dir = o->dir, .back_end = o->gpus ? "gpu" : "host", .record_level = o->record_level, .force = o->force};
    *r = (struct host_result){0};
    h.loop = loop_create(&r->error); /* first: from here on a signal ends the run in good order */
    if (h.loop) h.run = live_create(s, &live, &r->error);
    bool ok = h.run && prepare(&h, o);
    if (ok) play(&h);
    if (h.run) ok = finish(&h);
    destroy(&h);
    return ok;
}
