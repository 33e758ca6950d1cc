/* test_page.c - the HTML report: well-formed, exact, escaped, the same bytes twice, and of a size that can be sent.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "run/record.h"
#include "study/sources.h"
#include "tests/support/make_runs.h"
#include "tests/support/contrast.h"
#include "viz/draw/theme.h"
#include "viz/report/html.h"
#include "viz/report/page.h"
#include "viz/report/style.h"

struct made {
    char top[48];
    struct str page;
};

static void write_page(const char *dir, struct str *page)
{
    struct sources s = {0};
    char *err = NULL, *warnings = NULL;
    struct text_engine *text = text_create(&err);
    if (!text || !sources_add_tree(&s, dir, &err) || !report_page(s.list.v, s.list.n, text, page, &warnings, &err)) fail_msg("%s", err);
    assert_null(warnings);
    text_destroy(text);
    sources_free(&s);
}

static void make(struct made *m, const char *scenario, const char *const *approaches, unsigned n, uint32_t replications, int level)
{
    memset(m, 0, sizeof *m);
    strcpy(m->top, "/tmp/trainyard-page-XXXXXX");
    assert_non_null(mkdtemp(m->top));
    assert_true(make_runs(scenario, approaches, n, replications, level, m->top));
    write_page(m->top, &m->page);
}

static void unmake(struct made *m)
{
    struct diag d = {0};
    str_free(&m->page);
    assert_true(file_remove_tree(m->top, &d));
    diag_free(&d);
}

/* By a parser that is not ours. */
static void assert_well_formed(const struct made *m)
{
    struct diag d = {0};
    struct str path = {0}, command = {0};
    str_printf(&path, "%s/report.html", m->top);
    assert_true(file_write_atomic(str_text(&path), str_text(&m->page), m->page.n, &d));
    str_printf(&command, "python3 tests/viz/report/check_page.py %s", str_text(&path));
    int code = system(str_text(&command));
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    str_free(&path);
    str_free(&command);
    diag_free(&d);
}

static bool holds(const struct made *m, const char *text)
{
    return strstr(str_text(&m->page), text) != NULL;
}

static void test_pages_are_well_formed(void **state)
{
    static const char *const both[] = {"operator", "actor"}, *const tiny[] = {"strict", "skip", "again"};
    static const struct { const char *scenario; const char *const *approaches; unsigned n; uint32_t replications; int level; } of[] = {
        {"scenarios/two-teams.json", both, 2, 3, RECORD_FULL}, {"scenarios/two-teams.json", both, 1, 1, RECORD_JOBS},
        {"tests/study/tiny.json", tiny, 3, 2, RECORD_FULL},    {"tests/study/tiny.json", tiny, 1, 1, RECORD_NONE}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct made m;
        make(&m, of[i].scenario, of[i].approaches, of[i].n, of[i].replications, of[i].level);
        assert_well_formed(&m);
        unmake(&m);
    }
}

static void test_it_says_what_compare_says(void **state)
{
    static const char *const tiny[] = {"strict", "skip"};
    struct made m;
    struct str again = {0};
    (void)state;
    make(&m, "tests/study/tiny.json", tiny, 2, 2, RECORD_FULL);
    assert_true(holds(&m, "<h3>skip against strict</h3>"));
    assert_true(holds(&m, "82.3 s"));     /* mean wait of strict: (0 + 99 + 148) / 3; its head comes to tests/study/tiny.json */
    assert_true(holds(&m, "-49.3 s"));    /* and what skip changes: -148 / 3 */
    assert_true(holds(&m, ">1360<"));    /* GPU-seconds of strict: 4 GPUs for 170 s, in both replications */
    write_page(m.top, &again);
    assert_true(again.n == m.page.n && !memcmp(again.s, m.page.s, again.n));
    str_free(&again);
    unmake(&m);
}

static void test_the_demo_can_be_sent(void **state)
{
    static const char *const both[] = {"operator", "actor"};
    struct made m;
    (void)state;
    make(&m, "scenarios/demo.json", both, 2, 1, RECORD_FULL);
    assert_true(m.page.n < 2000000); /* mail servers take 10 MB at least */
    assert_well_formed(&m);
    unmake(&m);
}

static void test_texts_are_escaped(void **state)
{
    static const struct { const char *text, *want; } of[] = {
        {"a < b & c > \"d\" 'e'", "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;"},
        {"</script><script>", "&lt;/script&gt;&lt;script&gt;"},
        {"bell\a", "bell\xef\xbf\xbd"},
        {"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd"},
        {"gr\xc3\xb6\xc3\x9f" "e", "gr\xc3\xb6\xc3\x9f" "e"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct str s = {0};
        html_text(&s, of[i].text);
        assert_string_equal(str_text(&s), of[i].want);
        str_free(&s);
    }
}

static void test_names_of_others_cannot_break_the_page(void **state)
{
    static const char scenario[] =
        "{ \"trainyard\": 1, \"name\": \"<b>bold</b> & \\\"so\\\"\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": 1, \"gpus\": 4 } ] },"
        "  \"workload\": { \"jobs\": [ { \"id\": \"<script>alert(1)</script>\", \"gpus\": 1, \"duration\": \"10s\", \"team\": \"a&b\" } ] },"
        "  \"approaches\": { \"x\": { \"admission\": \"fifo\" } } }";
    static const char *const one[] = {"x"};
    char file[] = "/tmp/trainyard-names-XXXXXX.json";
    struct made m;
    (void)state;
    int fd = mkstemps(file, 5);
    assert_true(fd >= 0 && write(fd, scenario, sizeof scenario - 1) == (ssize_t)sizeof scenario - 1);
    close(fd);
    make(&m, file, one, 1, 1, RECORD_FULL);
    assert_well_formed(&m);
    assert_false(holds(&m, "<script>alert"));
    assert_false(holds(&m, "<b>bold"));
    assert_true(holds(&m, "&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_int_equal(unlink(file), 0);
    unmake(&m);
}

/* "--dim:#535d6c" of the n-th theme in the style. */
static uint32_t page_colour(const char *style, int theme, const char *name)
{
    struct str key = {0};
    uint32_t rgb = 0;
    str_printf(&key, "--%s:#", name);
    for (int i = 0; i <= theme; i++) {
        style = strstr(style, ":root{");
        assert_non_null(style);
        style += i < theme;
    }
    const char *at = strstr(style, str_text(&key));
    assert_true(at && at < strchr(style, '}'));
    rgb = (uint32_t)strtoul(at + key.n, NULL, 16);
    str_free(&key);
    return 0xff000000 | rgb;
}

/* WCAG 2.1, 1.4.3: 4.5 for text on both grounds, in both themes; and the grounds are those of the pictures. */
static void test_contrast(void **state)
{
    static const char *const texts[] = {"text", "dim", "accent", "better", "worse"}, *const grounds[] = {"back", "panel"};
    (void)state;
    for (int theme = 0; theme < 2; theme++) {
        struct theme t = theme_make((unsigned)theme, 1);
        assert_int_equal(page_colour(html_style, theme, "back"), t.role[ROLE_BACKGROUND]);
        for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
            for (unsigned g = 0; g < 2; g++)
                assert_true(contrast_of(page_colour(html_style, theme, texts[i]), page_colour(html_style, theme, grounds[g])) >= 4.5f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_are_well_formed), cmocka_unit_test(test_it_says_what_compare_says),
        cmocka_unit_test(test_the_demo_can_be_sent),  cmocka_unit_test(test_texts_are_escaped),
        cmocka_unit_test(test_names_of_others_cannot_break_the_page), cmocka_unit_test(test_contrast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
