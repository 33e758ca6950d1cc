/* access.h - how to reach a cluster: one context of a kubeconfig file, or the account of the pod one is in.
 *
 *     struct k8s_access *a = k8s_access_read(NULL, "lab", diag);     // NULL file: $KUBECONFIG, else ~/.kube/config
 *     if (!a) ...                                                     // diag says what is wrong, where, and what to do
 *     ... a->server, a->token ...
 *     k8s_access_free(a);
 *
 * Read of a kubeconfig (v1): clusters' server, certificate-authority(-data), insecure-skip-tls-verify, proxy-url
 * (tls-server-name is refused); users' token, tokenFile, client-certificate(-data), client-key(-data), username and password; contexts' cluster,
 * user, namespace. Relative file names start at the kubeconfig's folder; a list in $KUBECONFIG is merged as kubectl does: the
 * first that names something wins. Users by exec plugin, auth-provider or impersonation are refused: such a program would run
 * with this account's rights without being asked for. A context has to be named: current-context is never used.
 *
 * The context "in-cluster" is the service account of the pod (/var/run/secrets/kubernetes.io/serviceaccount).
 * Tokens in files are read anew at each use (they are rotated). Certificates and keys are kept as PEM text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_KUBERNETES_ACCESS_H
#define TRAINYARD_REAL_KUBERNETES_ACCESS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"

#define K8S_IN_CLUSTER "in-cluster"

struct k8s_access {
    const char *context, *server, *ns; /* ns: of the context, NULL: not said */
    const char *ca, *cert, *key;       /* PEM; NULL: none */
    const char *token, *token_file, *user, *password;
    const char *proxy;
    bool insecure;
    struct arena arena;
};

struct k8s_access *k8s_access_read(const char *file, const char *context, struct diag *);
/* The same of a text; `dir` is where relative names start. */
struct k8s_access *k8s_access_parse(const char *file, const char *text, size_t n, const char *dir, const char *context, struct diag *);
void k8s_access_free(struct k8s_access *);

/* The bearer token of now, or NULL; false and an error when its file cannot be read. Lives in the arena given. */
bool k8s_access_token(const struct k8s_access *, struct arena *, const char **token, struct diag *);

/* Standard base64, with or without line ends; NULL when it is none. NUL-terminated, in the arena. */
char *base64_decode(struct arena *, const char *text);

#endif
