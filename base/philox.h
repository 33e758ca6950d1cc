/* philox.h - Philox 4x32 with 10 rounds: 128 random bits as a pure function of a counter and a key.
 *
 * Source: Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011; multipliers 0xD2511F53 and
 * 0xCD9E8D57, key increments 0x9E3779B9 and 0xBB67AE85. Checked against the known answers of Random123 (kat_vectors).
 *
 *     uint32_t out[4];
 *     philox4x32_10((uint32_t[4]){ block, lane, entity_lo, entity_hi }, (uint32_t[2]){ seed_lo, seed_hi }, out);
 *
 * No state; about 10 ns a call.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_PHILOX_H
#define TRAINYARD_BASE_PHILOX_H

#include <stdint.h>

void philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
