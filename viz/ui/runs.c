/* runs.c - more runs than two: which of them are A and B, and which are before the views now.
 *
 * Views know u->runs: one run or two. The others wait in `all`, each at its place. What is loaded is taken from there and put back; the pieces that views
 * remember (memos) belong to the pair, or to each run in the grid. A selection goes along: as it is where its run stays, else by the job's id, or the same
 * node or GPU.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "viz/ui/memo.h"
#include "viz/ui/private.h"

/* ---- made and freed ---- */

static void run_make(struct ui_run *r, unsigned place, struct scene *s)
{
    r->place = place;
    r->scene = s;
    for (unsigned k = 0; k < N_SCENE_SETS; k++) r->lod[k] = lod_create(s, k);
    r->curves = curves_create(s);
}

static void run_free(struct ui_run *r)
{
    for (unsigned k = 0; k < N_SCENE_SETS; k++) lod_destroy(r->lod[k]);
    curves_destroy(r->curves);
    memo_free_all(&r->memos);
    free(r->twin);
    free(r->passes);
    free(r->key);
}

static struct memo **memos_of(struct ui *u)
{
    struct ui_private *p = u->private;
    return p->n_all > 1 && u->n_runs == 1 ? &p->all[u->runs[0].place].memos : &p->pair_memos;
}

static void park(struct ui *u)
{
    struct ui_private *p = u->private;
    for (unsigned k = 0; k < u->n_runs; k++) {
        struct memo *memos = p->all[u->runs[k].place].memos;
        p->all[u->runs[k].place] = u->runs[k];
        p->all[u->runs[k].place].memos = memos;
    }
    *memos_of(u) = u->memos;
    u->memos = NULL;
    u->n_runs = 0;
}

/* b < 0: one run. */
static void load(struct ui *u, int a, int b)
{
    park(u);
    if (a >= 0) u->runs[u->n_runs++] = u->private->all[a];
    if (b >= 0) u->runs[u->n_runs++] = u->private->all[b];
    u->memos = *memos_of(u);
}

/* The next run; where that is another replication of the same approach, the same replication of another one. */
static unsigned partner_of_first(struct scene *const *scenes, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        if (scenes[i]->run->replication == scenes[0]->run->replication && strcmp(scenes[i]->run->approach, scenes[0]->run->approach) != 0) return i;
    return n > 1;
}

void runs_make(struct ui *u, struct scene *const *scenes, unsigned n)
{
    struct ui_private *p = u->private;
    for (unsigned i = 0; i < n; i++) run_make(&p->all[i], i, scenes[i]);
    p->n_all = n;
    p->b = partner_of_first(scenes, n);
    load(u, n ? 0 : -1, n > 1 ? (int)p->b : -1);
}

void runs_drop(struct ui *u)
{
    park(u);
    memo_free_all(&u->private->pair_memos);
    for (unsigned i = 0; i < u->private->n_all; i++) run_free(&u->private->all[i]);
}

struct ui_run *runs_at(struct ui *u, unsigned place)
{
    for (unsigned k = 0; k < u->n_runs; k++)
        if (u->runs[k].place == place) return &u->runs[k];
    return &u->private->all[place];
}

unsigned ui_n_runs(const struct ui *u)
{
    return u->private->n_all;
}

const struct scene *ui_scene_at(const struct ui *u, unsigned place)
{
    return place < u->private->n_all ? u->private->all[place].scene : NULL;
}

unsigned ui_n_scaled(const struct ui *u)
{
    return grid_shown(u) ? u->private->n_all : u->n_runs;
}

const struct ui_run *ui_scaled(const struct ui *u, unsigned i)
{
    return grid_shown(u) ? runs_at((struct ui *)u, i) : &u->runs[i];
}

/* ---- what is selected, in another run ---- */

static bool same_node(const struct scene *from, const struct scene *to, uint32_t node)
{
    return node < to->n_nodes && node < from->n_nodes && strcmp(from->nodes[node].name, to->nodes[node].name) == 0;
}

static void selection_move(struct ui *u, struct ui_selection *s, unsigned place)
{
    const struct scene *from = ui_scene_at(u, place);
    const struct ui_selection nothing = {.job = -1, .at_ns = -1};
    for (unsigned k = 0; k < u->n_runs; k++)
        if (u->runs[k].place == place) {
            s->run = k;
            return;
        }
    if (!u->n_runs || !from || s->kind == SELECTED_NOTHING) {
        *s = nothing;
        return;
    }
    const struct scene *to = u->runs[0].scene;
    int32_t job = s->kind == SELECTED_JOB ? s->job : s->kind == SELECTED_EVENT ? from->events[s->event].job : -1;
    s->run = 0;
    if (s->kind == SELECTED_JOB || s->kind == SELECTED_EVENT) {
        s->kind = SELECTED_JOB;
        s->job = job >= 0 ? scene_find_job(to, from->jobs[job].id) : -1;
        if (s->job < 0) *s = nothing;
    } else if (s->kind == SELECTED_NODE ? !same_node(from, to, s->node)
                                        : s->gpu >= to->n_tracks[SCENE_GPUS] || !same_node(from, to, scene_node_of(from, s->gpu))) {
        *s = nothing;
    }
}

/* ---- what views have before them ---- */

static unsigned place_of(const struct ui *u, unsigned run)
{
    return run < u->n_runs ? u->runs[run].place : 0;
}

struct place_selection runs_selection(const struct ui *u)
{
    return (struct place_selection){u->selection, place_of(u, u->selection.run)};
}

void runs_select(struct ui *u, const struct place_selection *s)
{
    u->selection = s->selection;
    selection_move(u, &u->selection, s->place);
}

void runs_sync(struct ui *u)
{
    struct ui_private *p = u->private;
    bool grid = grid_shown(u), two = p->n_all > 1 && !grid;
    unsigned a = grid ? p->focus : p->a;
    if (u->n_runs == 0 || (u->n_runs == (two ? 2U : 1U) && u->runs[0].place == a && (!two || u->runs[1].place == p->b))) return;
    struct place_selection s = runs_selection(u);
    load(u, (int)a, two ? (int)p->b : -1);
    runs_select(u, &s);
    p->until_ns = -1;
    u->playing = false;
    if (u->by_job) u->focus = 0; /* a job's number, of another run */
    pairs_update(u);
    ui_window_quietly(u, u->from_ns, u->to_ns);
}

void runs_lend(struct ui *u, unsigned place, struct lent_run *l)
{
    l->selection = runs_selection(u);
    l->place = place_of(u, 0);
    if (place == l->place) return;
    load(u, (int)place, -1);
    runs_select(u, &l->selection);
}

void runs_return(struct ui *u, const struct lent_run *l)
{
    if (place_of(u, 0) == l->place) return;
    load(u, (int)l->place, -1);
    u->selection = l->selection.selection;
}

void ui_alone(struct ui *u, unsigned place)
{
    load(u, (int)place, -1);
}

void runs_swap(struct ui *u)
{
    struct ui_private *p = u->private;
    unsigned a = p->a;
    p->a = p->b;
    p->b = a;
    if (u->n_runs > 1) memo_free_all(&u->memos); /* kept by A and B */
    else memo_free_all(&p->pair_memos);
    runs_sync(u);
}

void runs_choose(struct ui *u, bool b, unsigned place)
{
    struct ui_private *p = u->private;
    if (place == (b ? p->a : p->b)) {
        runs_swap(u);
        return;
    }
    if (u->n_runs < 2) memo_free_all(&p->pair_memos);
    *(b ? &p->b : &p->a) = place;
}

/* ---- names ---- */

static bool differs(const struct ui *u, const char *(*part)(const struct run *))
{
    for (unsigned i = 1; i < ui_n_runs(u); i++)
        if (strcmp(part(ui_scene_at(u, i)->run), part(ui_scene_at(u, 0)->run)) != 0) return true;
    return false;
}

static const char *scenario_of(const struct run *r) { return r->scenario_name; }
static const char *approach_of(const struct run *r) { return r->approach; }
static const char *back_end_of(const struct run *r) { return r->back_end; }

static bool replications_differ(const struct ui *u)
{
    for (unsigned i = 1; i < ui_n_runs(u); i++)
        if (ui_scene_at(u, i)->run->replication != ui_scene_at(u, 0)->run->replication) return true;
    return false;
}

void ui_run_name(const struct ui *u, unsigned place, struct str *to)
{
    const struct run *r = ui_scene_at(u, place)->run;
    const char *between = "";
    if (differs(u, scenario_of)) str_printf(to, "%s", r->scenario_name), between = ", ";
    if (differs(u, approach_of)) str_printf(to, "%s%s", between, r->approach), between = ", ";
    if (replications_differ(u)) str_printf(to, "%sreplication %u", between, r->replication), between = ", ";
    if (differs(u, back_end_of)) str_printf(to, "%son %s", between, r->back_end), between = ", ";
    if (!*between) str_append(to, ui_scene_at(u, place)->title);
}
