/* widgets.h - small pieces that several views draw: texts in boxes, triangles, tables, labels and values.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_WIDGETS_H
#define TRAINYARD_VIZ_VIEWS_WIDGETS_H

#include "viz/ui/view.h"

bool widget_in(struct box, float x, float y);
/* Baseline of a text that stands in the middle of a box's height. */
float widget_baseline(const struct ui *, struct box, float size);
/* A text in the middle of a box's height, cut where the box ends; its width. */
float widget_text(const struct ui *, struct draw_list *, struct box, enum face, enum role, enum align, const char *text);
/* A triangle that points down (open) or right (folded), centred on a point. */
void widget_triangle(const struct ui *, struct draw_list *, float x, float y, bool open, enum role);
/* "2d 03:15:00": a moment, to the second; "-" for -1. */
struct str;
void widget_moment(struct str *, int64_t ns);
/* "3.10 min", "12 h": a duration; "-" below 0. */
void widget_length(struct str *, int64_t ns);
/* "8 GPUs", "0.5 GPU". */
void widget_gpus(struct str *, int64_t shares);
/* "1,234.5 GPU-h", "3.60 GPU-s" */
void widget_gpu_time(struct str *, share_ns);
/* "12.3 %"; "≈ 0 %" below 0.01 % */
void widget_part(struct str *, double part);
/* A name, or as much of its end as fits behind an ellipsis: numbered names and paths differ there. Nothing where not even a letter fits. */
void widget_end_of_name(const struct text_engine *, float size, const char *name, float width, struct str *to);

#endif
