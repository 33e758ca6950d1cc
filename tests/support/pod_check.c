/* pod_check.c - see pod_check.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/pod_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hmap.h"
#include "base/mem.h"
#include "run/states.h"

struct member { /* a pod, or the group of that number; or a rank */
    int32_t job;
    uint32_t number;
    uint8_t state; /* of a group without a pod: N_POD_STATES */
    bool held, touched;
    int64_t restarts;
};

struct pod_check {
    struct hmap pods, ranks; /* job << 32 | number -> index */
    ARRAY(struct member) pod;
    ARRAY(struct member) rank;
    ARRAY(size_t) touched;
    ARRAY(int32_t) started; /* jobs, in this instant */
    int64_t now_ns;
    char why[256];
};

struct pod_check *pod_check_create(void)
{
    return xcalloc(1, sizeof(struct pod_check));
}

void pod_check_destroy(struct pod_check *c)
{
    hmap_free(&c->pods);
    hmap_free(&c->ranks);
    array_free(&c->pod);
    array_free(&c->rank);
    array_free(&c->touched);
    array_free(&c->started);
    free(c);
}

__attribute__((format(printf, 2, 3))) static const char *wrong(struct pod_check *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = snprintf(c->why, sizeof c->why, "at %" PRId64 " ns ", c->now_ns);
    vsnprintf(c->why + n, sizeof c->why - (size_t)n, fmt, ap);
    va_end(ap);
    return c->why;
}

static uint64_t key_of(int32_t job, uint32_t number) { return (uint64_t)(uint32_t)job << 32 | number; }

static struct member *pod_of(struct pod_check *c, int32_t job, uint32_t number)
{
    uint64_t i;
    if (!hmap_get_u64(&c->pods, key_of(job, number), &i)) {
        i = c->pod.n;
        array_push(&c->pod, (struct member){.job = job, .number = number, .state = N_POD_STATES});
        hmap_put_u64(&c->pods, key_of(job, number), i);
    }
    struct member *m = &c->pod.v[i];
    if (!m->touched) array_push(&c->touched, (size_t)i);
    m->touched = true;
    return m;
}

static bool is_over(unsigned state) { return state >= POD_IS_SUCCEEDED && state < N_POD_STATES; }

static const char *check_start(struct pod_check *c, int32_t job)
{
    uint64_t i;
    for (uint32_t k = 0; hmap_get_u64(&c->ranks, key_of(job, k), &i); k++)
        if (c->rank.v[i].state != ACTOR_IS_ALIVE && c->rank.v[i].state != ACTOR_IS_ENDED)
            return wrong(c, "job %d starts while its rank %u is %s", job, k, actor_state_table[c->rank.v[i].state].name);
    return NULL;
}

static const char *settle(struct pod_check *c)
{
    for (size_t i = 0; i < c->touched.n; i++) {
        struct member *m = &c->pod.v[c->touched.v[i]];
        m->touched = false;
        if (m->state == N_POD_STATES) continue; /* no pod: a slice of a shared one */
        if (m->held != (m->state != POD_IS_PENDING && !is_over(m->state)))
            return wrong(c, "pod %u of job %d is %s, and its shares are%s held", m->number, m->job, pod_state_table[m->state].name,
                         m->held ? "" : " not");
    }
    array_clear(&c->touched);
    const char *why = NULL;
    for (size_t i = 0; i < c->started.n && !why; i++) why = check_start(c, c->started.v[i]);
    array_clear(&c->started);
    return why;
}

static const char *pod(struct pod_check *c, int32_t job, uint32_t number, unsigned state, int64_t b)
{
    struct member *m = pod_of(c, job, number);
    if (m->state == N_POD_STATES && state != POD_IS_PENDING) return wrong(c, "pod %u of job %d begins as %s", number, job, pod_state_table[state].name);
    if (m->state == state || is_over(m->state))
        return wrong(c, "pod %u of job %d goes from %s to %s", number, job, pod_state_table[m->state].name, pod_state_table[state].name);
    if (state == POD_IS_RUNNING || state == POD_IS_READY || state == POD_IS_TERMINATING) {
        if (b < m->restarts) return wrong(c, "pod %u of job %d has %" PRId64 " restarts, and had %" PRId64, number, job, b, m->restarts);
        m->restarts = b;
    }
    m->state = (uint8_t)state;
    return NULL;
}

static const char *actor(struct pod_check *c, int32_t job, uint32_t number, unsigned state)
{
    uint64_t i;
    if (!hmap_get_u64(&c->ranks, key_of(job, number), &i)) {
        if (state != ACTOR_IS_PENDING) return wrong(c, "rank %u of job %d begins as %s", number, job, actor_state_table[state].name);
        i = c->rank.n;
        array_push(&c->rank, (struct member){.job = job, .number = number});
        hmap_put_u64(&c->ranks, key_of(job, number), i);
    }
    c->rank.v[i].state = (uint8_t)state;
    return NULL;
}

static const char *range(struct pod_check *c, const struct record *r)
{
    bool of_pods = r->type == REC_POD_STATE;
    unsigned state = of_pods ? r->code & 0xff : r->code;
    const char *why = NULL;
    if (state >= (of_pods ? (unsigned)N_POD_STATES : (unsigned)N_ACTOR_STATES) || r->a < 1 || r->a > 1 << 24)
        return wrong(c, "a record of %" PRId64 " pods or ranks in state %u", r->a, state);
    for (uint32_t i = 0; i < (uint32_t)r->a && !why; i++)
        why = of_pods ? pod(c, r->job, r->subject + i, state, r->b) : actor(c, r->job, r->subject + i, state);
    return why;
}

const char *pod_check_record(struct pod_check *c, const struct record *r)
{
    const char *why = r->time_ns > c->now_ns ? settle(c) : NULL;
    c->now_ns = r->time_ns;
    if (why) return why;
    switch (r->type) {
    case REC_POD_STATE:
    case REC_ACTOR_STATE: return range(c, r);
    case REC_GROUP_NODES: pod_of(c, r->job, r->subject)->held = true; return NULL;
    case REC_GROUP_FREED: pod_of(c, r->job, r->subject)->held = false; return NULL;
    case REC_JOB_STARTED: array_push(&c->started, r->job); return NULL;
    default: return NULL;
    }
}

const char *pod_check_end(struct pod_check *c) { return settle(c); }
