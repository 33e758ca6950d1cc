/* watch.c - see watch.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/watch.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "sim/script.h"

struct progress_watch {
    int64_t limit_ns;
    bool found;
    bool (*more)(struct sim *);
};

static int64_t longest_timeout(const struct stack *k)
{
    const int64_t t[] = {k->nccl_timeout, k->ray_hang, k->rdzv_join, k->ray_gcs_reconnect, k->job_backoff_max,
                         k->node_grace + k->node_toleration};
    int64_t most = 0;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        if (t[i] > most) most = t[i];
    return most;
}

static bool in_vain(const struct sim *s) { return s->restarts_in_vain >= WATCH_VAIN_RESTARTS; }

/* To come whatever happens, other than repairs. */
static bool planned(const struct sim *s) { return s->next_arrival < s->n_specs || script_more(s->script); }

static void check(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct progress_watch *w = s->watch;
    (void)arg;
    int64_t since_ns = s->last_repair_ns > s->last_progress_ns ? s->last_repair_ns : s->last_progress_ns;
    bool still = s->n_stepping == 0 && sim_now(s) - since_ns > w->limit_ns;
    bool hopeless = s->n_stepping == 0 && sim_now(s) - s->last_progress_ns > WATCH_HOPELESS_NS && !planned(s);
    if (s->n_live && (hopeless || ((still || in_vain(s)) && !w->more(s)))) {
        w->found = true;
        return;
    }
    if (s->n_live || w->more(s)) event_after(s->events, w->limit_ns / 2, EVENT_OBSERVE, check, NULL);
}

void watch_start(struct sim *s, bool (*more)(struct sim *))
{
    struct progress_watch *w = s->watch = xcalloc(1, sizeof *w);
    int64_t limit = 3 * longest_timeout(&s->scenario->approach.stack);
    w->limit_ns = limit > 3600 * NS_PER_S ? limit : 3600 * NS_PER_S;
    w->more = more;
    event_after(s->events, w->limit_ns / 2, EVENT_OBSERVE, check, NULL);
}

bool watch_found(const struct sim *s) { return s->watch && s->watch->found; }
void watch_destroy(struct sim *s) { free(s->watch); }

/* ---- the report ---- */

enum { MAX_LISTED = 20, MAX_HOLDERS = 5 };

static void append_gpus(struct str *out, int64_t shares)
{
    str_printf(out, "%lld", (long long)(shares / SHARES_PER_GPU));
    if (shares % SHARES_PER_GPU) str_printf(out, ".%03lld", (long long)(shares % SHARES_PER_GPU));
}

static void append_reason(const struct sim *s, const struct job *j, struct str *out)
{
    unsigned r = j->class ? j->class->clock.reason : j->wait;
    if (in_vain(s) && j->live && j->live->restarts)
        str_printf(out, "it has restarted %u times and comes to no step that is new", j->live->restarts);
    else if (j->spec->work_ns == TIME_NEVER && j->live && j->live->held_shares)
        str_append(out, "its work has no end; give the job a duration or the run a horizon");
    else
        str_append(out, r < N_WAIT_REASONS ? wait_table[r].help : "it runs, but no rank steps");
}

static const struct job *next_holder(const struct sim *s, const struct job *me, size_t *i)
{
    for (; *i < s->next_arrival; ++*i) {
        const struct job *j = s->by_index[*i];
        if (j && j != me && j->live && j->live->held_shares) return s->by_index[(*i)++];
    }
    return NULL;
}

static void append_holders(struct sim *s, const struct job *me, struct str *out)
{
    char buf[24];
    size_t i = 0;
    const struct job *j;
    for (int n = 0; n < MAX_HOLDERS && (j = next_holder(s, me, &i)); n++) {
        str_printf(out, "%s%s (", n ? ", " : "; GPUs are held by ", job_id(s->scenario, j->spec, buf));
        append_gpus(out, j->live->held_shares);
        str_append(out, ")");
    }
}

static void append_job(struct sim *s, const struct job *j, struct str *out)
{
    char buf[24];
    str_printf(out, "  job %s holds ", job_id(s->scenario, j->spec, buf));
    append_gpus(out, j->live ? j->live->held_shares : 0);
    str_append(out, " of ");
    append_gpus(out, job_total_shares(s, j));
    str_append(out, " GPUs: ");
    append_reason(s, j, out);
    append_holders(s, j, out);
    str_append(out, "\n");
}

/* Pods on a lost node cannot go until it is back, so such nodes are part of the explanation. */
static void append_down(const struct sim *s, struct str *out)
{
    const struct cluster_spec *c = &s->scenario->cluster;
    size_t n = 0;
    for (uint32_t g = 0; g < c->n_groups; g++)
        for (uint32_t i = 0; i < c->groups[g].count; i++) {
            if (pool_node_is_up(s->pool, c->groups[g].first_node + i) || n++ >= MAX_HOLDERS) continue;
            str_printf(out, "%s%s-%u", n == 1 ? "  nodes that are down: " : ", ", c->groups[g].name, i);
        }
    if (n > MAX_HOLDERS) str_printf(out, " and %zu more", n - MAX_HOLDERS);
    if (n) str_append(out, "\n");
}

void watch_report(struct sim *s, struct str *out)
{
    size_t listed = 0;
    for (size_t i = 0; i < s->next_arrival; i++) {
        struct job *j = s->by_index[i];
        size_t from = 0;
        if (!j || (j->flags & JOB_ENDED) || (j->state == JOB_RUNNING && !in_vain(s))) continue;
        if (listed++ < MAX_LISTED) append_job(s, j, out);
        const struct job *holder = next_holder(s, j, &from);
        bool vain = in_vain(s) && j->live && j->live->restarts;
        sim_record(s, REC_NO_PROGRESS, j, 0, vain ? WATCH_LIVELOCK : WATCH_DEADLOCK,
                   j->class ? j->class->clock.reason : j->wait, holder ? holder->index : NO_JOB);
    }
    if (listed > MAX_LISTED) str_printf(out, "  and %zu more jobs\n", listed - MAX_LISTED);
    append_down(s, out);
}
