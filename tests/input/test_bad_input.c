/* test_bad_input.c - every malformed scenario and manifest gives a clear error at its place, and nothing leaks.
 *
 * The cases are data: the files of tests/input/bad, a line "=== name | LINE | POINTER | fragment" before each text. Line,
 * pointer and fragment must stand in one entry; an empty one is not looked at.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/str.h"
#include "input/scenario.h"

static const char cluster[] = "\"trainyard\": 1, \"cluster\": { \"nodes\": [{ \"group\": \"g\", \"count\": 4, \"gpus\": 8 }] }";

struct bad_case { char *name, *line, *pointer, *fragment; struct str text; };

static char *trim(char *text)
{
    while (*text == ' ') text++;
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\n')) text[--n] = '\0';
    return text;
}

static void split_head(char *head, struct bad_case *c)
{
    char **part[] = { &c->name, &c->line, &c->pointer, &c->fragment };
    for (size_t i = 0; i < 4; i++) {
        char *bar = i < 3 ? strchr(head, '|') : NULL;
        if (i < 3) assert_non_null(bar);
        if (bar) *bar = '\0';
        *part[i] = trim(head);
        head = bar ? bar + 1 : head;
    }
}

static bool entry_fits(const struct diag_entry *e, const struct bad_case *c, const char *file)
{
    if (e->severity != DIAG_ERROR || strcmp(e->file, file) != 0) return false;
    if (c->line[0] && e->line != atoi(c->line)) return false;
    if (c->pointer[0] && strcmp(e->pointer, c->pointer) != 0) return false;
    return !c->fragment[0] || strstr(e->text, c->fragment) || (e->help && strstr(e->help, c->fragment));
}

static bool reported(const struct diag *d, const struct bad_case *c, const char *file)
{
    for (size_t i = 0; i < d->entries.n; i++)
        if (entry_fits(&d->entries.v[i], c, file)) return true;
    return false;
}

static int finish(struct scenario *s, struct diag *d, const struct bad_case *c, const char *file)
{
    bool good = !s && reported(d, c, file);
    if (!good) {
        fprintf(stderr, "--- %s: %s; expected line %s, %s, %s; got:\n", c->name, s ? "was read" : "another error", c->line,
                c->pointer, c->fragment);
        diag_print(d, stderr);
    }
    scenario_free(s);
    diag_free(d);
    return good ? 0 : 1;
}

static int try_scenario(struct bad_case *c)
{
    struct diag d = { 0 };
    struct str text = { 0 };
    for (size_t i = 0; i < c->text.n; i++) {
        if (c->text.s[i] == '@')
            str_append(&text, cluster);
        else
            str_append_char(&text, c->text.s[i]);
    }
    struct scenario *s = scenario_parse("bad.json", str_text(&text), text.n, NULL, &d);
    str_free(&text);
    return finish(s, &d, c, "bad.json");
}

static int try_object(struct bad_case *c)
{
    struct diag d = { 0 };
    char path[] = "/tmp/trainyard-bad-XXXXXX";
    struct str text = { 0 };
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, c->text.s ? c->text.s : "", c->text.n), (ssize_t)c->text.n);
    close(fd);
    str_printf(&text, "{ %s, \"objects\": [\"%s\"] }", cluster, path);
    struct scenario *s = scenario_parse("bad.json", str_text(&text), text.n, NULL, &d);
    str_free(&text);
    unlink(path);
    return finish(s, &d, c, path);
}

static size_t run_file(const char *file, int (*try)(struct bad_case *))
{
    FILE *f = fopen(file, "r");
    struct bad_case c = { 0 };
    char *line = NULL, *head = NULL;
    size_t cap = 0, n = 0;
    int bad = 0;
    ssize_t got;
    assert_non_null(f);
    do {
        got = getline(&line, &cap, f);
        bool start = got > 0 && strncmp(line, "=== ", 4) == 0;
        if (head && (got < 0 || start)) {
            bad += try(&c);
            n++;
            str_clear(&c.text);
        }
        if (start) {
            free(head);
            head = strdup(line + 4);
            split_head(head, &c);
        } else if (got > 0 && head && !(line[0] == '#' && line[1] == ' ' && line[2] == '-')) {
            str_append(&c.text, line);
        }
    } while (got >= 0);
    fclose(f);
    free(line);
    free(head);
    str_free(&c.text);
    assert_int_equal(bad, 0);
    return n;
}

static void scenarios(void **state)
{
    (void)state;
    size_t n = run_file("tests/input/bad/scenarios.txt", try_scenario);
    assert_true(n >= 200);
}

static void objects(void **state)
{
    (void)state;
    size_t n = run_file("tests/input/bad/objects.txt", try_object);
    assert_true(n >= 60);
}

static void expect_error(const char *text, size_t n, const char *fragment)
{
    struct diag d = { 0 };
    struct scenario *s = scenario_parse("bad.json", text, n, NULL, &d);
    assert_null(s);
    assert_true(diag_errors(&d) > 0);
    assert_true(d.entries.v[0].line > 0);
    if (!strstr(d.entries.v[0].text, fragment)) fail_msg("%s lacks \"%s\"", d.entries.v[0].text, fragment);
    diag_free(&d);
}

static void bytes(void **state)
{
    (void)state;
    static const char latin[] = "{ \"trainyard\": 1, \"name\": \"caf\xe9\" }", nul[] = "{ \"trainyard\": 1,\0 }";
    struct str deep = { 0 };
    expect_error(latin, sizeof latin - 1, "UTF-8");
    expect_error(nul, sizeof nul - 1, "");
    str_append(&deep, "{ \"a\": ");
    str_append_repeat(&deep, '[', 5000);
    expect_error(str_text(&deep), deep.n, "deep");
    str_free(&deep);
}

/* All errors of a file, not only the first. */
static void all_of_them(void **state)
{
    (void)state;
    static const char text[] = "{ \"trainyard\": 2,\n \"nam\": 1,\n \"cluster\": { \"nodes\": [{ \"group\": 7 }] },\n"
                               " \"run\": { \"seed\": -1, \"horizon\": \"x\" } }";
    struct diag d = { 0 };
    assert_null(scenario_parse("bad.json", text, sizeof text - 1, NULL, &d));
    assert_true(diag_errors(&d) >= 6);
    diag_free(&d);
}

int main(void)
{
    setenv("TRAINYARD_DATA", "scenarios", 1);
    const struct CMUnitTest tests[] = { cmocka_unit_test(scenarios), cmocka_unit_test(objects), cmocka_unit_test(bytes),
                                        cmocka_unit_test(all_of_them) };
    return cmocka_run_group_tests_name("bad input", tests, NULL, NULL);
}
