/* job.c - view 7: all of one job, in both runs side by side.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "viz/ui/memo.h"
#include "viz/views/job_page.h"
#include "viz/views/plot.h"
#include "viz/views/slots.h"
#include "viz/views/widgets.h"

extern const struct view_kind view_job;

/* ---- the facts ---- */

static void release_facts(void *p)
{
    job_facts_free(p);
}

static const struct job_facts *facts_of(struct ui *u, unsigned run)
{
    static const char *const names[UI_MAX_RUNS] = {"job facts of A", "job facts of B"};
    const struct scene *s = u->runs[run].scene;
    int32_t job = ui_selected_job(u, run);
    if (job < 0 || (uint32_t)job >= s->n_jobs) return NULL;
    struct job_facts *f = memo_get(&u->memos, names[run], (uint64_t)job << 32 | (uint32_t)s->version, sizeof *f, release_facts);
    if (!f->job) job_facts_make(f, s, job);
    return f;
}

static bool is_shown(const struct ui *u, unsigned run)
{
    return u->n_runs < 2 || u->show == UI_BOTH || (u->show == UI_ONLY_A) == (run == 0);
}

static void span_of_strips(struct job_page *p)
{
    p->from_ns = INT64_MAX;
    p->to_ns = INT64_MIN;
    for (unsigned r = 0; r < p->ui->n_runs; r++) {
        const struct job_facts *f = facts_of(p->ui, r);
        if (!f) continue;
        if (f->from_ns < p->from_ns) p->from_ns = f->from_ns;
        if (f->to_ns > p->to_ns) p->to_ns = f->to_ns;
    }
    if (p->to_ns <= p->from_ns) p->to_ns = p->from_ns + 1;
}

/* ---- columns ---- */

static void column(struct job_page *p, struct draw_list *d, unsigned i)
{
    const float pad = p->ui->theme.pad;
    float w = p->box.w / (float)p->n_columns;
    struct job_column c = {.page = p, .d = d, .facts = p->facts[i], .other = p->other[i], .run = p->runs[i]};
    c.x = p->box.x + (float)i * w + 2 * pad;
    c.y = p->box.y + pad - p->scroll;
    c.w = w - 4 * pad;
    c.table = fminf(c.w, 60 * p->ui->theme.font_size);
    if (!c.facts) {
        job_note(&c, ROLE_TEXT_DIM, "The selected job is not in this run.");
        return;
    }
    job_draw_figures(&c);
    job_draw_life(&c);
    job_draw_members(&c);
    job_draw_waits(&c);
    job_draw_gpu_time(&c);
    job_draw_diagnosis(&c);
    job_draw_attempts(&c);
    job_draw_series(&c);
    p->height = fmaxf(p->height, c.y + p->scroll - p->box.y + pad);
}

static void columns(struct job_page *p, struct draw_list *d)
{
    array_clear(&p->links);
    for (unsigned i = 0; i < p->n_columns; i++) column(p, d, i);
}

static float most_scroll(const struct job_page *p)
{
    return fmaxf(0, p->height - p->box.h);
}

bool job_page_begin(struct job_page *p, struct ui *u, const struct pane *pane)
{
    *p = (struct job_page){.ui = u, .box = pane->box};
    bool any = false;
    for (unsigned r = 0; r < u->n_runs; r++) {
        any |= facts_of(u, r) != NULL;
        if (!is_shown(u, r)) continue;
        p->runs[p->n_columns] = r;
        p->facts[p->n_columns] = facts_of(u, r);
        p->other[p->n_columns++] = u->n_runs > 1 ? facts_of(u, 1 - r) : NULL;
    }
    if (!any) return false;
    span_of_strips(p);
    columns(p, NULL); /* how high it is, and where its links are */
    p->scroll = floorf(fmaxf(0, fminf(u->scroll[SLOT_JOB], most_scroll(p))));
    return true;
}

void job_page_end(struct job_page *p)
{
    array_free(&p->links);
}

static void scroll_bar(const struct job_page *p, struct draw_list *d)
{
    if (p->height <= p->box.h) return;
    float h = fmaxf(20, p->box.h * p->box.h / p->height), y = p->box.y + (p->box.h - h) * p->scroll / most_scroll(p);
    draw_rect(d, (struct box){p->box.x + p->box.w - 5, y, 4, h}, ROLE_BORDER);
}

static void draw(struct ui *u, const struct pane *pane, struct draw_list *d)
{
    struct job_page p;
    if (!job_page_begin(&p, u, pane)) {
        view_empty(u, d, pane->box, "No job is selected.", "/ finds one by its name; in the Gantt, J lists them: arrows or a click select one. Then 7 shows it here.");
        return;
    }
    draw_clip(d, p.box);
    columns(&p, d);
    for (unsigned i = 1; i < p.n_columns; i++) {
        float x = roundf(p.box.x + p.box.w * (float)i / (float)p.n_columns) + 0.5f;
        draw_line(d, (struct point){x, p.box.y}, (struct point){x, p.box.y + p.box.h}, u->theme.role[ROLE_BORDER], 1);
    }
    scroll_bar(&p, d);
    draw_unclip(d);
    job_page_end(&p);
}

/* ---- for sections ---- */

bool job_visible(const struct job_column *c, float h)
{
    return c->d && c->y + h > c->page->box.y && c->y < c->page->box.y + c->page->box.h;
}

void job_cell(struct job_column *c, float x, float w, enum face face, enum role role, enum align align, const char *text)
{
    float line = c->page->ui->theme.line;
    if (job_visible(c, line)) widget_text(c->page->ui, c->d, (struct box){c->x + x, c->y, w, line}, face, role, align, text);
}

void job_next_line(struct job_column *c)
{
    c->y += c->page->ui->theme.line;
}

void job_heading(struct job_column *c, const char *text)
{
    const struct theme *t = &c->page->ui->theme;
    c->y += 1.5f * t->pad;
    if (job_visible(c, t->line))
        draw_line(c->d, (struct point){c->x, c->y - t->pad * 0.5f + 0.5f}, (struct point){c->x + c->w, c->y - t->pad * 0.5f + 0.5f}, t->role[ROLE_GRID], 1);
    job_cell(c, 0, c->w, FACE_BOLD, ROLE_TEXT, ALIGN_LEFT, text);
    c->y += t->line + t->pad * 0.25f;
}

void job_note(struct job_column *c, enum role role, const char *text)
{
    const struct ui *u = c->page->ui;
    struct str line = {0};
    while (*text) {
        size_t n = text_fits(u->text, FACE_SANS, u->theme.font_size, text, c->w), whole = strlen(text);
        if (n < whole)
            for (size_t k = n; k > 0; k--)
                if (text[k] == ' ') {
                    n = k;
                    break;
                }
        if (n == 0) n = whole; /* narrower than a letter */
        str_clear(&line);
        str_append_n(&line, text, n);
        job_cell(c, 0, c->w, FACE_SANS, role, ALIGN_LEFT, str_text(&line));
        job_next_line(c);
        text += n;
        while (*text == ' ') text++;
    }
    str_free(&line);
}

void job_add_link(struct job_column *c, struct box b, int32_t job, int64_t at_ns)
{
    array_push(&c->page->links, (struct job_link){.box = b, .run = c->run, .job = job, .at_ns = at_ns});
}

void job_add_fold(struct job_column *c, struct box b, uint32_t fold)
{
    array_push(&c->page->links, (struct job_link){.box = b, .run = c->run, .job = -1, .fold = fold});
}

bool job_link_focused(const struct job_column *c)
{
    return c->page->ui->focus == c->page->links.n + 1; /* 0: none */
}

/* ---- keys and pointer ---- */

/* A group is unfolded, or folded again. */
static void fold(struct job_page *p, uint32_t fold)
{
    float *open = &p->ui->scroll[SLOT_JOB_OPEN];
    *open = *open == (float)(fold + 1) ? 0 : (float)(fold + 1);
}

static void follow(struct job_page *p, size_t link)
{
    const struct job_link *l = &p->links.v[link];
    if (l->job < 0) {
        fold(p, l->fold);
        return;
    }
    struct ui_selection sel = {.kind = SELECTED_JOB, .run = l->run, .job = l->job, .at_ns = l->at_ns};
    p->ui->focus = 0;
    p->ui->scroll[SLOT_JOB] = 0;
    ui_say(p->ui, "%s let go of what %s waited for; Ctrl+Z goes back", p->ui->runs[l->run].scene->jobs[l->job].id,
           p->ui->runs[l->run].scene->jobs[ui_selected_job(p->ui, l->run)].id);
    ui_select(p->ui, &sel);
}

static void scroll_by(struct job_page *p, float by)
{
    p->ui->scroll[SLOT_JOB] = fmaxf(0, fminf(p->scroll + by, most_scroll(p)));
}

/* The next link, or a line when there is none in that direction. */
static void move(struct job_page *p, bool forward)
{
    unsigned *focus = &p->ui->focus;
    if (*focus > p->links.n) *focus = 0;
    if (forward ? *focus < p->links.n : *focus > 1) {
        *focus += forward ? 1 : (unsigned)-1;
        const struct box *b = &p->links.v[*focus - 1].box;  /* measured without scroll */
        float line = p->ui->theme.line, y = b->y - p->box.y;
        if (y < p->scroll + line) scroll_by(p, y - p->scroll - line);
        if (y + b->h > p->scroll + p->box.h - line) scroll_by(p, y + b->h - p->scroll - p->box.h + line);
    } else
        scroll_by(p, (forward ? 3 : -3) * p->ui->theme.line);
}

/* The first link to a job is that of the longest wait. */
static size_t longest_wait(const struct job_page *p)
{
    size_t i = 0;
    while (i < p->links.n && p->links.v[i].job < 0) i++;
    return i;
}

static bool on_key(struct job_page *p, int k)
{
    switch (k) {
    case UI_UP: move(p, false); return true;
    case UI_DOWN: move(p, true); return true;
    case UI_PAGE_UP: scroll_by(p, -0.9f * p->box.h); return true;
    case UI_PAGE_DOWN: scroll_by(p, 0.9f * p->box.h); return true;
    case UI_ENTER: {
        size_t at = p->ui->focus > 0 && p->ui->focus <= p->links.n ? p->ui->focus - 1 : longest_wait(p);
        if (at >= p->links.n) return false;
        follow(p, at);
        return true;
    }
    default: return false;
    }
}

static bool key(struct ui *u, const struct pane *pane, int k, unsigned mods)
{
    struct job_page p;
    if (mods || !job_page_begin(&p, u, pane)) return false;
    bool taken = on_key(&p, k);
    job_page_end(&p);
    if (taken) u->dirty = true;
    return taken;
}

static size_t link_at(const struct job_page *p, float x, float y)
{
    size_t i = 0;
    while (i < p->links.n && !widget_in(p->links.v[i].box, x, y + p->scroll)) i++;
    return i;
}

static bool click(struct ui *u, const struct pane *pane, float x, float y, unsigned mods)
{
    struct job_page p;
    (void)mods;
    if (!job_page_begin(&p, u, pane)) return false;
    size_t at = link_at(&p, x, y);
    bool taken = at < p.links.n;
    if (taken) follow(&p, at);
    job_page_end(&p);
    u->dirty = true;
    return true; /* a click beside a link keeps the job */
}

static bool hover(struct ui *u, const struct pane *pane, float x, float y, struct hover *out)
{
    struct job_page p;
    if (!job_page_begin(&p, u, pane)) return false;
    size_t at = link_at(&p, x, y);
    bool found = at < p.links.n;
    if (found) {
        const struct job_link *l = &p.links.v[at];
        if (l->job < 0) str_append(out->text, "show them one by one, or together");
        else str_printf(out->text, "show job %s", u->runs[l->run].scene->jobs[l->job].id);
        if (l->job >= 0) out->selection = (struct ui_selection){.kind = SELECTED_JOB, .run = l->run, .job = l->job, .at_ns = l->at_ns};
    }
    job_page_end(&p);
    return found;
}

static void wheel(struct ui *u, const struct pane *pane, float rows)
{
    struct job_page p;
    if (!job_page_begin(&p, u, pane)) return;
    scroll_by(&p, rows * u->theme.line);
    job_page_end(&p);
    u->dirty = true;
}

static void dump(struct ui *u, const struct pane *pane, struct json_writer *w)
{
    struct job_page p;
    if (!job_page_begin(&p, u, pane)) {
        json_write_key(w, "empty");
        json_write_string(w, "No job is selected.");
        return;
    }
    job_dump(&p, w);
    job_page_end(&p);
}

const struct view_kind view_job = {.name = "job",
                                   .title = "Job",
                                   .whole = true,
                                   .axis = AXIS_NONE,
                                   .draw = draw,
                                   .key = key,
                                   .hover = hover,
                                   .click = click,
                                   .wheel = wheel,
                                   .dump = dump,
                                   .legend = LEGEND_JOBS};
