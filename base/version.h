/* version.h - the version of Trainyard, in one place.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_VERSION_H
#define TRAINYARD_BASE_VERSION_H

#define TRAINYARD_VERSION "0.1.0"

#endif
