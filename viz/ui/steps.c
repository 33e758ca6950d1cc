/* steps.c - from event to event: next and previous, play, run until.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "viz/ui/private.h"
#include "viz/ui/time_axis.h"

enum { UNTIL_SECONDS = 1 }; /* how long "run until" runs at most */

static unsigned stepped_run(const struct ui *u)
{
    if (u->show == UI_ONLY_B && u->n_runs > 1) return 1;
    return u->show == UI_ONLY_A || u->selection.kind == SELECTED_NOTHING || u->selection.run >= u->n_runs ? 0 : u->selection.run;
}

static void say_event(struct ui *u, const struct scene *s, const struct record *r)
{
    struct str text = {0};
    time_text_in(&text, r->time_ns, NS_PER_HOUR);
    str_append(&text, "  ");
    scene_event_text(s, r, &text);
    ui_say(u, "%s", str_text(&text));
    str_free(&text);
}

static void select_event(struct ui *u, unsigned run, uint32_t event)
{
    const struct scene *s = u->runs[run].scene;
    struct ui_selection to = {.kind = SELECTED_EVENT, .run = run, .job = -1, .event = event, .at_ns = s->events[event].time_ns};
    ui_select(u, &to);
    ui_cursor(u, to.at_ns);
    say_event(u, s, &s->events[event]);
}

/* ---- next and previous ---- */

static bool of_node(const struct record *r, uint32_t node)
{
    return r->subject == node && (r->type == REC_NODE_STATE || (r->type == REC_FAULT && r->job == NO_JOB));
}

/* Index of the neighbouring event of the run that `node` (or anything: UINT32_MAX) has; -1: none. */
static int64_t neighbour(const struct scene *s, int64_t ns, int direction, uint32_t node)
{
    int64_t i = scene_event_seek(s, direction > 0 ? ns + 1 : ns);
    if (direction < 0) i--;
    for (; i >= 0 && i < s->n_events; i += direction)
        if (node == UINT32_MAX || of_node(&s->events[i], node)) return i;
    return -1;
}

static int64_t job_neighbour(const struct scene *s, int32_t job, int64_t ns, int direction)
{
    const struct scene_job *j = &s->jobs[job];
    int64_t found = -1;
    for (uint32_t i = 0; i < j->n_events; i++) {
        int64_t t = s->events[s->by_job[j->first_event + i]].time_ns;
        if (direction > 0 && t > ns) return s->by_job[j->first_event + i];
        if (direction < 0 && t < ns) found = s->by_job[j->first_event + i];
    }
    return found;
}

static void gpu_step(struct ui *u, const struct scene *s, int direction)
{
    uint32_t gpu = u->selection.gpu, i = scene_seek(s, SCENE_GPUS, gpu, direction > 0 ? u->cursor_ns + 1 : u->cursor_ns);
    if (direction < 0 ? i == 0 : i >= s->tracks[SCENE_GPUS][gpu].n) {
        ui_say(u, "nothing %s on this GPU", direction > 0 ? "later" : "earlier");
        return;
    }
    const struct scene_span *span = &s->tracks[SCENE_GPUS][gpu].v[direction > 0 ? i : i - 1];
    ui_cursor(u, span->from_ns);
    u->selection.at_ns = span->from_ns;
    ui_say(u, "%s%s%s", show_name(span->show), span->job >= 0 ? " of job " : "", span->job >= 0 ? s->jobs[span->job].id : "");
}

void act_step(struct ui *u, int direction)
{
    if (!u->n_runs) return;
    unsigned run = stepped_run(u);
    const struct scene *s = u->runs[run].scene;
    const struct ui_selection *sel = &u->selection;
    int64_t next = neighbour(s, u->cursor_ns, direction, UINT32_MAX);
    /* among events of one instant, one after the other */
    if (sel->kind == SELECTED_EVENT && sel->run == run && s->events[sel->event].time_ns == u->cursor_ns) next = (int64_t)sel->event + direction;
    if (next < 0 || next >= s->n_events)
        ui_say(u, "%s", !s->has_timeline ? "no events were recorded: run with --record jobs or full" : direction > 0 ? "no event later" : "no event earlier");
    else
        select_event(u, run, (uint32_t)next);
}

void act_next(struct ui *u, int direction)
{
    const struct ui_selection *sel = &u->selection;
    if (sel->kind == SELECTED_NOTHING || sel->kind == SELECTED_EVENT || sel->run >= u->n_runs) {
        act_step(u, direction);
        return;
    }
    const struct scene *s = u->runs[sel->run].scene;
    if (sel->kind == SELECTED_GPU) {
        gpu_step(u, s, direction);
        return;
    }
    int64_t next = sel->kind == SELECTED_JOB ? job_neighbour(s, sel->job, u->cursor_ns, direction)
                                             : neighbour(s, u->cursor_ns, direction, sel->node);
    if (next < 0) {
        ui_say(u, "no event %s of this %s", direction > 0 ? "later" : "earlier", sel->kind == SELECTED_JOB ? "job" : "node");
        return;
    }
    ui_cursor(u, s->events[next].time_ns);
    u->selection.at_ns = u->cursor_ns;
    say_event(u, s, &s->events[next]);
}

/* ---- play ---- */

void act_play(struct ui *u, int unused)
{
    (void)unused;
    u->playing = !u->playing;
    u->private->until_ns = -1;
    if (u->playing && u->cursor_ns >= ui_end(u) && !u->follow) ui_cursor(u, ui_begin(u));
    u->dirty = true;
}

/* The next step of clocks: 30 min/s, 1 h/s, 2 h/s ... */
void act_speed(struct ui *u, int direction)
{
    int64_t now = (int64_t)(u->speed * NS_PER_S), next = time_step(now + 1, 1);
    if (direction < 0) {
        next = now;
        for (int64_t below = now / 2; next >= now && below > 0; below /= 2) next = time_step(below, 1);
    }
    if (next < NS_PER_MS || next > 1000 * NS_PER_DAY) return;
    u->speed = (double)next / NS_PER_S;
    u->dirty = true;
}

static void arrive(struct ui *u)
{
    struct ui_private *p = u->private;
    struct ui_selection to = p->until;
    int64_t at = p->until_ns;
    u->playing = false;
    p->until_ns = -1;
    if (to.kind == SELECTED_EVENT) {
        select_event(u, to.run, to.event);
        return;
    }
    ui_cursor(u, at);
    ui_say(u, "here more jobs wait than asked for");
}

void ui_tick(struct ui *u, double real_seconds)
{
    struct ui_private *p = u->private;
    if (!u->playing || !u->n_runs) return;
    bool until = p->until_ns >= 0;
    double by = (until ? p->until_speed : u->speed) * real_seconds * NS_PER_S, room = (double)(ui_end(u) - u->cursor_ns);
    if (until && by >= (double)(p->until_ns - u->cursor_ns)) {
        arrive(u);
    } else if (by >= room) {
        ui_cursor(u, ui_end(u));
        u->playing = u->follow;
    } else {
        ui_cursor(u, u->cursor_ns + (int64_t)by);
    }
}

/* ---- run until ---- */

static bool is_meant(const struct record *r, enum until what)
{
    if (what == UNTIL_FAILURE) return scene_event_is_failure(r) && r->type != REC_JOB_EVICTED && r->type != REC_ROLLBACK;
    return r->type == REC_JOB_EVICTED && r->code == STOP_PREEMPTED;
}

static int64_t event_after(const struct scene *s, int64_t ns, enum until what)
{
    for (uint32_t i = scene_event_seek(s, ns + 1); i < s->n_events; i++)
        if (is_meant(&s->events[i], what)) return i;
    return -1;
}

/* Of both runs, the one that comes first; where it is told in until and until_ns. */
static bool find_until(struct ui *u, enum until what, double x)
{
    struct ui_private *p = u->private;
    p->until_ns = -1;
    for (unsigned run = 0; run < u->n_runs; run++) {
        const struct scene *s = u->runs[run].scene;
        if (u->n_runs > 1 && u->show != UI_BOTH && run != (u->show == UI_ONLY_B)) continue;
        int64_t event = what == UNTIL_QUEUE ? -1 : event_after(s, u->cursor_ns, what);
        int64_t at = event >= 0 ? s->events[event].time_ns : -1;
        if (what == UNTIL_QUEUE) at = curve_above(u->runs[run].curves, CURVE_QUEUED_JOBS, x, u->cursor_ns + 1);
        if (at < 0 || (p->until_ns >= 0 && p->until_ns <= at)) continue;
        p->until_ns = at;
        p->until = (struct ui_selection){.kind = event >= 0 ? SELECTED_EVENT : SELECTED_NOTHING, .run = run, .job = -1, .at_ns = at};
        if (event >= 0) p->until.event = (uint32_t)event;
    }
    return p->until_ns >= 0;
}

void run_until(struct ui *u, enum until what, double x)
{
    static const char *const names[] = {[UNTIL_FAILURE] = "failure", [UNTIL_PREEMPTION] = "preemption", [UNTIL_QUEUE] = "queue as long"};
    struct ui_private *p = u->private;
    if (!find_until(u, what, x)) {
        struct str at = {0};
        time_text_in(&at, u->cursor_ns, NS_PER_HOUR);
        ui_say(u, "no %s after %s", names[what], str_text(&at));
        str_free(&at);
        return;
    }
    double least = (double)(p->until_ns - u->cursor_ns) / NS_PER_S / UNTIL_SECONDS;
    p->until_speed = u->speed > least ? u->speed : least;
    u->playing = true;
    u->dirty = true;
    if (!u->animate) arrive(u);
}

void act_until(struct ui *u, int what)
{
    run_until(u, (enum until)what, 0);
}
