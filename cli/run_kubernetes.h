/* run_kubernetes.h - trainyard run --on kubernetes: one approach, once, on a live cluster; its dry run; its cleaning up.
 *
 * Gives EXIT_OK, EXIT_USAGE (several approaches), EXIT_INPUT (what it cannot play, told), EXIT_IO or EXIT_INTERRUPTED; all
 * but the summary has been printed. Of the plan it reads scenario, approaches, overrides, out, record_level, force, interrupt.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_CLI_RUN_KUBERNETES_H
#define TRAINYARD_CLI_RUN_KUBERNETES_H

#include <stdbool.h>

#include "study/runs.h"

struct kubernetes_options {
    const char *context, *kubeconfig, *image; /* kubeconfig, image: NULL, the default */
    bool dry_run, cleanup;
};

int run_on_kubernetes(const struct runs_plan *, const struct kubernetes_options *, bool quiet, struct runs *);
/* What a run in `out` has left behind. */
int clean_kubernetes(const char *out, const struct kubernetes_options *, const volatile int *interrupt);

#endif
