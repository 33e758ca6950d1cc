/* kube_store.h - an API server that keeps objects in memory, on fake_kube.h.
 *
 *     struct kube_store *s = kube_store_start(hook, arg);        // hook may be NULL; it answers what it likes itself, and says so
 *     kube_store_put(s, "/apis/batch/v1/namespaces/lab/jobs/j", "{\"metadata\":{\"name\":\"j\"}}");
 *     ... requests to kube_store_server(s) ...
 *     assert_string_equal(kube_store_writes(s), "PUT /apis/batch/v1/namespaces/lab/jobs/j\n");
 *     kube_store_stop(s);
 *
 * As Kubernetes' API conventions have it: each object gets a UID of its own and a new resourceVersion with each write; a create of what is
 * there is 409 AlreadyExists, a PUT with another resourceVersion 409 Conflict, of what is not there 404, a DELETE or eviction whose
 * precondition names another UID 409; lists take a labelSelector KEY=VALUE, of one namespace or all. Server-side apply makes what is
 * not there. Discovery tells all kinds in each group. Who deletes a namespace deletes what is in it. A watch is a stream that tells nothing. dryRun is not known here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_KUBE_STORE_H
#define TRAINYARD_TESTS_SUPPORT_KUBE_STORE_H

#include <cjson/cJSON.h>

#include "tests/support/fake_kube.h"

struct kube_store;
struct kube_store *kube_store_start(bool (*hook)(struct fake_request *, void *arg), void *arg);
const char *kube_store_server(const struct kube_store *);
void kube_store_put(struct kube_store *, const char *path, const char *json);
const cJSON *kube_store_get(const struct kube_store *, const char *path); /* NULL: it is not there */
size_t kube_store_count(const struct kube_store *);
/* Methods and paths, without queries, of all requests so far that were no GET; a line each. */
const char *kube_store_writes(const struct kube_store *);
void kube_store_stop(struct kube_store *);

#endif
