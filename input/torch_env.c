/* torch_env.c - see torch_env.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/torch_env.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { DEFAULT_PORT = 23456, INIT_TRIES = 100 };
static const char port_name[] = "pytorchjob-port", container_name[] = "pytorch";

struct env_builder {
    struct arena *arena;
    ARRAY(struct env_var) list;
};

static void put(struct env_builder *b, const char *name, const char *value)
{
    array_push(&b->list, (struct env_var){name, value});
}

static void put_number(struct env_builder *b, const char *name, int64_t value)
{
    put(b, name, arena_printf(b->arena, "%" PRId64, value));
}

static const struct pod_template *template_of(const struct manifest *m, enum pod_role role)
{
    for (size_t i = 0; i < m->n_pods; i++)
        if (m->pods[i].role == role) return &m->pods[i];
    return NULL;
}

static int64_t replicas_of(const struct manifest *m, enum pod_role role)
{
    const struct pod_template *p = template_of(m, role);
    return !p ? 0 : p->replicas < 0 ? 1 : p->replicas;
}

static int64_t port_of(const struct manifest *m, enum pod_role role)
{
    const struct pod_template *p = template_of(m, role);
    for (size_t i = 0; p && i < p->n_containers; i++) {
        if (!p->containers[i].name || strcmp(p->containers[i].name, container_name) != 0) continue;
        for (size_t k = 0; k < p->containers[i].n_ports; k++) {
            const struct manifest_port *port = &p->containers[i].ports[k];
            if (port->name && strcmp(port->name, port_name) == 0) return port->number;
        }
    }
    return DEFAULT_PORT;
}

/* spec.nprocPerNode after defaulting: "auto" unless the elastic policy has its own. */
static const char *nproc_of(const struct manifest *m)
{
    if (m->nproc) return m->nproc;
    return m->elastic && m->elastic_nproc ? NULL : "auto";
}

/* "auto", "cpu" and "gpu" are for torchrun to resolve; the operator counts them as one. */
static int64_t nproc_number(const char *nproc)
{
    char *end;
    if (!nproc) return 1;
    long n = strtol(nproc, &end, 10);
    return *nproc && !*end ? n : 1;
}

static void put_master(struct env_builder *b, const struct manifest *m, enum pod_role role, uint32_t index)
{
    const char *port = arena_printf(b->arena, "%" PRId64, port_of(m, ROLE_MASTER));
    const char *address = arena_printf(b->arena, "%s-master-0", m->name);
    int64_t replicas = replicas_of(m, ROLE_MASTER) + replicas_of(m, ROLE_WORKER);
    int64_t rank = role == ROLE_WORKER ? (int64_t)index + 1 : (int64_t)index;
    put(b, "MASTER_PORT", port);
    put(b, "PET_MASTER_PORT", port);
    put(b, "MASTER_ADDR", address);
    put(b, "PET_MASTER_ADDR", address);
    put_number(b, "WORLD_SIZE", replicas * nproc_number(nproc_of(m)));
    put_number(b, "RANK", rank);
    put_number(b, "PET_NODE_RANK", rank);
}

static const char *rendezvous_conf(struct arena *a, const struct manifest *m)
{
    const char *conf = NULL;
    for (size_t i = 0; i < m->n_rdzv_conf; i++)
        conf = arena_printf(a, "%s%s%s=%s", conf ? conf : "", conf ? "," : "", m->rdzv_conf[i].key, m->rdzv_conf[i].value);
    return conf;
}

static void put_elastic(struct env_builder *b, const struct manifest *m)
{
    int64_t workers = replicas_of(m, ROLE_WORKER);
    int64_t min = m->elastic_min >= 0 ? m->elastic_min : workers, max = m->elastic_max >= 0 ? m->elastic_max : workers;
    const char *host = m->rdzv_host ? m->rdzv_host : arena_printf(b->arena, "%s-worker-0", m->name);
    const char *conf = rendezvous_conf(b->arena, m);
    int64_t port = m->rdzv_port >= 0 ? m->rdzv_port : port_of(m, ROLE_WORKER);
    put(b, "PET_RDZV_ENDPOINT", arena_printf(b->arena, "%s:%" PRId64, host, port));
    put(b, "PET_RDZV_BACKEND", m->rdzv_backend ? m->rdzv_backend : "c10d");
    put(b, "PET_NNODES", arena_printf(b->arena, "%" PRId64 ":%" PRId64, min, max));
    if (m->elastic_restarts >= 0) put_number(b, "PET_MAX_RESTARTS", m->elastic_restarts);
    if (m->elastic_nproc) put(b, "PET_NPROC_PER_NODE", m->elastic_nproc);
    if (m->rdzv_id) put(b, "PET_RDZV_ID", m->rdzv_id);
    if (conf) put(b, "PET_RDZV_CONF", conf);
    if (m->standalone) put(b, "PET_STANDALONE", "");
}

static void put_users(struct env_builder *b, const struct manifest *m, enum pod_role role, size_t container)
{
    const struct pod_template *p = template_of(m, role);
    if (!p || container >= p->n_containers) return;
    for (size_t i = 0; i < p->containers[container].n_env; i++)
        put(b, p->containers[container].env[i].name, p->containers[container].env[i].value);
}

struct pod_env torch_env(struct arena *a, const struct manifest *m, enum pod_role role, uint32_t index, size_t container)
{
    struct env_builder b = {.arena = a};
    put_users(&b, m, role, container);
    put(&b, "PYTHONUNBUFFERED", "1");
    if (template_of(m, ROLE_MASTER)) put_master(&b, m, role, index);
    if (nproc_of(m)) put(&b, "PET_NPROC_PER_NODE", nproc_of(m));
    if (m->elastic) put_elastic(&b, m);
    else put_number(&b, "PET_NNODES", replicas_of(m, ROLE_MASTER) + replicas_of(m, ROLE_WORKER));
    struct pod_env e = {.v = arena_array(a, b.list.n, struct env_var), .n = b.list.n};
    memcpy(e.v, b.list.v, b.list.n * sizeof *e.v);
    array_free(&b.list);
    return e;
}

const char *const *torch_init_command(struct arena *a, const struct manifest *m, enum pod_role role)
{
    if (role != ROLE_WORKER || !template_of(m, ROLE_MASTER)) return NULL;
    const char **words = arena_array(a, 3, const char *);
    words[0] = "sh";
    words[1] = "-c";
    words[2] = arena_printf(a,
                            "err=1;for i in $(seq %d); do if nslookup %s-master-0; then err=0 && break; fi;"
                            "echo waiting for master; sleep 2; done; exit $err",
                            INIT_TRIES, m->name);
    return words;
}

static void add_template(struct manifest *m, enum pod_role role, int64_t replicas)
{
    m->pods[m->n_pods++] = (struct pod_template){.role = role, .name = role_names[role], .replicas = replicas};
}

struct manifest *torch_manifest_of(struct arena *a, const struct scenario *s, const struct job_spec *j)
{
    const struct job_detail *d = &s->details[j->detail];
    struct manifest *m = arena_new(a, struct manifest);
    char number[24];
    m->api_version = "kubeflow.org/v1";
    m->kind = "PyTorchJob";
    m->ns = "default";
    m->name = arena_strdup(a, job_id(s, j, number));
    m->elastic = d->elastic.max != 0 && (d->kind == KIND_PYTORCHJOB || s->approach.elastic == ELASTIC_TORCHRUN); /* as life.c */
    m->elastic_min = d->elastic.min;
    m->elastic_max = d->elastic.max;
    m->elastic_restarts = d->elastic.max_restarts;
    m->rdzv_port = -1;
    m->pods = arena_array(a, 2, struct pod_template);
    bool split = d->n_roles == 1 && d->kind != KIND_PYTORCHJOB && !m->elastic; /* as life.c makes it */
    for (uint32_t i = 0; i < d->n_roles && m->n_pods < 2; i++) {
        int64_t n = job_role_replicas(s, j, i);
        if (split) add_template(m, ROLE_MASTER, 1);
        if (!split || n > 1) add_template(m, d->roles[i].role == ROLE_MASTER ? ROLE_MASTER : ROLE_WORKER, split ? n - 1 : n);
    }
    return m;
}
