/* test_svg_plot.c - line charts: well formed, escaped, and sensible with nothing or nonsense to draw.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/svg_plot.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* A small check of XML's form: tags nest and close, attributes are quoted, "&" begins one of the five entities. */
static const char *quoted(const char *p)
{
    char q = *p++;
    while (*p && *p != q) {
        assert_int_not_equal(*p, '<');
        p++;
    }
    assert_int_equal(*p, q);
    return p + 1;
}

static const char *tag(const char *p, char stack[][16], int *depth)
{
    bool closes = *p == '/';
    char name[16] = {0};
    size_t n = 0;
    if (closes) p++;
    while (isalnum((unsigned char)*p) && n + 1 < sizeof name) name[n++] = *p++;
    assert_true(n > 0);
    for (; *p && *p != '>' && !(*p == '/' && p[1] == '>'); ) {
        if (*p == '"' || *p == '\'') p = quoted(p);
        else p++;
    }
    if (closes) {
        assert_true(*depth > 0);
        assert_string_equal(stack[--*depth], name);
    } else if (*p == '>') {
        assert_true(*depth < 8);
        memcpy(stack[(*depth)++], name, sizeof name);
    }
    if (*p == '/') p++;
    assert_int_equal(*p, '>');
    return p + 1;
}

static void assert_well_formed(const char *text)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    char stack[8][16];
    int depth = 0;
    for (const char *p = text; *p;) {
        if (*p == '<') {
            p = tag(p + 1, stack, &depth);
            continue;
        }
        if (*p == '&') {
            bool known = false;
            for (size_t i = 0; i < COUNT(entities); i++) known = known || strncmp(p, entities[i], strlen(entities[i])) == 0;
            assert_true(known);
        }
        assert_true((unsigned char)*p >= 0x20 || *p == '\n');
        p++;
    }
    assert_int_equal(depth, 0);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_null(strstr(text, "<script"));
}

static size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p++) n++;
    return n;
}

static void one_line_with_its_axes(void **state)
{
    (void)state;
    double x[] = {0, 1, 2, 3, 4}, y[] = {0, 10, 20, 15, 40};
    struct plot_series s = {.name = "first", .x = x, .y = y, .n = COUNT(x)};
    struct svg_plot p = {.title = "A chart", .x = {.title = "nodes"}, .y = {.title = "time (s)"}, .series = &s, .n_series = 1};
    struct str out = {0}, again = {0};
    svg_plot(&p, &out);
    assert_well_formed(str_text(&out));
    assert_non_null(strstr(str_text(&out), ">A chart</text>"));
    assert_non_null(strstr(str_text(&out), ">time (s)</text>"));
    assert_non_null(strstr(str_text(&out), ">first</text>"));
    /* 1-2-5 steps for about six intervals: 0, 1 ... 4 and 0, 10 ... 40 */
    assert_non_null(strstr(str_text(&out), ">4</text>"));
    assert_non_null(strstr(str_text(&out), ">30</text>"));
    assert_int_equal(occurrences(str_text(&out), "class=\"grid\""), 10);
    assert_int_equal(occurrences(str_text(&out), "class=\"line\""), 2); /* one in the legend */
    svg_plot(&p, &again);
    assert_string_equal(str_text(&out), str_text(&again));
    str_free(&out);
    str_free(&again);
}

/* The last row's ticks are what a linear axis would show: under half a decade 1-2-5 would leave one or two. */
static void logarithmic_ticks(void **state)
{
    (void)state;
    static const struct {
        double from, to;
        enum plot_unit unit;
        const char *has[4], *lacks;
    } rows[] = {
        {1, 1e6, PLOT_NUMBER, {">1<", ">100<", ">1e+06<", NULL}, ">20<"},
        {10, 100, PLOT_NUMBER, {">10<", ">20<", ">50<", ">100<"}, ">30<"},
        {1024, 1024.0 * 1024 * 1024, PLOT_BYTES, {">1 KiB<", ">32 MiB<", ">1 GiB<", NULL}, ">2 KiB<"},
        {1e-6, 1, PLOT_SECONDS, {">1 \xC2\xB5s<", ">10 ms<", ">1 s<", NULL}, ">2 ms<"},
        {100, 200, PLOT_NUMBER, {">100<", ">120<", ">180<", ">200<"}, ">50<"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double x[] = {rows[i].from, rows[i].to}, y[] = {1, 2};
        struct plot_series s = {.x = x, .y = y, .n = 2};
        struct svg_plot p = {.x = {.log = true, .unit = rows[i].unit}, .series = &s, .n_series = 1};
        struct str out = {0};
        svg_plot(&p, &out);
        assert_well_formed(str_text(&out));
        for (size_t k = 0; k < 4 && rows[i].has[k]; k++)
            if (!strstr(str_text(&out), rows[i].has[k])) fail_msg("row %zu lacks %s", i, rows[i].has[k]);
        assert_null(strstr(str_text(&out), rows[i].lacks));
        str_free(&out);
    }
}

static void texts_are_escaped(void **state)
{
    (void)state;
    double x[] = {1, 2}, y[] = {1, 2};
    struct plot_series s = {.name = "a<b & \"c\">", .x = x, .y = y, .n = 2};
    struct svg_plot p = {.title = "</text><script>alert(1)</script>", .x = {.title = "control \x01 and \xff"},
                         .series = &s, .n_series = 1};
    struct str out = {0};
    svg_plot(&p, &out);
    assert_well_formed(str_text(&out));
    assert_non_null(strstr(str_text(&out), "a&lt;b &amp; &quot;c&quot;&gt;"));
    assert_non_null(strstr(str_text(&out), "control \xEF\xBF\xBD and \xEF\xBF\xBD"));
    str_free(&out);
}

static void nothing_to_draw(void **state)
{
    (void)state;
    double bad_x[] = {NAN, 1, INFINITY, -1, 0}, bad_y[] = {1, NAN, 2, 3, 4};
    struct plot_series rows[] = {
        {.name = "empty"},
        {.name = "nonsense", .x = bad_x, .y = bad_y, .n = COUNT(bad_x), .style = PLOT_LINE_AND_MARKS},
    };
    for (size_t n = 0; n <= 2; n++) {
        struct svg_plot p = {.x = {.log = true}, .y = {.log = true}, .series = rows, .n_series = n};
        struct str out = {0};
        svg_plot(&p, &out);
        assert_well_formed(str_text(&out));
        assert_non_null(strstr(str_text(&out), ">no data<"));
        str_free(&out);
    }
}

/* A value that cannot be drawn leaves a gap: two strokes instead of one. */
static void gaps(void **state)
{
    (void)state;
    double x[] = {1, 2, 3, 4, 5}, y[] = {1, 2, NAN, 4, 5};
    struct plot_series s = {.x = x, .y = y, .n = 5, .style = PLOT_LINE_AND_MARKS};
    struct svg_plot p = {.series = &s, .n_series = 1};
    struct str out = {0};
    svg_plot(&p, &out);
    assert_well_formed(str_text(&out));
    const char *path = strstr(str_text(&out), " d=\"");
    assert_non_null(path);
    size_t moves = 0;
    for (path += 4; *path != '"'; path++) moves += *path == 'M';
    assert_int_equal(moves, 2);
    assert_int_equal(occurrences(str_text(&out), "<circle"), 4);
    str_free(&out);
}

static void single_and_extreme_values(void **state)
{
    (void)state;
    static const double values[] = {0, 1, -5, 1e-300, 1e300, 5e-324};
    for (size_t i = 0; i < COUNT(values); i++) {
        double x[] = {values[i], values[i]}, y[] = {values[i], -values[i]};
        struct plot_series s = {.x = x, .y = y, .n = 2};
        struct svg_plot p = {.series = &s, .n_series = 1};
        struct str out = {0};
        svg_plot(&p, &out);
        assert_well_formed(str_text(&out));
        str_clear(&out);
        p.x.log = true;
        p.x.unit = PLOT_SECONDS;
        svg_plot(&p, &out);
        assert_well_formed(str_text(&out));
        str_free(&out);
    }
}

static void given_range_cuts(void **state)
{
    (void)state;
    double x[] = {1, 2, 3}, y[] = {1, 500, 3};
    struct plot_series s = {.x = x, .y = y, .n = 3, .style = PLOT_MARKS};
    struct svg_plot p = {.y = {.from = 0, .to = 10}, .series = &s, .n_series = 1};
    struct str out = {0};
    svg_plot(&p, &out);
    assert_well_formed(str_text(&out));
    assert_int_equal(occurrences(str_text(&out), "<circle"), 2);
    str_free(&out);
}

static void many_series_differ(void **state)
{
    (void)state;
    double x[] = {1, 2}, y[] = {1, 2};
    struct plot_series s[9];
    for (size_t i = 0; i < COUNT(s); i++) s[i] = (struct plot_series){.name = "s", .x = x, .y = y, .n = 2};
    struct svg_plot p = {.series = s, .n_series = COUNT(s)};
    struct str out = {0};
    svg_plot(&p, &out);
    assert_well_formed(str_text(&out));
    assert_non_null(strstr(str_text(&out), "stroke-dasharray")); /* seven colours, then a dash */
    str_free(&out);
}

static void a_file_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    struct svg_plot p = {0};
    struct diag d = {0};
    assert_false(svg_plot_write(&p, "/nonexistent-directory/x.svg", &d));
    assert_int_equal(diag_errors(&d), 1);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_with_its_axes),
        cmocka_unit_test(logarithmic_ticks),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(nothing_to_draw),
        cmocka_unit_test(gaps),
        cmocka_unit_test(single_and_extreme_values),
        cmocka_unit_test(given_range_cuts),
        cmocka_unit_test(many_series_differ),
        cmocka_unit_test(a_file_that_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
