/* html.h - HTML written piece by piece: texts escaped, tables that can be sorted.
 *
 *     html_section(&s, "metrics", "Metrics");
 *     static const char *const heads[] = {"metric", "value"};
 *     html_table(&s, "metrics-operator", "Metrics of operator", heads, 2);
 *     html_row(&s); html_cell(&s, "p95 wait"); html_number(&s, 186, "3.10 min"); html_row_end(&s);
 *     html_table_end(&s);
 *     html_section_end(&s);
 *
 * What is written is well-formed XML too, so that a parser can check it. Ids are the caller's, unique in the page.
 * A number's cell carries its value for sorting; NAN sorts last.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_REPORT_HTML_H
#define TRAINYARD_VIZ_REPORT_HTML_H

#include "base/str.h"

/* A text of others: & < > " ' escaped; what XML may not hold (control characters, bytes that are no UTF-8) becomes U+FFFD. */
void html_text(struct str *, const char *text);
void html_printf(struct str *, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* escaped as a whole */
/* <tag>text</tag>; tag may have attributes. */
void html_element(struct str *, const char *tag, const char *text);

void html_section(struct str *, const char *id, const char *title);
void html_section_end(struct str *);

/* A head that begins with '#' is of numbers. `id` also names the caption. */
void html_table(struct str *, const char *id, const char *caption, const char *const *heads, unsigned n);
void html_row(struct str *);
void html_head_cell(struct str *, const char *text); /* the row's head */
void html_cell(struct str *, const char *text);
void html_number(struct str *, double value, const char *shown);
void html_row_end(struct str *);
void html_table_end(struct str *);

/* The page around: up to the body's begin, and from its end; style and script are within; `style`: more of it. */
void html_begin(struct str *, const char *title, const char *style);
void html_end(struct str *);

#endif
