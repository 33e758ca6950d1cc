/* job_pods.c - the pods and actors of a job: who is alike at the cursor, on which nodes, and what they went through.
 *
 * A row a group; unfolded, a row a member below it. Strips share the time scale of the job's life.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "input/kinds.h"
#include "viz/ui/memo.h"
#include "viz/views/job_page.h"
#include "viz/views/slots.h"
#include "viz/views/widgets.h"

enum { INTERVALS_SHOWN = 3, INTERVALS_DUMPED = 1000 };

/* ---- kept between draws ---- */

struct kept { bool made, grouped; struct job_crew crew; };

static void release(void *p)
{
    struct kept *k = p;
    if (k->grouped) member_groups_free(&k->crew.groups);
    if (k->made) job_members_free(&k->crew.members);
}

const struct job_crew *job_crew(struct ui *u, unsigned run, const struct job_facts *f, bool actors)
{
    static const char *const names[UI_MAX_RUNS][2] = {{"pods of A", "actors of A"}, {"pods of B", "actors of B"}};
    struct kept *k = memo_get(&u->memos, names[run][actors], (uint64_t)f->number << 32 | (uint32_t)f->scene->version, sizeof *k, release);
    bool inside = u->cursor_ns >= f->from_ns && u->cursor_ns <= f->to_ns;
    int64_t at = inside ? u->cursor_ns : f->to_ns;
    if (!k->made) job_members_make(&k->crew.members, f->scene, f->number, actors);
    k->made = true;
    if (k->grouped && k->crew.at_ns == at) return &k->crew;
    if (k->grouped) member_groups_free(&k->crew.groups);
    member_groups_make(&k->crew.groups, &k->crew.members, at, f->from_ns, f->to_ns);
    k->crew.at_ns = at;
    k->grouped = true;
    return &k->crew;
}

/* ---- strips ---- */

static float strip_height(const struct job_column *c, bool group)
{
    return roundf(c->page->ui->theme.font_size * (group ? 1.0f : 0.67f));
}

/* Where the cursor stands on a strip. */
static void cursor_mark(struct job_column *c, float h)
{
    const struct ui *u = c->page->ui;
    if (u->cursor_ns < c->facts->from_ns || u->cursor_ns > c->facts->to_ns) return;
    float x = floorf(job_x_of(c, u->cursor_ns)) + 0.5f;
    draw_line(c->d, (struct point){x, c->y}, (struct point){x, c->y + h}, u->theme.role[ROLE_CURSOR], 1);
}

static void member_strip(struct job_column *c, const struct job_members *m, const struct job_member *x)
{
    const struct theme *t = &c->page->ui->theme;
    float h = strip_height(c, false);
    if (!job_visible(c, h)) return;
    draw_rect(c->d, (struct box){c->x, c->y, c->w, h}, ROLE_PANEL);
    for (uint32_t i = 0; i < x->n; i++) {
        const struct member_state *s = &m->states[x->first + i];
        unsigned show = member_show(m->actors, s->state);
        int64_t to = i + 1 < x->n ? s[1].from_ns : c->facts->to_ns;
        if (show == SHOW_NOTHING || s->from_ns >= c->facts->to_ns || to <= s->from_ns) continue;
        float x0 = floorf(job_x_of(c, s->from_ns)), x1 = floorf(job_x_of(c, to));
        struct look look = theme_look(t, show);
        draw_fill(c->d, (struct box){x0, c->y, fmaxf(1, x1 - x0), h}, look.argb, x1 - x0 >= 4 ? look.pattern : PATTERN_SOLID);
    }
    cursor_mark(c, h);
}

/* One column of pixels, from the bottom up: as much of each state as there was of it; what is ill at least one pixel. */
static void paint_column(const struct job_column *c, bool actors, const float *bin, float members, uint32_t *px, int stride, int h)
{
    int y = h;
    float carried = 0;
    for (int ill = 1; ill >= 0; ill--)
        for (unsigned s = 0; s < N_MEMBER_STATES; s++) {
            unsigned show = member_show(actors, s);
            if (bin[s] <= 0 || show == SHOW_NOTHING || member_is_ill(actors, s) != (ill == 1)) continue;
            float want = bin[s] / members * (float)h + carried;
            int n = (int)roundf(want);
            if (n < 1 && ill) n = 1;
            carried = want - (float)n;
            for (; n > 0 && y > 0; n--) px[--y * stride] = theme_look(&c->page->ui->theme, show).argb;
        }
}

static void group_strip(struct job_column *c, const struct job_crew *crew, const struct member_group *g)
{
    float h = strip_height(c, true), x0 = roundf(job_x_of(c, c->facts->from_ns)), x1 = roundf(job_x_of(c, c->facts->to_ns));
    struct box b = {x0, c->y, fmaxf(1, x1 - x0), h};
    if (!job_visible(c, h)) return;
    draw_rect(c->d, (struct box){c->x, c->y, c->w, h}, ROLE_PANEL);
    uint32_t *px = draw_raster(c->d, b);
    int w = (int)b.w;
    for (int x = 0; px && x < w; x++)
        paint_column(c, crew->members.actors, g->bins + (int64_t)x * MEMBER_BINS / w * N_MEMBER_STATES, (float)g->n, px + x, w, (int)h);
    cursor_mark(c, h);
}

/* ---- rows ---- */

/* In parts of the table's width. */
static const struct { float x, w; } cols[] = {{0.0f, 0.36f}, {0.36f, 0.12f}, {0.5f, 0.18f}, {0.69f, 0.18f}, {0.88f, 0.12f}};
enum { COL_NAME, COL_COUNT, COL_STATE, COL_NODE, COL_RESTARTS };

static void cell(struct job_column *c, int col, enum role role, enum align align, const char *text)
{
    job_cell(c, cols[col].x * c->table, cols[col].w * c->table - 4, FACE_SANS, role, align, text);
}

static void state_cell(struct job_column *c, bool actors, const struct member_now *now)
{
    const struct ui *u = c->page->ui;
    unsigned show = member_show(actors, now->state);
    float swatch = u->theme.font_size * 0.9f, x = cols[COL_STATE].x * c->table;
    struct str s = {0};
    float in = show != SHOW_NOTHING ? swatch * 1.5f : 0;
    if (show != SHOW_NOTHING && job_visible(c, u->theme.line)) {
        struct look look = theme_look(&u->theme, show);
        draw_fill(c->d, (struct box){c->x + x, c->y + (u->theme.line - swatch) / 2, swatch, swatch}, look.argb, look.pattern);
    }
    str_append(&s, member_state_name(actors, now->state));
    if (now->exit_code >= 0) str_printf(&s, ", code %lld", (long long)now->exit_code);
    job_cell(c, x + in, cols[COL_STATE].w * c->table - in, FACE_SANS, member_is_ill(actors, now->state) ? ROLE_FAILURE : ROLE_TEXT, ALIGN_LEFT, str_text(&s));
    str_free(&s);
}

static void restarts_cell(struct job_column *c, int64_t n)
{
    struct str s = {0};
    if (n) units_format_count(&s, n);
    cell(c, COL_RESTARTS, ROLE_TEXT, ALIGN_RIGHT, str_text(&s));
    str_free(&s);
}

static const char *node_name(const struct job_column *c, uint32_t node)
{
    const struct scene *s = c->facts->scene;
    return node < s->n_nodes ? s->nodes[node].name : "";
}

static void node_cell(struct job_column *c, const struct member_group *g)
{
    struct str s = {0};
    if (g->n_nodes == 1) str_append(&s, node_name(c, g->now.node));
    else if (g->n_nodes) str_printf(&s, "%u nodes", g->n_nodes);
    cell(c, COL_NODE, ROLE_TEXT_DIM, ALIGN_LEFT, str_text(&s));
    str_free(&s);
}

static const char *role_name(const struct job_members *m, const struct job_member *x)
{
    if (m->actors) return "Rank";
    return x->role < N_POD_ROLES ? role_names[x->role] : "?";
}

static void member_row(struct job_column *c, const struct job_members *m, const struct job_member *x, int64_t at_ns)
{
    struct member_now now = job_member_at(m, x, at_ns);
    struct str s = {0};
    str_printf(&s, "%s %u", role_name(m, x), x->index);
    job_cell(c, 2 * c->page->ui->theme.pad, cols[COL_NAME].w * c->table, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, str_text(&s));
    state_cell(c, m->actors, &now);
    cell(c, COL_NODE, ROLE_TEXT_DIM, ALIGN_LEFT, node_name(c, now.node));
    restarts_cell(c, now.restarts);
    job_next_line(c);
    member_strip(c, m, x);
    c->y += strip_height(c, false) + c->page->ui->theme.pad / 2;
    str_free(&s);
}

/* Of one member: as that; of more: a fold, which its first member names. */
static void fold_mark(struct job_column *c, uint32_t fold, bool open)
{
    const struct ui *u = c->page->ui;
    struct box b = {c->x, c->y, c->table, u->theme.line};
    if (job_link_focused(c) && job_visible(c, b.h)) {
        draw_rect(c->d, b, ROLE_HOVER);
        draw_frame(c->d, b, u->theme.role[ROLE_ACCENT], 1);
    }
    if (job_visible(c, b.h)) widget_triangle(u, c->d, c->x + u->theme.pad, c->y + u->theme.line / 2, open, ROLE_TEXT_DIM);
    job_add_fold(c, b, fold);
}

static bool is_open(const struct job_column *c, const struct job_crew *crew, uint32_t group)
{
    float open = c->page->ui->scroll[SLOT_JOB_OPEN] - 1;
    uint32_t base = crew->members.actors ? FOLD_ACTORS : 0;
    if (open < (float)base || open >= (float)(base + crew->members.n)) return false;
    return crew->groups.of[(uint32_t)open - base] == group;
}

static void group_row(struct job_column *c, const struct job_crew *crew, uint32_t group)
{
    const struct job_members *m = &crew->members;
    const struct member_group *g = &crew->groups.v.v[group];
    bool open = g->n > 1 && is_open(c, crew, group);
    struct str name = {0}, count = {0};
    if (g->n > 1) fold_mark(c, g->first + (m->actors ? FOLD_ACTORS : 0), open);
    str_printf(&name, "%s ", role_name(m, &m->v[g->first]));
    member_indices(m, &crew->groups, group, INTERVALS_SHOWN, &name);
    units_format_count(&count, g->n);
    job_cell(c, 2 * c->page->ui->theme.pad, cols[COL_NAME].w * c->table - 2 * c->page->ui->theme.pad, FACE_SANS, ROLE_TEXT, ALIGN_LEFT, str_text(&name));
    cell(c, COL_COUNT, ROLE_TEXT, ALIGN_RIGHT, str_text(&count));
    state_cell(c, m->actors, &g->now);
    node_cell(c, g);
    restarts_cell(c, g->now.restarts);
    job_next_line(c);
    if (g->n > 1) group_strip(c, crew, g);
    else member_strip(c, m, &m->v[g->first]);
    c->y += strip_height(c, g->n > 1) + c->page->ui->theme.pad / 2;
    for (uint32_t i = g->first; open && i < m->n; i++)
        if (crew->groups.of[i] == group) member_row(c, m, &m->v[i], crew->at_ns);
    str_free(&name);
    str_free(&count);
}

/* ---- the section ---- */

static void heading(struct job_column *c, const struct job_crew *crew)
{
    struct str s = {0};
    str_printf(&s, "Its %s at ", crew->members.actors ? "Ray actors" : "pods");
    if (crew->at_ns != c->page->ui->cursor_ns) str_append(&s, "its end");
    else widget_moment(&s, crew->at_ns);
    job_heading(c, str_text(&s));
    str_free(&s);
    cell(c, COL_NAME, ROLE_TEXT_DIM, ALIGN_LEFT, crew->members.actors ? "ranks" : "role and index");
    cell(c, COL_COUNT, ROLE_TEXT_DIM, ALIGN_RIGHT, "number");
    cell(c, COL_STATE, ROLE_TEXT_DIM, ALIGN_LEFT, "state");
    cell(c, COL_NODE, ROLE_TEXT_DIM, ALIGN_LEFT, "node");
    cell(c, COL_RESTARTS, ROLE_TEXT_DIM, ALIGN_RIGHT, "restarts");
    job_next_line(c);
}

/* The states that occur, with their looks, in lines. */
static void legend(struct job_column *c, const struct job_members *m)
{
    const struct ui *u = c->page->ui;
    bool occurs[N_MEMBER_STATES] = {false};
    float x = 0, swatch = u->theme.font_size * 0.9f;
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t k = 0; k < m->v[i].n; k++) occurs[m->states[m->v[i].first + k].state] = true;
    for (unsigned s = 0; s < N_MEMBER_STATES; s++) {
        unsigned show = member_show(m->actors, s);
        if (!occurs[s] || show == SHOW_NOTHING) continue;
        const char *name = member_state_name(m->actors, s);
        float w = swatch * 1.5f + text_width(u->text, FACE_SANS, u->theme.font_size, name) + 2 * u->theme.pad;
        if (x > 0 && x + w > c->w) job_next_line(c), x = 0;
        if (job_visible(c, u->theme.line)) {
            struct look look = theme_look(&u->theme, show);
            draw_fill(c->d, (struct box){c->x + x, c->y + (u->theme.line - swatch) / 2, swatch, swatch}, look.argb, look.pattern);
        }
        job_cell(c, x + swatch * 1.5f, w - swatch * 1.5f, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, name);
        x += w;
    }
    if (x > 0) job_next_line(c);
}

static void draw_crew(struct job_column *c, bool actors)
{
    const struct job_crew *crew = job_crew(c->page->ui, c->run, c->facts, actors);
    if (!crew->members.n) return;
    heading(c, crew);
    for (uint32_t g = 0; g < crew->groups.v.n; g++) group_row(c, crew, g);
    legend(c, &crew->members);
}

void job_draw_members(struct job_column *c)
{
    draw_crew(c, false);
    draw_crew(c, true);
}

/* ---- as JSON ---- */

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    json_write_string(w, text);
}

static void put_seconds(struct json_writer *w, const char *key, int64_t ns)
{
    json_write_key(w, key);
    json_write_seconds(w, ns);
}

static void put_number(struct json_writer *w, const char *key, uint64_t n)
{
    json_write_key(w, key);
    json_write_uint64(w, n);
}

static void dump_now(const struct job_facts *f, const struct job_members *m, const struct member_now *now, struct json_writer *w)
{
    put_text(w, "state", member_state_name(m->actors, now->state));
    put_number(w, "restarts", (uint64_t)now->restarts);
    if (now->exit_code >= 0) put_number(w, "exit_code", (uint64_t)now->exit_code);
    if (now->node < f->scene->n_nodes) put_text(w, "node", f->scene->nodes[now->node].name);
}

static void dump_states(const struct job_members *m, const struct job_member *x, struct json_writer *w)
{
    json_write_key(w, "states");
    json_write_array(w);
    for (uint32_t i = 0; i < x->n; i++) {
        json_write_object_inline(w);
        put_text(w, "state", member_state_name(m->actors, m->states[x->first + i].state));
        put_seconds(w, "from_s", m->states[x->first + i].from_ns);
        json_write_end(w);
    }
    json_write_end(w);
}

/* The states of one member are told: of the first, or of each when the group is unfolded. */
static void dump_member(const struct job_facts *f, const struct job_crew *crew, const struct job_member *x, struct json_writer *w)
{
    struct member_now now = job_member_at(&crew->members, x, crew->at_ns);
    json_write_object(w);
    put_number(w, crew->members.actors ? "rank" : "index", x->index);
    dump_now(f, &crew->members, &now, w);
    dump_states(&crew->members, x, w);
    json_write_end(w);
}

static void dump_group(struct job_page *p, const struct job_facts *f, const struct job_crew *crew, uint32_t group, struct json_writer *w)
{
    const struct job_members *m = &crew->members;
    const struct member_group *g = &crew->groups.v.v[group];
    struct job_column c = {.page = p, .facts = f};
    bool open = g->n > 1 && is_open(&c, crew, group);
    struct str indices = {0};
    member_indices(m, &crew->groups, group, INTERVALS_DUMPED, &indices);
    json_write_object(w);
    put_text(w, "role", role_name(m, &m->v[g->first]));
    put_text(w, m->actors ? "ranks" : "indices", str_text(&indices));
    put_number(w, "number", g->n);
    put_text(w, "state", member_state_name(m->actors, g->now.state));
    put_number(w, "restarts", (uint64_t)g->now.restarts);
    put_number(w, "nodes", g->n_nodes);
    json_write_key(w, open ? "members" : "first");
    if (open) json_write_array(w);
    for (uint32_t i = g->first; i < (open ? m->n : g->first + 1); i++)
        if (crew->groups.of[i] == group) dump_member(f, crew, &m->v[i], w);
    if (open) json_write_end(w);
    json_write_end(w);
    str_free(&indices);
}

static void dump_crew(struct job_page *p, unsigned column, bool actors, struct json_writer *w)
{
    const struct job_facts *f = p->facts[column];
    const struct job_crew *crew = job_crew(p->ui, p->runs[column], f, actors);
    json_write_key(w, actors ? "actors" : "pods");
    json_write_object(w);
    put_number(w, "number", crew->members.n);
    put_seconds(w, "at_s", crew->at_ns);
    json_write_key(w, "groups");
    json_write_array(w);
    for (uint32_t g = 0; g < crew->groups.v.n; g++) dump_group(p, f, crew, g, w);
    json_write_end(w);
    json_write_end(w);
}

void job_dump_members(struct job_page *p, unsigned column, struct json_writer *w)
{
    dump_crew(p, column, false, w);
    dump_crew(p, column, true, w);
}
