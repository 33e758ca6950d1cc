/* words.h - amounts as people say them, for the texts of compare and explain.
 *
 *     words_amount(&s, "s", 186);                      // "3.10 min"
 *     struct scale u = words_scale("s", 186);          // {"min", 1 / 60.}: one unit for a difference and its interval
 *     words_number(&s, 2.8);                           // "2.80"; three significant digits, "12,345" from 1,000
 *
 * Units are those of metrics.h: "s" becomes ms, s, min, h or d by size; "ratio" percent; others stay.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_WORDS_H
#define TRAINYARD_STUDY_WORDS_H

#include "base/str.h"

struct scale {
    const char *unit; /* with its blank before: " min"; "" when there is none */
    double factor;
};

struct scale words_scale(const char *unit, double magnitude);
/* The same for a difference: of a ratio it is in points, not percent. */
struct scale words_difference_scale(const char *unit, double magnitude);
void words_number(struct str *, double x);        /* "-" for NaN */
void words_signed_number(struct str *, double x); /* "+3.1", "-0.2", "0" */
void words_amount(struct str *, const char *unit, double x);
void words_gpus(struct str *, int64_t shares); /* "8", "0.5" */
void words_gpu_hours(struct str *, double hours); /* "12.5 GPU-h"; below 0.01 of them "1.80 GPU-s" */

/* Appends text broken at blanks to at most `width` columns; further lines begin with `indent` blanks. */
void words_wrapped(struct str *, const char *text, size_t indent, size_t width);

/* Appends text padded to a width (UTF-8 counts a column a character): left or right aligned. */
void words_left(struct str *, const char *text, size_t width);
void words_right(struct str *, const char *text, size_t width);

/* The same after a blank: a cell of a table. words_cell empties the text. */
void words_cell(struct str *, struct str *text, size_t width);
void words_number_cell(struct str *, double x, size_t width);
void words_amount_cell(struct str *, const char *unit, double x, size_t width);
/* A name of the files as words, left aligned. */
void words_name_cell(struct str *, const char *name, size_t width);

/* A name of the files as words: "image_pull" -> "image pull". */
void words_name(struct str *, const char *name);

#endif
