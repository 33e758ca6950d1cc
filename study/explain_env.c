/* explain_env.c - see explain_env.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/explain_env.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/ray_env.h"
#include "input/torch_env.h"

struct asking { /* one job of a scenario */
    struct arena arena;
    const struct scenario *scenario;
    const struct job_spec *job;
    struct str *out;
};

static void variable(struct str *out, const char *name, const char *value)
{
    str_printf(out, "  %s=%s\n", name, value ? value : "(by valueFrom, as the object says)");
}

/* ---- training operator ---- */

static void torch_pod(struct asking *a, const struct manifest *m, const struct pod_template *p, uint32_t index)
{
    struct str role = {0};
    for (const char *c = role_names[p->role]; *c; c++) str_append_char(&role, (char)tolower((unsigned char)*c));
    str_printf(a->out, "%spod %s-%s-%u\n", a->out->n ? "\n" : "", m->name, str_text(&role), index);
    str_free(&role);
    size_t containers = p->n_containers ? p->n_containers : 1;
    for (size_t c = 0; c < containers; c++) {
        if (p->n_containers > 1) str_printf(a->out, " container %s\n", p->containers[c].name);
        struct pod_env e = torch_env(&a->arena, m, p->role, index, c);
        for (size_t i = 0; i < e.n; i++) variable(a->out, e.v[i].name, e.v[i].value);
    }
    const char *const *init = torch_init_command(&a->arena, m, p->role);
    if (init)
        str_printf(a->out, " init container %s (%s)\n  %s %s '%s'\n", TORCH_INIT_NAME, TORCH_INIT_IMAGE, init[0],
                   init[1], init[2]);
}

static void torch_pods(struct asking *a)
{
    const struct manifest *m = a->scenario->details[a->job->detail].manifest;
    if (!m) m = torch_manifest_of(&a->arena, a->scenario, a->job);
    for (size_t i = 0; i < m->n_pods; i++) {
        uint32_t n = m->pods[i].replicas < 0 ? 1 : (uint32_t)m->pods[i].replicas;
        for (uint32_t k = 0; k < n; k++) torch_pod(a, m, &m->pods[i], k);
    }
}

/* ---- KubeRay ---- */

static void ray_variables(struct str *out, const struct ray_env_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->v[i].field)
            str_printf(out, "  %s=(field %s)\n", l->v[i].name, l->v[i].field);
        else
            variable(out, l->v[i].name, l->v[i].value);
    }
}

static void ray_pod(struct asking *a, const struct manifest *m, const struct pod_template *p, const char *cluster)
{
    struct ray_pod_env e = ray_env(
        &a->arena, &(struct ray_env_of){.object = m, .pod = p, .cluster = cluster, .ns = m->ns ? m->ns : "default"});
    str_printf(a->out, "%spod %s-", a->out->n ? "\n" : "", cluster);
    if (p->role == ROLE_HEAD)
        str_append(a->out, "head\n");
    else
        str_printf(a->out, "%s-worker-xxxxx (%lld alike)\n", p->name, (long long)(p->replicas < 0 ? 1 : p->replicas));
    ray_variables(a->out, &e.env);
    str_append(a->out, " command\n ");
    for (size_t i = 0; i < e.n_command; i++) str_printf(a->out, " %s", e.command[i]);
    str_printf(a->out, " '%s'\n", e.args);
    if (!e.init_args) return;
    str_append(a->out, " init container wait-gcs-ready\n");
    ray_variables(a->out, &e.init_env);
    str_printf(a->out, " command\n  %s\n", e.init_args);
}

/* KubeRay ends the name of a RayJob's cluster and of each worker with five random letters: xxxxx here. */
static void ray_pods(struct asking *a)
{
    const struct manifest *m = a->scenario->details[a->job->detail].manifest;
    if (!m) m = ray_manifest_of(&a->arena, a->scenario, a->job);
    const char *cluster = strcmp(m->kind, "RayJob") == 0 ? arena_printf(&a->arena, "%s-xxxxx", m->name) : m->name;
    for (size_t i = 0; i < m->n_pods; i++)
        if (m->pods[i].role == ROLE_HEAD || m->pods[i].role == ROLE_WORKER) ray_pod(a, m, &m->pods[i], cluster);
}

/* ---- by life cycle ---- */

static void (*const pods_of[N_LIFECYCLES])(struct asking *) = {
    [LIFE_TRAINING_OPERATOR_V1] = torch_pods,
    [LIFE_RAY_TRAIN_V2] = ray_pods,
};

static const struct job_spec *find(const struct scenario *s, const struct job_spec *jobs, size_t n, const char *id)
{
    char buf[24];
    for (size_t i = 0; i < n; i++)
        if (!strcmp(job_id(s, &jobs[i], buf), id)) return &jobs[i];
    return NULL;
}

bool explain_env(const struct scenario *s, uint32_t replication, const char *id, struct str *out, char **err)
{
    struct asking a = {.scenario = s, .out = out};
    struct job_spec *jobs;
    struct str text = {0};
    size_t n;
    bool owned;
    *err = NULL;
    if (!scenario_workload(s, replication, &jobs, &n, &owned)) {
        *err = xstrdup("the workload of this replication cannot be made");
        return false;
    }
    a.job = find(s, jobs, n, id);
    enum lifecycle_name life = a.job ? s->approach.lifecycle[s->details[a.job->detail].kind] : LIFE_NONE;
    if (!a.job)
        str_printf(&text, "no job \"%s\" among %zu", id, n);
    else if (!pods_of[life])
        str_printf(&text, "life cycle %s writes no environment for job %s", lifecycle_names[life], id);
    else
        pods_of[life](&a);
    if (text.n) *err = str_take(&text);
    arena_free(&a.arena);
    if (owned) free(jobs);
    return !*err;
}
