/* plan.c - see plan.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/host/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "base/units.h"
#include "input/ray_env.h"
#include "input/torch_env.h"

typedef ARRAY(const char *) words;

static const char *const *finish(struct arena *a, words *w)
{
    array_push(w, NULL);
    const char **v = arena_array(a, w->n, const char *);
    memcpy(v, w->v, w->n * sizeof *v);
    array_free(w);
    return v;
}

/* ---- pods ---- */

bool plan_is_elastic(const struct scenario *s, const struct job_detail *d)
{
    bool by_ray = s->approach.lifecycle[d->kind] == LIFE_RAY_TRAIN_V2;
    if (d->elastic.max == 0) return false;
    return by_ray ? s->approach.elastic == ELASTIC_RAY
                  : d->kind == KIND_PYTORCHJOB || s->approach.elastic == ELASTIC_TORCHRUN;
}

static uint32_t replicas_of(const struct pod_template *t) { return t->replicas < 0 ? 1 : (uint32_t)t->replicas; }

/* The role of the scenario that a template's pods are of: the same one, or the job's only one. */
static uint32_t role_of(const struct job_detail *d, enum pod_role role)
{
    for (uint32_t i = 0; i < d->n_roles; i++)
        if (d->roles[i].role == role) return i;
    return d->n_roles - 1;
}

static bool trains(const struct job_plan *p, const struct pod_template *t)
{
    return p->life != LIFE_RAY_TRAIN_V2 || t->role == ROLE_WORKER;
}

/* All pods, those included by which an elastic job may grow: as its last one. Their number. */
static uint32_t list_pods(struct arena *a, const struct scenario *s, const struct job_spec *j, const struct manifest *m,
                          struct job_plan *p)
{
    const struct job_detail *d = &s->details[j->detail];
    ARRAY(struct pod_plan) list = {0};
    for (size_t i = 0; i < m->n_pods; i++) {
        uint32_t r = role_of(d, m->pods[i].role), n = replicas_of(&m->pods[i]);
        if (!trains(p, &m->pods[i])) continue;
        p->nominal += n;
        for (uint32_t k = 0; k < n; k++)
            array_push(&list, (struct pod_plan){m->pods[i].role, k, job_role_shares(s, j, r), d->roles[r].restart});
    }
    while (list.n && list.n < p->max) {
        struct pod_plan more = array_last(&list);
        more.index++;
        array_push(&list, more);
    }
    p->pods = arena_array(a, list.n, struct pod_plan);
    if (list.n) memcpy(p->pods, list.v, list.n * sizeof *list.v);
    uint32_t n = (uint32_t)list.n;
    array_free(&list);
    return n;
}

/* ---- processes ---- */

static const char *pod_name(struct arena *a, const char *job, enum pod_role role, uint32_t index)
{
    struct str s = {0};
    str_printf(&s, "%s-", job);
    for (const char *c = role_names[role]; *c; c++) str_append_char(&s, (char)tolower((unsigned char)*c));
    str_printf(&s, "-%" PRIu32, index);
    const char *name = arena_strdup(a, str_text(&s));
    str_free(&s);
    return name;
}

/* The object as if the job had `n` pods: it has fewer of the last role. */
static const struct manifest *smaller(struct arena *a, const struct manifest *m, uint32_t all, uint32_t n)
{
    struct manifest *copy = arena_new(a, struct manifest);
    *copy = *m;
    if (n == all || m->n_pods == 0) return copy;
    copy->pods = arena_array(a, m->n_pods, struct pod_template);
    memcpy(copy->pods, m->pods, m->n_pods * sizeof *m->pods);
    struct pod_template *last = &copy->pods[m->n_pods - 1];
    uint32_t less = all - n, have = replicas_of(last);
    last->replicas = have > less ? have - less : 0;
    return copy;
}

static void make_processes(struct arena *a, struct job_plan *p, uint32_t pods, uint32_t most)
{
    p->n = most && most < pods ? most : pods;
    p->v = arena_array(a, p->n, struct process_plan);
    if (p->n < pods) p->nominal = p->n;
    for (uint32_t i = 0, first = 0; i < p->n; i++) {
        struct process_plan *v = &p->v[i];
        *v = (struct process_plan){.first = first, .n = pods / p->n + (i < pods % p->n)};
        v->name = pod_name(a, p->id, p->pods[first].role, p->pods[first].index);
        v->role = p->pods[i].role; /* the master comes first, so the first ranks keep their roles */
        v->index = p->pods[i].index;
        first += v->n;
    }
}

static int64_t nominal_step(const struct job_detail *d, const struct job_spec *j)
{
    int64_t ns = step_nominal_ns(&d->step);
    if (ns > 0) return ns;
    return j->work_ns < NS_PER_S ? (j->work_ns > 0 ? j->work_ns : 1) : NS_PER_S;
}

void plan_make(struct arena *a, const struct scenario *s, const struct job_spec *j, struct job_plan *p)
{
    const struct job_detail *d = &s->details[j->detail];
    char number[24];
    *p = (struct job_plan){.id = arena_strdup(a, job_id(s, j, number)), .life = s->approach.lifecycle[d->kind]};
    if (plan_is_elastic(s, d)) {
        p->min = d->elastic.min ? d->elastic.min : 1;
        p->max = d->elastic.max;
        p->max_restarts = d->elastic.max_restarts;
    }
    const struct manifest *m = d->manifest;
    if (!m) m = p->life == LIFE_RAY_TRAIN_V2 ? ray_manifest_of(a, s, j) : torch_manifest_of(a, s, j);
    uint32_t pods = list_pods(a, s, j, m, p);
    make_processes(a, p, pods, s->live->processes);
    p->manifest = smaller(a, m, pods, p->n);
    int64_t step_ns = nominal_step(d, j), compute_ns = d->step.model ? d->step.modelled_ns : d->step.compute_ns;
    p->steps = j->work_ns / step_ns > 0 ? j->work_ns / step_ns : 1;
    if (s->live->pace) p->pace_ns = step_nominal_ns(&d->step) > 0 ? compute_ns : step_ns;
    if (d->checkpoint.interval_ns > 0) p->every = d->checkpoint.interval_ns < step_ns ? 1 : d->checkpoint.interval_ns / step_ns;
}

/* ---- the command ---- */

static void option(struct arena *a, words *w, const char *name, int64_t value)
{
    array_push(w, arena_printf(a, "--%s=%" PRId64, name, value));
}

static void duration(struct arena *a, words *w, const char *name, const struct scenario *s, int64_t ns)
{
    int64_t real_ns = (int64_t)((double)ns / s->live->time_scale);
    array_push(w, arena_printf(a, "--%s=%" PRId64 "ns", name, real_ns > 0 ? real_ns : 1));
}

static void checkpoint_options(struct arena *a, words *w, const struct checkpoint_spec *c, const struct job_plan *p,
                               const struct plan_files *f)
{
    if (!p->every) return;
    array_push(w, arena_printf(a, "--checkpoint=%s", f->saved));
    option(a, w, "every", p->every);
    array_push(w, "--last-save=no");
    if (c->sharded) array_push(w, "--sharded");
    if (c->async || c->background_ns > 0) array_push(w, "--async");
}

const char *const *plan_command(struct arena *a, const struct scenario *s, const struct job_spec *j, const struct job_plan *p,
                                const struct plan_files *f)
{
    const struct live_spec *live = s->live;
    const struct stack *k = &s->approach.stack;
    words w = {0};
    array_push(&w, f->worker);
    array_push(&w, arena_printf(a, "--data=%s", f->data));
    option(a, &w, "hidden", live->hidden);
    option(a, &w, "batch", live->batch);
    option(a, &w, "steps", p->steps);
    if (p->pace_ns > 0) duration(a, &w, "pace", s, p->pace_ns);
    if (p->pace_ns > 0 && p->max) option(a, &w, "pace-ranks", p->nominal);
    if (p->gpus > 0) array_push(&w, "--device=gpu");
    duration(a, &w, "rendezvous-timeout", s, k->rdzv_join);
    duration(a, &w, "collective-timeout", s, p->life == LIFE_RAY_TRAIN_V2 ? k->ray_hang : k->nccl_timeout);
    if (p->max && p->life != LIFE_RAY_TRAIN_V2) {
        duration(a, &w, "last-call", s, k->rdzv_last_call);
        option(a, &w, "restarts", p->max_restarts);
        array_push(&w, "--on-resize=ignore"); /* the agents end them: operator.c */
    }
    checkpoint_options(a, &w, &s->details[j->detail].checkpoint, p, f);
    return finish(a, &w);
}

/* ---- the environment ---- */

/* What names the pods' own network, and is replaced. */
static const struct { const char *name; enum { ADDRESS, PORT, BOTH, ADDRESS_AND_ITS_PORT } form; } places[] = {
    {"MASTER_ADDR", ADDRESS}, {"PET_MASTER_ADDR", ADDRESS}, {"MASTER_PORT", PORT}, {"PET_MASTER_PORT", PORT},
    {"PET_RDZV_ENDPOINT", BOTH}, {"RAY_IP", ADDRESS}, {"FQ_RAY_IP", ADDRESS}, {"RAY_ADDRESS", ADDRESS_AND_ITS_PORT},
};

static const char *placed(struct arena *a, const char *name, const char *value, const char *address, int port)
{
    size_t i = 0;
    while (i < sizeof places / sizeof *places && strcmp(places[i].name, name) != 0) i++;
    if (i == sizeof places / sizeof *places) return value;
    const char *colon = strrchr(value, ':');
    switch (places[i].form) {
    case ADDRESS: return address;
    case PORT: return arena_printf(a, "%d", port);
    case BOTH: return arena_printf(a, "%s:%d", address, port);
    case ADDRESS_AND_ITS_PORT: return arena_printf(a, "%s%s", address, colon ? colon : "");
    }
    return value;
}

struct env_builder { struct arena *arena; words list; const char *address; int port; };

static void put(struct env_builder *b, const char *name, const char *value)
{
    if (value) array_push(&b->list, arena_printf(b->arena, "%s=%s", name, placed(b->arena, name, value, b->address, b->port)));
}

static void put_here(struct env_builder *b, const char *name)
{
    put(b, name, getenv(name));
}

static void put_number(struct env_builder *b, const char *name, int64_t x)
{
    put(b, name, arena_printf(b->arena, "%" PRId64, x));
}

static void torch_pod(struct env_builder *b, const struct job_plan *p, uint32_t i)
{
    struct pod_env e = torch_env(b->arena, p->manifest, p->v[i].role, p->v[i].index, 0);
    for (size_t k = 0; k < e.n; k++)
        if (strcmp(e.v[k].name, "PET_MAX_RESTARTS") != 0) put(b, e.v[k].name, e.v[k].value); /* the agents' part, who are operator.c */
}

/* The pod's own variables, which its worker processes have too, and those that Ray Train gives each of these. */
static void ray_pod(struct env_builder *b, const struct job_plan *p, uint32_t i, uint32_t world)
{
    const struct manifest *m = p->manifest;
    size_t t = 0;
    while (t < m->n_pods && m->pods[t].role != ROLE_WORKER) t++;
    if (t < m->n_pods) {
        struct ray_pod_env e = ray_env(b->arena, &(struct ray_env_of){.object = m, .pod = &m->pods[t], .cluster = m->name,
                                                                      .ns = m->ns ? m->ns : "default"});
        for (size_t k = 0; k < e.env.n; k++) put(b, e.env.v[k].name, e.env.v[k].value);
    }
    put_number(b, "RANK", i);
    put_number(b, "WORLD_SIZE", world);
    put(b, "MASTER_ADDR", "");
    put(b, "MASTER_PORT", "");
}

/* The device, and where its libraries are. */
static void gpu_of_process(struct env_builder *b, const struct job_plan *p, uint32_t i)
{
    static const char *const libraries[] = {"TRAINYARD_CUDA_LIB", "LD_LIBRARY_PATH", "VIRTUAL_ENV"};
    for (size_t k = 0; k < sizeof libraries / sizeof *libraries; k++) put_here(b, libraries[k]);
    const char *shown = getenv("CUDA_VISIBLE_DEVICES"); /* to this process: of these, that one */
    uint32_t k = (p->first_gpu + i) % (uint32_t)p->gpus;
    if (!shown || !*shown) {
        put_number(b, "CUDA_VISIBLE_DEVICES", k);
        return;
    }
    for (; k > 0 && strchr(shown, ','); k--) shown = strchr(shown, ',') + 1;
    put(b, "CUDA_VISIBLE_DEVICES", arena_strndup(b->arena, shown, strcspn(shown, ",")));
}

const char *const *plan_environment(struct arena *a, const struct job_plan *p, uint32_t i, uint32_t world,
                                    const char *address, int port)
{
    struct env_builder b = {.arena = a, .address = address, .port = port};
    put_here(&b, "PATH");
    put_here(&b, "HOME");
    if (p->gpus > 0) gpu_of_process(&b, p, i);
    if (p->life == LIFE_RAY_TRAIN_V2) ray_pod(&b, p, i, world);
    else torch_pod(&b, p, i);
    return finish(a, &b.list);
}
