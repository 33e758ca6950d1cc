/* bucket.c - token buckets in exact integers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/engine/bucket.h"

#include "sim/engine/event.h"

#include <assert.h>

/* client-go, tools/record/events_cache.go: defaultSpamBurst 25, defaultSpamQPS 1/300. */
#define SPAM_PERIOD_NS (300 * EVENT_SECOND)

struct bucket bucket_make(int64_t burst, int64_t tokens, int64_t per_ns)
{
    assert(burst >= 1 && tokens >= 1 && per_ns >= 1);
    return (struct bucket){.level = (__int128)burst * per_ns, .burst = burst, .tokens = tokens, .per_ns = per_ns};
}

struct bucket bucket_unlimited(void)
{
    return (struct bucket){0};
}

struct bucket bucket_event_spam(int64_t burst)
{
    return bucket_make(burst > 0 ? burst : 1, 1, SPAM_PERIOD_NS);
}

static void bucket_fill(struct bucket *b, int64_t now_ns)
{
    assert(now_ns >= b->as_of_ns && "a bucket's time does not go back");
    __int128 full = (__int128)b->burst * b->per_ns;
    b->level += (__int128)(now_ns - b->as_of_ns) * b->tokens;
    if (b->level > full) b->level = full;
    b->as_of_ns = now_ns;
}

int64_t bucket_take(struct bucket *b, int64_t now_ns, int64_t n)
{
    assert(n >= 0);
    if (b->tokens == 0) return now_ns;
    bucket_fill(b, now_ns);
    b->level -= (__int128)n * b->per_ns;
    if (b->level >= 0) return now_ns;
    __int128 go_ns = now_ns + (-b->level + b->tokens - 1) / b->tokens;
    return go_ns < EVENT_NEVER ? (int64_t)go_ns : EVENT_NEVER;
}

bool bucket_try(struct bucket *b, int64_t now_ns)
{
    if (b->tokens == 0) return true;
    bucket_fill(b, now_ns);
    if (b->level < b->per_ns) return false;
    b->level -= b->per_ns;
    return true;
}
