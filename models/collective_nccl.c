/* collective_nccl.c - collectives of NCCL and RCCL, from hardware alone.
 *
 * NCCL's own tuning model decides between algorithms and protocols, and this model says how long the decision takes.
 *
 * The decision is that of ncclTopoTuneModel and ncclTopoGetAlgoTime (NVIDIA/nccl src/graph/tuning.cc): latency + S /
 * bandwidth of each algorithm and protocol, with its tables of latencies, of limits a channel and of corrections for
 * trees, and the longer latency of rings of whole buffers over nodes (PLATEAU); the least wins. The network latency of NVLS
 * trees in the decision is 14 us (NCCL 2.19 to 2.27). It is made for the power of two at or below S, as the correction tables
 * are. Of a network NCCL knows what its plugin declares, and that need not be what a message takes: net_us.
 *
 * Rings over more than two nodes are planned with the speed that NCCL's search has below the line rate of a Hopper node's
 * NIC (search.cc: 45 below 48 GB/s): NVLS trees are chosen for the largest messages, too (nccl-tests issue 309, whose tables
 * of 4 and 8 nodes this was set by).
 *
 * The time differs from NCCL's estimate where physics does:
 *   - t = launch + L + x + FILL x L / (x + ONSET L),  x = S / B.
 *     The last term is the pipeline that has to fill: chunks grow with the message until they are full, so what a chunk
 *     costs on its way through all hops grows to FILL times the latency L of those hops. Rings of whole buffers are left
 *     out: their 2 (n - 1) steps are all counted in L. Else one curve for all platforms, algorithms and protocols. FILL = 2.2
 *     and ONSET = 2 stand for hops x full chunk / bandwidth over latency as NCCL chooses chunks; they were read off one
 *     platform (2 x 8 H100, NVLS tree); with FILL 1.5 the median over all tables is 15.8 %, with 3 14.2 (docs/models.md).
 *   - a hop over a network takes what its messages take, whatever its plugin tells NCCL (net_latency_us).
 *   - a process that drives g GPUs launches their kernels one after the other: LAUNCH_US each beyond the first, from
 *     NVIDIA/nccl-tests issue 123: one process, rings of 2 to 8 A100, 128 B: 10, 13.76, 16.88, 20.8, 25.2, 29.5, 33.7 us. Less
 *     NCCL's 6.6 + 2 (g - 1) 0.6 us that is 2.55 us a launch by least squares.
 *   - NVLS moves S (1 + 1/n) over each GPU's links: S down reduced, S / n up and again down multicast.
 *   - an NVLS tree adds 20.9 us of network latency a level, as newer NCCL has it; a tree over two nodes
 *     moves S once each way over the NICs.
 *   - an NVLS tree over more than 4 nodes sends chunks of half the size, whose overhead a message costs bandwidth
 *     (NVIDIA/nccl pull request 1112; aws-ofi-nccl's notes). How much it costs was set with the tables of 8 nodes in view.
 *   - a network delivers NET_EFFICIENCY of its line rate (NCCL's topo.h: 12 GB/s of 12.5).
 *   - GPUs that cannot write into each other over PCIe share the copies through the host's memory.
 *
 * Latencies in us and bandwidths in GB/s inside this file, as in NCCL's tables.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/collective_model.h"

#include <stddef.h>
#include <stdint.h>

enum { LL, LL128, SIMPLE, N_PROTOCOLS };
enum { ON_NVLINK, ON_PCIE, ON_NET, N_LINKS };

#define FILL           2.2
#define ONSET          2.0
#define LAUNCH_US      2.55
#define NET_EFFICIENCY 0.96
#define INFINIBAND_US  5.0
#define NEVER          1e30

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* ---- NCCL's tables: LL, LL128, Simple ---- */

struct latencies { double base[N_PROTOCOLS], hop[N_LINKS][N_PROTOCOLS]; };

static const struct latencies nccl_ring = {{6.6, 14.0, 8.4}, {{0.6, 1.9, 3.4}, {1.0, 2.5, 5.7}, {2.7, 4.0, 14.0}}};
static const struct latencies nccl_tree = {{6.8, 14.0, 8.4}, {{0.6, 1.25, 4.0}, {1.0, 1.9, 4.0}, {5.0, 8.5, 14.0}}};
/* ROCm/rccl src/graph/tuning.cc, its first model */
static const struct latencies rccl_ring = {{12.0, 12.0, 17.0}, {{0.8, 2.2, 3.6}, {2.2, 2.2, 5.7}, {9.5, 19.8, 15.1}}};
static const struct latencies rccl_tree = {{12.0, 12.0, 17.0}, {{0.8, 1.4, 2.5}, {2.2, 2.2, 5.7}, {11.8, 18.2, 20.8}}};

/* NVLS, NVLS tree, CollNet direct, PAT: within the node, a level of the network (when deciding), and truly. */
#define NVLS_US            25.0
#define RING_PLAN          (45.0 / 48)
#define NVLS_TREE_PLAN_US  14.0
#define NVLS_TREE_LEVEL_US 20.9
#define PLATEAU            1.4
#define PLATEAU_VOLTA      1.9
#define SMALL_CHUNK_NODES  4
#define NET_MESSAGE_US     1.0
#define COLLNET_US         31.0
#define PAT_HOP_US         14.0

/* By generation (Volta, Ampere, Hopper, Blackwell) and one node, two, more. */
static const double ll_most[4][3] = {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}};
static const double channel_ring_ll128[4] = {20, 20, 36.7, 40};
static const double channel_tree_ll128[4][3] = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
static const double channel_tree[4][3] = {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
static const double channel_nvls_tree[4][3] = {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}};
static const double nvls_efficiency[4] = {0, 0, 0.85, 0.74};

/* What NCCL finds that trees lose at middle sizes, from 64 B on, a power of two each. */
#define N_CORRECTIONS 23
static const double tree_correction[N_PROTOCOLS][N_CORRECTIONS] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
};

/* Latency beyond that of InfiniBand, whose small messages take NCCL 5 us: what a message takes, and what NCCL is told.
 * EFA tells by generation (aws-ofi-nccl, src/platform-aws: p4d and p5 75 us, p5en, p6 and later 35 us) what serves NCCL's
 * choices: pull request 901 set 35 us by an "empirical search" and left p5 as it was. What a message takes from p5 on is what
 * the plugin's own cost model of p5 has, 20 us a hop (include/nccl_ofi_tuner.h, 2024), 15 beyond InfiniBand; the paper on SRD
 * (IEEE Micro 40-6, 2020) has 15.5 us. Of p4d nothing but the 75 us is published. TCP: two passes of the kernel. */
struct net_latency { double takes, told; };

static struct net_latency net_latency_us(const struct collective_fabric *f)
{
    double declared = most(0, f->net_latency_s * 1e6 - INFINIBAND_US);
    if (f->net_latency_s >= 0) return (struct net_latency){declared, declared};
    if (f->nic == COLLECTIVE_NIC_TCP) return (struct net_latency){20, 20};
    if (f->nic != COLLECTIVE_NIC_EFA) return (struct net_latency){0, 0};
    if (f->gpu_generation && f->gpu_generation < 90) return (struct net_latency){75, 75};
    return (struct net_latency){15, f->gpu_generation < 100 ? 75 : 35};
}

/* ---- the machine as NCCL sees it ---- */

struct machine {
    const struct collective_fabric *f;
    const struct latencies *ring, *tree;
    unsigned n, local, nodes;
    unsigned generation, scale; /* rows and columns of the tables */
    unsigned links;             /* ON_NVLINK or ON_PCIE, within the node */
    unsigned channels;
    double nvlink, intra, inter, bus; /* GB/s: a GPU's NVLink, one ring within the node, a node's part of the network */
    struct net_latency net_us;
    double launch_us;
};

static unsigned generation_of(unsigned capability)
{
    return capability < 80 ? 0 : capability < 90 ? 1 : capability < 100 ? 2 : 3;
}

/* NVLink as NCCL counts it (topo.h): GB/s of a link that carry data; others deliver 4/5 of the line. */
static double nvlink_of(const struct collective_fabric *f)
{
    if (!(f->nvlink_bytes_per_s > 0)) return 0;
    double line = f->nvlink_bytes_per_s / 1e9;
    switch (f->gpu_generation) {
    case 70: case 80: return least(line, f->nvlink_links * 20.0);
    case 90: return least(line, f->nvlink_links * 20.6);
    case 100: return least(line, f->nvlink_links * 40.1);
    default: return line; /* Infinity Fabric: all links of the mesh carry parts of the rings */
    }
}

/* PCIe carries 3/4 of its line (topo.h: 12 GB/s of 16), a ring 4/5 of that; through the host's memory two copies share
 * what one had: 3/5. */
static double ring_within(const struct collective_fabric *f, double nvlink, unsigned local)
{
    if (local == 1) return NEVER;
    if (nvlink > 0) return nvlink;
    return f->pcie_bytes_per_s / 1e9 * (f->pcie_peer ? 0.6 : 0.45);
}

static double network_of(const struct collective_fabric *f, unsigned local)
{
    double machine = f->gpus_per_node > 0 ? f->gpus_per_node : local, nics = f->nics > 0 ? f->nics : 1;
    double near = most(1, nics / machine), share = f->share > 0 ? f->share : 1;
    return least(local * near, nics * most(1, local / machine) * share) * f->nic_bytes_per_s / 1e9 * NET_EFFICIENCY;
}

static unsigned channels_of(const struct machine *m)
{
    if (m->nodes > 1) {
        unsigned most_channels = m->generation >= 2 ? m->local : 2 * m->local;
        return most_channels < 2 ? 2 : most_channels > 16 ? 16 : most_channels;
    }
    if (m->links == ON_PCIE) return 2;
    return m->generation == 0 ? 12 : m->generation == 1 ? 24 : 16;
}

static struct machine machine_of(const struct collective_fabric *f, struct collective_ranks r)
{
    struct machine m = {.f = f, .local = r.local, .nodes = r.nodes, .n = r.local * r.nodes};
    bool amd = f->library == COLLECTIVE_RCCL;
    m.ring = amd ? &rccl_ring : &nccl_ring;
    m.tree = amd ? &rccl_tree : &nccl_tree;
    m.generation = generation_of(f->gpu_generation);
    m.scale = r.nodes > 2 ? 2 : r.nodes - 1;
    m.nvlink = nvlink_of(f);
    m.links = m.nvlink > 0 || r.local == 1 ? ON_NVLINK : ON_PCIE;
    m.intra = ring_within(f, m.nvlink, r.local);
    m.inter = r.nodes > 1 ? network_of(f, r.local) : NEVER;
    m.bus = least(m.intra, m.inter);
    m.channels = channels_of(&m);
    if (r.nodes > 1) m.net_us = net_latency_us(f);
    m.launch_us = f->gpus_per_process > 1 ? LAUNCH_US * (f->gpus_per_process - 1) : 0;
    return m;
}

/* ---- lines: one an algorithm and protocol ---- */

struct line {
    enum collective_algorithm algorithm;
    unsigned protocol;
    double latency_us, rate;           /* the time; GB/s of the message */
    double plan_latency_us, plan_rate; /* the decision */
    const double *correction;          /* of the decision, or NULL */
};
enum { MAX_LINES = 12 };
struct lines { struct line v[MAX_LINES]; unsigned n; };

static void add(struct lines *to, const struct machine *m, struct line l)
{
    if (m->f->algorithms && !(m->f->algorithms >> l.algorithm & 1)) return;
    if (!(l.rate > 0)) return;
    if (!(l.plan_latency_us > 0)) l.plan_latency_us = l.latency_us;
    if (!(l.plan_rate > 0)) l.plan_rate = l.rate;
    to->v[to->n++] = l;
}

static bool has_protocol(const struct machine *m, unsigned protocol)
{
    if (protocol != LL128) return true;
    if (m->f->library == COLLECTIVE_RCCL || !(m->nvlink > 0)) return false; /* 128-byte stores stay whole on NVLink only */
    return m->generation > 0 || m->nodes == 1;
}

static double ll_limit(const struct machine *m)
{
    return ll_most[m->nodes == 1 ? m->generation : m->f->amd_cpu ? 1 : 0][m->scale];
}

static double net_hop_us(const struct machine *m, const struct latencies *l, unsigned protocol)
{
    return l->hop[ON_NET][protocol] + m->net_us.takes * (protocol == SIMPLE ? 2 : 1); /* Simple: and the flush behind it */
}

/* What NCCL believes that a hop takes beyond net_hop_us. */
static double misled_us(const struct machine *m, unsigned protocol)
{
    return (m->net_us.told - m->net_us.takes) * (protocol == SIMPLE ? 2 : 1);
}

/* Rings of whole buffers over several nodes: NCCL has their latency 1.4 times (Volta 1.9 times) as long for all-reduces
 * ("plateau effect", ncclTopoGetAlgoTime: from 64 B a rank and channel on, far below where they are chosen). */
static double plateau(const struct machine *m, unsigned protocol)
{
    if (protocol != SIMPLE || m->nodes == 1 || m->f->library == COLLECTIVE_RCCL) return 1;
    return m->generation == 0 ? PLATEAU_VOLTA : PLATEAU;
}

/* A ring of `steps` steps, of which `crossings` over the network; the message is moved `per_byte` times a link. */
static void add_ring(struct lines *to, const struct machine *m, double steps, double crossings, double per_byte)
{
    for (unsigned p = 0; p < N_PROTOCOLS; p++) {
        if (!has_protocol(m, p)) continue;
        double rate = m->bus, overhead = m->nodes > 1 ? (p == SIMPLE ? 3 : 1) : 0;
        if (p == LL) rate = least(ll_limit(m), 0.5 * rate);
        if (p == LL128) rate = least(0.92 * rate, m->channels * channel_ring_ll128[m->generation]);
        double hop = m->ring->hop[m->links][p];
        double us = m->ring->base[p] + (steps - crossings) * most(hop, overhead) + crossings * net_hop_us(m, m->ring, p);
        double longer = steps > m->n - 1 ? plateau(m, p) : 1; /* all-reduces go around twice */
        double plan = p == SIMPLE && m->nodes > 2 && m->generation >= 2 ? RING_PLAN * rate : rate;
        add(to, m, (struct line){COLLECTIVE_RING, p, longer * us, rate / per_byte, longer * (us + crossings * misled_us(m, p)),
                                 plan / per_byte, NULL});
    }
}

static void add_tree(struct lines *to, const struct machine *m)
{
    double bus = m->nodes == 2 ? least(m->intra, 2 * m->inter) : m->bus;
    for (unsigned p = 0; p < N_PROTOCOLS; p++) {
        if (!has_protocol(m, p)) continue;
        double rate = least(0.92 * bus, m->channels * channel_tree[m->generation][m->scale]);
        if (p == LL) rate = least(bus / 3.8, ll_limit(m));
        if (p == LL128)
            rate = least(bus * (m->nodes == 1 ? 7.0 / 9 : 120.0 / 128), m->channels * channel_tree_ll128[m->generation][m->scale]);
        double us = m->tree->base[p] + 2 * ((m->local - 1) * m->tree->hop[m->links][p] +
                                            collective_log2_ceil(m->nodes) * net_hop_us(m, m->tree, p));
        double told = us + 2 * collective_log2_ceil(m->nodes) * misled_us(m, p);
        add(to, m, (struct line){COLLECTIVE_TREE, p, us, 0.5 * rate, told, 0, tree_correction[p]});
    }
}

/* Beyond 4 nodes NCCL (2.19.3 on) sends the chunks of an NVLS tree in 64 KiB instead of 128 KiB. A message costs NET_MESSAGE_US
 * beside its transfer (ncclTopoTuneModel's network overhead), of which the two channels of a NIC hide half. */
static double small_chunks(const struct machine *m)
{
    if (m->nodes <= SMALL_CHUNK_NODES) return 1;
    double overhead = NET_MESSAGE_US / 2 * m->f->nic_bytes_per_s / 1e6;
    return (65536 / (65536 + overhead)) / (131072 / (131072 + overhead));
}

static bool has_nvls(const struct machine *m)
{
    return m->generation >= 2 && m->nvlink > 0 && m->f->nvlink_switch && m->local > (m->nodes == 1 ? 2 : 1) &&
           m->f->library == COLLECTIVE_NCCL;
}

static void add_nvls(struct lines *to, const struct machine *m, double per_byte)
{
    double reduced = m->nvlink * nvls_efficiency[m->generation], plan = reduced * 15 / 16 * 2 / per_byte;
    double rate = reduced / (1 + 1.0 / m->local), levels = collective_log2_ceil(m->nodes);
    if (m->nodes == 1) {
        add(to, m, (struct line){COLLECTIVE_NVLS, SIMPLE, NVLS_US, rate, 0, plan, NULL});
        return;
    }
    double channel = 8 * channel_nvls_tree[m->generation][m->scale] / per_byte;
    double net = m->nodes == 2 ? m->inter : m->bus / per_byte;
    add(to, m, (struct line){COLLECTIVE_NVLS_TREE, SIMPLE, NVLS_US + 2 * levels * (NVLS_TREE_LEVEL_US + 2 * m->net_us.takes),
                             least(least(rate, net), channel) * small_chunks(m), NVLS_US + 2 * levels * (NVLS_TREE_PLAN_US + 2 * m->net_us.told),
                             least(plan, least(m->inter * (m->nodes == 2 ? 2 : 1) / per_byte, channel)), NULL});
}

/* Switches add up what all nodes send: each byte crosses a NIC once each way. */
static void add_collnet(struct lines *to, const struct machine *m)
{
    double us = m->ring->base[SIMPLE] + 2 * (m->local > 1 ? m->ring->hop[m->links][SIMPLE] : 0) +
                0.8 * (m->local - 1) + COLLNET_US + 2 * m->net_us.takes;
    add(to, m, (struct line){COLLECTIVE_COLLNET, SIMPLE, us, least(m->inter, m->intra), 0, 0, NULL});
}

static void all_reduce(struct lines *to, const struct machine *m)
{
    double n = m->n, per_byte = 2 * (n - 1) / n;
    add_ring(to, m, 2 * (n - 1), m->nodes > 1 ? 2.0 * (m->nodes - 1) : 0, per_byte);
    if (m->n > 2) add_tree(to, m);
    if (has_nvls(m)) add_nvls(to, m, per_byte);
    if (m->f->sharp && m->nodes > 1) add_collnet(to, m);
}

/* All-gather and reduce-scatter; PAT where each node has one rank (NCCL 2.23), over a logarithm of steps. */
static void gather(struct lines *to, const struct machine *m)
{
    double n = m->n, per_byte = (n - 1) / n;
    add_ring(to, m, n - 1, m->nodes > 1 ? m->nodes - 1.0 : 0, per_byte);
    if (m->nodes == 1 && has_nvls(m))
        add(to, m, (struct line){COLLECTIVE_NVLS, SIMPLE, NVLS_US, m->nvlink * nvls_efficiency[m->generation] / per_byte,
                                 0, 0, NULL});
    if (m->nodes > 1 && m->local == 1)
        add(to, m, (struct line){COLLECTIVE_PAT, SIMPLE, 8 + collective_log2_ceil(m->nodes) * PAT_HOP_US / 3.5 + n * 2.8,
                                 0.75 * m->bus / per_byte, 0, 0, NULL});
}

/* The data stream once around the ring. */
static void broadcast(struct lines *to, const struct machine *m)
{
    add_ring(to, m, m->n - 1.0, m->nodes > 1 ? m->nodes - 1.0 : 0, 1);
}

/* Each rank sends a piece to each: what stays within the node and what leaves it go side by side. One message starts
 * after the other: 1 us (NCCL's network overhead), less within the node. */
static void all_to_all(struct lines *to, const struct machine *m)
{
    double n = m->n, within = (m->local - 1) / n, across = (n - m->local) / n;
    double slow = most(within / m->intra, across * m->local / m->inter);
    double us = m->ring->base[SIMPLE] + m->ring->hop[m->nodes > 1 ? ON_NET : m->links][SIMPLE] + 2 * m->net_us.takes +
                (m->local - 1) * 0.4 + (n - m->local) * 1.0;
    add(to, m, (struct line){COLLECTIVE_DIRECT, SIMPLE, us, 1 / slow, 0, 0, NULL});
}

/* Two ranks; over NVLink without a switch, the links of a GPU are spread over its peers. */
static void point_to_point(struct lines *to, const struct machine *m)
{
    const struct collective_fabric *f = m->f;
    double peers = f->gpus_per_node > 1 ? f->gpus_per_node - 1.0 : 1, within = m->intra;
    if (m->nvlink > 0 && !f->nvlink_switch) within /= peers;
    unsigned link = m->nodes > 1 ? ON_NET : m->links;
    double rate = m->nodes > 1 ? m->inter / m->local : within;
    add(to, m, (struct line){COLLECTIVE_DIRECT, SIMPLE, m->ring->base[SIMPLE] + m->ring->hop[link][SIMPLE] + 2 * m->net_us.takes,
                             rate, 0, 0, NULL});
}

static struct lines lines_of(const struct machine *m, enum collective_op op)
{
    static void (*const of[])(struct lines *, const struct machine *) = {all_reduce, gather,     gather,
                                                                         broadcast,  all_to_all, point_to_point};
    struct lines l = {.n = 0};
    of[op](&l, m);
    if (l.n == 0 && m->f->algorithms) { /* what is allowed does not exist here: what NCCL falls back to */
        struct collective_fabric any = *m->f;
        struct machine free = *m;
        any.algorithms = 0;
        free.f = &any;
        of[op](&l, &free);
    }
    return l;
}

/* ---- decision and time ---- */

static double plan_us(const struct line *l, unsigned power)
{
    double bytes = (double)((uint64_t)1 << power), rate = l->plan_rate;
    if (l->correction && power >= 6 && power - 6 < N_CORRECTIONS) rate *= l->correction[power - 6];
    return l->plan_latency_us + bytes / (1e3 * rate);
}

static const struct line *decide(const struct lines *l, unsigned power)
{
    const struct line *best = &l->v[0];
    for (unsigned i = 1; i < l->n; i++)
        if (plan_us(&l->v[i], power) < plan_us(best, power)) best = &l->v[i];
    return best;
}

static double time_us(const struct machine *m, const struct line *l, double bytes)
{
    double x = bytes / (1e3 * l->rate), latency = l->latency_us;
    double fill = l->algorithm == COLLECTIVE_RING && l->protocol == SIMPLE ? 0 : FILL;
    return m->launch_us + latency + x + fill * x * latency / (x + ONSET * latency);
}

#define FIRST_POWER 6  /* below 64 B as at 64 B */
#define LAST_POWER  40 /* above 1 TiB as at 1 TiB */

static double power_us(const struct machine *m, const struct lines *l, unsigned power)
{
    return time_us(m, decide(l, power), (double)((uint64_t)1 << power));
}

/* Where a worse choice ends, the time at powers of two would fall; it is held until the better one has caught up. */
static double held_us(const struct machine *m, const struct lines *l, unsigned power)
{
    double held = 0;
    for (unsigned k = FIRST_POWER; k <= power; k++) held = most(held, power_us(m, l, k));
    return held;
}

struct collective_choice collective_nccl(const struct collective_fabric *f, enum collective_op op, double bytes,
                                         struct collective_ranks r)
{
    struct machine m = machine_of(f, r);
    struct lines l = lines_of(&m, op);
    unsigned power = bytes < 64 ? FIRST_POWER : collective_log2_floor(bytes);
    if (power > LAST_POWER) power = LAST_POWER;
    const struct line *choice = decide(&l, power);
    double from = held_us(&m, &l, power), us = most(from, time_us(&m, choice, bytes));
    if (power < LAST_POWER) us = least(us, most(from, power_us(&m, &l, power + 1)));
    return (struct collective_choice){choice->algorithm, (enum collective_protocol)choice->protocol, us * 1e-6};
}
