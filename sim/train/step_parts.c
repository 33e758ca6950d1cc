/* step_parts.c - see step_parts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/train/step_parts.h"

#include "base/detmath.h"
#include "models/order_statistics.h"
#include "models/ring.h"
#include "sim/train/data_wait.h"
#include "models/traffic.h"

typedef __int128 wide;

static uint32_t gpus_of_rank(const struct sim *s, const struct job *j)
{
    const struct job_detail *d = job_detail_of(s, j);
    uint32_t shares = job_role_shares(s->scenario, j->spec, d->n_roles - 1);
    return shares >= SHARES_PER_GPU ? shares / SHARES_PER_GPU : 1;
}

/* ---- the slowest ---- */

double node_slowness(const struct sim *s, uint32_t node)
{
    const struct straggler_spec *spec = &s->scenario->cluster.stragglers;
    if (spec->share <= 0) return 1;
    uint64_t group = pool_node_group(s->pool, node);
    uint64_t offset = node - s->scenario->cluster.groups[group].first_node;
    struct stream stream = stream_make(s->scenario->run.seed, s->replication, STREAM_STRAGGLER, group << 32 | offset);
    return stream_unit(&stream) < spec->share ? 1 + spec->slowness : 1;
}

static struct step_noise noise_of(const struct sim *s, const uint32_t *nodes, uint32_t ranks)
{
    struct step_noise n = {s->scenario->cluster.stragglers.jitter, 1};
    for (uint32_t i = 0; i < ranks; i++) {
        if (i && nodes[i] == nodes[i - 1]) continue;
        double slow = node_slowness(s, nodes[i]);
        if (slow > n.slowness) n.slowness = slow;
    }
    return n;
}

/* ---- declared ---- */

/* Communication of a step at this size, from the network model; the ring crosses nodes when there are several. */
static int64_t ring_ns(const struct sim *s, const struct job *j, uint32_t ranks)
{
    const struct network_model *n = &s->scenario->cluster.network;
    const struct job_detail *d = job_detail_of(s, j);
    const struct role_spec *role = &d->roles[d->n_roles - 1];
    uint32_t gpus = role->gpu_shares >= 1000 ? role->gpu_shares / 1000 : 1;
    double rate = ranks > 1 ? n->inter_bytes_per_s / gpus : n->intra_bytes_per_s;
    if (rate > n->intra_bytes_per_s) rate = n->intra_bytes_per_s;
    return ring_all_reduce_ns(d->step.gradient_bytes, ranks * gpus, n->latency_ns, rate);
}

static int64_t scaled(int64_t ns, uint32_t ppm)
{
    wide x = (wide)ns * 1000000;
    return (int64_t)((x + ppm - 1) / ppm);
}

static void declared(const struct sim *s, const struct job *j, const uint32_t *nodes, uint32_t ranks, uint32_t ppm,
                     int64_t nominal_ns, struct step_parts *out)
{
    const struct step_spec *p = &job_detail_of(s, j)->step;
    bool duration = p->compute_ns + p->data_ns == 0 && p->communication_ns == 0;
    struct step_noise n = noise_of(s, nodes, ranks);
    out->ns[STEP_COMPUTE] = scaled(duration ? nominal_ns : p->compute_ns, ppm);
    out->ns[STEP_DATA] = scaled(p->data_ns, ppm);
    out->ns[STEP_COMMUNICATION] = p->communication_ns >= 0 ? p->communication_ns : ring_ns(s, j, ranks);
    out->edge_bytes = traffic_ring_edge_bytes(p->gradient_bytes, (uint64_t)ranks * gpus_of_rank(s, j));
    double slowest = n.slowness;
    if (n.jitter > 0) slowest *= 1 + n.jitter * max_of_normals((double)ranks * gpus_of_rank(s, j));
    if (slowest > 1) out->ns[STEP_STRAGGLER] = det_round((double)out->ns[STEP_COMPUTE] * (slowest - 1));
}

/* ---- modelled ---- */

/* Consecutive ranks on one node: the shortest run of them. */
static uint32_t shortest_run(const uint32_t *nodes, uint32_t ranks)
{
    uint32_t least = ranks, run = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        run++;
        if (i + 1 < ranks && nodes[i + 1] == nodes[i]) continue;
        if (run < least) least = run;
        run = 0;
    }
    return least;
}

static const struct step_hardware *slowest_hardware(const struct sim *s, const uint32_t *nodes, uint32_t ranks)
{
    const struct step_hardware *slow = NULL;
    for (uint32_t i = 0; i < ranks; i++) {
        if (i && nodes[i] == nodes[i - 1]) continue;
        const struct step_hardware *h = s->scenario->cluster.groups[pool_node_group(s->pool, nodes[i])].hardware;
        if (h && (!slow || h->gpu.peak_flops < slow->gpu.peak_flops)) slow = h;
    }
    return slow;
}

static void divide(struct parallelism *p, uint64_t gpus)
{
    uint64_t data = gpus / ((uint64_t)p->tensor * p->pipeline * p->context);
    p->data = data < 1 ? 1 : (uint32_t)data;
    if (p->data % p->expert) p->expert = 1;
}

static void modelled(const struct sim *s, const struct job *j, const uint32_t *nodes, uint32_t ranks, struct step_parts *out)
{
    struct step_input in = *job_detail_of(s, j)->step.model;
    uint32_t gpus = gpus_of_rank(s, j);
    const struct step_hardware *h = slowest_hardware(s, nodes, ranks);
    if (h) in.hardware = *h;
    divide(&in.split, (uint64_t)ranks * gpus);
    in.place.run = shortest_run(nodes, ranks) * gpus;
    in.noise = noise_of(s, nodes, ranks);
    struct step_time t = step_time(&in);
    step_whole_ns(&t, out->ns);
    out->together = in.place.run;
    out->edge_bytes = det_round(t.fabric_bytes * in.place.run);
}

int64_t step_nominal_of(const struct sim *s, const struct job *j)
{
    const struct step_spec *spec = &job_detail_of(s, j)->step;
    struct step_input in = *spec->model;
    uint64_t gpus = (uint64_t)job_shares(s->scenario, j->spec) / SHARES_PER_GPU;
    if (gpus == 0 || gpus == parallel_ranks(&in.split)) return spec->modelled_ns;
    divide(&in.split, gpus);
    struct step_time t = step_time(&in);
    int64_t parts[N_STEP_PARTS];
    return step_whole_ns(&t, parts);
}

/* ---- data ---- */

static void load(const struct sim *s, const struct job *j, const uint32_t *nodes, uint32_t ranks, uint32_t ppm, int64_t steps,
                 struct step_parts *out)
{
    if (!job_detail_of(s, j)->data) return;
    struct data_wait w = data_wait_at(s, j, nodes, ranks, ppm, steps, out->length_ns);
    out->wait_ns = w.ns;
    out->read_bytes = w.node_bytes;
    out->reads_ahead = w.ahead;
    out->ns[STEP_DATA] += w.ns;
    out->length_ns += w.ns;
}

void step_parts_at(const struct sim *s, const struct job *j, const uint32_t *nodes, uint32_t ranks, uint32_t ppm,
                   int64_t nominal_ns, struct step_parts *out)
{
    *out = (struct step_parts){.length_ns = 0};
    if (job_detail_of(s, j)->step.model) modelled(s, j, nodes, ranks, out);
    else declared(s, j, nodes, ranks, ppm, nominal_ns, out);
    for (int k = 0; k < N_STEP_PARTS; k++) out->length_ns += out->ns[k];
    load(s, j, nodes, ranks, ppm, j->spec->work_ns / nominal_ns, out);
    if (out->length_ns < 1) out->length_ns = out->ns[STEP_COMPUTE] = 1;
}
