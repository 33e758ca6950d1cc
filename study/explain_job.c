/* explain_job.c - the life of one job in words, from its row and the timeline.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "input/scenario.h"
#include "run/class_waits.h"
#include "run/decimal.h"
#include "run/wait.h"
#include "study/blocker.h"
#include "study/diagnose.h"
#include "study/explain.h"
#include "study/job_index.h"
#include "study/words.h"

enum { WIDTH = 100, MOMENT = 16, LINES_SHOWN = 200 };

const char *explain_stop_reason(unsigned code)
{
    return code < N_STOP_REASONS ? stop_reason_names[code] : "?";
}

const char *explain_fault(unsigned code)
{
    static const char *const scopes[N_FAULT_SCOPES] = {
        [FAULT_GPU] = "gpu",       [FAULT_NODE] = "node",       [FAULT_RACK] = "rack",
        [FAULT_SWITCH] = "switch", [FAULT_STORAGE] = "storage",   [FAULT_LINK] = "link",
    };
    if (code < N_FAULT_ACTIONS) return fault_action_names[code];
    return code < N_FAULT_ACTIONS + N_FAULT_SCOPES ? scopes[code - N_FAULT_ACTIONS] : "?";
}

struct telling {
    const struct run *run;
    const struct job_index *index;
    const struct job_row *row;
    struct str *out;
    int32_t job;
    struct blockers blockers;
    struct blocker by;              /* to whom the record that is told is due */
    int64_t wait_since_ns;          /* of the wait under way */
    unsigned waiting;               /* reason, NOT_WAITING or WAITS_IN_CLASS */
    int64_t class;                  /* that it waits in */
    struct class_waits classes;
    size_t lines, checkpoints;
    int64_t recorded_ns[N_WAIT_REASONS]; /* by the records; the rest of its row it waited in classes that are not told of */
};

/* ---- lines ---- */

static void line(struct telling *t, int64_t at_ns, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void line(struct telling *t, int64_t at_ns, const char *fmt, ...)
{
    struct str moment = {0}, text = {0};
    va_list args;
    if (t->lines++ >= LINES_SHOWN) return;
    units_format_duration(&moment, at_ns);
    va_start(args, fmt);
    str_vprintf(&text, fmt, args);
    va_end(args);
    str_append(t->out, "  ");
    words_right(t->out, str_text(&moment), MOMENT);
    str_append(t->out, "  ");
    words_wrapped(t->out, str_text(&text), MOMENT + 4, WIDTH);
    str_append(t->out, "\n");
    str_free(&moment);
    str_free(&text);
}

static char *amount(int64_t ns)
{
    struct str s = {0};
    words_amount(&s, "s", (double)ns / 1e9);
    return str_take(&s);
}

static void waited(struct telling *t, int64_t from, int64_t to, unsigned reason)
{
    char *length = amount(to - from);
    line(t, from, "waits %s: %s", length, wait_table[reason].help);
    free(length);
}

/* Its time in a class: a line a reason, or where these change often one line with the sums. */
static void tell_stay(struct telling *t, int64_t from, int64_t to)
{
    enum { FEW = 12 };
    int64_t sum[N_QUEUE_REASONS] = {0};
    size_t n = class_wait_sums(&t->classes, t->class, from, to, sum);
    for (int64_t at = from, until; n <= FEW && at < to; at = until) {
        unsigned reason = class_wait_at(&t->classes, t->class, at, &until);
        if (reason < N_QUEUE_REASONS) waited(t, at, until < to ? until : to, reason);
    }
    if (n <= FEW) return;
    struct str s = {0};
    for (int w = 0; w < N_QUEUE_REASONS; w++) {
        if (!sum[w]) continue;
        char *length = amount(sum[w]);
        str_printf(&s, "%s%s because %s", s.n ? "; " : "", length, wait_table[w].help);
        free(length);
    }
    line(t, from, "waits in its queue for what changed %zu times: %s", n, str_text(&s));
    str_free(&s);
}

static void close_wait(struct telling *t, int64_t now)
{
    if (t->waiting == WAITS_IN_CLASS) tell_stay(t, t->wait_since_ns, now);
    if (t->waiting < N_WAIT_REASONS && now > t->wait_since_ns) waited(t, t->wait_since_ns, now, t->waiting);
    t->waiting = NOT_WAITING;
}

/* Before a line in the midst of a wait, which goes on behind it: lines stay in the order of time. */
static void split_wait(struct telling *t, int64_t now)
{
    unsigned reason = t->waiting;
    close_wait(t, now);
    t->waiting = reason;
    t->wait_since_ns = now;
}

static void open_wait(struct telling *t, unsigned reason, int64_t now)
{
    close_wait(t, now);
    t->waiting = reason;
    t->wait_since_ns = now;
}

static const char *release_verb(uint16_t type)
{
    if (type == REC_JOB_FINISHED) return "ended";
    return type == REC_JOB_EVICTED ? "was evicted" : "stopped";
}

/* In runs that do not tell what its class waited for: its row has the sums, not the moments. */
static void queue_waits(struct telling *t)
{
    struct str s = {0};
    const struct job_row *r = t->row;
    bool again = r->preemptions || r->restarts;
    for (int w = 0; r->wait_ns && w < N_QUEUE_REASONS; w++) {
        int64_t pending = r->wait_ns[w] - t->recorded_ns[w];
        if (pending <= 0) continue;
        char *length = amount(pending);
        str_printf(&s, "%s%s because %s",
                   s.n     ? "; "
                   : again ? "waits in its queue with others, sums over all attempts: "
                           : "waits in its queue with others, sums: ",
                   length, wait_table[w].help);
        free(length);
    }
    if (s.n) line(t, r->submit_ns, "%s", str_text(&s));
    str_free(&s);
}

/* Whose release ended the wait that ends now, or who is in the way of the one that begins. */
static void blocker(struct telling *t, int64_t now)
{
    char buf[24];
    if (t->by.job == NO_JOB) return;
    const char *id = job_row_id(job_index_row(t->index, t->by.job), buf);
    if (t->by.type == REC_JOB_WAIT)
        line(t, now, "job %s is in its way", id);
    else if (t->by.time_ns == now)
        line(t, now, "what it waited for came free when job %s %s", id, release_verb(t->by.type));
    else {
        char *before = amount(now - t->by.time_ns);
        line(t, now, "the last release before: job %s %s %s earlier", id, release_verb(t->by.type), before);
        free(before);
    }
}

/* ---- records ---- */

static void on_submitted(struct telling *t, const struct record *r)
{
    struct str gpus = {0};
    words_gpus(&gpus, r->subject);
    line(t, r->time_ns, "submitted: asks for %s GPU%s", str_text(&gpus), r->subject == 1000 ? "" : "s");
    str_free(&gpus);
    queue_waits(t);
}

static void on_admitted(struct telling *t, const struct record *r)
{
    close_wait(t, r->time_ns);
    blocker(t, r->time_ns);
    line(t, r->time_ns, "admitted (attempt %u)", r->subject);
}

static void on_allocated(struct telling *t, const struct record *r)
{
    split_wait(t, r->time_ns);
    blocker(t, r->time_ns);
    line(t, r->time_ns, "all its GPUs are bound");
}

static void on_started(struct telling *t, const struct record *r)
{
    close_wait(t, r->time_ns);
    blocker(t, r->time_ns);
    line(t, r->time_ns, "all ranks step: %s", r->code < N_CAUSES ? cause_table[r->code].help : "?");
}

static void on_stopped(struct telling *t, const struct record *r)
{
    split_wait(t, r->time_ns);
    line(t, r->time_ns, "ranks stop; next comes %s", r->code < N_CAUSES ? cause_table[r->code].help : "?");
}

static void on_evicted(struct telling *t, const struct record *r)
{
    split_wait(t, r->time_ns);
    char buf[24];
    const char *by = t->by.job != NO_JOB ? job_row_id(job_index_row(t->index, t->by.job), buf) : NULL;
    line(t, r->time_ns, "taken off its GPUs: %s%s%s", explain_stop_reason(r->code), by ? ", to make room for job " : "",
         by ? by : "");
}

static void on_wait(struct telling *t, const struct record *r)
{
    close_wait(t, r->time_ns);
    blocker(t, r->time_ns);
    int64_t until;
    t->class = r->b;
    open_wait(t, r->code, r->time_ns);
    if (r->code == WAITS_IN_CLASS && class_wait_at(&t->classes, r->b, r->time_ns, &until) == N_QUEUE_REASONS)
        line(t, r->time_ns, "stands in its queue (how long for what: the sums above)");
}

static void on_rollback(struct telling *t, const struct record *r)
{
    split_wait(t, r->time_ns);
    line(t, r->time_ns, "falls back from step %lld to step %lld", (long long)r->a, (long long)r->b);
}

static void on_fault(struct telling *t, const struct record *r)
{
    split_wait(t, r->time_ns);
    line(t, r->time_ns, "fault: %s of %s %u", explain_fault(r->code),
         r->code == DO_CRASH || r->code == DO_HANG ? "rank" : "target", r->subject);
}

static void on_checkpoint(struct telling *t, const struct record *r)
{
    t->checkpoints += r->code == SAVE_LEAVES;
}

static void on_hold(struct telling *t, const struct record *r)
{
    split_wait(t, r->time_ns);
    struct str held = {0};
    words_gpus(&held, r->a);
    if (r->code == 1) line(t, r->time_ns, "holds %s of its GPUs and waits for the rest", str_text(&held));
    str_free(&held);
}

static void on_no_progress(struct telling *t, const struct record *r)
{
    split_wait(t, r->time_ns);
    line(t, r->time_ns, "nothing can progress any more: %s",
         r->a >= 0 && r->a < N_WAIT_REASONS ? wait_table[r->a].help : "no rank steps");
}

static void on_finished(struct telling *t, const struct record *r)
{
    close_wait(t, r->time_ns);
    line(t, r->time_ns, "%s", r->code < N_JOB_STATES ? job_state_names[r->code] : "?");
}

/* What is told of each type of record; the others stay unsaid. */
static void (*const tell[N_RECORD_TYPES])(struct telling *, const struct record *) = {
    [REC_JOB_SUBMITTED] = on_submitted, [REC_JOB_ADMITTED] = on_admitted, [REC_JOB_ALLOCATED] = on_allocated,
    [REC_JOB_STARTED] = on_started,     [REC_JOB_STOPPED] = on_stopped,   [REC_JOB_EVICTED] = on_evicted,
    [REC_JOB_WAIT] = on_wait,           [REC_ROLLBACK] = on_rollback,     [REC_FAULT] = on_fault,
    [REC_CHECKPOINT] = on_checkpoint,   [REC_PARTIAL_HOLD] = on_hold,     [REC_NO_PROGRESS] = on_no_progress,
    [REC_JOB_FINISHED] = on_finished,
};

static void take(struct telling *t, const struct record *r)
{
    t->by = blockers_take(&t->blockers, r);
    if (r->job != t->job) return;
    if (r->type < N_RECORD_TYPES && tell[r->type]) tell[r->type](t, r);
}

/* ---- sums ---- */

static void head(const struct job_row *r, struct str *out)
{
    struct str s = {0};
    char buf[24];
    str_printf(&s, "job %s: %s", job_row_id(r, buf), job_state_names[r->state]);
    if (r->kind && *r->kind) str_printf(&s, ", %s", r->kind);
    if (r->team && *r->team) str_printf(&s, ", team %s", r->team);
    if (r->queue && *r->queue) str_printf(&s, ", queue %s", r->queue);
    str_printf(&s, ", priority %d, ", r->priority);
    words_gpus(&s, r->gpu_shares);
    str_printf(&s, " GPUs; restarts: %u, preemptions: %u", r->restarts, r->preemptions);
    words_wrapped(out, str_text(&s), 2, WIDTH);
    str_append(out, "\n");
    str_free(&s);
}

static void moments_of_row(const struct job_row *r, struct str *out)
{
    const struct {
        const char *what;
        int64_t at;
    } moments[] = {
        {"submitted",       r->submit_ns   },
        {"admitted first",  r->admitted_ns },
        {"allocated first", r->allocated_ns},
        {"first step",      r->started_ns  },
        {"ended",           r->finished_ns },
    };
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct str at = {0};
        if (moments[i].at >= 0)
            units_format_duration(&at, moments[i].at);
        else
            str_append(&at, "-");
        str_append(out, "  ");
        words_left(out, moments[i].what, 18);
        words_right(out, str_text(&at), MOMENT);
        str_append(out, "\n");
        str_free(&at);
    }
}

static void wait_sums(const struct job_row *r, struct str *out)
{
    int64_t all = 0, whole = r->finished_ns >= 0 ? r->finished_ns - r->submit_ns : -1;
    for (int w = 0; r->wait_ns && w < N_WAIT_REASONS; w++) all += r->wait_ns[w];
    str_append(out, "\nTime in which its ranks did not step\n");
    for (int w = 0; r->wait_ns && w < N_WAIT_REASONS; w++) {
        if (!r->wait_ns[w]) continue;
        char *length = amount(r->wait_ns[w]);
        str_append(out, "  ");
        struct str name = {0};
        words_name(&name, wait_table[w].name);
        words_left(out, str_text(&name), 20);
        words_right(out, length, 12);
        str_printf(out, "  %s\n", wait_table[w].help);
        str_free(&name);
        free(length);
    }
    char *sum = amount(all), *rest = amount(whole - all);
    str_printf(out, "  %-20s%12s", "all", sum);
    if (whole >= 0) str_printf(out, "  and %s of stepping", rest);
    str_append(out, "\n");
    free(sum);
    free(rest);
}

static void gpu_sums(const struct job_row *r, struct str *out)
{
    const struct {
        const char *what;
        share_ns sum;
    } sums[] = {
        {"work that is kept", r->work  },
        {"work done again",   r->redone},
        {"held, not working", r->held  }
    };
    str_append(out, "\nWhere its GPU time went (GPU-hours)\n");
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        struct str s = {0};
        words_number(&s, decimal_gpu_s(sums[i].sum) / 3600);
        str_append(out, "  ");
        words_left(out, sums[i].what, 20);
        words_right(out, str_text(&s), 12);
        str_append(out, "\n");
        str_free(&s);
    }
}

static void nodes_line(const struct job_row *r, struct str *out)
{
    struct str s = {0};
    if (!r->n_nodes) return;
    str_append(&s, "nodes of its last allocation:");
    for (unsigned i = 0; i < r->n_nodes; i++)
        str_printf(&s, r->nodes[i].first == r->nodes[i].last ? " %u" : " %u-%u", r->nodes[i].first, r->nodes[i].last);
    str_append(out, "  ");
    words_wrapped(out, str_text(&s), 4, WIDTH);
    str_append(out, "\n");
    str_free(&s);
}

/* ---- the whole ---- */

/* Adds a wait that is over. */
static void sum_wait(struct telling *t, unsigned waiting, int64_t from, int64_t to)
{
    if (waiting == WAITS_IN_CLASS) class_wait_sums(&t->classes, t->class, from, to, t->recorded_ns);
    else if (waiting < N_WAIT_REASONS && waiting != WAIT_PREEMPTED && to > from) t->recorded_ns[waiting] += to - from;
}

/* How long the job waited for each reason by the records, and what classes waited for. */
static void sum_recorded(struct telling *t)
{
    struct record r;
    char *err = NULL;
    int64_t since = 0;
    unsigned waiting = NOT_WAITING;
    struct timeline_reader *reader = timeline_open(t->run->dir, &err);
    while (reader && timeline_next(reader, &r)) {
        bool ends = r.type == REC_JOB_WAIT || r.type == REC_JOB_STARTED || r.type == REC_JOB_FINISHED ||
                    r.type == REC_JOB_ADMITTED;
        class_waits_take(&t->classes, &r);
        if (r.job != t->job || !ends) continue;
        sum_wait(t, waiting, since, r.time_ns);
        waiting = r.type == REC_JOB_WAIT ? r.code : NOT_WAITING;
        t->class = r.b;
        since = r.time_ns;
    }
    sum_wait(t, waiting, since, t->run->end_ns);
    if (reader) timeline_close(reader);
    free(err);
}

static void timeline(struct telling *t)
{
    struct record r;
    char *err = NULL;
    sum_recorded(t);
    struct timeline_reader *reader = timeline_open(t->run->dir, &err);
    while (reader && timeline_next(reader, &r)) take(t, &r);
    if (reader) timeline_close(reader);
    free(err);
    blockers_free(&t->blockers);
    if (t->row->finished_ns < 0 && t->run->end_ns >= 0) close_wait(t, t->run->end_ns);
    class_waits_free(&t->classes);
    if (t->lines > LINES_SHOWN) str_printf(t->out, "  and %zu more lines\n", t->lines - LINES_SHOWN);
    if (t->checkpoints) str_printf(t->out, "  checkpoints durable: %zu\n", t->checkpoints);
}

const struct job_row *explain_row(const struct run *run, const char *id)
{
    char buf[24];
    for (size_t i = 0; i < run->n_jobs; i++)
        if (!strcmp(job_row_id(&run->jobs[i].row, buf), id)) return &run->jobs[i].row;
    return NULL;
}

char *explain_no_such_job(const struct run *run, const char *id)
{
    enum { LOOKED_AT = 2000 };
    struct str s = {0};
    const char *names[LOOKED_AT];
    size_t n = 0;
    for (size_t i = 0; i < run->n_jobs && n < LOOKED_AT; i++)
        if (run->jobs[i].row.id) names[n++] = run->jobs[i].row.id;
    const char *near = str_suggest(id, names, n);
    str_printf(&s, "%s: no job \"%s\" among %zu", run->dir, id, run->n_jobs);
    if (near) str_printf(&s, "; did you mean \"%s\"?", near);
    return str_take(&s);
}

bool explain_job(const struct run *run, const char *id, struct str *out, char **err)
{
    struct job_index x;
    const struct job_row *row = explain_row(run, id);
    *err = NULL;
    if (!row) {
        *err = explain_no_such_job(run, id);
        return false;
    }
    head(row, out);
    if (run->record_level != RECORD_NONE && job_index_read(run, &x, err)) {
        struct telling t = {.run = run,
                            .index = &x,
                            .row = row,
                            .out = out,
                            .job = job_index_find(&x, id),
                            .waiting = NOT_WAITING};
        str_append(out, "\n");
        timeline(&t);
        job_index_free(&x);
    } else {
        moments_of_row(row, out);
        str_append(out, "  (the run has no timeline: run it with --record jobs for the moments in between)\n");
        free(*err);
        *err = NULL;
    }
    nodes_line(row, out);
    wait_sums(row, out);
    gpu_sums(row, out);
    struct diagnosis d;
    diagnose_job(run, row, &d);
    if (d.gpu_s > 0) diagnosis_text(&d, out);
    diagnosis_free(&d);
    return true;
}
