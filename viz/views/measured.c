/* measured.c - see measured.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/measured.h"

#include <math.h>
#include <string.h>

#include "viz/draw/looks.h"
#include "viz/views/widgets.h"

static const float radius = 3;

static bool is_simulated(const struct run *r)
{
    return strcmp(r->back_end, "sim") == 0;
}

const struct ui_run *measured_over(const struct ui *u, unsigned run)
{
    const struct run *here = u->runs[run].scene->run;
    if (!is_simulated(here)) return NULL;
    for (unsigned i = 0; i < ui_n_scaled(u); i++) {
        const struct ui_run *r = ui_scaled(u, i);
        if (!is_simulated(r->scene->run) && strcmp(r->scene->run->scenario_name, here->scenario_name) == 0) return r;
    }
    return NULL;
}

unsigned measured_count(float width)
{
    unsigned n = width > MEASURED_APART ? (unsigned)(width / MEASURED_APART) : 1;
    return n < MEASURED_MOST ? n : MEASURED_MOST;
}

bool measured_points(const struct ui *u, const struct ui_run *m, unsigned id, double factor, unsigned n, struct measured_point *p)
{
    struct curve_column col[MEASURED_MOST];
    if (!m->curves || !curve_known(m->curves, id)) return false;
    curve_columns(m->curves, id, u->from_ns, u->to_ns, n, col);
    for (unsigned i = 0; i < n; i++) {
        int64_t middle = u->from_ns + (int64_t)((double)(u->to_ns - u->from_ns) * (i + 0.5) / n);
        p[i] = (struct measured_point){middle, col[i].mean * factor, middle >= m->scene->begin_ns && middle < m->scene->end_ns};
    }
    return true;
}

uint32_t measured_colour(const struct ui *u)
{
    return u->theme.hue[HUE_ORANGE];
}

static void disc(struct draw_list *d, float x, float y, float r, uint32_t argb)
{
    struct point v[8];
    for (unsigned i = 0; i < 8; i++) v[i] = (struct point){x + r * cosf((float)i * 0.785398f), y + r * sinf((float)i * 0.785398f)};
    draw_polygon(d, v, 8, argb, PATTERN_SOLID);
}

void measured_dot(struct draw_list *d, float x, float y, uint32_t argb)
{
    disc(d, x, y, radius + 1.25f, draw_theme(d)->role[ROLE_BACKGROUND]);
    disc(d, x, y, radius, argb);
}

void measured_legend(const struct ui *u, struct draw_list *d, struct box plot)
{
    static const char *const words[] = {"simulated", "measured"};
    const struct theme *t = &u->theme;
    float w[2], line = 1.5f * t->font_size, gap = t->pad;
    for (unsigned i = 0; i < 2; i++) w[i] = text_width(u->text, FACE_SANS, t->font_size, words[i]);
    float all = w[0] + w[1] + 2 * line + 4 * gap;
    if (all > plot.w || plot.h < t->line) return;
    struct box b = {roundf(plot.x + plot.w - all), plot.y, ceilf(all), t->line};
    float middle = b.y + b.h / 2, x = b.x + gap;
    draw_rect(d, b, ROLE_PANEL);
    draw_line(d, (struct point){x, middle}, (struct point){x + line, middle}, t->role[ROLE_ACCENT], 1.5f);
    x += line + gap / 2;
    widget_text(u, d, (struct box){x, b.y, w[0] + 1, b.h}, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, words[0]);
    x += w[0] + gap;
    measured_dot(d, x + line / 2, middle, measured_colour(u));
    x += line + gap / 2;
    widget_text(u, d, (struct box){x, b.y, w[1] + 1, b.h}, FACE_SANS, ROLE_TEXT_DIM, ALIGN_LEFT, words[1]);
}
