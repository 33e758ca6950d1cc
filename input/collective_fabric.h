/* collective_fabric.h - the hardware that collectives run on, from profiles of hardware and of networks.
 *
 *     struct collective_fabric f;
 *     if (collective_fabric_profiles("h100-sxm-8", "ib-ndr-400", &f, &d)) t = collective_time_s(&f, ...);
 *     if (collective_fabric_measured("calibrated.json", &f, &d)) ...       // a calibration on top
 *
 * Names as in scenarios (profiles.h), or files (with a "/" or ending in .json). What the network's profile says goes before
 * what the hardware's says; NULL or "" leaves one out. Keys: machine_profiles.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_COLLECTIVE_FABRIC_H
#define TRAINYARD_INPUT_COLLECTIVE_FABRIC_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/str.h"
#include "models/collective.h"

bool collective_fabric_profiles(const char *hardware, const char *network, struct collective_fabric *, struct diag *);

/* A calibration, as `trainyard calibrate collective -o FILE` writes it: the machine by its figures, and the curve. */
void collective_fabric_write(const struct collective_fabric *, const char *source, struct str *out);
bool collective_fabric_measured(const char *file, struct collective_fabric *, struct diag *);

#endif
