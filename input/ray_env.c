/* ray_env.c - see ray_env.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/ray_env.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { MAX_VARS = 16, MAX_PARAMS = 12 };

struct param { const char *key, *value; };

static const char *const command[] = {"/bin/bash", "-c", "--"};

static bool is_head(const struct ray_env_of *of) { return of->pod->role == ROLE_HEAD; }

static const char *param_of(const struct pod_template *pod, const char *key)
{
    for (size_t i = 0; i < pod->n_ray_start; i++)
        if (strcmp(pod->ray_start[i].key, key) == 0) return pod->ray_start[i].value;
    return NULL;
}

static const struct pod_template *head_of(const struct manifest *m)
{
    for (size_t i = 0; i < m->n_pods; i++)
        if (m->pods[i].role == ROLE_HEAD) return &m->pods[i];
    return NULL;
}

static const char *port_of(const struct ray_env_of *of)
{
    const struct pod_template *head = head_of(of->object);
    const char *port = head ? param_of(head, "port") : NULL;
    return port ? port : "6379";
}

static const char *service(struct arena *a, const struct ray_env_of *of)
{
    return arena_printf(a, "%s-head-svc", of->cluster);
}

static const char *service_in_full(struct arena *a, const struct ray_env_of *of)
{
    return arena_printf(a, "%s-head-svc.%s.svc.cluster.local", of->cluster, of->ns);
}

/* ---- ray start ---- */

static const struct manifest_amount *limit(const struct manifest_container *c, const char *resource)
{
    for (size_t i = 0; i < c->n_limits; i++)
        if (strcmp(c->limits[i].resource, resource) == 0) return &c->limits[i];
    for (size_t i = 0; i < c->n_requests; i++)
        if (strcmp(c->requests[i].resource, resource) == 0) return &c->requests[i];
    return NULL;
}

/* Whole units, rounded up. */
static const char *whole(struct arena *a, const struct manifest_amount *x)
{
    return arena_printf(a, "%lld", (long long)((x->milli + 999) / 1000));
}

/* In the order of the alphabet; what the user gave stays. */
static void add(struct param *list, size_t *n, const char *key, const char *value)
{
    size_t at = 0;
    while (at < *n && strcmp(list[at].key, key) < 0) at++;
    if (at < *n && strcmp(list[at].key, key) == 0) return;
    for (size_t i = *n; i > at; i--) list[i] = list[i - 1];
    list[at] = (struct param){key, value};
    ++*n;
}

static size_t params(struct arena *a, const struct ray_env_of *of, struct param *list)
{
    const struct manifest_container *c = of->pod->n_containers ? &of->pod->containers[0] : NULL;
    const struct manifest_amount *cpu = c ? limit(c, "cpu") : NULL, *memory = c ? limit(c, "memory") : NULL,
                                 *gpu = c ? limit(c, "nvidia.com/gpu") : NULL;
    size_t n = 0;
    for (size_t i = 0; i < of->pod->n_ray_start; i++) add(list, &n, of->pod->ray_start[i].key, of->pod->ray_start[i].value);
    if (is_head(of)) add(list, &n, "dashboard-host", "0.0.0.0");
    else add(list, &n, "address", arena_printf(a, "%s:%s", service_in_full(a, of), port_of(of)));
    add(list, &n, "metrics-export-port", "8080");
    add(list, &n, "block", "true");
    add(list, &n, "dashboard-agent-listen-port", "52365");
    if (cpu) add(list, &n, "num-cpus", whole(a, cpu));
    if (memory) add(list, &n, "memory", whole(a, memory));
    if (gpu && gpu->milli > 0) add(list, &n, "num-gpus", whole(a, gpu));
    return n;
}

static const char *start_command(struct arena *a, const struct ray_env_of *of)
{
    struct param *list = arena_array(a, of->pod->n_ray_start + MAX_PARAMS, struct param);
    size_t n = params(a, of, list);
    struct str s = {0};
    str_append(&s, is_head(of) ? "ray start --head " : "ray start ");
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i].value, "false") == 0) continue;
        bool flag = strcmp(list[i].value, "true") == 0 || list[i].value[0] == 0;
        if (flag) str_printf(&s, " --%s ", list[i].key);
        else str_printf(&s, " --%s=%s ", list[i].key, list[i].value);
    }
    const char *text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

/* ---- variables ---- */

static bool has(const struct ray_env_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i].name, name) == 0) return true;
    return false;
}

static void put(struct ray_env_list *l, const char *name, const char *value, const char *field)
{
    l->v[l->n++] = (struct ray_env_var){name, value, field};
}

static void put_unless_there(struct ray_env_list *l, const char *name, const char *value)
{
    if (!has(l, name)) put(l, name, value, NULL);
}

static struct ray_env_list variables(struct arena *a, const struct ray_env_of *of, const char *start)
{
    const struct manifest_container *c = of->pod->n_containers ? &of->pod->containers[0] : NULL;
    struct ray_env_list l = {.v = arena_array(a, (c ? c->n_env : 0) + MAX_VARS, struct ray_env_var)};
    for (size_t i = 0; c && i < c->n_env; i++) put(&l, c->env[i].name, c->env[i].value, NULL);
    if (!is_head(of)) {
        put(&l, "FQ_RAY_IP", service_in_full(a, of), NULL);
        put(&l, "RAY_IP", service(a, of), NULL);
    }
    put(&l, "RAY_CLUSTER_NAME", NULL, "metadata.labels['ray.io/cluster']");
    put(&l, "RAY_CLUSTER_NAMESPACE", NULL, "metadata.namespace");
    put(&l, "RAY_CLOUD_INSTANCE_ID", NULL, "metadata.name");
    put(&l, "RAY_NODE_TYPE_NAME", NULL, "metadata.labels['ray.io/group']");
    put(&l, "KUBERAY_GEN_RAY_START_CMD", start, NULL);
    put_unless_there(&l, "RAY_PORT", port_of(of));
    const char *host = is_head(of) ? "127.0.0.1" : service_in_full(a, of);
    put_unless_there(&l, "RAY_ADDRESS", arena_printf(a, "%s:%s", host, port_of(of)));
    put_unless_there(&l, "RAY_USAGE_STATS_KUBERAY_IN_USE", "1");
    if (is_head(of))
        put_unless_there(&l, "RAY_USAGE_STATS_EXTRA_TAGS",
                         arena_printf(a, "kuberay_version=v1.6.0;kuberay_crd=%s", of->object->kind));
    put_unless_there(&l, "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE", "1");
    return l;
}

/* ---- init container ---- */

static const char wait_script[] =
    "\n\t\t\t\t\tSECONDS=0\n\t\t\t\t\twhile true; do\n\t\t\t\t\t\tif (( SECONDS <= 120 )); then\n"
    "\t\t\t\t\t\t\tif ray health-check --address %s:%s > /dev/null 2>&1; then\n"
    "\t\t\t\t\t\t\t\techo \"GCS is ready.\"\n\t\t\t\t\t\t\t\tbreak\n\t\t\t\t\t\t\tfi\n"
    "\t\t\t\t\t\t\techo \"$SECONDS seconds elapsed: Waiting for GCS to be ready.\"\n\t\t\t\t\t\telse\n"
    "\t\t\t\t\t\t\tif ray health-check --address %s:%s; then\n"
    "\t\t\t\t\t\t\t\techo \"GCS is ready. Any error messages above can be safely ignored.\"\n"
    "\t\t\t\t\t\t\t\tbreak\n\t\t\t\t\t\t\tfi\n"
    "\t\t\t\t\t\t\techo \"$SECONDS seconds elapsed: Still waiting for GCS to be ready. For troubleshooting, refer to the "
    "FAQ at https://docs.ray.io/en/master/cluster/kubernetes/troubleshooting.html.\"\n"
    "\t\t\t\t\t\tfi\n\t\t\t\t\t\tsleep 5\n\t\t\t\t\tdone\n\t\t\t\t";

static void wait_for_gcs(struct arena *a, const struct ray_env_of *of, struct ray_pod_env *e)
{
    const struct manifest_container *c = of->pod->n_containers ? &of->pod->containers[0] : NULL;
    const char *host = service_in_full(a, of), *port = port_of(of);
    e->init_env.v = arena_array(a, (c ? c->n_env : 0) + 2, struct ray_env_var);
    for (size_t i = 0; c && i < c->n_env; i++) put(&e->init_env, c->env[i].name, c->env[i].value, NULL);
    put(&e->init_env, "FQ_RAY_IP", host, NULL);
    put(&e->init_env, "RAY_IP", service(a, of), NULL);
    e->init_args = arena_printf(a, wait_script, host, port, host, port);
}

struct ray_pod_env ray_env(struct arena *a, const struct ray_env_of *of)
{
    const char *start = start_command(a, of);
    struct ray_pod_env e = {.command = command, .n_command = sizeof command / sizeof *command};
    e.env = variables(a, of, start);
    e.args = arena_printf(a, "ulimit -n 65536; %s", start);
    if (!is_head(of)) wait_for_gcs(a, of, &e);
    return e;
}

/* ---- the object of a job that has none ---- */

static void add_limit(struct manifest_container *c, const char *resource, int64_t milli)
{
    if (milli > 0) c->limits[c->n_limits++] = (struct manifest_amount){.resource = resource, .milli = milli};
}

/* A Ray pod with one container of so much. */
static void add_ray_pod(struct arena *a, struct manifest *m, enum pod_role role, const char *name, int64_t replicas,
                        int64_t cpu_milli, int64_t mem_bytes, int64_t gpu_milli)
{
    struct manifest_container *c = arena_new(a, struct manifest_container);
    c->name = "ray";
    c->limits = arena_array(a, 3, struct manifest_amount);
    add_limit(c, "cpu", cpu_milli);
    add_limit(c, "memory", mem_bytes > INT64_MAX / 1000 ? 0 : mem_bytes * 1000);
    add_limit(c, "nvidia.com/gpu", gpu_milli);
    m->pods[m->n_pods++] =
        (struct pod_template){.role = role, .name = name, .replicas = replicas, .containers = c, .n_containers = 1};
}

struct manifest *ray_manifest_of(struct arena *a, const struct scenario *s, const struct job_spec *j)
{
    const struct job_detail *d = &s->details[j->detail];
    const struct approach *how = &s->approach;
    uint32_t main_role = d->n_roles - 1;
    const struct role_spec *r = &d->roles[main_role];
    struct manifest *m = arena_new(a, struct manifest);
    char buf[24];
    m->kind = "RayJob";
    m->ns = "default";
    m->name = arena_strdup(a, job_id(s, j, buf));
    m->pods = arena_array(a, 2, struct pod_template);
    add_ray_pod(a, m, ROLE_HEAD, "head", 1, how->head_cpu_milli, how->head_mem_bytes, 0);
    add_ray_pod(a, m, ROLE_WORKER, "worker", job_role_replicas(s, j, main_role), r->cpu_milli,
                r->mem_bytes, job_role_shares(s, j, main_role));
    return m;
}
