/* naive_batch.c - see naive_batch.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/naive_batch.h"

#include <stdlib.h>
#include <string.h>

enum { TO_COME, PENDING, RUNNING, ENDED };
enum { QUEUES = 3 };
#define NEVER INT64_MAX

struct list { struct naive_job **v; size_t n; };

static void append(struct list *l, struct naive_job *j) { l->v[l->n++] = j; }

static void drop(struct list *l, const struct naive_job *j)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i] == j) {
            memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof *l->v);
            l->n--;
            return;
        }
}

/* ---- Tiresias ---- */

static int64_t next_event(struct naive_job *jobs, size_t n, int64_t now)
{
    int64_t next = NEVER;
    for (size_t i = 0; i < n; i++) {
        struct naive_job *j = &jobs[i];
        int64_t t = j->state == TO_COME ? j->submit : j->state == RUNNING ? now + j->work - j->executed : NEVER;
        if (t < next) next = t;
    }
    return next;
}

/* Runs the clock on; ends jobs, then takes in new ones. */
static void advance(struct naive_job *jobs, size_t n, int64_t now, struct list *l)
{
    for (size_t i = 0; i < n; i++) {
        struct naive_job *j = &jobs[i];
        if (j->state != RUNNING) continue;
        j->executed += now - j->checked;
        j->checked = now;
        if (j->executed < j->work) continue;
        j->state = ENDED;
        j->end = now;
        for (int q = 0; q < QUEUES; q++) drop(&l[q], j);
    }
    for (size_t i = 0; i < n; i++)
        if (jobs[i].state == TO_COME && jobs[i].submit == now) {
            jobs[i].state = PENDING;
            append(&l[0], &jobs[i]);
        }
}

static void run(struct naive_job *j, int64_t now)
{
    if (j->start < 0) j->start = now;
    if (j->state == PENDING) j->checked = now;
    j->state = RUNNING;
}

/* In order of the lists; who fits runs. */
static void scan(struct list *l, int gpus, int64_t now, bool strict)
{
    for (int q = 0; q < QUEUES; q++)
        for (size_t i = 0; i < l[q].n; i++) {
            struct naive_job *j = l[q].v[i];
            if (j->gpus <= gpus) {
                gpus -= j->gpus;
                run(j, now);
            } else if (strict) {
                return;
            } else {
                j->state = PENDING;
            }
        }
}

static void stable_sort(struct list *l, int64_t (*key)(const struct naive_job *))
{
    for (size_t i = 1; i < l->n; i++)
        for (size_t k = i; k && key(l->v[k - 1]) > key(l->v[k]); k--) {
            struct naive_job *t = l->v[k];
            l->v[k] = l->v[k - 1];
            l->v[k - 1] = t;
        }
}

static int64_t by_gpus(const struct naive_job *j) { return j->gpus; }
static int64_t by_remaining(const struct naive_job *j) { return j->work - j->executed; }
static int64_t by_state(const struct naive_job *j) { return j->state == RUNNING ? 0 : 1; }

static void demote(struct naive_job *jobs, size_t n, struct list *l, const int64_t limits[2])
{
    for (size_t i = 0; i < n; i++) {
        struct naive_job *j = &jobs[i];
        if (j->state != RUNNING || j->queue == QUEUES - 1 || j->executed * j->gpus < limits[j->queue]) continue;
        drop(&l[j->queue], j);
        append(&l[++j->queue], j);
    }
}

static int64_t next_jump(const struct naive_job *jobs, size_t n, int64_t now, const int64_t limits[2])
{
    int64_t next = NEVER;
    for (size_t i = 0; i < n; i++) {
        const struct naive_job *j = &jobs[i];
        if (j->state != RUNNING || j->queue == QUEUES - 1) continue;
        int64_t t = (limits[j->queue] - j->executed) / j->gpus + now;
        if (t < next) next = t;
    }
    return next;
}

void naive_tiresias(const char *policy, struct naive_job *jobs, size_t n, int gpus, const int64_t limits[2])
{
    bool las = strcmp(policy, "las") == 0, batch = strncmp(policy, "fifo", 4) == 0;
    struct list l[QUEUES];
    int64_t now = 0, jump = NEVER;
    for (int q = 0; q < QUEUES; q++) l[q] = (struct list){malloc(n * sizeof *l[q].v), 0};
    for (size_t i = 0; i < n; i++) {
        jobs[i].start = jobs[i].end = -1;
        jobs[i].state = TO_COME;
        jobs[i].executed = jobs[i].queue = 0;
    }
    for (;;) {
        int64_t next = next_event(jobs, n, now);
        if (next == NEVER) break;
        now = jump < next ? jump : next;
        advance(jobs, n, now, l);
        if (las) demote(jobs, n, l, limits);
        if (batch) stable_sort(&l[0], by_state); /* without preemption: who runs goes on */
        if (strcmp(policy, "fewest-gpus") == 0) stable_sort(&l[0], by_gpus);
        if (strcmp(policy, "srpt") == 0) stable_sort(&l[0], by_remaining);
        scan(l, gpus, now, strcmp(policy, "fifo") == 0);
        for (int q = 0; las && q < QUEUES; q++) stable_sort(&l[q], by_state);
        if (las) jump = next_jump(jobs, n, now, limits);
    }
    for (int q = 0; q < QUEUES; q++) free(l[q].v);
}

/* ---- backfilling: a word of free machines for each second ---- */

enum { SECONDS = 20000 };

static uint64_t lowest(uint64_t set, int n)
{
    uint64_t taken = 0;
    for (; n; n--) {
        taken |= set & -set;
        set &= set - 1;
    }
    return taken;
}

static uint64_t over(const uint64_t *free, int64_t from, int64_t length)
{
    uint64_t set = free[from];
    for (int64_t t = from; t < from + length && t < SECONDS; t++) set &= free[t];
    return set;
}

static void mark(uint64_t *free, int64_t from, int64_t to, uint64_t machines, bool give)
{
    for (int64_t t = from; t < to && t < SECONDS; t++) free[t] = give ? free[t] | machines : free[t] & ~machines;
}

/* First fit from `now` on; start and machines of the job say where. */
static void reserve(uint64_t *free, struct naive_job *j, int64_t now)
{
    for (j->start = now; j->start < SECONDS; j->start++) {
        uint64_t set = over(free, j->start, j->limit);
        if (__builtin_popcountll(set) < j->gpus) continue;
        j->machines = lowest(set, j->gpus);
        mark(free, j->start, j->start + j->limit, j->machines, false);
        return;
    }
}

static void unreserve(uint64_t *free, struct naive_job *j)
{
    if (j->start >= 0) mark(free, j->start, j->start + j->limit, j->machines, true);
    j->start = -1;
}

static bool starts(struct naive_job *j, int64_t now)
{
    if (j->start != now) return false;
    j->state = RUNNING;
    j->end = now + (j->work < j->limit ? j->work : j->limit);
    return true;
}

/* Only the first that cannot start keeps its reservation, and only for this pass. */
static void easy_pass(uint64_t *free, struct list *line, int64_t now)
{
    struct naive_job *head = NULL;
    for (size_t i = 0; i < line->n;) {
        struct naive_job *j = line->v[i];
        reserve(free, j, now);
        if (starts(j, now)) {
            drop(line, j);
            continue;
        }
        if (head) unreserve(free, j);
        else head = j;
        i++;
    }
    if (head) unreserve(free, head);
}

static void conservative_pass(uint64_t *free, struct list *line, int64_t now, size_t first_new, bool released)
{
    for (size_t i = 0, k = 0; k < line->n; i++) {
        struct naive_job *j = line->v[k];
        if (released || i >= first_new) {
            unreserve(free, j);
            reserve(free, j, now);
        }
        if (starts(j, now)) drop(line, j);
        else k++;
    }
}

void naive_backfill(bool conservative, struct naive_job *jobs, size_t n, int machines)
{
    static uint64_t free_at[SECONDS];
    struct list line = {malloc(n * sizeof *line.v), 0};
    size_t to_come = 0;
    for (int t = 0; t < SECONDS; t++) free_at[t] = machines == 64 ? UINT64_MAX : (UINT64_C(1) << machines) - 1;
    for (size_t i = 0; i < n; i++) {
        jobs[i].start = jobs[i].end = -1;
        jobs[i].state = TO_COME;
    }
    for (int64_t now = 0; now < SECONDS; now++) {
        bool released = false;
        for (size_t i = 0; i < n; i++) {
            if (jobs[i].state != RUNNING || jobs[i].end != now) continue;
            mark(free_at, now, jobs[i].start + jobs[i].limit, jobs[i].machines, true);
            jobs[i].state = ENDED;
            released = true;
        }
        size_t first_new = line.n;
        for (; to_come < n && jobs[to_come].submit == now; to_come++) append(&line, &jobs[to_come]);
        if (!released && first_new == line.n) continue;
        if (conservative) conservative_pass(free_at, &line, now, first_new, released);
        else easy_pass(free_at, &line, now);
    }
    free(line.v);
}
