/* test_yaml.c - YAML: the tree, its places, typing, refusals.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/units.h"
#include "base/yaml.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static struct yaml_file *parse(const char *text, struct diag *d)
{
    return yaml_parse("t.yaml", text, strlen(text), d);
}

static void a_manifest(void **state)
{
    (void)state;
    struct diag d = {0};
    static const char text[] = "kind: PyTorchJob\n"
                               "metadata:\n"
                               "  name: train\n"
                               "  labels: {kueue.x-k8s.io/queue-name: lab, a~b/c: \"7\"}\n"
                               "spec:\n"
                               "  replicas:   4\n"
                               "  containers:\n"
                               "  - name: pytorch\n"
                               "    args: [\"sh\", '-c']\n"
                               "    limits: {cpu: 500m, memory: 16Gi}\n"
                               "  script: |\n"
                               "    true\n"
                               "---\n"
                               "---\n"
                               "# nothing\n"
                               "---\n"
                               "kind: Cohort\n"
                               "...\n";
    struct str pointer = {0};
    struct yaml_file *y = parse(text, &d);
    assert_non_null(y);
    assert_int_equal(y->docs.n, 2);
    const struct yaml_node *doc = y->docs.v[0];
    const char *s = NULL;
    assert_true(yaml_get_string(y, yaml_get(doc, "metadata"), "name", &s));
    assert_string_equal(s, "train");
    const struct yaml_node *label = yaml_get(yaml_path(doc, "metadata.labels"), "a~b/c");
    assert_true(label->quoted);
    assert_int_equal(label->line, 4);
    yaml_pointer(y, label, &pointer);
    assert_string_equal(str_text(&pointer), "doc 1 /metadata/labels/a~0b~1c");
    assert_string_equal(yaml_path(doc, "spec.containers.0.args.1")->text, "-c");
    assert_string_equal(yaml_path(doc, "spec.script")->text, "true\n");
    assert_int_equal(yaml_path(doc, "spec.containers")->line, 7); /* of its key */
    assert_int_equal(yaml_path(doc, "spec.containers.0")->line, 8);
    assert_null(yaml_path(doc, "spec.containers.1"));
    assert_null(yaml_path(doc, "spec.containers.x"));
    assert_null(yaml_path(doc, "spec.none.deeper"));
    assert_null(yaml_path(doc, "kind.deeper"));
    int64_t x = 0;
    assert_true(yaml_get_int64(y, yaml_get(doc, "spec"), "replicas", 0, 10, &x) && x == 4);
    const struct yaml_node *limits = yaml_path(doc, "spec.containers.0.limits");
    assert_true(yaml_get_quantity_milli(y, limits, "cpu", &x) && x == 500);
    assert_true(yaml_get_quantity_milli(y, limits, "memory", &x) && x == INT64_C(17179869184000));
    assert_string_equal(yaml_get(y->docs.v[1], "kind")->text, "Cohort");
    assert_int_equal(diag_errors(&d), 0);
    str_free(&pointer);
    yaml_close(y);
    diag_free(&d);
}

static void aliases_and_merges(void **state)
{
    (void)state;
    static const char text[] = "base: &base {a: 1, b: {c: 2}}\n"
                               "other: &other {a: 7, d: 8}\n"
                               "copy: *base\n"
                               "one:\n"
                               "  <<: *base\n"
                               "  b: mine\n"
                               "two: {<<: [*base, *other], x: 1}\n";
    struct diag d = {0};
    struct str pointer = {0};
    struct yaml_file *y = parse(text, &d);
    assert_non_null(y);
    const struct yaml_node *doc = y->docs.v[0], *c = yaml_path(doc, "copy.b.c");
    assert_string_equal(c->text, "2");
    yaml_pointer(y, c, &pointer);
    assert_string_equal(str_text(&pointer), "/copy/b/c");
    assert_ptr_not_equal(c, yaml_path(doc, "base.b.c"));
    assert_string_equal(yaml_path(doc, "one.b")->text, "mine");
    assert_string_equal(yaml_path(doc, "one.a")->text, "1");
    assert_int_equal(yaml_get(doc, "one")->n, 2);
    assert_string_equal(yaml_path(doc, "two.a")->text, "1");
    assert_string_equal(yaml_path(doc, "two.d")->text, "8");
    assert_int_equal(yaml_get(doc, "two")->n, 4);
    assert_null(yaml_get(yaml_get(doc, "one"), "<<"));
    assert_int_equal(diag_errors(&d), 0);
    str_free(&pointer);
    yaml_close(y);
    diag_free(&d);
}

static void typing(void **state)
{
    (void)state;
    static const char text[] =
        "on: on\nyes: \"yes\"\nnorway: NO\noctal: 010\nsci: 1e3\nver: 1.10\nnothing:\ntilde: ~\n"
        "qnull: \"null\"\nnum: !!str 12\nq: \"12\"\nlist: [1]\nneg: -3\nbig: 9223372036854775808\ndur: 1h30m\n";
    static const char *const words[] = {"on", "off"};
    struct diag d = {0};
    struct yaml_file *y = parse(text, &d);
    const struct yaml_node *m = y->docs.v[0];
    const char *s = "default";
    bool b = false;
    int64_t x = 77;
    double f = 0;
    assert_true(yaml_get_string(y, m, "on", &s) && strcmp(s, "on") == 0);
    assert_true(yaml_get_bool(y, m, "on", &b) && b);
    assert_true(yaml_get_bool(y, m, "norway", &b) && !b);
    assert_true(yaml_get_string(y, m, "ver", &s) && strcmp(s, "1.10") == 0);
    assert_true(yaml_get_double(y, m, "sci", &f) && f == 1000);
    assert_true(yaml_get_int64(y, m, "octal", 0, 100, &x) && x == 10);
    assert_true(yaml_get_duration_ns(y, m, "dur", &x) && x == 5400 * NS_PER_S);
    assert_int_equal(yaml_get_word(y, m, "on", words, 2), 0);
    s = "default";
    assert_false(yaml_get_string(y, m, "nothing", &s));
    assert_false(yaml_get_string(y, m, "tilde", &s));
    assert_false(yaml_get_string(y, m, "absent", &s));
    assert_false(yaml_get_string(y, NULL, "absent", &s));
    assert_string_equal(s, "default");
    assert_true(yaml_get_string(y, m, "qnull", &s) && strcmp(s, "null") == 0);
    assert_int_equal(diag_errors(&d), 0);
    assert_false(yaml_get_bool(y, m, "yes", &b)); /* quoted: a string */
    assert_false(yaml_get_int64(y, m, "num", 0, 100, &x));
    assert_false(yaml_get_int64(y, m, "q", 0, 100, &x));
    assert_false(yaml_get_int64(y, m, "sci", 0, 100, &x));
    assert_false(yaml_get_int64(y, m, "neg", 0, INT64_MAX, &x));
    assert_false(yaml_get_int64(y, m, "big", 0, INT64_MAX, &x));
    assert_false(yaml_get_string(y, m, "list", &s));
    assert_null(yaml_get_mapping(y, m, "list"));
    assert_null(yaml_get_sequence(y, m, "on"));
    assert_int_equal(yaml_get_word(y, m, "ver", words, 2), -1);
    assert_null(yaml_require(y, m, "nothing"));
    assert_null(yaml_require(y, m, "absent"));
    static const char *const want[] = {"\"yes\" is not true or false",
                                       "\"12\" is a string; a whole number stands without quotes",
                                       "\"12\" is a string; a whole number stands without quotes",
                                       "\"1e3\" is not a whole number; write digits only, such as 12 or -3",
                                       "must be at least 0, is -3",
                                       "\"9223372036854775808\" is too large; it must lie within 64 bits",
                                       "must be a string, is a sequence",
                                       "must be a mapping, is a sequence",
                                       "must be a sequence, is a scalar",
                                       "\"1.10\" is not known",
                                       "the key \"nothing\" is missing",
                                       "the key \"absent\" is missing"};
    assert_int_equal(diag_errors(&d), COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++) assert_string_equal(d.entries.v[i].text, want[i]);
    assert_string_equal(d.entries.v[4].pointer, "/neg");
    assert_int_equal(d.entries.v[4].line, 13);
    yaml_close(y);
    diag_free(&d);
}

static void malformed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *says;
    } rows[] = {
        {"a: [1, 2\nb: 3\n",         2, ""                                                    },
        {"a: {x: 1\n",               2, ""                                                    },
        {"a: \"open\n",              2, "found unexpected end of stream"                      },
        {"a: 'open\n",               2, "found unexpected end of stream"                      },
        {"a: 1\n b: 2\n",            2, "mapping values are not allowed in this context"      },
        {"a:\n\t- 1\n",              2, "found character that cannot start any token"         },
        {"a: b: c\n",                1, "mapping values are not allowed in this context"      },
        {"- a\nb: 1\n",              2, ""                                                    },
        {"a: *none\n",               1, "alias *none has no anchor &none before it"           },
        {"a: &x [*x]\n",             1, "alias *x has no anchor &x before it"                 },
        {"a: &x 1\n---\nb: *x\n",    3, "alias *x has no anchor"                              },
        {"? [a, b]\n: 1\n",          1, "a key must be a scalar"                              },
        {"a: 1\n<<: 5\n",            1, "a merge key << takes a mapping or a list of mappings"},
        {"<<: [[{a: 1}]]\n",         1, "a merge key << takes a mapping or a list of mappings"},
        {"<<: {a: 1}\n<<: {b: 1}\n", 2, "a second merge key <<"                               },
        {"a: \"x\\0y\"\n",           1, "a NUL in a string"                                   },
        {"a: \"\\q\"\n",             1, "found unknown escape character"                      },
        {"a: @x\n",                  1, "found character that cannot start any token"         },
        {"a: `x`\n",                 1, "found character that cannot start any token"         },
        {"a: %x\n",                  1, "found character that cannot start any token"         },
        {"a: !<tag x\n",             1, ""                                                    },
        {"a: 1\nb: \xff\n",          2, "invalid leading UTF-8 octet"                         },
        {"a: 1\n\nb: \xe2\x28\n",    3, "invalid trailing UTF-8 octet"                        },
        {"a: \x01\n",                1, "control characters are not allowed"                  },
        {"%YAML 3.0\n---\na: 1\n",   1, "found incompatible YAML document"                    },
        {"a: |x\n  b\n",             1, ""                                                    },
        {"]\n",                      1, ""                                                    },
        {"}\n",                      1, ""                                                    },
        {"a: 1\n...\nb: 2\n",        3, "did not find expected <document start>"              },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct diag d = {0};
        struct yaml_file *y = parse(rows[i].text, &d);
        if (y != NULL) print_error("accepted: %s\n", rows[i].text);
        assert_null(y);
        assert_int_equal(diag_errors(&d), 1);
        const struct diag_entry *e = &d.entries.v[0];
        if (!str_starts_with(e->text, rows[i].says) || e->line != rows[i].line)
            print_error("%s: %d: %s\n", rows[i].text, e->line, e->text);
        assert_true(str_starts_with(e->text, rows[i].says));
        assert_int_equal(e->line, rows[i].line);
        diag_free(&d);
    }
}

static void duplicates_are_found(void **state)
{
    (void)state;
    struct diag d = {0};
    struct yaml_file *y = parse("a: 1\nb: {x: 1, x: 2}\n\"a\": 3\n", &d);
    assert_non_null(y);
    assert_int_equal(diag_errors(&d), 2);
    assert_string_equal(d.entries.v[0].text, "the key \"x\" is there twice; first on line 2");
    assert_int_equal(d.entries.v[1].line, 3);
    assert_string_equal(yaml_get(y->docs.v[0], "a")->text, "1");
    yaml_close(y);
    diag_free(&d);
}

static void bombs(void **state)
{
    (void)state;
    struct str s = {0};
    struct diag d = {0};
    str_append(&s, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 10; i++) {
        str_printf(&s, "a%d: &a%d [", i, i);
        for (int k = 0; k < 9; k++) str_printf(&s, "%s*a%d", k ? ", " : "", i - 1);
        str_append(&s, "]\n");
    }
    assert_null(parse(s.s, &d));
    assert_string_equal(d.entries.v[0].text, "aliases copy more than 100000 nodes");
    str_clear(&s);
    str_append_repeat(&s, '[', 100);
    assert_null(parse(s.s, &d));
    assert_string_equal(d.entries.v[1].text, "nested deeper than 64 levels");
    str_clear(&s); /* depth that only aliases build up */
    str_append(&s, "a0: &a0 x\n");
    for (int i = 1; i < 100; i++) str_printf(&s, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    assert_null(parse(s.s, &d));
    assert_string_equal(d.entries.v[2].text, "nested deeper than 64 levels");
    str_free(&s);
    diag_free(&d);
}

static void empty_files(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n", "# c\n", "---\n", "---\n---\n", "null\n", "~"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct diag d = {0};
        struct yaml_file *y = parse(texts[i], &d);
        assert_non_null(y);
        assert_int_equal(y->docs.n, 0);
        yaml_close(y);
    }
    struct diag d = {0};
    assert_null(yaml_load("no such file", &d));
    assert_string_equal(d.entries.v[0].text, "cannot open: No such file or directory");
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manifest),  cmocka_unit_test(aliases_and_merges),   cmocka_unit_test(typing),
        cmocka_unit_test(malformed),   cmocka_unit_test(duplicates_are_found), cmocka_unit_test(bombs),
        cmocka_unit_test(empty_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
