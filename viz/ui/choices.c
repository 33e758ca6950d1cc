/* choices.c - what is selected and how it is shown: view, colours, runs, matches, links, Esc.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#include "viz/ui/private.h"

/* ---- selection ---- */

void select_job(struct ui *u, unsigned run, int32_t job, int64_t at_ns)
{
    const struct scene_job *j = &u->runs[run].scene->jobs[job];
    struct ui_selection to = {.kind = SELECTED_JOB, .run = run, .job = job, .at_ns = at_ns};
    ui_select(u, &to);
    if (at_ns < 0) ui_cursor(u, j->started_ns >= 0 ? j->started_ns : j->submit_ns);
}

void act_match(struct ui *u, int direction)
{
    if (!u->n_runs) return;
    unsigned run = u->selection.kind == SELECTED_JOB ? u->selection.run : 0;
    int64_t n = u->runs[run].scene->n_jobs, at = u->selection.kind == SELECTED_JOB ? u->selection.job : direction > 0 ? -1 : n;
    if (!u->filter) {
        ui_say(u, "no search yet: / opens one");
        return;
    }
    for (int64_t k = 1; k <= n; k++) {
        int64_t j = (at + direction * k % n + 2 * n) % n;
        if (!u->runs[run].passes[j]) continue;
        select_job(u, run, (int32_t)j, -1);
        return;
    }
    ui_say(u, "no job matches %s", u->filter_text);
}

/* The wait at the cursor, or the last one before it that somebody's release ended. */
static int32_t blocker_at_cursor(const struct ui *u, unsigned run, int32_t job)
{
    const struct scene *s = u->runs[run].scene;
    if ((uint32_t)job >= s->n_tracks[SCENE_JOBS]) return -1;
    const struct scene_track *t = &s->tracks[SCENE_JOBS][job];
    uint32_t i = scene_seek(s, SCENE_JOBS, (uint32_t)job, u->cursor_ns + 1);
    while (i-- > 0) {
        int32_t by = t->v[i].show >= SHOW_WAIT ? scene_blocker(s, job, scene_to(s, &t->v[i])) : -1;
        if (by >= 0) return by;
    }
    return -1;
}

/* The job that a selected GPU or node serves at the picked moment, or that an event is about. */
static int32_t job_of_selection(const struct ui *u)
{
    const struct ui_selection *sel = &u->selection;
    const struct scene *s = u->runs[sel->run].scene;
    int64_t at = sel->at_ns >= 0 ? sel->at_ns : u->cursor_ns;
    if (sel->kind == SELECTED_EVENT) return s->events[sel->event].job;
    uint32_t gpu = sel->kind == SELECTED_NODE ? s->nodes[sel->node].first_gpu : sel->gpu;
    const struct scene_span *span = gpu < s->n_tracks[SCENE_GPUS] ? scene_at(s, SCENE_GPUS, gpu, at) : NULL;
    return span ? span->job : -1;
}

static void follow(struct ui *u)
{
    const struct ui_selection sel = u->selection;
    if (sel.kind == SELECTED_NOTHING || sel.run >= u->n_runs) {
        ui_say(u, "nothing is selected: click, or search with / and press Enter");
        return;
    }
    int32_t job = sel.kind == SELECTED_JOB ? blocker_at_cursor(u, sel.run, sel.job) : job_of_selection(u);
    if (job >= 0) {
        select_job(u, sel.run, job, u->cursor_ns);
        ui_say(u, sel.kind == SELECTED_JOB ? "job %s ended that wait" : "job %s", u->runs[sel.run].scene->jobs[job].id);
    } else if (sel.kind == SELECTED_JOB) {
        ui_say(u, "no job is known to have ended a wait of this one");
        ui_view(u, "job");
    } else {
        ui_say(u, "no job is there");
    }
}

void act_enter(struct ui *u, int unused)
{
    (void)unused;
    struct ui_private *p = u->private;
    switch (p->area) {
    case AREA_DETAILS: details_follow(u, p->item); break;
    case AREA_LEGEND: legend_isolate(u, p->item); break;
    case AREA_TABS: act_view(u, (int)p->item); break;
    default: follow(u);
    }
    u->dirty = true;
}

/* One thing a key, the nearest first. */
void act_clear(struct ui *u, int unused)
{
    (void)unused;
    struct ui_private *p = u->private;
    char *err = NULL;
    u->dirty = true;
    if (u->help)
        u->help = false;
    else if (u->playing)
        u->playing = false;
    else if (p->area != AREA_BODY)
        p->area = AREA_BODY;
    else if (u->mark_from_ns >= 0 || u->anchor_ns >= 0)
        range_clear(u);
    else if (u->selection.kind != SELECTED_NOTHING)
        ui_select(u, &(struct ui_selection){.job = -1, .at_ns = -1});
    else if (u->isolated)
        u->isolated = 0;
    else if (u->filter)
        ui_filter(u, "", &err);
    free(err);
}

/* ---- how it is shown ---- */

void act_view(struct ui *u, int index)
{
    if ((unsigned)index < n_view_kinds)
        ui_view(u, view_kinds[index]->name);
    else
        ui_say(u, "there are %u views", n_view_kinds);
}

void act_by_job(struct ui *u, int unused)
{
    (void)unused;
    history_note(u);
    u->by_job = !u->by_job;
    u->isolated = 0;
    u->dirty = true;
}

void act_colour(struct ui *u, int unused)
{
    (void)unused;
    static const char *const names[N_COLOUR_BY] = {"state", "job", "queue", "team"};
    u->colour_by = (u->colour_by + 1) % N_COLOUR_BY;
    u->isolated = 0;
    colours_update(u);
    ui_say(u, "coloured by %s", names[u->colour_by]);
}

void act_legend(struct ui *u, int unused)
{
    (void)unused;
    legend_list l = {0};
    size_t next = 0;
    legend_entries(u, &l);
    for (size_t i = 0; i < l.n; i++)
        if (l.v[i].key + 1 == u->isolated) next = i + 1;
    u->isolated = next < l.n ? l.v[next].key + 1 : 0;
    if (next < l.n) ui_say(u, "only %s", l.v[next].name);
    array_free(&l);
    u->dirty = true;
}

void act_swap(struct ui *u, int unused)
{
    (void)unused;
    if (ui_n_runs(u) < 2) {
        ui_say(u, "there is one run only: give two to compare them");
        return;
    }
    runs_swap(u);
    u->dirty = true;
}

void act_both(struct ui *u, int unused)
{
    (void)unused;
    static const char *const names[N_UI_SHOW] = {"A and B", "only A", "only B"};
    if (u->n_runs < 2) {
        ui_say(u, grid_shown(u) ? "O shows A over B" : "there is one run only: give two to compare them");
        return;
    }
    history_note(u);
    u->show = (u->show + 1) % N_UI_SHOW;
    ui_say(u, "%s", names[u->show]);
}

void act_details(struct ui *u, int unused)
{
    (void)unused;
    u->details = !u->details;
    u->dirty = true;
}

void act_font(struct ui *u, int direction)
{
    float scale = u->font_scale + 0.125f * (float)direction;
    if (scale < 0.75f || scale > 3) return;
    ui_theme_set(u, u->theme_index, scale);
}

void act_theme(struct ui *u, int unused)
{
    (void)unused;
    ui_theme_set(u, (u->theme_index + 1) % N_THEMES, u->font_scale);
    ui_say(u, "theme %s", theme_names[u->theme_index]);
}

void act_help(struct ui *u, int unused)
{
    (void)unused;
    u->help = !u->help;
    u->private->help_page = 0;
    u->dirty = true;
}

void act_quit(struct ui *u, int unused)
{
    (void)unused;
    u->quit = true;
}
