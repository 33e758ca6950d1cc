/* object_pods.c - metadata and pod templates of Kubernetes objects.
 *
 * These are open structures: keys that are not in the tables are passed over.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/units.h"
#include "input/raw.h"

static const struct field meta_fields[] = {
    FIELD(raw_meta, name, "name", TYPE_STRING, .help = "name"),
    FIELD(raw_meta, ns, "namespace", TYPE_STRING, .fallback = "default", .help = "namespace"),
    FIELD(raw_meta, labels, "labels", TYPE_TEXTS, .help = "labels"),
    FIELD(raw_meta, annotations, "annotations", TYPE_TEXTS, .help = "annotations"),
};
const struct object_type object_meta_type = OBJECT(raw_meta, meta_fields, "metadata", "Of an object.", .open = true);

struct raw_env { const struct value *at; const char *name, *value; const struct value *from; };
static const struct field env_fields[] = {
    FIELD(raw_env, name, "name", TYPE_STRING, .required = true, .help = "name of the variable"),
    FIELD(raw_env, value, "value", TYPE_STRING, .help = "its value"),
    FIELD(raw_env, from, "valueFrom", TYPE_ANY, .help = "where its value is from"),
};
static const struct object_type env_type = OBJECT(raw_env, env_fields, "env", "A variable.");

struct raw_port { const struct value *at; const char *name, *protocol, *host_ip; int64_t number, host; };
static const struct field port_fields[] = {
    FIELD(raw_port, name, "name", TYPE_STRING, .fallback = "", .help = "name"),
    FIELD(raw_port, number, "containerPort", TYPE_INT, .required = true, .min = 1, .max = 65535, .help = "number"),
    FIELD(raw_port, protocol, "protocol", TYPE_STRING, .fallback = "TCP", .help = "protocol"),
    FIELD(raw_port, host, "hostPort", TYPE_INT, .min = 1, .max = 65535, .help = "number on the node"),
    FIELD(raw_port, host_ip, "hostIP", TYPE_STRING, .help = "address on the node"),
};
static const struct object_type port_type = OBJECT(raw_port, port_fields, "port", "A port.");

struct raw_resources { const struct value *at; struct list limits, requests; const struct value *claims; };
static const struct field resources_fields[] = {
    FIELD(raw_resources, limits, "limits", TYPE_TEXTS, .any_kind = true, .help = "quantities"),
    FIELD(raw_resources, requests, "requests", TYPE_TEXTS, .any_kind = true, .help = "quantities"),
    FIELD(raw_resources, claims, "claims", TYPE_ANY, .help = "dynamic resource claims; not counted"),
};
static const struct object_type resources_type = OBJECT(raw_resources, resources_fields, "resources", "Of a container.");

struct raw_container {
    const struct value *at;
    const char *name, *image;
    struct list command, args, env, ports;
    struct raw_resources *resources;
};
static const struct field container_fields[] = {
    FIELD(raw_container, name, "name", TYPE_STRING, .required = true, .help = "name"),
    FIELD(raw_container, image, "image", TYPE_STRING, .help = "image"),
    FIELD(raw_container, command, "command", TYPE_STRINGS, .help = "command"),
    FIELD(raw_container, args, "args", TYPE_STRINGS, .help = "arguments"),
    FIELD(raw_container, env, "env", TYPE_LIST, .sub = &env_type, .help = "environment"),
    FIELD(raw_container, ports, "ports", TYPE_LIST, .sub = &port_type, .help = "ports"),
    FIELD(raw_container, resources, "resources", TYPE_OBJECT, .sub = &resources_type, .always = true, .help = "resources"),
};
static const struct object_type container_type =
    OBJECT(raw_container, container_fields, "container", "A container.", .open = true);

static const struct field pod_spec_fields[] = {
    FIELD(raw_pod_spec, containers, "containers", TYPE_LIST, .sub = &container_type, .required = true, .help = "containers"),
    FIELD(raw_pod_spec, init_containers, "initContainers", TYPE_LIST, .sub = &container_type, .help = "init containers"),
    FIELD(raw_pod_spec, node_selector, "nodeSelector", TYPE_TEXTS, .help = "labels of its nodes"),
    FIELD(raw_pod_spec, tolerations, "tolerations", TYPE_LIST, .sub = &toleration_type, .help = "tolerations"),
    FIELD(raw_pod_spec, priority_class, "priorityClassName", TYPE_STRING, .help = "priority"),
};
static const struct object_type pod_spec_type = OBJECT(raw_pod_spec, pod_spec_fields, "spec", "Of a pod.", .open = true);

static const struct field template_fields[] = {
    FIELD(raw_template, meta, "metadata", TYPE_OBJECT, .sub = &object_meta_type, .always = true, .help = "of the pods"),
    FIELD(raw_template, spec, "spec", TYPE_OBJECT, .sub = &pod_spec_type, .required = true, .always = true, .help = "of the pods"),
};
const struct object_type pod_template_type = OBJECT(raw_template, template_fields, "template", "Of pods.");

/* ---- building ---- */

struct manifest_text *build_texts(struct build *b, struct list list, size_t *n)
{
    struct manifest_text *v = arena_array(b->arena, list.n, struct manifest_text);
    for (size_t i = 0; i < list.n; i++)
        v[i] = (struct manifest_text){ LIST_AT(list, struct text, i).key, LIST_AT(list, struct text, i).text };
    *n = list.n;
    return v;
}

static struct manifest_amount *build_amounts(struct build *b, struct list list, size_t *n)
{
    struct manifest_amount *v = arena_array(b->arena, list.n, struct manifest_amount);
    *n = 0;
    for (size_t i = 0; i < list.n; i++) {
        const struct text *t = &LIST_AT(list, struct text, i);
        int64_t milli = 0;
        const char *wrong = units_parse_quantity(t->text, &milli);
        if (!wrong && milli < 0) wrong = "a negative quantity is not allowed";
        if (wrong)
            value_error(b->diag, t->at, "%s: %s", t->text, wrong);
        else
            v[(*n)++] = (struct manifest_amount){ t->key, t->text, milli };
    }
    return v;
}

static void build_container(struct build *b, const struct raw_container *raw, struct manifest_container *out)
{
    out->name = raw->name ? raw->name : "";
    out->image = raw->image ? raw->image : "";
    out->command = raw->command.v;
    out->n_command = raw->command.n;
    out->args = raw->args.v;
    out->n_args = raw->args.n;
    out->env = arena_array(b->arena, raw->env.n, struct manifest_env);
    for (size_t i = 0; i < raw->env.n; i++) {
        const struct raw_env *e = &LIST_AT(raw->env, struct raw_env, i);
        out->env[out->n_env++] = (struct manifest_env){ e->name, e->from ? NULL : e->value ? e->value : "" };
    }
    out->ports = arena_array(b->arena, raw->ports.n, struct manifest_port);
    for (size_t i = 0; i < raw->ports.n; i++) {
        const struct raw_port *p = &LIST_AT(raw->ports, struct raw_port, i);
        out->ports[out->n_ports++] = (struct manifest_port){ p->name, p->protocol, p->number };
    }
    out->limits = build_amounts(b, raw->resources->limits, &out->n_limits);
    out->requests = build_amounts(b, raw->resources->requests, &out->n_requests);
}

static struct manifest_container *build_containers(struct build *b, struct list list, size_t *n)
{
    struct manifest_container *v = arena_array(b->arena, list.n, struct manifest_container);
    for (size_t i = 0; i < list.n; i++) build_container(b, &LIST_AT(list, struct raw_container, i), &v[i]);
    *n = list.n;
    return v;
}

void build_pod_template(struct build *b, const struct raw_template *raw, struct pod_template *out)
{
    out->replicas = -1;
    out->num_of_hosts = 1;
    out->value = raw->at;
    out->containers = build_containers(b, raw->spec->containers, &out->n_containers);
    out->init_containers = build_containers(b, raw->spec->init_containers, &out->n_init_containers);
    out->labels = build_texts(b, raw->meta->labels, &out->n_labels);
    out->annotations = build_texts(b, raw->meta->annotations, &out->n_annotations);
    out->node_selector = build_texts(b, raw->spec->node_selector, &out->n_node_selector);
    if (raw->spec->containers.v && raw->spec->containers.n == 0)
        value_error(b->diag, place_of(raw->spec->at, "containers"), "a pod needs at least one container");
}

uint64_t pod_groups(const struct build *b, const struct raw_template *raw)
{
    const struct cluster_spec *c = &b->s->cluster;
    return groups_selected(c, raw->spec->node_selector) & groups_tolerated(c, raw->spec->tolerations);
}

/* ---- resources ---- */

/* A request that is absent is the limit: the API server's defaulting. */
static int64_t request_of(const struct manifest_container *c, const char *resource)
{
    for (size_t i = 0; i < c->n_requests; i++)
        if (strcmp(c->requests[i].resource, resource) == 0) return c->requests[i].milli;
    for (size_t i = 0; i < c->n_limits; i++)
        if (strcmp(c->limits[i].resource, resource) == 0) return c->limits[i].milli;
    return 0;
}

/* nvidia.com/gpu, amd.com/gpu ...: one resource of a pod whose name ends so. */
static const char *gpu_resource(const struct manifest_container *c)
{
    for (size_t i = 0; i < c->n_limits; i++)
        if (str_ends_with(c->limits[i].resource, "/gpu")) return c->limits[i].resource;
    for (size_t i = 0; i < c->n_requests; i++)
        if (str_ends_with(c->requests[i].resource, "/gpu")) return c->requests[i].resource;
    return "nvidia.com/gpu";
}

struct amounts { int64_t gpu, cpu, memory; };

static struct amounts amounts_of(const struct manifest_container *c)
{
    return (struct amounts){ request_of(c, gpu_resource(c)), request_of(c, "cpu"), request_of(c, "memory") };
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t x;
    return __builtin_add_overflow(a, b, &x) ? INT64_MAX : x;
}

/* Containers together, or the largest init container where that is more. */
void pod_resources(struct build *b, const struct pod_template *pod, const struct value *at, struct role_spec *role)
{
    struct amounts total = { 0, 0, 0 };
    for (size_t i = 0; i < pod->n_containers; i++) {
        struct amounts a = amounts_of(&pod->containers[i]);
        total = (struct amounts){ sum(total.gpu, a.gpu), sum(total.cpu, a.cpu), sum(total.memory, a.memory) };
    }
    for (size_t i = 0; i < pod->n_init_containers; i++) {
        struct amounts a = amounts_of(&pod->init_containers[i]);
        total = (struct amounts){ larger(total.gpu, a.gpu), larger(total.cpu, a.cpu), larger(total.memory, a.memory) };
    }
    if (total.gpu > MAX_GPUS_PER_NODE * 1000)
        value_error(b->diag, at, "more than %d GPUs a pod", MAX_GPUS_PER_NODE);
    else if (total.gpu > 1000 && total.gpu % 1000)
        value_error(b->diag, at, "more than one GPU must be whole GPUs");
    else
        role->gpu_shares = (uint32_t)total.gpu;
    role->cpu_milli = total.cpu;
    role->mem_bytes = total.memory / 1000;
    role->pod = pod;
}
