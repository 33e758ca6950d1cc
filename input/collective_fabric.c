/* collective_fabric.c - see collective_fabric.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/collective_fabric.h"

#include "base/json_write.h"
#include "input/raw.h"

static void from_hardware(struct collective_fabric *f, const struct raw_hardware *h)
{
    bool gpus = h->gpus != ABSENT && h->gpus > 0;
    f->library = h->library != ABSENT ? (enum collective_library)h->library : gpus ? COLLECTIVE_NCCL : COLLECTIVE_MPI;
    f->gpus_per_node = gpus ? (unsigned)h->gpus : 0;
    f->gpu_generation = h->compute_capability != ABSENT ? (unsigned)h->compute_capability : gpus ? f->gpu_generation : 0;
    if (h->nvlink_links != ABSENT) f->nvlink_links = (unsigned)h->nvlink_links;
    f->nvlink_bytes_per_s = f->nvlink_links > 0 && h->intra != ABSENT ? (double)h->intra : 0;
    f->nvlink_switch = h->nvlink_switch;
    f->nvlink_domain = (unsigned)h->nvlink_domain;
    f->pcie_bytes_per_s = (double)h->pcie;
    f->pcie_peer = h->pcie_peer;
    f->amd_cpu = h->amd_cpu;
    if (h->nic != ABSENT) f->nic = (enum collective_nic)h->nic;
}

static void from_network(struct collective_fabric *f, const struct raw_fabric *n)
{
    if (n->nic != ABSENT) f->nic = (enum collective_nic)n->nic;
    if (n->latency != ABSENT) f->net_latency_s = (double)n->latency / 1e9;
    f->sharp = n->sharp;
}

/* Network cards: of up to 400 Gbit/s where no profile counts them. */
static double cards(int64_t own, int64_t other, double bytes_per_s)
{
    if (own != ABSENT) return (double)own;
    if (other != ABSENT) return (double)other;
    double n = bytes_per_s / 50e9;
    return n > 1 ? (double)(unsigned)(n + 0.5) : 1;
}

bool collective_fabric_profiles(const char *hardware, const char *network, struct collective_fabric *f, struct diag *d)
{
    struct arena arena = {0};
    struct build b = {.arena = &arena, .diag = d, .dir = ".", .reader = {.arena = &arena, .diag = d}};
    size_t errors = diag_errors(d);
    const struct value hardware_at = {.kind = VALUE_STRING, .file = "hardware", .is_root = true};
    const struct value network_at = {.kind = VALUE_STRING, .file = "network", .is_root = true};
    const struct value *h = hardware && *hardware ? profile_load(&b, "hardware", hardware, &hardware_at) : NULL;
    const struct value *n = network && *network ? profile_load(&b, "network", network, &network_at) : NULL;
    *f = collective_fabric_default();
    int64_t inter = ABSENT, own = ABSENT, other = ABSENT;
    if (h) {
        const struct raw_hardware *raw = object_read(&b.reader, &hardware_type, h);
        from_hardware(f, raw);
        inter = raw->inter;
        other = raw->nics;
    }
    if (n) {
        const struct raw_fabric *raw = object_read(&b.reader, &fabric_type, n);
        from_network(f, raw);
        if (raw->inter != ABSENT) inter = raw->inter;
        own = raw->nics;
        if (raw->inter != ABSENT) other = ABSENT; /* another network's cards */
    }
    if (inter != ABSENT) {
        double nics = cards(own, other, (double)inter);
        f->nics = (unsigned)nics;
        f->nic_bytes_per_s = (double)inter / nics;
    }
    arena_free(&arena);
    return diag_errors(d) == errors;
}

/* ---- a calibration ---- */

struct raw_calibration {
    const struct value *at;
    const char *profile, *source;
    int64_t library, compute_capability, gpus_per_node, nvlink_links, nvlink_switch, nvlink_domain, pcie_peer, nic, nics;
    int64_t sharp, amd_cpu, gpus_per_process, algorithms, op, ranks_per_node, nodes, form;
    double nvlink, pcie, nic_rate, net_latency, latency, plateau, third;
};

#define COUNT_FIELD(member, least, most_, text)                                                                        \
    FIELD(raw_calibration, member, #member, TYPE_INT, .required = true, .min = (least), .max = (most_), .help = (text))
#define NUMBER_FIELD(member, key, text) FIELD(raw_calibration, member, key, TYPE_NUMBER, .required = true, .help = (text))
#define BOOL_FIELD(member) FIELD(raw_calibration, member, #member, TYPE_BOOL, .required = true, .help = "as in hardware profiles")

static const struct field calibration_fields[] = {
    FIELD(raw_calibration, profile, "profile", TYPE_STRING, .required = true, .help = "collective"),
    FIELD(raw_calibration, source, "source", TYPE_STRING, .required = true, .help = "what was measured"),
    FIELD(raw_calibration, library, "library", TYPE_WORD, .words = collective_library_names, .n_words = COLLECTIVE_N_LIBRARIES,
          .required = true, .help = "library of collectives"),
    COUNT_FIELD(compute_capability, 0, 200, "of the GPU, times ten"),
    COUNT_FIELD(gpus_per_node, 0, 1024, "of the machine"),
    NUMBER_FIELD(nvlink, "nvlink_bytes_per_s", "of a GPU, a direction"),
    COUNT_FIELD(nvlink_links, 0, 64, "of a GPU"),
    BOOL_FIELD(nvlink_switch),
    COUNT_FIELD(nvlink_domain, 0, 1000000, "GPUs that NVLink joins"),
    BOOL_FIELD(pcie_peer),
    NUMBER_FIELD(pcie, "pcie_bytes_per_s", "of a slot, a direction"),
    FIELD(raw_calibration, nic, "nic", TYPE_WORD, .words = collective_nic_names, .n_words = COLLECTIVE_N_NICS, .required = true,
          .help = "kind of network card"),
    COUNT_FIELD(nics, 1, 1024, "a node"),
    NUMBER_FIELD(nic_rate, "nic_bytes_per_s", "of one, a direction"),
    FIELD(raw_calibration, net_latency, "net_latency_s", TYPE_NUMBER, .help = "of a small message; absent: by kind of card"),
    BOOL_FIELD(sharp),
    BOOL_FIELD(amd_cpu),
    COUNT_FIELD(gpus_per_process, 0, 1024, "that one process drives"),
    COUNT_FIELD(algorithms, 0, 1023, "bit set; 0: all"),
    FIELD(raw_calibration, op, "operation", TYPE_WORD, .words = collective_op_names, .n_words = COLLECTIVE_N_OPS, .required = true,
          .help = "that was measured"),
    COUNT_FIELD(ranks_per_node, 1, 1000000, "that were measured"),
    COUNT_FIELD(nodes, 1, 1000000, "that were measured"),
    COUNT_FIELD(form, 1, 1000, "of the curve: models/collective_curve.h"),
    NUMBER_FIELD(latency, "latency_s", "of the smallest message"),
    NUMBER_FIELD(plateau, "plateau_bytes_per_s", "that large messages approach"),
    NUMBER_FIELD(third, "third", "by form"),
};
static const struct object_type calibration_type =
    OBJECT(raw_calibration, calibration_fields, "collective profile", "A measured collective operation.");

void collective_fabric_write(const struct collective_fabric *f, const char *source, struct str *out)
{
    struct raw_calibration r = {
        .profile = "collective", .source = source, .library = f->library, .compute_capability = f->gpu_generation,
        .gpus_per_node = f->gpus_per_node, .nvlink = f->nvlink_bytes_per_s, .nvlink_links = f->nvlink_links,
        .nvlink_switch = f->nvlink_switch, .nvlink_domain = f->nvlink_domain, .pcie_peer = f->pcie_peer,
        .pcie = f->pcie_bytes_per_s, .nic = f->nic, .nics = f->nics, .nic_rate = f->nic_bytes_per_s,
        .net_latency = f->net_latency_s < 0 ? NAN : f->net_latency_s, .sharp = f->sharp, .amd_cpu = f->amd_cpu, .gpus_per_process = f->gpus_per_process,
        .algorithms = f->algorithms, .op = f->measured_op, .ranks_per_node = f->measured_ranks_per_node,
        .nodes = f->measured_nodes, .form = f->measured.form, .latency = f->measured.latency_s,
        .plateau = f->measured.plateau_bytes_per_s, .third = f->measured.third,
    };
    struct json_writer w;
    json_write_begin(&w, out);
    object_write(&w, &calibration_type, &r);
    json_write_finish(&w);
}

static void positive(struct diag *d, const struct value *at, const char *key, double x)
{
    if (!(x > 0 && x < 1e30)) value_error(d, place_of(at, key), "must be above 0");
}

static struct collective_fabric fabric_of(const struct raw_calibration *r)
{
    return (struct collective_fabric){
        .library = (enum collective_library)r->library, .gpu_generation = (unsigned)r->compute_capability,
        .gpus_per_node = (unsigned)r->gpus_per_node, .nvlink_bytes_per_s = r->nvlink,
        .nvlink_links = (unsigned)r->nvlink_links, .nvlink_switch = r->nvlink_switch,
        .nvlink_domain = (unsigned)r->nvlink_domain, .pcie_peer = r->pcie_peer, .pcie_bytes_per_s = r->pcie,
        .nic = (enum collective_nic)r->nic, .nics = (unsigned)r->nics, .nic_bytes_per_s = r->nic_rate,
        .net_latency_s = isnan(r->net_latency) ? -1 : r->net_latency, .sharp = r->sharp, .amd_cpu = r->amd_cpu,
        .gpus_per_process = (unsigned)r->gpus_per_process, .share = 1, .algorithms = (unsigned)r->algorithms,
        .measured = {(unsigned)r->form, r->latency, r->plateau, r->third},
        .measured_op = (enum collective_op)r->op, .measured_ranks_per_node = (unsigned)r->ranks_per_node,
        .measured_nodes = (unsigned)r->nodes,
    };
}

bool collective_fabric_of_value(struct reader *reader, const struct value *v, struct collective_fabric *f)
{
    struct diag *d = reader->diag;
    size_t errors = diag_errors(d);
    const struct raw_calibration *r = object_read(reader, &calibration_type, v);
    if (diag_errors(d) == errors) {
        positive(d, v, "latency_s", r->latency);
        positive(d, v, "plateau_bytes_per_s", r->plateau);
        positive(d, v, "third", r->third);
        positive(d, v, "nic_bytes_per_s", r->nic_rate);
        positive(d, v, "pcie_bytes_per_s", r->pcie);
        if (r->form > collective_curve_n_forms()) value_error(d, place_of(v, "form"), "there are %u forms", collective_curve_n_forms());
    }
    bool good = diag_errors(d) == errors;
    if (good) *f = fabric_of(r);
    return good;
}

bool collective_fabric_measured(const char *file, struct collective_fabric *f, struct diag *d)
{
    struct arena arena = {0};
    struct reader reader = {.arena = &arena, .diag = d};
    size_t errors = diag_errors(d);
    struct json_doc *doc = json_load(file, d);
    if (!doc) return false;
    const struct value *v = value_from_json(&arena, doc);
    json_free(doc);
    bool good = collective_fabric_of_value(&reader, v, f) && diag_errors(d) == errors; /* the text may name a key twice */
    arena_free(&arena);
    return good;
}
