/* client.c - API clients: when a call issued now is done.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/kube/kube_impl.h"

struct kube_client kube_client_make(int64_t milli_qps, int64_t burst, int64_t call_ns)
{
    struct bucket b = milli_qps > 0 ? bucket_make(burst > 0 ? burst : 1, milli_qps, 1000 * EVENT_SECOND) : bucket_unlimited();
    return (struct kube_client){.bucket = b, .call_ns = call_ns};
}

int64_t kube_client_call(struct kube *k, struct kube_client *c)
{
    return bucket_take(&c->bucket, kube_now(k), 1) + c->call_ns;
}

void kube_client_event(struct kube *k, struct kube_client *c, struct bucket *filter)
{
    if (bucket_try(filter, kube_now(k))) bucket_take(&c->bucket, kube_now(k), 1);
}
