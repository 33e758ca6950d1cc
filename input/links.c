/* links.c - how the GPUs of a node and its network cards are joined, for steps that are computed from a model.
 *
 * What a hardware profile says of links goes into the node group, what it and the network's profile say of cards into the
 * network; so the resolved scenario has it all. What nobody says is as usual for the GPU type (models/step.h). A measured
 * collective ("collectives", made by `trainyard calibrate collective -o`) takes the place of all of it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/raw.h"
#include "models/collective.h"

static const struct field links_fields[] = {
    FIELD(raw_links, library, "collectives", TYPE_WORD, .words = collective_library_names, .n_words = COLLECTIVE_N_LIBRARIES,
          .help = "library of collectives; default nccl"),
    FIELD(raw_links, compute_capability, "compute_capability", TYPE_INT, .min = 10, .max = 200,
          .help = "of the GPU, times ten: 90 for 9.0; 94 for gfx942"),
    FIELD(raw_links, links, "nvlink_links", TYPE_INT, .min = 0, .max = 64,
          .help = "of a GPU; the network's \"intra\" is theirs together. 0: PCIe"),
    FIELD(raw_links, joined, "nvlink_switch", TYPE_BOOL, .help = "each pair of GPUs at full rate"),
    FIELD(raw_links, domain, "nvlink_domain", TYPE_INT, .min = 0, .max = 1024,
          .help = "GPUs that NVLink joins, also across nodes; 0: those of a node"),
    FIELD(raw_links, pcie, "pcie", TYPE_BANDWIDTH, .min = 1, .max = INT64_MAX - 1, .help = "line rate of a GPU's slot, a direction"),
    FIELD(raw_links, pcie_peer, "pcie_peer", TYPE_BOOL, .help = "GPUs write into each other over PCIe"),
    FIELD(raw_links, amd_cpu, "amd_cpu", TYPE_BOOL, .help = "NCCL takes other limits with AMD's CPUs"),
};
const struct object_type links_type =
    OBJECT(raw_links, links_fields, "links", "How the GPUs of a node are joined, for steps that are computed from a model.");

static void fill(int64_t *to, int64_t from)
{
    if (*to == ABSENT) *to = from;
}

void fill_links(struct build *b, struct raw_node_group *g, const struct raw_hardware *h)
{
    if (h->compute_capability == ABSENT && h->nvlink_links == ABSENT) return; /* a profile that knows nothing of links */
    if (!g->links) g->links = object_read(&b->reader, &links_type, NULL);
    fill(&g->links->library, h->library);
    fill(&g->links->compute_capability, h->compute_capability);
    fill(&g->links->links, h->nvlink_links);
    fill(&g->links->joined, h->nvlink_switch);
    fill(&g->links->domain, h->nvlink_domain);
    fill(&g->links->pcie, h->pcie);
    fill(&g->links->pcie_peer, h->pcie_peer);
    fill(&g->links->amd_cpu, h->amd_cpu);
}

static void take(unsigned *to, int64_t from)
{
    if (from != ABSENT) *to = (unsigned)from;
}

static void take_bool(bool *to, int64_t from)
{
    if (from != ABSENT) *to = from != 0;
}

static void apply_links(struct collective_fabric *f, const struct raw_links *l)
{
    if (!l) return;
    if (l->library != ABSENT) f->library = (enum collective_library)l->library;
    take(&f->gpu_generation, l->compute_capability);
    take(&f->nvlink_links, l->links);
    take(&f->nvlink_domain, l->domain);
    take_bool(&f->nvlink_switch, l->joined);
    take_bool(&f->pcie_peer, l->pcie_peer);
    take_bool(&f->amd_cpu, l->amd_cpu);
    if (l->pcie != ABSENT) f->pcie_bytes_per_s = (double)l->pcie;
}

/* Network cards: of up to 400 Gbps where nobody counts them. */
static unsigned cards(int64_t counted, double bytes_per_s)
{
    double n = counted != ABSENT ? (double)counted : bytes_per_s / 50e9;
    return n > 1 ? (unsigned)(n + 0.5) : 1;
}

void apply_fabric(struct build *b, struct collective_fabric *f, const struct raw_node_group *g, struct raw_network *n)
{
    if (n->collectives && n->collectives->kind == VALUE_STRING)
        n->collectives = profile_load(b, "collectives", n->collectives->text, n->collectives);
    if (n->collectives && collective_fabric_of_value(&b->reader, n->collectives, f)) return;
    f->gpus_per_node = (unsigned)g->gpus;
    apply_links(f, g->links);
    f->nvlink_bytes_per_s = f->nvlink_links ? (double)n->intra : 0;
    if (n->nic != ABSENT) f->nic = (enum collective_nic)n->nic;
    f->nics = cards(n->nics, (double)n->inter);
    f->nic_bytes_per_s = (double)n->inter / f->nics;
    f->sharp = n->sharp != ABSENT && n->sharp;
    if (n->latency != ABSENT) f->net_latency_s = (double)n->latency / 1e9;
}
