/* scene_words.c - a scene in words: names of what spans show, events, who was in the way (study/blocker.h decides that).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/str.h"
#include "base/units.h"
#include "run/conditions.h"
#include "run/wait.h"
#include "study/explain.h"
#include "study/words.h"
#include "viz/model/scene_parts.h"

/* ---- shows ---- */

const char *show_name(unsigned show)
{
    if (show < N_ACTIVITIES) return activity_table[show].name;
    if (show == SHOW_WORK) return "work";
    if (show == SHOW_REDONE) return "redone";
    return show < N_SHOWS ? wait_table[show - SHOW_WAIT].name : "nothing";
}

const char *show_help(unsigned show)
{
    if (show < N_ACTIVITIES) return activity_table[show].help;
    if (show == SHOW_WORK) return "the ranks step";
    if (show == SHOW_REDONE) return "the ranks step again what was lost";
    return show < N_SHOWS ? wait_table[show - SHOW_WAIT].help : "nobody holds it";
}

enum activity_class show_class(unsigned show)
{
    if (show < N_ACTIVITIES) return activity_table[show].class;
    return show == SHOW_WORK || show == SHOW_REDONE ? CLASS_WORK : CLASS_IDLE;
}

/* ---- parts of sentences ---- */

static const char *id_of(const struct scene *s, int64_t job)
{
    return job >= 0 && job < s->n_jobs ? s->jobs[job].id : "?";
}

static const char *node_of(const struct scene *s, uint32_t node)
{
    return node < s->n_nodes ? s->nodes[node].name : "?";
}

static const char *reason(int64_t code)
{
    return code >= 0 && code < N_WAIT_REASONS ? wait_table[code].help : "?";
}

static const char *cause(unsigned code) { return code < N_CAUSES ? cause_table[code].help : "?"; }

static void gpus(struct str *out, int64_t shares)
{
    words_gpus(out, shares);
    str_append(out, shares == SHARES_PER_GPU ? " GPU" : " GPUs");
}

/* ---- events ---- */

static void on_submitted(const struct scene *s, const struct record *r, struct str *out)
{
    (void)s;
    str_append(out, "submitted: asks for ");
    gpus(out, r->subject);
}

static void on_admitted(const struct scene *s, const struct record *r, struct str *out)
{
    (void)s;
    str_printf(out, "admitted (attempt %u)", r->subject);
}

static void on_allocated(const struct scene *s, const struct record *r, struct str *out)
{
    (void)s, (void)r;
    str_append(out, "all its GPUs are bound");
}

static void on_started(const struct scene *s, const struct record *r, struct str *out)
{
    (void)s;
    str_printf(out, "all ranks step: %s", cause(r->code));
}

static void on_stopped(const struct scene *s, const struct record *r, struct str *out)
{
    (void)s;
    str_printf(out, "ranks stop; next comes %s", cause(r->code));
}

static void on_finished(const struct scene *s, const struct record *r, struct str *out)
{
    (void)s;
    str_append(out, r->code < N_JOB_STATES ? job_state_names[r->code] : "?");
}

static void on_wait(const struct scene *s, const struct record *r, struct str *out)
{
    if (r->code == NOT_WAITING) str_append(out, "waits no more");
    else if (r->code == WAITS_IN_CLASS) str_append(out, "stands in its queue");
    else str_printf(out, "waits: %s", reason(r->code));
    if (r->a >= 0) str_printf(out, "; blocked by %s", id_of(s, r->a));
}

static void on_evicted(const struct scene *s, const struct record *r, struct str *out)
{
    str_printf(out, "taken off its GPUs: %s", explain_stop_reason(r->code));
    if (r->a >= 0) str_printf(out, ", to make room for %s", id_of(s, r->a));
}

static void on_condition(const struct scene *s, const struct record *r, struct str *out)
{
    (void)s;
    struct condition_words w = condition_words(r);
    str_printf(out, "%s becomes %s%s%s", w.name, *w.status ? w.status : "empty", *w.reason ? ": " : "", w.reason);
}

static void range(const char *what, const struct record *r, struct str *out)
{
    str_printf(out, "%s %u", what, r->subject);
    if (r->a > 1 && r->a <= UINT32_MAX) str_printf(out, " to %lld", (long long)r->subject + r->a - 1);
    str_append(out, ": ");
}

static void on_pod(const struct scene *s, const struct record *r, struct str *out)
{
    unsigned state = r->code & 0xff, role = r->code >> 8;
    range("pod", r, out);
    str_append(out, state < N_POD_STATES ? pod_state_table[state].name : "?");
    if (state == POD_IS_PENDING && role < N_POD_ROLES && r->b >= 0 && r->b <= UINT32_MAX) str_printf(out, ", %s %lld", role_names[role], (long long)r->subject + r->b);
    if (state == POD_IS_SCHEDULED || state == POD_IS_PULLING || state == POD_IS_STARTING)
        str_printf(out, " on node %s", node_of(s, (uint32_t)r->b));
    if (state == POD_IS_READY && r->b) str_printf(out, ", restarted %lld times", (long long)r->b);
    if (state == POD_IS_BACKOFF || state == POD_IS_FAILED) str_printf(out, ", exit code %lld", (long long)r->b);
}

static void on_actor(const struct scene *s, const struct record *r, struct str *out)
{
    range("rank", r, out);
    str_append(out, r->code < N_ACTOR_STATES ? actor_state_table[r->code].name : "?");
    if (r->code == ACTOR_IS_STARTING) str_printf(out, " on node %s", node_of(s, (uint32_t)r->b));
}

static void on_checkpoint(const struct scene *s, const struct record *r, struct str *out)
{
    (void)s;
    static const char *const says[] = {[SAVE_BEGINS] = "begins to save", [SAVE_LEAVES] = "has saved", [SAVE_FAILED] = "could not save",
                                       [SAVE_WRITTEN] = "has written in the background"};
    str_printf(out, "%s step %lld", r->code <= SAVE_WRITTEN ? says[r->code] : "?", (long long)r->a);
    if (r->b <= 0) return;
    str_append(out, ": ");
    units_format_bytes(out, r->b);
}

static void on_rollback(const struct scene *s, const struct record *r, struct str *out)
{
    (void)s;
    str_printf(out, "falls back from step %lld to step %lld", (long long)r->a, (long long)r->b);
}

/* Hardware names its first node, and how many with it; a job's own fault its rank; the script its line. */
static void on_fault(const struct scene *s, const struct record *r, struct str *out)
{
    str_printf(out, "fault: %s", explain_fault(r->code));
    if (r->job != NO_JOB) str_printf(out, " of rank %u", r->subject);
    else if (r->code >= N_FAULT_ACTIONS) {
        str_printf(out, " at node %s", node_of(s, r->subject));
        if (r->a > 1) str_printf(out, " and %lld more", (long long)r->a - 1);
    } else str_printf(out, " (action %u of the script)", r->subject + 1);
}

static void on_node(const struct scene *s, const struct record *r, struct str *out)
{
    str_printf(out, "node %s ", node_of(s, r->subject));
    if (r->code == ACT_FREE) str_append(out, "is back");
    else str_printf(out, "goes down: %s", r->code < N_ACTIVITIES ? activity_table[r->code].help : "?");
}

static void on_no_progress(const struct scene *s, const struct record *r, struct str *out)
{
    str_printf(out, "nothing can progress any more: %s", r->a >= 0 && r->a < N_WAIT_REASONS ? reason(r->a) : "no rank steps");
    if (r->b >= 0) str_printf(out, "; %s holds what it waits for", id_of(s, r->b));
}

static void on_hold(const struct scene *s, const struct record *r, struct str *out)
{
    (void)s;
    if (r->code != 1) {
        str_append(out, "holds some of its GPUs no more without the rest");
        return;
    }
    str_append(out, "holds ");
    gpus(out, r->a);
    str_append(out, " and waits for the rest");
}

static void (*const tell[N_RECORD_TYPES])(const struct scene *, const struct record *, struct str *) = {
    [REC_JOB_SUBMITTED] = on_submitted, [REC_JOB_ADMITTED] = on_admitted,   [REC_JOB_ALLOCATED] = on_allocated,
    [REC_JOB_STARTED] = on_started,     [REC_JOB_STOPPED] = on_stopped,     [REC_JOB_FINISHED] = on_finished,
    [REC_JOB_WAIT] = on_wait,           [REC_JOB_EVICTED] = on_evicted,     [REC_JOB_CONDITION] = on_condition,
    [REC_POD_STATE] = on_pod,           [REC_CHECKPOINT] = on_checkpoint,   [REC_ROLLBACK] = on_rollback,
    [REC_FAULT] = on_fault,             [REC_NODE_STATE] = on_node,         [REC_NO_PROGRESS] = on_no_progress,
    [REC_PARTIAL_HOLD] = on_hold,       [REC_ACTOR_STATE] = on_actor,
};

void scene_event_text(const struct scene *s, const struct record *r, struct str *out)
{
    if (r->type < N_RECORD_TYPES && tell[r->type]) tell[r->type](s, r, out);
    else str_append(out, r->type < N_RECORD_TYPES ? record_table[r->type].name : "?");
}

/* What the script does that hurts nobody. */
static bool is_harmless(unsigned action)
{
    static const bool harmless[N_FAULT_ACTIONS] = {
        [DO_POD_SUCCEEDED] = true, [DO_NODE_BACK] = true, [DO_SUSPEND] = true,   [DO_RESUME] = true, [DO_SCALE] = true,
        [DO_TOUCH] = true,         [DO_SET_QUOTA] = true, [DO_HOLD] = true,
    };
    return action < N_FAULT_ACTIONS && harmless[action];
}

bool scene_event_is_failure(const struct record *r)
{
    switch (r->type) {
    case REC_FAULT: return !is_harmless(r->code);
    case REC_NODE_STATE: return r->code != ACT_FREE;
    case REC_JOB_FINISHED: return r->code == JOB_FAILED;
    case REC_JOB_EVICTED: return r->code != STOP_HORIZON && r->code != STOP_SUSPENDED;
    case REC_ROLLBACK:
    case REC_NO_PROGRESS: return true;
    default: return false;
    }
}

/* ---- blockers ---- */

/* The first event of a job at or after a moment, among its own; n_events when none. */
static uint32_t own_event_seek(const struct scene *s, const struct scene_job *j, int64_t ns)
{
    uint32_t low = 0, high = j->n_events;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s->events[s->by_job[j->first_event + mid]].time_ns < ns) low = mid + 1;
        else high = mid;
    }
    return low;
}

int32_t scene_blocker(const struct scene *s, int32_t job, int64_t ns)
{
    if (job < 0 || (uint32_t)job >= s->n_jobs) return NO_JOB;
    const struct scene_job *j = &s->jobs[job];
    for (uint32_t i = own_event_seek(s, j, ns); i < j->n_events; i++) {
        uint32_t event = s->by_job[j->first_event + i];
        if (s->events[event].time_ns > ns) break;
        if (s->blockers[event] != NO_JOB) return s->blockers[event];
    }
    return NO_JOB;
}
