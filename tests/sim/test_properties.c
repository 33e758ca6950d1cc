/* test_properties.c - what must hold in every run of a batch policy, over random scenarios.
 *
 *   conservation  the ledger adds up (sim_run fails otherwise); an ended job's work is its duration x GPUs, to the ns
 *   exclusion     no GPU is held twice: the timeline's groups, replayed device by device
 *   causality     submit <= admitted <= allocated <= started <= finished; the waits add up to what the job did not step
 *   order         FIFO never overtakes; EASY never starts a head later than promised when it became the head
 *   repetition    the same scenario gives the same fingerprint
 *
 * A scenario that fails is printed with its seed. TRAINYARD_SEED=n runs that one alone, TRAINYARD_SEEDS=n the first n.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "tests/support/random_scenario.h"
#include "tests/support/temp_run.h"

enum { MAX_NODES = 64, MAX_GPUS = 16, MAX_JOBS = 64 };

/* ---- a run, replayed ---- */

struct seen { /* of a job, by index of submission */
    const struct job_row *row;
    int64_t started_ns, stepping_ns; /* of the attempt that steps now, -1: none; of all attempts */
    int64_t waits_ns;
    uint64_t held[MAX_NODES];        /* whole devices, by node */
    uint32_t part[MAX_NODES][MAX_GPUS];
    int64_t counted[4];              /* shares held by count, by group */
};

struct replay {
    const struct scenario *s;
    const struct run *r;
    struct seen job[MAX_JOBS];
    uint32_t used[MAX_NODES][MAX_GPUS]; /* shares of each device */
    int64_t counted[4];
    char why[256];
};

static bool wrong(struct replay *p, const char *why, int32_t job)
{
    if (!p->why[0]) snprintf(p->why, sizeof p->why, "job %d: %s", job, why);
    return false;
}

static bool use(struct replay *p, const struct record *r, uint32_t node, uint32_t gpu, uint32_t shares)
{
    p->used[node][gpu] += shares;
    if (p->used[node][gpu] > SHARES_PER_GPU) return wrong(p, "a GPU is held twice", r->job);
    return true;
}

static bool take(struct replay *p, const struct record *r)
{
    struct seen *j = &p->job[r->job];
    uint32_t first = (uint32_t)r->a, n = (uint32_t)(r->a >> 32);
    if (n == 0) {
        const struct node_group *g = &p->s->cluster.groups[first];
        j->counted[first] += r->b;
        p->counted[first] += r->b;
        return p->counted[first] <= (int64_t)g->count * g->gpus * SHARES_PER_GPU || wrong(p, "more than all is held", r->job);
    }
    for (uint32_t node = first; node < first + n; node++)
        for (uint32_t gpu = 0; gpu < MAX_GPUS; gpu++) {
            uint32_t shares = r->code ? r->code : SHARES_PER_GPU;
            if (!((uint64_t)r->b >> gpu & 1)) continue;
            j->part[node][gpu] += shares;
            if (!use(p, r, node, gpu, shares)) return false;
        }
    return true;
}

static void give(struct replay *p, const struct record *r)
{
    struct seen *j = &p->job[r->job];
    for (uint32_t node = 0; node < MAX_NODES; node++)
        for (uint32_t gpu = 0; gpu < MAX_GPUS; gpu++) p->used[node][gpu] -= j->part[node][gpu];
    for (int g = 0; g < 4; g++) p->counted[g] -= j->counted[g];
    memset(j->part, 0, sizeof j->part);
    memset(j->counted, 0, sizeof j->counted);
}

static void stop(struct seen *j, int64_t now)
{
    if (j->started_ns >= 0) j->stepping_ns += now - j->started_ns;
    j->started_ns = -1;
}

static bool replay_record(struct replay *p, const struct record *r)
{
    switch ((enum record_type)r->type) {
    case REC_GROUP_NODES: return take(p, r);
    case REC_GROUP_FREED: give(p, r); return true;
    case REC_JOB_STARTED:
        if (p->job[r->job].started_ns >= 0) return wrong(p, "started twice", r->job);
        p->job[r->job].started_ns = r->time_ns;
        return true;
    case REC_JOB_EVICTED:
    case REC_JOB_STOPPED:
    case REC_JOB_FINISHED: stop(&p->job[r->job], r->time_ns); return true;
    default: return true;
    }
}

static bool replay_timeline(struct replay *p)
{
    char *error = NULL;
    struct record r;
    bool good = true;
    struct timeline_reader *t = timeline_open(p->r->dir, &error);
    if (!t) return wrong(p, error, NO_JOB);
    while (good && timeline_next(t, &r)) good = replay_record(p, &r);
    timeline_close(t);
    for (int i = 0; i < MAX_JOBS; i++) stop(&p->job[i], p->r->end_ns);
    return good;
}

static bool find_rows(struct replay *p)
{
    char buf[24];
    for (size_t i = 0; i < p->s->n_jobs; i++) {
        const char *id = job_id(p->s, &p->s->jobs[i], buf);
        for (size_t k = 0; k < p->r->n_jobs && !p->job[i].row; k++)
            if (strcmp(p->r->jobs[k].row.id, id) == 0) p->job[i].row = &p->r->jobs[k].row;
    }
    return true;
}

/* ---- the properties ---- */

static bool in_order(int64_t a, int64_t b) { return b < 0 || (a >= 0 && a <= b); }

static bool check_times(struct replay *p, int32_t i)
{
    const struct job_row *r = p->job[i].row;
    bool never = r->state == JOB_CANCELLED; /* admitted */
    if (!in_order(r->submit_ns, r->admitted_ns) || !in_order(r->admitted_ns, r->allocated_ns) ||
        !in_order(r->allocated_ns, r->started_ns) || !in_order(never ? r->submit_ns : r->started_ns, r->finished_ns))
        return wrong(p, "its times are out of order", i);
    int64_t waits = 0, end = r->finished_ns >= 0 ? r->finished_ns : p->r->end_ns;
    for (int w = 0; w < N_WAIT_REASONS; w++) waits += r->wait_ns[w];
    if (waits != end - r->submit_ns - p->job[i].stepping_ns) return wrong(p, "its waits do not add up", i);
    return true;
}

/* What it comes after must succeed; jobs that exceed their limit fail. */
static bool fails(const struct replay *p, uint32_t i);

static bool is_in_vain(const struct replay *p, uint32_t i)
{
    const struct job_detail *d = &p->s->details[p->s->jobs[i].detail];
    for (uint32_t k = 0; k < d->n_after; k++)
        if (fails(p, d->after[k])) return true;
    return false;
}

static bool fails(const struct replay *p, uint32_t i) { return p->s->jobs[i].work_ns > p->s->jobs[i].limit_ns || is_in_vain(p, i); }

static bool check_work(struct replay *p, int32_t i, bool whole_slots)
{
    const struct job_spec *spec = &p->s->jobs[i];
    const struct job_row *r = p->job[i].row;
    int64_t ns = spec->work_ns < spec->limit_ns ? spec->work_ns : spec->limit_ns, shares = job_shares(p->s, spec);
    share_ns parts = 0;
    for (int a = 0; a < N_WORK_ACTIVITIES; a++) parts += r->work_by[a];
    if (parts != r->work || r->recovery > r->held) return wrong(p, "the parts of its work do not add up", i);
    if (r->finished_ns < 0) return true;
    bool in_vain = is_in_vain(p, (uint32_t)i);
    if (r->state != (in_vain ? JOB_CANCELLED : fails(p, (uint32_t)i) ? JOB_FAILED : JOB_SUCCEEDED)) return wrong(p, "it ended otherwise", i);
    if (in_vain) return (r->admitted_ns < 0 && r->work == 0) || wrong(p, "it was cancelled, and worked", i);
    if (whole_slots) shares = (shares + SHARES_PER_GPU - 1) / SHARES_PER_GPU * SHARES_PER_GPU;
    share_ns want = (share_ns)(uint64_t)ns * (uint64_t)shares;
    return r->work == want || wrong(p, "its work is not its duration", i);
}

/* Whoever comes later is admitted later: only where nothing sends a job back to the line. */
static bool check_fifo(struct replay *p)
{
    int64_t last = 0;
    for (int32_t i = 0; i < (int32_t)p->s->n_jobs; i++) {
        const struct job_row *r = p->job[i].row;
        int64_t at = !r || r->admitted_ns < 0 ? INT64_MAX : r->admitted_ns;
        if (at < last) return wrong(p, "it overtook an earlier job", i);
        last = at;
    }
    return true;
}

/* What a head could be promised at `now`: the first time at which enough GPUs are free, with every running job taking its
 * whole limit. Any GPUs do, so counting is enough. */
static int64_t promise(const struct replay *p, int64_t need, int64_t now, int32_t head)
{
    int64_t best = INT64_MAX;
    for (int32_t at = -1; at < (int32_t)p->s->n_jobs; at++) {
        int64_t t = at < 0 ? now : p->job[at].row->started_ns + p->s->jobs[at].limit_ns;
        int64_t free = p->s->cluster.total_shares;
        if (at == head || t < now || t >= best || (at >= 0 && p->job[at].row->started_ns < 0)) continue;
        for (int32_t k = 0; k < (int32_t)p->s->n_jobs; k++) {
            const struct job_row *r = p->job[k].row;
            bool runs = k != head && r->started_ns >= 0 && r->started_ns <= now && r->finished_ns > now;
            if (runs && r->started_ns + p->s->jobs[k].limit_ns > t) free -= job_shares(p->s, &p->s->jobs[k]);
        }
        if (free >= need) best = t;
    }
    return best;
}

/* The moment at which it is the first of those that wait; jobs that started then count as running, all fits of that
 * moment being made in order. */
static bool check_easy(struct replay *p)
{
    int64_t head_ns = 0;
    for (int32_t i = 0; i < (int32_t)p->s->n_jobs; i++) {
        const struct job_row *r = p->job[i].row;
        int64_t need = job_shares(p->s, &p->s->jobs[i]);
        if (need > p->s->cluster.total_shares) continue;
        if (r->started_ns < 0) return wrong(p, "it never started", i);
        if (r->submit_ns > head_ns) head_ns = r->submit_ns;
        if (r->started_ns > head_ns && r->started_ns > promise(p, need, head_ns, i))
            return wrong(p, "it started later than promised", i);
        if (r->started_ns > head_ns) head_ns = r->started_ns;
    }
    return true;
}

/* ---- the scenarios ---- */

struct row { const char *admission, *placement; };
static const struct row rows[] = {
    {"fifo",         "none"    },
    {"fifo-skip",    "none"    },
    {"fewest-gpus",  "none"    },
    {"srpt",         "none"    },
    {"las",          "none"    },
    {"easy",         "first"   },
    {"conservative", "first"   },
    {"fifo",         "pack"    },
    {"fifo-skip",    "spread"  },
    {"fewest-gpus",  "first"   },
    {"srpt",         "pack"    },
    {"las",          "spread"  },
};
enum { ROWS = sizeof rows / sizeof *rows };

static struct random_spec spec_of(uint64_t seed)
{
    const struct row *row = &rows[seed % ROWS];
    uint64_t kind = seed / ROWS % 4;
    return (struct random_spec){.seed = seed,
                                .admission = row->admission,
                                .placement = row->placement,
                                .limits = seed / ROWS % 2 == 0 || strcmp(row->placement, "first") == 0,
                                .odd = kind >= 1,
                                .faults = kind >= 2 && strcmp(row->placement, "none") != 0,
                                .interventions = kind >= 3};
}

static bool check(struct replay *p, const struct random_spec *spec)
{
    bool fifo = strcmp(spec->admission, "fifo") == 0, easy = strcmp(spec->admission, "easy") == 0;
    bool named = easy || strcmp(spec->admission, "conservative") == 0;
    find_rows(p);
    if (!replay_timeline(p)) return false;
    for (int32_t i = 0; i < (int32_t)p->s->n_jobs; i++)
        if (p->job[i].row && (!check_times(p, i) || !check_work(p, i, named))) return false;
    if (fifo && !spec->faults && !spec->interventions && !check_fifo(p)) return false;
    return !easy || spec->odd || check_easy(p);
}

/* An assert within the simulator ends the process: the seed is told then too. */
static volatile unsigned long long present_seed;

static void on_abort(int signal_number)
{
    fprintf(stderr, "seed %llu\n", present_seed);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void one(uint64_t seed)
{
    present_seed = seed;
    static struct replay p;
    struct random_spec spec = spec_of(seed);
    struct str json = {0};
    random_scenario(&spec, &json);
    struct scenario *s = random_scenario_load(&json);
    struct run *r = temp_run(s, RECORD_FULL), *again = seed % 8 ? NULL : temp_run(s, RECORD_NONE);
    if (!r) fail_msg("seed %llu does not run\n%s", (unsigned long long)seed, json.s);
    p = (struct replay){.s = s, .r = r};
    for (int i = 0; i < MAX_JOBS; i++) p.job[i].started_ns = -1;
    bool good = check(&p, &spec);
    if (good && again && strcmp(r->fingerprint, again->fingerprint) != 0) good = wrong(&p, "another fingerprint", NO_JOB);
    if (!good) fail_msg("seed %llu, %s: %s\n%s", (unsigned long long)seed, spec.admission, p.why, json.s);
    if (again) temp_run_close(again);
    temp_run_close(r);
    scenario_free(s);
    str_free(&json);
}

static void properties(void **state)
{
    const char *alone = getenv("TRAINYARD_SEED"), *many = getenv("TRAINYARD_SEEDS");
    (void)state;
    signal(SIGABRT, on_abort);
    if (alone) {
        one(strtoull(alone, NULL, 10));
        return;
    }
    for (uint64_t seed = 0; seed < (many ? strtoull(many, NULL, 10) : 2400); seed++) one(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(properties)};
    return cmocka_run_group_tests_name("properties", tests, NULL, NULL);
}
