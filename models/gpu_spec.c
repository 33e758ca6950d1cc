/* gpu_spec.c - see gpu_spec.h.
 *
 * Peaks, memories and links: vendors' datasheets as collected in stas00/ml-engineering, compute/accelerator; nodes: DGX
 * A100 8 x 200 Gb/s, DGX H100 8 x 400 Gb/s, p3dn 100 Gb/s, HGX B200 8 x 400 Gb/s.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/gpu_spec.h"

#include <stdbool.h>
#include <string.h>

static const struct gpu_spec specs[] = {
    /* name        family   peak     fp8      matmul  mma    memory   bytes/s  link    node */
    {"a100_80gb",  "a100",  312e12,  0,       0.8692, 1,     80e9,    2.00e12, 300e9,  200e9 },
    {"a100_40gb",  "a100",  312e12,  0,       0.8692, 1,     40e9,    1.555e12, 300e9, 200e9 },
    {"h100_80gb",  "h100",  989e12,  1979e12, 0.8033, 0.629, 80e9,    3.35e12, 450e9,  400e9 },
    {"h100_96gb",  "h100",  989e12,  1979e12, 0.8033, 0.629, 96e9,    2.40e12, 450e9,  400e9 },
    {"h100_pcie",  "h100",  756e12,  1513e12, 0.8033, 0.629, 80e9,    2.00e12, 32e9,   25e9  },
    {"h200_141gb", "h100",  989e12,  1979e12, 0.8033, 0.629, 141e9,   4.80e12, 450e9,  400e9 },
    {"gh200_96gb", "h100",  989e12,  1979e12, 0.8378, 0.629, 96e9,    4.00e12, 450e9,  400e9 },
    {"b200_180gb", "b200",  2250e12, 4500e12, 0.7756, 0.629, 180e9,   8.00e12, 900e9,  400e9 },
    {"b300_288gb", "b200",  2250e12, 4500e12, 0.7862, 0.629, 288e9,   8.00e12, 900e9,  800e9 },
    {"gb200",      "b200",  2500e12, 5000e12, 0.7288, 0.629, 186e9,   8.00e12, 900e9,  400e9 },
    {"v100_32gb",  "v100",  125e12,  0,       0.80,   1,     32e9,    0.90e12, 150e9,  12.5e9},
    {"v100_16gb",  "v100",  125e12,  0,       0.80,   1,     16e9,    0.90e12, 150e9,  3.1e9 },
    {"t4",         "t4",    65e12,   0,       0.80,   1,     16e9,    0.32e12, 12e9,   6.2e9 },
    {"a10g",       "a10g",  70e12,   0,       0.80,   1,     24e9,    0.60e12, 25e9,   12.5e9},
    {"l4",         "l4",    121e12,  242e12,  0.80,   1,     24e9,    0.30e12, 25e9,   12.5e9},
    {"l40s",       "l40s",  362e12,  733e12,  0.80,   1,     48e9,    0.864e12, 25e9,  25e9  },
    {"mi300x",     "mi300x", 1300e12, 2610e12, 0.5142, 1,    192e9,   5.30e12, 448e9,  400e9 },
};
enum { N_SPECS = sizeof specs / sizeof *specs, NAME_MAX = 64 };

static bool is_noise(const char *word)
{
    static const char *const noise[] = {"nvidia", "amd", "tesla", "instinct", "sxm", "sxm2", "sxm4", "sxm5", "hbm2",
                                        "hbm2e", "hbm3", "hbm3e"};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
        if (!strcmp(noise[i], word)) return true;
    return false;
}

/* Small letters and digits, without the words that any name may carry. */
static void plain_name(const char *name, char plain[NAME_MAX])
{
    size_t n = 0, word = 0;
    for (bool more = true; more; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        more = *name != '\0';
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            if (n + 1 < NAME_MAX) plain[n++] = c;
            continue;
        }
        plain[n] = '\0';
        if (is_noise(plain + word)) n = word;
        word = n;
    }
    plain[n] = '\0';
}

const struct gpu_spec *gpu_spec_at(size_t i)
{
    return i < N_SPECS ? &specs[i] : NULL;
}

const struct gpu_spec *gpu_spec_find(const char *name)
{
    char want[NAME_MAX], have[NAME_MAX];
    plain_name(name, want);
    size_t n = strlen(want);
    if (n < 2) return NULL;
    for (size_t i = 0; i < N_SPECS; i++) {
        plain_name(specs[i].name, have);
        if (!strcmp(want, have)) return &specs[i];
    }
    for (size_t i = 0; i < N_SPECS; i++) { /* "h100" is the first of its rows, and so is "h100 80" */
        plain_name(specs[i].name, have);
        size_t m = strlen(have);
        if (!strncmp(want, have, n < m ? n : m) && (n >= m || !strncmp(have + n, "gb", 2) || n >= strlen(specs[i].family)))
            return &specs[i];
    }
    return NULL;
}
