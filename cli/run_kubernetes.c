/* run_kubernetes.c - see run_kubernetes.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/run_kubernetes.h"

#include "cli/command.h"
#include "cli/run_live.h"
#include "real/kubernetes/run.h"

/* Errors of the cluster are no errors of the input. What fails without one was interrupted. */
static int end_with(bool ok, struct diag *d)
{
    bool interrupted = !ok && diag_errors(d) == 0;
    diag_print(d, stderr);
    diag_free(d);
    return ok ? EXIT_OK : interrupted ? EXIT_INTERRUPTED : EXIT_IO;
}

static int play(const struct runs_plan *p, const struct kubernetes_options *k, bool quiet, const struct k8s_access *access, struct runs *r)
{
    struct runs_cell *c = &r->cells[0];
    struct diag d = {0};
    struct k8s_outcome out = {0};
    struct k8s_options o = {.dir = p->out, .image = k->image, .record_level = p->record_level, .force = p->force,
                            .tell = quiet ? NULL : stderr, .stop = p->interrupt};
    if (k->dry_run) return end_with(k8s_dry_run(c->scenario, access, &o, stdout, &d), &d);
    c->ok = k8s_run(c->scenario, access, &o, &out, &d);
    c->done = true;
    c->result = (struct sim_result){.end_ns = out.end_ns, .jobs = out.jobs, .succeeded = out.succeeded, .failed = out.failed,
                                    .unfinished = out.unfinished, .interrupted = out.interrupted};
    r->interrupted = out.interrupted;
    int code = end_with(c->ok, &d);
    return code == EXIT_OK && out.interrupted ? EXIT_INTERRUPTED : code;
}

static struct k8s_access *access_of(const struct kubernetes_options *k, struct diag *d)
{
    return k8s_access_read(k->kubeconfig, k->context, d);
}

int run_on_kubernetes(const struct runs_plan *p, const struct kubernetes_options *k, bool quiet, struct runs *r)
{
    struct diag d = {0};
    int code = run_live_load(p, k8s_run_check, r);
    struct k8s_access *access = code == EXIT_OK ? access_of(k, &d) : NULL;
    if (code == EXIT_OK) code = command_diag(&d);
    if (code == EXIT_OK) code = play(p, k, quiet, access, r);
    k8s_access_free(access);
    return code;
}

int clean_kubernetes(const char *out, const struct kubernetes_options *k, const volatile int *interrupt)
{
    struct diag d = {0};
    struct k8s_access *access = access_of(k, &d);
    if (!access) return command_diag(&d);
    bool input, ok = k8s_cleanup(access, out, stderr, interrupt, &input, &d);
    k8s_access_free(access);
    return input ? command_diag(&d) : end_with(ok, &d);
}
