/* pollux_model.h - Pollux' own model of a step, to compare with: Qiao et al., OSDI 2021, section 3.2.
 *
 *   T_grad = alpha_g + beta_g b                                  of a local batch b
 *   T_sync = 0 (one GPU), alpha_l + beta_l (n - 2) (one node), alpha_n + beta_n (n - 2) (several), of n GPUs
 *   T_iter = (T_grad^gamma + T_sync^gamma)^(1/gamma), 1 <= gamma <= 10
 * Seven numbers, by least squares of the logarithms of T_iter and T_grad, as the paper fits them (equation 12); the bounds of its
 * numbers are kept. What it takes for sync_time is T_iter - T_grad.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_POLLUX_MODEL_H
#define TRAINYARD_TESTS_SUPPORT_POLLUX_MODEL_H

#include "input/placement_table.h"

struct pollux_numbers { double alpha_g, beta_g, alpha_l, beta_l, alpha_n, beta_n, gamma; };

struct pollux_numbers pollux_fit(const struct placement_row *rows, size_t n);
struct placed_time pollux_step(const struct pollux_numbers *, const struct placement_row *);

#endif
