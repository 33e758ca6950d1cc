/* step_shape.h - layers and width of a language model that is known by its name or its parameters only.
 *
 *     struct step_shape s;
 *     step_shape_find("7b", 6658859008, 2048, &s);       // 32 layers, width 4096, vocabulary 50368
 *
 * Names are those of MosaicML's MPT family ("125m" ... "70b", also "mpt-7b"), whose parameters with a context of s tokens
 * are V h + s h + 12 L h^2 (learned positions, tied embedding, no biases); a name stands only where the parameters agree
 * with it within 10 %. Other sizes take the family's number of layers, interpolated over the logarithm of parameters,
 * and the width that gives the parameters.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_STEP_SHAPE_H
#define TRAINYARD_INPUT_STEP_SHAPE_H

#include <stdbool.h>

struct step_shape { double parameters, layers, hidden, vocabulary; };

/* name may be NULL, parameters 0: not known. False when both say nothing. */
bool step_shape_find(const char *name, double parameters, double sequence, struct step_shape *);

#endif
