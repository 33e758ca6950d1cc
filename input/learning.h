/* learning.h - a job's "learning": how its loss falls and its learning rate goes. For the series of a run (study/series.h);
 * nothing that is simulated depends on it.
 *
 *   loss            floor + scale / x^exponent, x the tokens (samples, where there are none) that were learnt from.
 *                   Default of a transformer of N parameters: Hoffmann et al. (arXiv 2203.15556), equation 10:
 *                   floor 1.69 + 406.4 / N^0.34, scale 410.7, exponent 0.28
 *   learning rate   peak x step / warmup below `warmup` steps; then by schedule from the peak to final x peak at the last step:
 *                   cosine  final + (1 - final) (1 + cos(pi f)) / 2, f the share of the steps after warm-up (Loshchilov and
 *                           Hutter, arXiv 1608.03983, equation 5, without restarts)
 *                   linear  1 - (1 - final) f
 *                   constant
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_LEARNING_H
#define TRAINYARD_INPUT_LEARNING_H

#include <stdint.h>

enum learning_schedule { LEARN_COSINE, LEARN_LINEAR, LEARN_CONSTANT };

/* What was not said is NAN. */
struct learning_spec {
    double peak, final;
    int64_t warmup_steps;
    enum learning_schedule schedule;
    double loss_floor, loss_scale, loss_exponent;
};

#endif
