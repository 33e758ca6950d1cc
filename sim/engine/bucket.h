/* bucket.h - token buckets: how fast a client may call the API server.
 *
 * A bucket holds up to `burst` tokens, starts full and gains `tokens` every `per_ns`; a call takes one. Arithmetic is
 * in integers and exact: the level is counted in units of 1/per_ns token, so no rounding builds up.
 *
 *     struct bucket client = bucket_make(30, 20, EVENT_SECOND);          // QPS 20, burst 30
 *     int64_t go_ns = bucket_take(&client, event_clock(q), 1);           // waits its turn: when may this call go?
 *
 * bucket_take() is client-go's blocking limiter (util/flowcontrol NewTokenBucketRateLimiter on golang.org/x/time/rate
 * Limiter.Wait): calls go in the order in which they ask, each reserves its token at once, and the level may be
 * negative. From a full bucket, the n-th call asked at time 0 goes at T(n) = max(0, (n - burst) / qps), rounded up to
 * whole ns (orchestration facts §7).
 * bucket_try() is the passive limiter (TryAccept): no token, no call. Client-go's recorder drops events that way: 25 an
 * object and source, then one each 300 s (client-go tools/record/events_cache.go, defaultSpamBurst and defaultSpamQPS).
 *
 * Units: ns. Cost: O(1). A bucket is a value without pointers; `now_ns` must not go back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_ENGINE_BUCKET_H
#define TRAINYARD_SIM_ENGINE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
    __int128 level;   /* tokens now, times per_ns; negative: reserved ahead */
    int64_t as_of_ns; /* when `level` held */
    int64_t burst;
    int64_t tokens; /* gained in per_ns; 0: no limit */
    int64_t per_ns;
};

/* burst >= 1, tokens >= 1, per_ns >= 1. Fractional rates: QPS 0.5 is 1 token each 2 s. */
struct bucket bucket_make(int64_t burst, int64_t tokens, int64_t per_ns);
struct bucket bucket_unlimited(void); /* all calls go at once, as with a negative QPS in client-go */
/* Client-go's spam filter of events: `burst` (25 there; less than 1 counts as 1), then one each 300 s. */
struct bucket bucket_event_spam(int64_t burst);

/* Reserves n >= 0 calls in a row; returns when the last of them may go (>= now_ns; EVENT_NEVER when beyond all time).
 */
int64_t bucket_take(struct bucket *b, int64_t now_ns, int64_t n);

/* One call if it may go at once. */
bool bucket_try(struct bucket *b, int64_t now_ns);

#endif
