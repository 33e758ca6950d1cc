/* details.c - what is known of the selection, in lines; of the runs, when nothing is selected.
 *
 * The lines are made anew each time, from the scene; the picture, the dump and the links read the same ones.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "viz/ui/details_lines.h"

enum { MOST_LINKS = 8, MOST_EVENTS = 8 };

/* ---- a job ---- */

/* The job in each run; NULL where it is not. `first`: the run that was picked. */
struct both {
    const struct scene *scene[UI_MAX_RUNS];
    const struct scene_job *job[UI_MAX_RUNS];
    int32_t number[UI_MAX_RUNS];
    unsigned n;
};

static struct both both_of(const struct ui *u)
{
    struct both b = {.n = u->n_runs};
    for (unsigned i = 0; i < u->n_runs; i++) {
        b.scene[i] = u->runs[i].scene;
        b.number[i] = ui_selected_job(u, i);
        b.job[i] = b.number[i] >= 0 ? &b.scene[i]->jobs[b.number[i]] : NULL;
    }
    return b;
}

typedef const char *job_value(struct details *, const struct scene *, const struct scene_job *);

static void job_row(struct details *d, const struct both *b, const char *label, job_value *value)
{
    struct detail *l = line(d, DETAIL_ROW, label);
    l->value = b->job[0] ? value(d, b->scene[0], b->job[0]) : "-";
    if (b->n > 1) l->other = b->job[1] ? value(d, b->scene[1], b->job[1]) : "-";
}

#define VALUE(name, ...)                                                                              \
    static const char *name(struct details *d, const struct scene *s, const struct scene_job *j)      \
    {                                                                                                 \
        (void)d, (void)s, (void)j;                                                                    \
        return __VA_ARGS__;                                                                           \
    }

static int64_t ns_between(int64_t from, int64_t to)
{
    return from >= 0 && to >= 0 ? to - from : -1;
}

VALUE(of_state, words(d, job_state_names[j->state]))
VALUE(of_submit, moment(d, j->submit_ns))
VALUE(of_admitted, moment(d, j->admitted_ns))
VALUE(of_allocated, moment(d, j->allocated_ns))
VALUE(of_started, moment(d, j->started_ns))
VALUE(of_finished, moment(d, j->finished_ns))
VALUE(of_wait, length(d, ns_between(j->submit_ns, j->started_ns >= 0 ? j->started_ns : j->finished_ns >= 0 ? j->finished_ns : s->end_ns)))
VALUE(of_jct, length(d, ns_between(j->submit_ns, j->finished_ns)))
VALUE(of_restarts, count(d, j->restarts))
VALUE(of_preemptions, count(d, j->preemptions))
VALUE(of_failures, count(d, j->failures))
VALUE(of_checkpoints, count(d, j->checkpoints))
VALUE(of_rollbacks, count(d, j->rollbacks))
VALUE(of_work, j->row ? gpu_time(d, j->row->work) : "-")
VALUE(of_redone, j->row ? gpu_time(d, j->row->redone) : "-")
VALUE(of_held, j->row ? gpu_time(d, j->row->held) : "-")

static void job_facts(struct details *d, const struct both *b, const struct scene_job *j)
{
    line(d, DETAIL_ROW, "GPUs")->value = gpus(d, j->gpu_shares);
    if (*j->team) line(d, DETAIL_ROW, "team")->value = j->team;
    if (*j->queue) line(d, DETAIL_ROW, "queue")->value = j->queue;
    line(d, DETAIL_ROW, "kind")->value = j->kind;
    if (b->n > 1) {
        struct detail *l = line(d, DETAIL_ROW, "");
        l->value = "A";
        l->other = "B";
    }
    job_row(d, b, "state", of_state);
    job_row(d, b, "submitted", of_submit);
    job_row(d, b, "admitted", of_admitted);
    job_row(d, b, "allocated", of_allocated);
    job_row(d, b, "started", of_started);
    job_row(d, b, "finished", of_finished);
    job_row(d, b, "waited to start", of_wait);
    job_row(d, b, "submit to finish", of_jct);
    job_row(d, b, "restarts", of_restarts);
    job_row(d, b, "preemptions", of_preemptions);
    job_row(d, b, "failures", of_failures);
    job_row(d, b, "checkpoints", of_checkpoints);
    job_row(d, b, "roll-backs", of_rollbacks);
    job_row(d, b, "work", of_work);
    job_row(d, b, "redone", of_redone);
    job_row(d, b, "held idle", of_held);
}

static void job_difference(const struct ui *u, struct details *d, const struct both *b)
{
    if (b->n < 2 || !b->job[0] || !b->job[1]) return;
    static const char *const what[] = {"starts", "finishes"};
    int64_t a[] = {b->job[0]->started_ns, b->job[0]->finished_ns}, z[] = {b->job[1]->started_ns, b->job[1]->finished_ns};
    for (unsigned i = 0; i < 2; i++) {
        if (a[i] < 0 || z[i] < 0 || a[i] == z[i]) continue;
        bool later = z[i] > a[i];
        struct str s = {0};
        str_printf(&s, "B %s ", what[i]);
        time_length(&s, later ? z[i] - a[i] : a[i] - z[i]);
        str_printf(&s, " %s %s", later ? "later" : "earlier", later ? "▼" : "▲");
        struct detail *l = line(d, DETAIL_TEXT, kept(d, &s));
        l->argb = u->theme.role[later ? ROLE_LATER : ROLE_EARLIER];
    }
}

/* Sums of waits by reason: of jobs.csv when the job has ended, else of its spans. */
static void waits_of(const struct scene *s, int32_t number, int64_t sum[N_WAIT_REASONS])
{
    memset(sum, 0, N_WAIT_REASONS * sizeof *sum);
    if (number < 0) return;
    const struct scene_job *j = &s->jobs[number];
    if (j->row && j->row->wait_ns) memcpy(sum, j->row->wait_ns, N_WAIT_REASONS * sizeof *sum);
    if ((j->row && j->row->wait_ns) || (uint32_t)number >= s->n_tracks[SCENE_JOBS]) return;
    const struct scene_track *t = &s->tracks[SCENE_JOBS][number];
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i].show >= SHOW_WAIT) sum[t->v[i].show - SHOW_WAIT] += scene_to(s, &t->v[i]) - t->v[i].from_ns;
}

/* Longest first, by the sum over both runs. */
static void job_waits(const struct ui *u, struct details *d, const struct both *b)
{
    int64_t sum[UI_MAX_RUNS][N_WAIT_REASONS] = {{0}};
    bool done[N_WAIT_REASONS] = {false};
    for (unsigned i = 0; i < b->n; i++) waits_of(b->scene[i], b->number[i], sum[i]);
    line(d, DETAIL_HEADING, "Why it waited");
    for (;;) {
        unsigned best = N_WAIT_REASONS;
        for (unsigned r = 0; r < N_WAIT_REASONS; r++)
            if (!done[r] && sum[0][r] + sum[1][r] > 0 && (best == N_WAIT_REASONS || sum[0][r] + sum[1][r] > sum[0][best] + sum[1][best])) best = r;
        if (best == N_WAIT_REASONS) break;
        done[best] = true;
        struct detail *l = line(d, DETAIL_ROW, words(d, wait_table[best].name));
        swatch(u, l, SHOW_WAIT + best);
        l->value = length(d, sum[0][best]);
        if (b->n > 1) l->other = length(d, sum[1][best]);
    }
    if (d->lines.v[d->lines.n - 1].kind == DETAIL_HEADING) line(d, DETAIL_TEXT, "it never waited");
}

static void job_blockers(struct ui *u, struct details *d, const struct both *b, unsigned run)
{
    const struct scene *s = b->scene[run];
    unsigned n = 0;
    if (b->number[run] < 0 || (uint32_t)b->number[run] >= s->n_tracks[SCENE_JOBS]) return;
    const struct scene_track *t = &s->tracks[SCENE_JOBS][b->number[run]];
    for (uint32_t i = 0; i < t->n && n < MOST_LINKS; i++) {
        if (t->v[i].show < SHOW_WAIT) continue;
        int64_t to = scene_to(s, &t->v[i]);
        int32_t by = scene_blocker(s, b->number[run], to);
        if (by < 0) continue;
        if (n++ == 0) line(d, DETAIL_HEADING, u->n_runs > 1 ? run ? "Who ended its waits in B" : "Who ended its waits in A" : "Who ended its waits");
        struct str label = {0}, value = {0};
        words_name(&label, wait_table[t->v[i].show - SHOW_WAIT].name);
        str_append(&label, " until ");
        time_text(&label, to - to % NS_PER_S, NS_PER_S);
        str_printf(&value, "%s →", s->jobs[by].id);
        struct detail *l = line(d, DETAIL_ROW, kept(d, &label));
        *l = (struct detail){.kind = DETAIL_ROW, .label = l->label, .value = kept(d, &value), .link_job = by, .link_run = run, .link_ns = to};
    }
}

/* Where its GPUs are: of the last allocation, or at the cursor while it runs. */
struct places {
    uint32_t nodes, racks, last_rack;
    struct str names;
};

static void place(struct places *p, const struct scene *s, uint32_t node)
{
    if (p->nodes == 0 || s->nodes[node].rack != p->last_rack) p->racks++;
    p->last_rack = s->nodes[node].rack;
    if (p->nodes++ < 4) str_printf(&p->names, "%s%s", p->names.n ? ", " : "", s->nodes[node].name);
}

static void places_now(struct places *p, const struct ui *u, const struct scene *s, int32_t job)
{
    for (uint32_t n = 0; n < s->n_nodes; n++)
        for (uint32_t g = 0; g < s->nodes[n].n_gpus; g++) {
            uint32_t track = s->nodes[n].first_gpu + g;
            const struct scene_span *span = track < s->n_tracks[SCENE_GPUS] ? scene_at(s, SCENE_GPUS, track, u->cursor_ns) : NULL;
            if (!span || span->job != job) continue;
            place(p, s, n);
            break;
        }
}

static void job_places(const struct ui *u, struct details *d, const struct both *b, unsigned run)
{
    const struct scene *s = b->scene[run];
    struct places p = {0};
    if (!b->job[run]) return;
    const struct job_row *row = b->job[run]->row;
    for (unsigned i = 0; row && i < row->n_nodes; i++)
        for (uint32_t n = row->nodes[i].first; n <= row->nodes[i].last && n < s->n_nodes; n++) place(&p, s, n);
    if (!row) places_now(&p, u, s, b->number[run]);
    if (p.nodes) {
        line(d, DETAIL_HEADING, u->n_runs > 1 ? run ? "Where in B" : "Where in A" : "Where");
        struct str text = {0};
        str_printf(&text, "%u node%s in %u rack%s", p.nodes, p.nodes == 1 ? "" : "s", p.racks, p.racks == 1 ? "" : "s");
        line(d, DETAIL_TEXT, kept(d, &text));
        if (p.nodes > 4) str_printf(&p.names, ", and %u more", p.nodes - 4);
        line(d, DETAIL_TEXT, str_text(&p.names));
    }
    str_free(&p.names);
}

static void details_job(struct ui *u, struct details *d)
{
    struct both b = both_of(u);
    const struct scene_job *j = b.job[0] ? b.job[0] : b.job[1];
    if (!j) return;
    struct str title = {0};
    str_printf(&title, "Job %s", j->id);
    line(d, DETAIL_TITLE, kept(d, &title));
    if (b.n > 1 && (!b.job[0] || !b.job[1])) line(d, DETAIL_TEXT, b.job[0] ? "not a job of B" : "not a job of A");
    job_difference(u, d, &b);
    job_facts(d, &b, j);
    job_waits(u, d, &b);
    for (unsigned i = 0; i < b.n; i++) job_blockers(u, d, &b, i);
    for (unsigned i = 0; i < b.n; i++) job_places(u, d, &b, i);
}

/* ---- nodes, GPUs, events ---- */

static void link_job(struct details *d, const struct scene *s, unsigned run, const char *label, int32_t job, int64_t ns)
{
    struct str value = {0};
    if (job < 0) return;
    str_printf(&value, "%s →", s->jobs[job].id);
    struct detail *l = line(d, DETAIL_ROW, label);
    *l = (struct detail){.kind = DETAIL_ROW, .label = l->label, .value = kept(d, &value), .link_job = job, .link_run = run, .link_ns = ns};
}

static void event_line(struct details *d, const struct scene *s, const struct record *r)
{
    struct str text = {0};
    time_text(&text, r->time_ns - r->time_ns % NS_PER_S, NS_PER_S);
    str_append(&text, "  ");
    scene_event_text(s, r, &text);
    line(d, DETAIL_TEXT, kept(d, &text));
}

static void node_down(struct details *d, const struct scene *s, const struct scene_node *n)
{
    int64_t down = 0, times = 0;
    if (n->first_gpu >= s->n_tracks[SCENE_GPUS]) return;
    const struct scene_track *t = &s->tracks[SCENE_GPUS][n->first_gpu];
    for (uint32_t i = 0; i < t->n; i++) {
        if (show_class(t->v[i].show) != CLASS_DOWN) continue;
        times += i == 0 || show_class(t->v[i - 1].show) != CLASS_DOWN || t->v[i - 1].to_ns != t->v[i].from_ns;
        down += scene_to(s, &t->v[i]) - t->v[i].from_ns;
    }
    line(d, DETAIL_ROW, "times down")->value = count(d, times);
    line(d, DETAIL_ROW, "down in all")->value = length(d, down);
    line(d, DETAIL_ROW, "GPU time lost by it")->value = gpu_time(d, (share_ns)down * MILLI_PER_UNIT * n->n_gpus);
}

static void node_jobs(struct ui *u, struct details *d, const struct scene *s, unsigned run, const struct scene_node *n)
{
    int32_t last = -1;
    line(d, DETAIL_HEADING, "Jobs at the cursor");
    for (uint32_t g = 0; g < n->n_gpus && n->first_gpu + g < s->n_tracks[SCENE_GPUS]; g++) {
        const struct scene_span *span = scene_at(s, SCENE_GPUS, n->first_gpu + g, u->cursor_ns);
        if (!span || span->job == last) continue;
        last = span->job;
        link_job(d, s, run, words(d, show_name(span->show)), last, u->cursor_ns);
    }
    if (d->lines.v[d->lines.n - 1].kind == DETAIL_HEADING) line(d, DETAIL_TEXT, "none");
}

static void node_events(struct details *d, const struct scene *s, uint32_t node)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < s->n_events && n < MOST_EVENTS; i++) {
        const struct record *r = &s->events[i];
        if (r->type != REC_NODE_STATE || r->subject != node) continue;
        if (n++ == 0) line(d, DETAIL_HEADING, "What happened to it");
        event_line(d, s, r);
    }
}

static void details_node(struct ui *u, struct details *d, unsigned run, uint32_t node)
{
    const struct scene *s = u->runs[run].scene;
    const struct scene_node *n = &s->nodes[node];
    struct str title = {0};
    str_printf(&title, "Node %s", n->name);
    line(d, DETAIL_TITLE, kept(d, &title));
    line(d, DETAIL_ROW, "group")->value = n->group;
    line(d, DETAIL_ROW, "rack")->value = s->racks[n->rack].name;
    line(d, DETAIL_ROW, "block")->value = s->racks[n->rack].block;
    line(d, DETAIL_ROW, "GPUs")->value = count(d, n->n_gpus);
    node_down(d, s, n);
    node_jobs(u, d, s, run, n);
    node_events(d, s, node);
}

static void details_gpu(struct ui *u, struct details *d, unsigned run, uint32_t gpu)
{
    const struct scene *s = u->runs[run].scene;
    const struct scene_node *n = &s->nodes[scene_node_of(s, gpu)];
    int64_t at = u->selection.at_ns >= 0 ? u->selection.at_ns : u->cursor_ns;
    const struct scene_span *span = gpu < s->n_tracks[SCENE_GPUS] ? scene_at(s, SCENE_GPUS, gpu, at) : NULL;
    struct str title = {0};
    str_printf(&title, "GPU %u of %s", gpu - n->first_gpu, n->name);
    line(d, DETAIL_TITLE, kept(d, &title));
    line(d, DETAIL_ROW, "rack")->value = s->racks[n->rack].name;
    line(d, DETAIL_ROW, "at")->value = moment(d, at);
    if (!span) {
        line(d, DETAIL_TEXT, "nobody holds it then");
        return;
    }
    struct detail *l = line(d, DETAIL_ROW, "state");
    l->value = words(d, show_name(span->show));
    swatch(u, l, span->show);
    line(d, DETAIL_TEXT, show_help(span->show));
    line(d, DETAIL_ROW, "from")->value = moment(d, span->from_ns);
    line(d, DETAIL_ROW, "to")->value = span->to_ns == OPEN_END ? "still" : moment(d, span->to_ns);
    line(d, DETAIL_ROW, "for")->value = length(d, scene_to(s, span) - span->from_ns);
    line(d, DETAIL_ROW, "attempt")->value = words(d, cause_table[span->cause].name);
    line(d, DETAIL_ROW, "share of the GPU")->value = gpus(d, span->shares);
    link_job(d, s, run, "job", span->job, at);
}

static void details_event(struct ui *u, struct details *d, unsigned run, uint32_t event)
{
    const struct scene *s = u->runs[run].scene;
    const struct record *r = &s->events[event];
    struct str text = {0}, at = {0};
    line(d, DETAIL_TITLE, "Event");
    scene_event_text(s, r, &text);
    line(d, DETAIL_TEXT, kept(d, &text));
    time_text_in(&at, r->time_ns, NS_PER_MINUTE);
    line(d, DETAIL_ROW, "at")->value = kept(d, &at);
    line(d, DETAIL_ROW, "kind")->value = words(d, record_table[r->type].name);
    link_job(d, s, run, "job", r->job, r->time_ns);
    int32_t by = s->blockers[event] != NO_JOB ? s->blockers[event] : scene_blocker(s, r->job, r->time_ns);
    link_job(d, s, run, "because of", by, r->time_ns);
}

/* ---- the runs ---- */

static void note_lines(struct ui *u, struct details *d, const char *notes)
{
    while (*notes) {
        size_t n = strcspn(notes, "\n");
        if (n) line(d, DETAIL_TEXT, arena_strndup(&d->arena, notes, n))->argb = u->theme.role[ROLE_WARNING];
        notes += n + (notes[n] == '\n');
    }
}

static void details_run(struct ui *u, struct details *d, unsigned run)
{
    const struct scene *s = u->runs[run].scene;
    uint32_t by_state[N_JOB_STATES] = {0};
    struct str title = {0};
    if (u->n_runs > 1) str_printf(&title, "%c  ", 'A' + run);
    str_append(&title, *s->run->approach ? s->run->approach : s->run->scenario_name);
    line(d, DETAIL_TITLE, kept(d, &title));
    if (s->notes) note_lines(u, d, s->notes);
    line(d, DETAIL_ROW, "scenario")->value = s->run->scenario_name;
    line(d, DETAIL_ROW, "back end")->value = s->run->back_end;
    line(d, DETAIL_ROW, "seed")->value = count(d, (int64_t)s->run->seed);
    line(d, DETAIL_ROW, "replication")->value = count(d, s->run->replication);
    line(d, DETAIL_ROW, "state")->value = run_state_names[s->run->state];
    line(d, DETAIL_ROW, s->growing ? "so far" : "ends after")->value = length(d, s->end_ns);
    line(d, DETAIL_ROW, "GPUs")->value = gpus(d, s->total_shares);
    line(d, DETAIL_ROW, "nodes")->value = count(d, s->n_nodes);
    line(d, DETAIL_ROW, "jobs")->value = count(d, s->n_jobs);
    for (uint32_t j = 0; j < s->n_jobs; j++) by_state[s->jobs[j].state]++;
    for (unsigned i = 0; i < N_JOB_STATES; i++)
        if (by_state[i]) line(d, DETAIL_ROW, words(d, job_state_names[i]))->value = count(d, by_state[i]);
}

/* ---- all ---- */

void details_build(struct ui *u, struct details *d)
{
    const struct ui_selection *sel = &u->selection;
    details_range(u, d);
    if (sel->run >= u->n_runs) return;
    switch (sel->kind) {
    case SELECTED_JOB: details_job(u, d); break;
    case SELECTED_NODE: details_node(u, d, sel->run, sel->node); break;
    case SELECTED_GPU: details_gpu(u, d, sel->run, sel->gpu); break;
    case SELECTED_EVENT: details_event(u, d, sel->run, sel->event); break;
    case SELECTED_NOTHING:
        if (u->private->differ) line(d, DETAIL_TEXT, u->private->differ)->argb = u->theme.role[ROLE_WARNING];
        for (unsigned i = 0; i < u->n_runs; i++) details_run(u, d, i);
    }
}

void details_free(struct details *d)
{
    array_free(&d->lines);
    arena_free(&d->arena);
}

unsigned details_links(struct ui *u)
{
    struct details d = {0};
    unsigned n = 0;
    details_build(u, &d);
    for (size_t i = 0; i < d.lines.n; i++) n += d.lines.v[i].link_job >= 0;
    details_free(&d);
    return n;
}

void details_follow(struct ui *u, unsigned link)
{
    struct details d = {0};
    details_build(u, &d);
    for (size_t i = 0; i < d.lines.n; i++) {
        const struct detail *l = &d.lines.v[i];
        if (l->link_job < 0 || link-- > 0) continue;
        select_job(u, l->link_run, l->link_job, l->link_ns);
        ui_cursor(u, l->link_ns);
        break;
    }
    details_free(&d);
}
