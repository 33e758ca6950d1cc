/* same_bits.c - one hash over many results of base/detmath and sim/engine/stream; see same_bits.sh.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/detmath.h"
#include "sim/engine/stream.h"

#include <stdio.h>
#include <string.h>

/* FNV-1a. */
static void add(uint64_t *hash, double x)
{
    unsigned char bytes[sizeof x];
    memcpy(bytes, &x, sizeof x);
    for (size_t i = 0; i < sizeof bytes; i++) *hash = (*hash ^ bytes[i]) * UINT64_C(0x100000001b3);
}

int main(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    struct stream s = stream_make(1, 0, STREAM_TEST, 0);
    for (int i = 0; i < 100000; i++) {
        double u = stream_unit(&s);
        add(&hash, det_log(u));
        add(&hash, det_exp(1000 * u - 600));
        add(&hash, det_pow(100 * u, 8 * stream_unit(&s) - 4));
        add(&hash, det_norm_inv(u));
        add(&hash, stream_weibull(&s, 5, 0.7));
        add(&hash, stream_lognormal(&s, 1, 2));
        add(&hash, (double)stream_exponential_ns(&s, 3600000000000));
    }
    printf("%016llx\n", (unsigned long long)hash);
    return 0;
}
