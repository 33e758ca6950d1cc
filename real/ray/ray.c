/* ray.c - see ray.h: submits the jobs, follows what they print, ends the run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/ray/ray.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/units.h"
#include "real/ray/parts.h"
#include "real/worker/dataset.h"

/* The head sends all that a job has said at each look: over all jobs no more than so much a second, on the average. */
enum { LOOK_MS = 200, STATUS_LOOKS = 10, LOOK_BYTES_PER_S = 4000000 };

static int64_t epoch_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int64_t now(const struct ray_play *p) { return epoch_ns() - p->begin_ns; }
static bool stopped(const struct ray_play *p) { return p->options->stop && *p->options->stop; }

/* ---- what this back end cannot play ---- */

static void check_job(const struct scenario *s, const struct job_spec *j, struct diag *d)
{
    const struct job_detail *k = &s->details[j->detail];
    char id[24];
    const char *name = job_id(s, j, id);
    if (s->approach.lifecycle[k->kind] == LIFE_RAY_TRAIN_V2) plan_check(s, j, d);
    else job_error(d, s, j, "job %s: the ray back end has no lifecycle %s", name, lifecycle_names[s->approach.lifecycle[k->kind]]);
    if (j->work_ns == TIME_NEVER) job_error(d, s, j, "job %s does not end by itself", name);
    if (k->n_after) job_error(d, s, j, "job %s: jobs that wait for others are not played on Ray", name);
    if (k->crash_mtbf_ns || k->hang_mtbf_ns || k->job_crash_mtbf_ns)
        job_error(d, s, j, "job %s: crashes at random are not played on Ray; script them", name);
}

/* "pod/ID-worker-2": rank 2 of job ID; "job/ID": rank 0, as in the simulator, whose shared clusters have pods of their own. */
static bool find_rank(const struct scenario *s, const char *target, size_t *job, long *rank)
{
    for (size_t i = 0; i < s->n_jobs; i++) {
        char id[24];
        const char *name = job_id(s, &s->jobs[i], id);
        size_t n = strlen(name);
        *job = i;
        *rank = 0;
        if (!strncmp(target, "job/", 4) && !strcmp(target + 4, name)) return true;
        if (strncmp(target, "pod/", 4) || strncmp(target + 4, name, n) || strncmp(target + 4 + n, "-worker-", 8)) continue;
        char *end;
        *rank = strtol(target + 4 + n + 8, &end, 10);
        if (!*end && end != target + 4 + n + 8) return true;
    }
    return false;
}

static void check_action(const struct scenario *s, const struct script_action *a, struct diag *d)
{
    size_t job;
    long rank;
    if (ray_node_target(s, a, &job)) return;
    if (a->action != DO_CRASH && a->action != DO_HANG && a->action != DO_CONTAINER_EXIT) {
        diag_error(d, s->file, (int)a->line, "/faults/script", "the ray back end cannot play \"%s\"", fault_action_names[a->action]);
        diag_help(d, "it plays crash, container-exit and hang of a worker, container-exit of a Ray node, node-lost and node-back");
    } else if (!find_rank(s, a->target, &job, &rank)) {
        diag_error(d, s->file, (int)a->line, "/faults/script", "\"%s\" is no job and no worker of one; on Ray they are job/JOB and pod/JOB-worker-RANK, and Ray's nodes pod/ray-shared-worker-NUMBER", a->target);
    }
}

bool ray_check(const struct scenario *s, struct diag *d)
{
    size_t before = diag_errors(d);
    if (s->approach.ray_cluster != RAY_SHARED)
        diag_error(d, s->file, 0, "/approaches", "approach %s: on a live Ray cluster all jobs share it: \"ray_cluster\": \"shared\"", s->approach.name);
    if (s->live->time_scale != 1)
        diag_error(d, s->file, 0, "/live/time_scale", "Ray's own times cannot be scaled: it must be 1");
    for (size_t i = 0; i < s->n_jobs; i++) check_job(s, &s->jobs[i], d);
    if (s->n_generated) diag_error(d, s->file, 0, "/workload/generate", "the ray back end plays jobs that are listed, not drawn");
    if (s->faults.n_components)
        diag_error(d, s->file, 0, "/faults", "components that fail at random are not played on Ray; script what is to fail");
    for (uint32_t i = 0; i < s->faults.n_script; i++) check_action(s, &s->faults.script[i], d);
    return diag_errors(d) == before;
}

/* ---- the cluster ---- */

/* Nodes of the scenario with GPUs, one after another, are the cluster's nodes with GPUs. */
static bool match_nodes(struct ray_play *p, struct diag *d)
{
    const struct cluster_spec *c = &p->scenario->cluster;
    size_t found = 0, wanted = 0;
    struct ray_nodes all;
    if (!ray_nodes_list(p->client, &all, d)) return false;
    for (size_t i = 0; i < all.list.n; i++)
        if (all.list.v[i].gpus > 0) all.list.v[found++] = all.list.v[i];
    p->nodes = all;
    p->nodes.list.n = found;
    p->node_numbers = xcalloc(found + 1, sizeof *p->node_numbers);
    p->places = xcalloc(found + 1, sizeof *p->places);
    for (uint32_t g = 0; g < c->n_groups; g++)
        for (uint32_t i = 0; c->groups[g].gpus && i < c->groups[g].count; i++, wanted++) {
            if (wanted >= found) continue;
            p->node_numbers[wanted] = c->groups[g].first_node + i;
            if (p->nodes.list.v[wanted].gpus < c->groups[g].gpus)
                diag_error(d, p->scenario->file, 0, "/cluster/nodes", "node %s of the Ray cluster has %g GPUs, the scenario's node %u of %s has %u",
                           p->nodes.list.v[wanted].address, p->nodes.list.v[wanted].gpus, i, c->groups[g].name, c->groups[g].gpus);
        }
    if (wanted != found)
        diag_error(d, p->scenario->file, 0, "/cluster/nodes", "the scenario has %zu nodes with GPUs, the Ray cluster at %s has %zu", wanted,
                   p->options->address, found);
    return !diag_errors(d);
}

/* ---- a job's program ---- */

static void write_faults(const struct ray_play *p, const struct ray_job *j, struct json_writer *w)
{
    json_write_key(w, "faults");
    json_write_array(w);
    for (uint32_t i = 0; i < p->scenario->faults.n_script; i++) {
        const struct script_action *a = &p->scenario->faults.script[i];
        size_t job;
        long rank;
        if (!find_rank(p->scenario, a->target, &job, &rank) || job != j->index) continue;
        json_write_object(w);
        json_write_key(w, "at_s");
        json_write_double(w, (double)(p->begin_ns + a->at_ns) / (double)NS_PER_S);
        json_write_key(w, "rank");
        json_write_int64(w, rank);
        json_write_key(w, "action");
        json_write_string(w, a->action == DO_HANG ? "hang" : "crash");
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_command(struct ray_play *p, struct ray_job *j, struct json_writer *w)
{
    struct plan_files files = {.worker = p->options->worker, .data = p->data,
                               .saved = arena_printf(&p->arena, "%s/%s/%s", p->work, j->plan.id, j->id)};
    const char *const *argv = plan_command(&p->arena, p->scenario, &p->scenario->jobs[j->index], &j->plan, &files);
    json_write_key(w, "command");
    json_write_array(w);
    for (; *argv; argv++) json_write_string(w, *argv);
    json_write_end(w);
}

static void write_number(struct json_writer *w, const char *key, double value)
{
    json_write_key(w, key);
    json_write_double(w, value);
}

static void job_text(struct ray_play *p, struct ray_job *j, struct str *out)
{
    const struct job_detail *k = &p->scenario->details[p->scenario->jobs[j->index].detail];
    struct json_writer w;
    json_write_begin(&w, out);
    json_write_object(&w);
    json_write_key(&w, "name");
    json_write_string(&w, j->id);
    json_write_key(&w, "storage");
    json_write_string(&w, arena_printf(&p->arena, "%s/ray-train", p->work));
    write_command(p, j, &w);
    write_number(&w, "workers", j->plan.max ? j->plan.max : j->plan.n);
    write_number(&w, "min", j->plan.max ? j->plan.min : j->plan.n);
    write_number(&w, "gpus", (double)j->plan.pods[0].shares / SHARES_PER_GPU);
    write_number(&w, "max_failures", k->max_failures == UINT32_MAX ? -1 : (double)k->max_failures);
    write_number(&w, "resize_check_s", (double)p->scenario->approach.stack.ray_resize / (double)NS_PER_S);
    write_faults(p, j, &w);
    json_write_end(&w);
}

static bool submit(struct ray_play *p, struct ray_job *j, struct diag *d)
{
    struct str text = {0};
    const struct stack *k = &p->scenario->approach.stack;
    job_text(p, j, &text);
    const struct ray_variable env[] = {
        {"TRAINYARD_JOB", str_text(&text)},
        {"TRAINYARD_DRIVER", ray_driver},
        {"RAY_TRAIN_HEALTH_CHECK_INTERVAL_S", arena_printf(&p->arena, "%.9g", (double)k->ray_poll / (double)NS_PER_S)},
        {"RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", arena_printf(&p->arena, "%.9g", (double)k->ray_start_timeout / (double)NS_PER_S)},
        {"RAY_TRAIN_WORKER_HEALTH_CHECK_TIMEOUT_S", arena_printf(&p->arena, "%.9g", (double)k->ray_hang / (double)NS_PER_S)},
    };
    live_at(p->run, now(p));
    live_submitted(p->run, j->index);
    j->stage = RAY_OPEN;
    bool ok = ray_submit(p->client, j->id, "python3 -c \"$TRAINYARD_DRIVER\"", env, sizeof env / sizeof *env, d);
    str_free(&text);
    if (ok) live_admitted(p->run, j->index); /* Ray takes all that comes */
    live_waits(p->run, j->index, WAIT_CONTROL_PLANE);
    return ok;
}

/* ---- following ---- */

/* Whole lines of its output behind what was taken before. `text` holds all of it then. */
static bool look(struct ray_play *p, struct ray_job *j, struct str *text, struct ray_line *line, struct diag *d)
{
    if (!ray_job_logs(p->client, j->id, text, d)) return false;
    const char *from = str_text(text) + (j->read < text->n ? j->read : text->n), *end;
    for (; (end = strchr(from, '\n')); from = end + 1) {
        if (ray_line_read(from, (size_t)(end - from), line)) ray_job_line(p, j, line);
        j->read += (size_t)(end + 1 - from);
    }
    return true;
}

bool ray_follow(struct ray_play *p, struct diag *d)
{
    struct str text = {0};
    struct ray_line *line = xcalloc(1, sizeof *line);
    size_t bytes = 0;
    bool ok = true;
    for (size_t i = 0; i < p->n_jobs && ok; i++) {
        if (p->jobs[i].stage != RAY_OPEN) continue;
        ok = look(p, &p->jobs[i], &text, line, d);
        bytes += text.n;
    }
    p->next_look_ns = now(p) + (int64_t)(bytes * 1000 / LOOK_BYTES_PER_S) * NS_PER_MS;
    free(line);
    str_free(&text);
    return ok;
}

/* A job may end without that its driver says so: its process is killed, or cannot begin. */
static bool look_at_status(struct ray_play *p, struct ray_job *j, struct diag *d)
{
    enum ray_status s;
    if (j->stage != RAY_OPEN) return true;
    if (!ray_job_status(p->client, j->id, &s, d)) return false;
    if (s == RAY_PENDING || s == RAY_RUNNING) return true;
    if (!ray_follow(p, d)) return false;
    if (j->stage != RAY_OPEN) return true; /* it had said so */
    live_at(p->run, now(p));
    ray_job_over(p, j, s == RAY_SUCCEEDED ? JOB_SUCCEEDED : s == RAY_FAILED ? JOB_FAILED : JOB_CANCELLED);
    return true;
}

static bool look_at_all(struct ray_play *p, struct diag *d)
{
    for (size_t i = 0; i < p->n_jobs; i++)
        if (!look_at_status(p, &p->jobs[i], d)) return false;
    return ray_nodes_look(p, now(p), d);
}

static bool submit_due(struct ray_play *p, struct diag *d)
{
    bool ok = true;
    for (size_t i = 0; i < p->n_jobs && ok; i++)
        if (p->jobs[i].stage == RAY_FUTURE && p->scenario->jobs[i].submit_ns <= now(p)) ok = ray_follow(p, d) && submit(p, &p->jobs[i], d);
    return ok;
}

static bool all_over(const struct ray_play *p)
{
    for (size_t i = 0; i < p->n_jobs; i++)
        if (p->jobs[i].stage != RAY_OVER) return false;
    return true;
}

static bool play(struct ray_play *p, struct diag *d)
{
    int64_t horizon = p->scenario->run.horizon_ns;
    bool ok = true;
    for (unsigned looks = 1; ok && !all_over(p) && !stopped(p) && now(p) < horizon; looks++) {
        ok = submit_due(p, d) && ray_nodes_act(p, now(p), d) && (now(p) < p->next_look_ns || ray_follow(p, d));
        if (ok && looks % STATUS_LOOKS == 0) ok = look_at_all(p, d);
        if (ok && !live_flush(p->run)) {
            diag_error(d, p->options->dir, 0, NULL, "the run cannot be written");
            ok = false;
        }
        nanosleep(&(struct timespec){0, LOOK_MS * 1000000L}, NULL);
    }
    return ok;
}

/* ---- begin and end ---- */

static void make_jobs(struct ray_play *p)
{
    const struct scenario *s = p->scenario;
    unsigned long long run = (unsigned long long)epoch_ns() / NS_PER_MS;
    p->n_jobs = s->n_jobs;
    p->jobs = xcalloc(p->n_jobs + 1, sizeof *p->jobs);
    for (size_t i = 0; i < p->n_jobs; i++) {
        struct ray_job *j = &p->jobs[i];
        j->index = (uint32_t)i;
        plan_make(&p->arena, s, &s->jobs[i], &j->plan);
        j->id = arena_printf(&p->arena, "trainyard-%llx-%s", run, j->plan.id);
    }
}

static bool make_files(struct ray_play *p, struct diag *d)
{
    const struct live_spec *l = p->scenario->live;
    char *here = realpath(p->options->dir, NULL); /* the processes do not run in this directory */
    p->work = p->options->work ? p->options->work : arena_printf(&p->arena, "%s/work", here ? here : p->options->dir);
    free(here);
    p->data = arena_printf(&p->arena, "%s/train.data", p->work);
    bool ok = file_make_dirs(p->work, d) && dataset_generate(p->data, (struct dataset_shape){l->samples, l->features, l->classes}, DATASET_NOISE, 1, d);
    for (size_t i = 0; i < p->n_jobs && ok; i++) /* a job of an earlier run that still runs saves elsewhere */
        ok = plan_folder(arena_printf(&p->arena, "%s/%s", p->work, p->jobs[i].plan.id), d);
    return ok;
}

/* Jobs of this run that are left are stopped; that this fails is told, and the run ends all the same. Only a head that does not answer at
 * all is not asked again: each call is as patient as the one before. */
static void stop_rest(struct ray_play *p, struct diag *d)
{
    struct ray_client *c = NULL;
    for (size_t i = 0; i < p->n_jobs; i++) {
        if (p->jobs[i].stage != RAY_OPEN) continue;
        if (!c) c = ray_client_create(p->options->address, p->options->token, NULL);
        if (!ray_job_stop(c, p->jobs[i].id, d) && !ray_answered(c)) break;
    }
    ray_client_free(c);
}

static bool finish(struct ray_play *p, bool ok, struct diag *d)
{
    struct ray_result *r = p->result;
    char *err = NULL;
    r->interrupted = stopped(p);
    stop_rest(p, d);
    ok = ray_nodes_end(p, d) && ok;
    live_at(p->run, now(p));
    r->end_ns = live_now(p->run);
    r->jobs = p->n_jobs;
    r->unfinished = p->n_jobs - r->succeeded - r->failed;
    if (!live_finish(p->run, r->interrupted ? RUN_INTERRUPTED : ok ? RUN_COMPLETE : RUN_FAILED, &err)) {
        diag_error(d, p->options->dir, 0, NULL, "%s", err);
        free(err);
        ok = false;
    }
    return ok || r->interrupted;
}

static void destroy(struct ray_play *p)
{
    for (size_t i = 0; i < p->n_jobs; i++) array_free(&p->jobs[i].seats);
    free(p->jobs);
    free(p->node_numbers);
    free(p->places);
    array_free(&p->commands);
    array_free(&p->nodes.list);
    ray_client_free(p->client);
    arena_free(&p->arena);
}

static bool run_all(struct ray_play *p, struct diag *d)
{
    make_jobs(p);
    bool ok = make_files(p, d);
    p->begin_ns = epoch_ns();
    return finish(p, ok && play(p, d), d);
}

static bool has_command(const struct scenario *s, const struct ray_options *o, struct diag *d)
{
    size_t node;
    for (uint32_t i = 0; i < s->faults.n_script && !o->node_command; i++)
        if (ray_node_target(s, &s->faults.script[i], &node)) {
            diag_error(d, s->file, (int)s->faults.script[i].line, "/faults/script", "only you can do \"%s\" to %s",
                       fault_action_names[s->faults.script[i].action], s->faults.script[i].target);
            diag_help(d, "--node-command PROGRAM is run with lost, back or exit and the node's address");
            return false;
        }
    return true;
}

bool ray_run(const struct scenario *s, const struct ray_options *o, struct ray_result *r, struct diag *d)
{
    struct ray_play p = {.scenario = s, .options = o, .result = r};
    struct live_options live = {.dir = o->dir, .back_end = "ray", .record_level = o->record_level, .force = o->force};
    char *err = NULL;
    *r = (struct ray_result){0};
    if (!has_command(s, o, d)) return false;
    p.client = ray_client_create(o->address, o->token, o->stop);
    if (match_nodes(&p, d) && !(p.run = live_create(s, &live, &err))) diag_error(d, o->dir, 0, NULL, "%s", err);
    bool ok = p.run && run_all(&p, d);
    free(err);
    destroy(&p);
    return ok;
}
