/* machine_profiles.c - the keys of profiles of hardware and of networks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/raw.h"
#include "models/collective.h"

#define NIC_WORDS .words = collective_nic_names, .n_words = COLLECTIVE_N_NICS
#define LIBRARY_WORDS .words = collective_library_names, .n_words = COLLECTIVE_N_LIBRARIES

static const struct field hardware_fields[] = {
    FIELD(raw_hardware, name, "name", TYPE_STRING, .required = true, .help = "as scenarios name it"),
    FIELD(raw_hardware, source, "source", TYPE_STRING, .required = true, .help = "where the figures are from"),
    FIELD(raw_hardware, gpu, "gpu", TYPE_STRING, .help = "GPU type"),
    FIELD(raw_hardware, gpus, "gpus", TYPE_INT, .min = 0, .max = MAX_GPUS_PER_NODE, .help = "GPUs a node"),
    FIELD(raw_hardware, cpu, "cpu", TYPE_QUANTITY, .help = "CPUs a node"),
    FIELD(raw_hardware, memory, "memory", TYPE_BYTES, .help = "memory a node"),
    FIELD(raw_hardware, intra, "intra", TYPE_BANDWIDTH, .help = "a GPU to its node"),
    FIELD(raw_hardware, inter, "inter", TYPE_BANDWIDTH, .help = "a node to the fabric"),
    FIELD(raw_hardware, price_per_hour, "price_per_hour", TYPE_NUMBER, .help = "of a node"),
    FIELD(raw_hardware, library, "collectives", TYPE_WORD, LIBRARY_WORDS, .help = "library of collectives; nccl with GPUs, else mpi"),
    FIELD(raw_hardware, compute_capability, "compute_capability", TYPE_INT, .min = 10, .max = 200,
          .help = "of the GPU, times ten: 90 for 9.0; 94 for gfx942"),
    FIELD(raw_hardware, nvlink_links, "nvlink_links", TYPE_INT, .min = 0, .max = 64, .help = "of a GPU; intra is theirs together. 0: PCIe"),
    FIELD(raw_hardware, nvlink_switch, "nvlink_switch", TYPE_BOOL, .fallback = "false", .help = "each pair of GPUs at full rate"),
    FIELD(raw_hardware, nvlink_domain, "nvlink_domain", TYPE_INT, .fallback = "0", .min = 0, .max = 1024,
          .help = "GPUs that NVLink joins, also across nodes; 0: those of a node"),
    FIELD(raw_hardware, pcie, "pcie", TYPE_BANDWIDTH, .fallback = "64GB/s", .min = 1, .max = INT64_MAX - 1,
          .help = "line rate of a GPU's slot, a direction"),
    FIELD(raw_hardware, pcie_peer, "pcie_peer", TYPE_BOOL, .fallback = "true", .help = "GPUs write into each other over PCIe"),
    FIELD(raw_hardware, nic, "nic", TYPE_WORD, NIC_WORDS, .help = "kind of network card"),
    FIELD(raw_hardware, nics, "nics", TYPE_INT, .min = 1, .max = 1024, .help = "network cards a node; inter is theirs together"),
    FIELD(raw_hardware, amd_cpu, "amd_cpu", TYPE_BOOL, .fallback = "false", .help = "NCCL takes other limits with AMD's CPUs"),
};
const struct object_type hardware_type = OBJECT(raw_hardware, hardware_fields, "hardware profile", "A kind of node.");

static const struct field fabric_fields[] = {
    FIELD(raw_fabric, name, "name", TYPE_STRING, .required = true, .help = "as scenarios name it"),
    FIELD(raw_fabric, source, "source", TYPE_STRING, .required = true, .help = "where the figures are from"),
    FIELD(raw_fabric, latency, "latency", TYPE_DURATION, .help = "of a hop"),
    FIELD(raw_fabric, intra, "intra", TYPE_BANDWIDTH, .help = "a GPU to its node"),
    FIELD(raw_fabric, inter, "inter", TYPE_BANDWIDTH, .help = "a node to the fabric"),
    FIELD(raw_fabric, nic, "nic", TYPE_WORD, NIC_WORDS, .help = "kind of network card"),
    FIELD(raw_fabric, nics, "nics", TYPE_INT, .min = 1, .max = 1024, .help = "network cards a node; inter is theirs together"),
    FIELD(raw_fabric, sharp, "sharp", TYPE_BOOL, .fallback = "false", .help = "switches reduce (SHARP)"),
};
const struct object_type fabric_type = OBJECT(raw_fabric, fabric_fields, "network profile", "A fabric.");
