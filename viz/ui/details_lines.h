/* details_lines.h - short words to make the lines of the details with; for details*.c only.
 *
 *     line(d, DETAIL_ROW, "finished")->value = moment(d, job->finished_ns);
 *
 * Texts live as long as the lines.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_UI_DETAILS_LINES_H
#define TRAINYARD_VIZ_UI_DETAILS_LINES_H

#include "base/str.h"
#include "base/units.h"
#include "study/words.h"
#include "viz/ui/private.h"
#include "viz/ui/time_axis.h"

static inline struct detail *line(struct details *d, enum detail_kind kind, const char *label)
{
    struct detail *l = array_add(&d->lines);
    *l = (struct detail){.kind = kind, .label = arena_strdup(&d->arena, label), .value = "", .link_job = -1};
    return l;
}

static inline void swatch(const struct ui *u, struct detail *l, unsigned show)
{
    struct look look = theme_look(&u->theme, show);
    l->argb = look.argb;
    l->pattern = look.pattern;
}

static inline const char *kept(struct details *d, struct str *s)
{
    const char *text = arena_strdup(&d->arena, str_text(s));
    str_free(s);
    return text;
}

static inline const char *moment(struct details *d, int64_t ns)
{
    struct str s = {0};
    if (ns < 0) return "not yet";
    time_text(&s, ns - ns % NS_PER_S, NS_PER_S);
    return kept(d, &s);
}

static inline const char *length(struct details *d, int64_t ns)
{
    struct str s = {0};
    if (ns < 0) return "-";
    if (ns == 0) return "0 s";
    time_length(&s, ns);
    return kept(d, &s);
}

static inline const char *count(struct details *d, int64_t n)
{
    struct str s = {0};
    units_format_count(&s, n);
    return kept(d, &s);
}

static inline const char *gpus(struct details *d, int64_t shares)
{
    struct str s = {0};
    words_gpus(&s, shares);
    return kept(d, &s);
}

static inline const char *gpu_time(struct details *d, share_ns sum)
{
    struct str s = {0};
    words_gpu_hours(&s, (double)sum / MILLI_PER_UNIT / NS_PER_HOUR);
    return kept(d, &s);
}

static inline const char *words(struct details *d, const char *name)
{
    struct str s = {0};
    words_name(&s, name);
    return kept(d, &s);
}

#endif
