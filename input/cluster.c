/* cluster.c - the "cluster" of a scenario: node groups, topology, network, storage, images.
 *
 * A hardware profile fills what a group does not say itself. Sources of the defaults: network latency 5 us a hop and the
 * bandwidths of an H100 node (NVLink4 450 GB/s a direction and GPU, 8 x 400 Gbps) are datasheet figures and stand in
 * scenarios/profiles; without any profile a fabric of 400 Gbps a node is taken.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <string.h>

#include "input/raw.h"
#include "models/collective.h"

static const char *const topology_words[3] = { "block", "rack", "host" };
static const char *const storage_kinds[3] = { "object", "shared", "local" };

static const struct field taint_fields[] = {
    FIELD(raw_taint, key, "key", TYPE_STRING, .required = true, .help = "the taint's key"),
    FIELD(raw_taint, value, "value", TYPE_STRING, .fallback = "", .any_kind = true, .help = "the taint's value"),
    FIELD(raw_taint, effect, "effect", TYPE_WORD, WORDS(taint_effect_names), .fallback = "NoSchedule",
          .help = "what it does to pods that do not tolerate it; PreferNoSchedule is ignored"),
};
const struct object_type taint_type = OBJECT(raw_taint, taint_fields, "taint", "A taint of nodes.");

static const struct field node_fields[] = {
    FIELD(raw_node_group, group, "group", TYPE_STRING, .required = true, .help = "name of this group of equal nodes"),
    FIELD(raw_node_group, count, "count", TYPE_INT, .fallback = "1", .min = 0, .max = 4000000, .help = "nodes"),
    FIELD(raw_node_group, profile, "profile", TYPE_STRING, .hidden = true,
          .help = "a hardware profile, which gives what is not said here (`trainyard profiles` lists them)"),
    FIELD(raw_node_group, gpus, "gpus", TYPE_INT, .min = 0, .max = MAX_GPUS_PER_NODE,
          .help = "GPUs a node; 0 for CPU nodes"),
    FIELD(raw_node_group, gpu, "gpu", TYPE_STRING, .help = "GPU type, as jobs ask for it: \"h100\""),
    FIELD(raw_node_group, cpu, "cpu", TYPE_QUANTITY, .help = "CPUs a node; absent: not limited"),
    FIELD(raw_node_group, memory, "memory", TYPE_BYTES, .help = "memory a node; absent: not limited"),
    FIELD(raw_node_group, price_per_hour, "price_per_hour", TYPE_NUMBER, .help = "price of a node and hour"),
    FIELD(raw_node_group, peak_tflops, "peak_tflops", TYPE_NUMBER,
          .help = "dense peak of a GPU in 16 bits, for steps that are computed from a model; default: by \"gpu\""),
    FIELD(raw_node_group, gpu_memory, "gpu_memory", TYPE_BYTES, .min = 1, .max = INT64_MAX - 1,
          .help = "of a GPU; default: by \"gpu\""),
    FIELD(raw_node_group, gpu_memory_tbps, "gpu_memory_tbps", TYPE_NUMBER,
          .help = "terabytes a second of a GPU's memory; default: by \"gpu\""),
    FIELD(raw_node_group, links, "links", TYPE_OBJECT, .sub = &links_type, .help = "of its GPUs; default: as usual for \"gpu\""),
    FIELD(raw_node_group, labels, "labels", TYPE_TEXTS, .any_kind = true,
          .help = "Kubernetes labels; nodeSelector and flavors choose by them"),
    FIELD(raw_node_group, taints, "taints", TYPE_LIST, .sub = &taint_type, .help = "Kubernetes taints"),
    FIELD(raw_node_group, spot, "spot", TYPE_BOOL, .fallback = "false", .help = "may be reclaimed"),
    FIELD(raw_node_group, age, "age", TYPE_DURATION,
          .help = "in service for so long when the run begins; matters where a fault component's shape is not 1"),
};
static const struct object_type node_type = OBJECT(raw_node_group, node_fields, "node group", "Equal nodes.");

static const struct field topology_fields[] = {
    FIELD(raw_topology, levels, "levels", TYPE_STRINGS,
          .help = "from the widest to the host, of \"block\", \"rack\", \"host\"; absent: those that have a size"),
    FIELD(raw_topology, nodes_per_rack, "nodes_per_rack", TYPE_INT, .min = 1, .max = 1000000,
          .help = "nodes are numbered along racks"),
    FIELD(raw_topology, racks_per_block, "racks_per_block", TYPE_INT, .min = 1, .max = 1000000,
          .help = "racks are numbered along blocks"),
};
static const struct object_type topology_type =
    OBJECT(raw_topology, topology_fields, "topology", "How nodes lie in racks and blocks.");

static const struct field oversubscription_fields[] = {
    FIELD(raw_oversubscription, rack, "rack", TYPE_NUMBER, .fallback = "1", .help = "of the links that leave a rack"),
    FIELD(raw_oversubscription, block, "block", TYPE_NUMBER, .fallback = "1", .help = "of the links that leave a block"),
};
static const struct object_type oversubscription_type =
    OBJECT(raw_oversubscription, oversubscription_fields, "oversubscription",
           "Bandwidth below a level over bandwidth that leaves it; 1 is a full fabric.");

static const struct field network_fields[] = {
    FIELD(raw_network, profile, "profile", TYPE_STRING, .hidden = true,
          .help = "a network profile, which gives what is not said here"),
    FIELD(raw_network, latency, "latency", TYPE_DURATION, .help = "of a hop (the alpha of the ring model); default 5us"),
    FIELD(raw_network, intra, "intra", TYPE_BANDWIDTH, .min = 1, .max = INT64_MAX - 1, .help = "of a GPU to the others of its node, a direction"),
    FIELD(raw_network, inter, "inter", TYPE_BANDWIDTH, .min = 1, .max = INT64_MAX - 1, .help = "of a node to the fabric, a direction"),
    FIELD(raw_network, nic, "nic", TYPE_WORD, .words = collective_nic_names, .n_words = COLLECTIVE_N_NICS,
          .help = "kind of network card, for steps that are computed from a model; default ib"),
    FIELD(raw_network, nics, "nics", TYPE_INT, .min = 1, .max = 1024,
          .help = "cards a node, \"inter\" is theirs together; default: of 400Gbps"),
    FIELD(raw_network, sharp, "sharp", TYPE_BOOL, .help = "switches reduce (SHARP), for such steps"),
    FIELD(raw_network, collectives, "collectives", TYPE_ANY,
          .help = "a measured collective (name, file or the profile itself), as `trainyard calibrate collective -o` makes it"),
    FIELD(raw_network, oversubscription, "oversubscription", TYPE_OBJECT, .sub = &oversubscription_type, .always = true,
          .help = "by level"),
    FIELD(raw_network, contention, "contention", TYPE_BOOL,
          .help = "steps, checkpoints and image pulls share the links that they cross; default: true where a profile, inter or "
                  "oversubscription is given"),
};
static const struct object_type network_type =
    OBJECT(raw_network, network_fields, "network", "The fabric: what a node's link carries, and how much of it leaves a rack and a block.",
           .shorthand = "profile");

static const struct field storage_fields[] = {
    FIELD(raw_storage, name, "name", TYPE_STRING, .required = true, .help = "as checkpoints and data name it"),
    FIELD(raw_storage, kind, "kind", TYPE_WORD, WORDS(storage_kinds), .fallback = "shared",
          .help = "local: the disks of each node; what is on them is lost with the node"),
    FIELD(raw_storage, write, "write", TYPE_BANDWIDTH, .required = true, .min = 1, .max = INT64_MAX - 1,
          .help = "bandwidth of all writers; of a local store, of one node's disks"),
    FIELD(raw_storage, read, "read", TYPE_BANDWIDTH, .required = true, .min = 1, .max = INT64_MAX - 1,
          .help = "bandwidth of all readers; of a local store, of one node's disks"),
};
static const struct object_type storage_type = OBJECT(raw_storage, storage_fields, "storage", "A store of checkpoints and data.");

static const struct field image_fields[] = {
    FIELD(raw_images, size, "size", TYPE_BYTES, .fallback = "0", .help = "of a job's image"),
    FIELD(raw_images, cached, "cached", TYPE_FRACTION, .fallback = "1", .help = "share of pod starts that find it on the node"),
    FIELD(raw_images, pull, "pull", TYPE_BANDWIDTH, .fallback = "200MB/s", .min = 1, .max = INT64_MAX - 1,
          .help = "of one pull, unpacking included; kubelets pull one image at a time"),
};
static const struct object_type image_type = OBJECT(raw_images, image_fields, "images", "Container images.");

static const struct field straggler_fields[] = {
    FIELD(raw_stragglers, share, "share", TYPE_FRACTION, .fallback = "0", .help = "of nodes that are slow, drawn once a node"),
    FIELD(raw_stragglers, slowness, "slowness", TYPE_FRACTION, .fallback = "0.1",
          .help = "by which computation on them takes longer"),
    FIELD(raw_stragglers, jitter, "jitter", TYPE_FRACTION, .fallback = "0",
          .help = "deviation of a rank's computing time from step to step, over its mean (normal)"),
};
static const struct object_type straggler_type =
    OBJECT(raw_stragglers, straggler_fields, "stragglers",
           "Ranks that step together wait for the slowest. MegaScale found 0.5 % of machines about 10 % slow.", .shorthand = "share");

static const struct field cluster_fields[] = {
    FIELD(raw_cluster, nodes, "nodes", TYPE_LIST, .sub = &node_type, .required = true,
          .help = "groups of equal nodes; nodes are numbered group after group"),
    FIELD(raw_cluster, topology, "topology", TYPE_OBJECT, .sub = &topology_type, .always = true, .help = "racks and blocks"),
    FIELD(raw_cluster, network, "network", TYPE_OBJECT, .sub = &network_type, .always = true, .help = "the fabric"),
    FIELD(raw_cluster, storage, "storage", TYPE_LIST, .sub = &storage_type, .help = "stores of checkpoints and data"),
    FIELD(raw_cluster, images, "images", TYPE_OBJECT, .sub = &image_type, .always = true, .help = "container images"),
    FIELD(raw_cluster, stragglers, "stragglers", TYPE_OBJECT, .sub = &straggler_type, .help = "absent: all nodes are alike"),
    FIELD(raw_cluster, kernels, "kernels", TYPE_OBJECT, .sub = &kernels_type,
          .help = "how fast models compute on the GPUs; absent: as calibrated with public measurements (docs/models.md)"),
};
const struct object_type cluster_type = OBJECT(raw_cluster, cluster_fields, "cluster", "The machines.");

/* ---- profiles ---- */

static void fill_int(int64_t *to, int64_t from)
{
    if (*to == ABSENT) *to = from;
}

/* Before profiles are expanded: the links count where the scenario says something about them. */
static void fill_contention(struct raw_network *n)
{
    bool full = n->oversubscription->rack <= 1 && n->oversubscription->block <= 1;
    fill_int(&n->contention, n->profile || n->inter != ABSENT || !full);
}

enum { HOP_NS = 5000 }; /* not filled in: what a message takes on a card of another kind differs */

static void fill_network_defaults(struct raw_network *n)
{
    fill_int(&n->intra, 450000000000);
    fill_int(&n->inter, 50000000000);
}

static void expand_group(struct build *b, struct raw_node_group *g, struct raw_network *n)
{
    if (!g->profile) return;
    const struct value *v = profile_load(b, "hardware", g->profile, place_of(g->at, "profile"));
    if (!v) return;
    struct raw_hardware *h = object_read(&b->reader, &hardware_type, v);
    if (!g->gpu) g->gpu = h->gpu;
    fill_int(&g->gpus, h->gpus);
    fill_int(&g->cpu, h->cpu);
    fill_int(&g->memory, h->memory);
    if (isnan(g->price_per_hour)) g->price_per_hour = h->price_per_hour;
    fill_int(&n->intra, h->intra);
    fill_int(&n->nic, h->nic);
    if (n->inter == ABSENT) fill_int(&n->nics, h->nics);
    fill_int(&n->inter, h->inter);
    fill_links(b, g, h);
    g->profile = NULL;
}

static void expand_network(struct build *b, struct raw_network *n)
{
    if (!n->profile) return;
    const struct value *v = profile_load(b, "network", n->profile, place_of(n->at, "profile"));
    if (!v) return;
    struct raw_fabric *f = object_read(&b->reader, &fabric_type, v);
    fill_int(&n->latency, f->latency);
    fill_int(&n->intra, f->intra);
    fill_int(&n->nic, f->nic);
    if (n->inter == ABSENT) fill_int(&n->nics, f->nics);
    fill_int(&n->sharp, f->sharp);
    fill_int(&n->inter, f->inter);
    n->profile = NULL;
}

/* ---- building ---- */

static struct labels labels_of(struct build *b, struct list list)
{
    struct labels l = { arena_array(b->arena, list.n, struct label), list.n };
    for (size_t i = 0; i < list.n; i++)
        l.v[i] = (struct label){ LIST_AT(list, struct text, i).key, LIST_AT(list, struct text, i).text };
    return l;
}

static struct labels taints_of(struct build *b, struct list list)
{
    struct labels l = { arena_array(b->arena, list.n, struct label), list.n };
    for (size_t i = 0; i < list.n; i++) {
        const struct raw_taint *t = &LIST_AT(list, struct raw_taint, i);
        if (!t->key) continue; /* reported */
        l.v[i].key = t->key;
        l.v[i].value = arena_printf(b->arena, "%s:%s", t->value, taint_effect_names[t->effect]);
    }
    return l;
}

static void build_group(struct build *b, const struct raw_node_group *raw, uint32_t first)
{
    struct cluster_spec *c = &b->s->cluster;
    for (uint32_t i = 0; i < c->n_groups; i++)
        if (raw->group && strcmp(c->groups[i].name, raw->group) == 0)
            value_error(b->diag, place_of(raw->at, "group"), "there are two groups \"%s\"", raw->group);
    if (raw->gpus == ABSENT && !raw->profile) /* one that is still there could not be read, which is reported */
        value_error(b->diag, raw->at, "\"gpus\" is missing: GPUs a node, or a \"profile\" that gives them");
    c->groups[c->n_groups++] = (struct node_group){
        .name = raw->group ? raw->group : "",
        .gpu = raw->gpu ? raw->gpu : "",
        .first_node = first,
        .count = (uint32_t)raw->count,
        .gpus = raw->gpus == ABSENT ? 0 : (uint32_t)raw->gpus,
        .cpu_milli = raw->cpu == ABSENT ? INT64_MAX : raw->cpu,
        .mem_bytes = raw->memory == ABSENT ? INT64_MAX : raw->memory,
        .price_per_hour = isnan(raw->price_per_hour) ? 0 : raw->price_per_hour,
        .labels = labels_of(b, raw->labels),
        .taints = taints_of(b, raw->taints),
        .spot = raw->spot != 0,
        .age_ns = raw->age == ABSENT ? 0 : raw->age,
    };
    c->n_nodes += (uint32_t)raw->count;
    c->total_shares += raw->gpus == ABSENT ? 0 : raw->count * raw->gpus * SHARES_PER_GPU;
}

static void build_groups(struct build *b, struct raw_cluster *raw)
{
    struct cluster_spec *c = &b->s->cluster;
    size_t n = raw->nodes.n;
    if (n > 64) value_error(b->diag, place_of(raw->at, "nodes"), "%zu node groups; at most 64 are possible", n);
    if (n > 64) n = 64;
    c->groups = arena_array(b->arena, n, struct node_group);
    for (size_t i = 0; i < n; i++) {
        struct raw_node_group *g = &LIST_AT(raw->nodes, struct raw_node_group, i);
        if ((int64_t)c->n_nodes + g->count > 4000000) {
            value_error(b->diag, place_of(g->at, "count"), "more than 4,000,000 nodes");
            return;
        }
        expand_group(b, g, raw->network);
        build_group(b, g, c->n_nodes);
    }
    if (raw->nodes.v && c->n_nodes == 0)
        value_error(b->diag, place_of(raw->at, "nodes"), "the cluster has no node");
}

static int topology_rank(const char *level)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(topology_words[i], level) == 0) return i;
    return -1;
}

/* Levels must be in order, each with its size; a size without its level is an error too. */
static void build_topology(struct build *b, struct raw_topology *raw)
{
    bool has[3] = { raw->racks_per_block != ABSENT, raw->nodes_per_rack != ABSENT, true };
    const struct value *at = place_of(raw->at, "levels");
    if (raw->levels.v) {
        bool listed[3] = { false, false, false };
        for (size_t i = 0, last = 0; i < raw->levels.n; i++) {
            const char *level = LIST_AT(raw->levels, const char *, i);
            int rank = topology_rank(level);
            if (rank < 0) {
                value_error(b->diag, at, "unknown level \"%s\"", level);
                diag_help_allowed(b->diag, level, topology_words, 3);
                return;
            }
            if (i > 0 && (size_t)rank <= last)
                value_error(b->diag, at, "\"%s\" is out of order; levels go from the widest: block, rack, host", level);
            last = (size_t)rank;
            listed[rank] = true;
        }
        if (listed[1] && !has[1]) value_error(b->diag, at, "the level \"rack\" needs \"nodes_per_rack\"");
        if (listed[0] && !has[0]) value_error(b->diag, at, "the level \"block\" needs \"racks_per_block\"");
        for (int i = 0; i < 2; i++) has[i] = has[i] && listed[i];
    }
    if (has[0] && !has[1]) value_error(b->diag, raw->at, "blocks consist of racks: give \"nodes_per_rack\"");
    b->s->cluster.topology = (struct topology){ has[1] ? (uint32_t)raw->nodes_per_rack : 0,
                                                has[0] ? (uint32_t)raw->racks_per_block : 0 };
}

static void build_network(struct build *b, struct raw_network *raw)
{
    fill_network_defaults(raw);
    double rack = raw->oversubscription->rack, block = raw->oversubscription->block;
    if (rack < 1 || block < 1)
        value_error(b->diag, raw->oversubscription->at, "an oversubscription below 1 means nothing; 1 is a full fabric");
    b->s->cluster.network =
        (struct network_model){ raw->latency == ABSENT ? HOP_NS : raw->latency, (double)raw->intra, (double)raw->inter, rack, block, raw->contention != 0, {0} };
}

static void build_storage(struct build *b, struct raw_cluster *raw)
{
    struct cluster_spec *c = &b->s->cluster;
    c->storage = arena_array(b->arena, raw->storage.n, struct storage);
    for (size_t i = 0; i < raw->storage.n; i++) {
        const struct raw_storage *s = &LIST_AT(raw->storage, struct raw_storage, i);
        if (!s->name || s->write == ABSENT || s->read == ABSENT) continue; /* reported */
        for (uint32_t k = 0; k < c->n_storage; k++)
            if (strcmp(c->storage[k].name, s->name) == 0)
                value_error(b->diag, place_of(s->at, "name"), "there are two stores \"%s\"", s->name);
        c->storage[c->n_storage++] = (struct storage){ s->name, (double)s->write, (double)s->read, s->kind == 2 };
    }
}

static void build_speeds(struct build *b, const struct raw_cluster *raw)
{
    struct cluster_spec *c = &b->s->cluster;
    const struct raw_stragglers *r = raw->stragglers;
    expand_kernels(b, raw->kernels);
    for (uint32_t g = 0; g < c->n_groups; g++) {
        struct step_hardware *h = build_hardware(b, &LIST_AT(raw->nodes, struct raw_node_group, g), raw->network);
        if (h) apply_kernels(raw->kernels, h);
        c->groups[g].hardware = h;
    }
    if (r) c->stragglers = (struct straggler_spec){ r->share, r->slowness, r->jitter };
}

void build_cluster(struct build *b, struct raw_cluster *raw)
{
    fill_contention(raw->network);
    expand_network(b, raw->network);
    build_groups(b, raw);
    build_topology(b, raw->topology);
    build_network(b, raw->network);
    build_speeds(b, raw);
    build_storage(b, raw);
    b->s->cluster.image = (struct image_model){ raw->images->size, raw->images->cached, raw->images->pull };
}

/* ---- sets of groups ---- */

uint64_t groups_all(const struct cluster_spec *c)
{
    return c->n_groups >= 64 ? UINT64_MAX : (UINT64_C(1) << c->n_groups) - 1;
}

uint64_t groups_named(const struct cluster_spec *c, const char *name)
{
    uint64_t by_name = 0, by_gpu = 0;
    for (uint32_t i = 0; i < c->n_groups; i++) {
        if (strcmp(c->groups[i].name, name) == 0) by_name |= UINT64_C(1) << i;
        if (strcmp(c->groups[i].gpu, name) == 0) by_gpu |= UINT64_C(1) << i;
    }
    return by_name ? by_name : by_gpu;
}

static const char *label_of(const struct node_group *g, const char *key)
{
    for (size_t i = 0; i < g->labels.n; i++)
        if (strcmp(g->labels.v[i].key, key) == 0) return g->labels.v[i].value;
    if (strcmp(key, "trainyard/group") == 0) return g->name;
    if (strcmp(key, "nvidia.com/gpu.product") == 0 && g->gpu[0]) return g->gpu;
    return NULL;
}

uint64_t groups_selected(const struct cluster_spec *c, struct list selector)
{
    uint64_t set = groups_all(c);
    for (uint32_t g = 0; g < c->n_groups; g++)
        for (size_t i = 0; i < selector.n; i++) {
            const struct text *want = &LIST_AT(selector, struct text, i);
            const char *have = label_of(&c->groups[g], want->key);
            if (!have || strcmp(have, want->text) != 0) set &= ~(UINT64_C(1) << g);
        }
    return set;
}

/* Kubernetes' rule: operator Exists matches any value, an empty key with it matches all; an empty effect matches all. */
static bool tolerates(const struct raw_toleration *t, const struct label *taint)
{
    const char *effect = strrchr(taint->value, ':') + 1;
    size_t value_length = (size_t)(effect - 1 - taint->value);
    bool exists = t->op == 1;
    if (t->effect != ABSENT && strcmp(taint_effect_names[t->effect], effect) != 0) return false;
    if (!t->key || !t->key[0]) return exists;
    if (strcmp(t->key, taint->key) != 0) return false;
    const char *value = t->value ? t->value : "";
    return exists || (strlen(value) == value_length && strncmp(value, taint->value, value_length) == 0);
}

static bool taint_tolerated(const struct label *taint, struct list tolerations)
{
    if (!taint->key || str_ends_with(taint->value, ":PreferNoSchedule")) return true;
    for (size_t i = 0; i < tolerations.n; i++)
        if (tolerates(&LIST_AT(tolerations, struct raw_toleration, i), taint)) return true;
    return false;
}

uint64_t groups_tolerated(const struct cluster_spec *c, struct list tolerations)
{
    uint64_t set = groups_all(c);
    for (uint32_t g = 0; g < c->n_groups; g++)
        for (size_t i = 0; i < c->groups[g].taints.n; i++)
            if (!taint_tolerated(&c->groups[g].taints.v[i], tolerations)) set &= ~(UINT64_C(1) << g);
    return set;
}
