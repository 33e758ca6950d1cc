/* html.c - see html.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/report/html.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "viz/report/style.h"

/* ---- texts ---- */

static const char *entity_of(unsigned char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return c < 0x20 && c != '\t' && c != '\n' ? "\xef\xbf\xbd" : NULL;
    }
}

void html_text(struct str *s, const char *text)
{
    for (size_t n = strlen(text), i = 0; i < n;) {
        const char *entity = entity_of((unsigned char)text[i]);
        size_t bytes = entity ? 1 : str_utf8_bytes(text + i, n - i);
        if (entity || !bytes) str_append(s, entity ? entity : "\xef\xbf\xbd");
        else str_append_n(s, text + i, bytes);
        i += bytes ? bytes : 1;
    }
}

void html_printf(struct str *s, const char *fmt, ...)
{
    struct str text = {0};
    va_list args;
    va_start(args, fmt);
    str_vprintf(&text, fmt, args);
    va_end(args);
    html_text(s, str_text(&text));
    str_free(&text);
}

void html_element(struct str *s, const char *tag, const char *text)
{
    str_printf(s, "<%s>", tag);
    html_text(s, text);
    str_printf(s, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

/* ---- sections and tables ---- */

void html_section(struct str *s, const char *id, const char *title)
{
    str_printf(s, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">", id, id, id);
    html_text(s, title);
    str_append(s, "</h2>\n");
}

void html_section_end(struct str *s)
{
    str_append(s, "</section>\n");
}

void html_table(struct str *s, const char *id, const char *caption, const char *const *heads, unsigned n)
{
    str_printf(s, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"%s-caption\"><table id=\"%s\" class=\"sortable\">\n<caption id=\"%s-caption\">", id, id, id);
    html_text(s, caption);
    str_append(s, "</caption>\n<thead><tr>");
    for (unsigned i = 0; i < n; i++) {
        bool number = heads[i][0] == '#';
        str_printf(s, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
        html_text(s, heads[i] + number);
        str_append(s, "</th>");
    }
    str_append(s, "</tr></thead>\n<tbody>\n");
}

void html_row(struct str *s)
{
    str_append(s, "<tr>");
}

void html_head_cell(struct str *s, const char *text)
{
    str_append(s, "<th scope=\"row\">");
    html_text(s, text);
    str_append(s, "</th>");
}

void html_cell(struct str *s, const char *text)
{
    str_append(s, "<td>");
    html_text(s, text);
    str_append(s, "</td>");
}

void html_number(struct str *s, double value, const char *shown)
{
    if (isfinite(value)) str_printf(s, "<td class=\"n\" data-v=\"%.9g\">", value);
    else str_append(s, "<td class=\"n\">");
    html_text(s, shown);
    str_append(s, "</td>");
}

void html_row_end(struct str *s)
{
    str_append(s, "</tr>\n");
}

void html_table_end(struct str *s)
{
    str_append(s, "</tbody></table></div>\n");
}

/* ---- the page ---- */

void html_begin(struct str *s, const char *title, const char *style)
{
    str_append(s, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>");
    html_text(s, title);
    str_printf(s, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n", html_style, style);
}

void html_end(struct str *s)
{
    str_printf(s, "<script>\n%s</script>\n</body>\n</html>\n", html_script);
}
