/* export_perfetto.h - trainyard export --to perfetto: runs as one Chrome trace, which ui.perfetto.dev opens.
 *
 *     return export_perfetto(&runs, from_ns, to_ns, "out.json");    // an exit code; what is wrong is said on stderr; "-": stdout
 *
 * All runs of the list stand in it, their processes named by approach and replication where there are several. The range is cut to what there is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_EXPORT_PERFETTO_H
#define TRAINYARD_CLI_EXPORT_PERFETTO_H

#include <stdint.h>

#include "run/run.h"

int export_perfetto(const struct run_list *, int64_t from_ns, int64_t to_ns, const char *out);

#endif
