/* import_cluster.c - see import_cluster.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/import_cluster.h"

#include "cli/command.h"
#include "input/scenario.h"
#include "real/kubernetes/import.h"

static int write_checked(const char *output, const struct str *json, const struct str *notes)
{
    struct diag d = {0};
    struct scenario *s = scenario_parse(output, json->s, json->n, NULL, &d);
    fputs(str_text(notes), stderr);
    int code = s ? command_write(output, json) : EXIT_INPUT;
    diag_print(&d, stderr);
    diag_free(&d);
    scenario_free(s);
    return s ? code : command_fail(EXIT_INPUT, "what the cluster holds is no scenario yet, and was not written");
}

int import_cluster(const char *kubeconfig, const char *context, const char *output)
{
    struct diag d = {0};
    struct str json = {0}, notes = {0};
    struct k8s_access *access = k8s_access_read(kubeconfig, context, &d);
    if (!access) return command_diag(&d);
    bool ok = k8s_import(access, command_catch_signals(), &json, &notes, &d), interrupted = !ok && diag_errors(&d) == 0;
    diag_print(&d, stderr);
    diag_free(&d);
    int code = ok ? write_checked(output, &json, &notes) : interrupted ? EXIT_INTERRUPTED : EXIT_IO;
    k8s_access_free(access);
    str_free(&json);
    str_free(&notes);
    return code;
}
