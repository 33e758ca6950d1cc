/* test_yaml.c - YAML: the tree, its places, scalars, refusals.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static struct yaml_file *parse(const char *text, struct diag *d)
{
    return yaml_parse("t.yaml", text, strlen(text), d);
}

static const struct yaml_node *member(const struct yaml_node *node, const char *key, size_t n)
{
    for (uint32_t i = 0; i < node->n; i++) {
        const char *have = node->items[i]->key;
        if (have && strncmp(have, key, n) == 0 && have[n] == '\0') return node->items[i];
    }
    return NULL;
}

/* Down along keys joined by dots, elements of sequences by number. */
static const struct yaml_node *at(const struct yaml_node *node, const char *path)
{
    while (node && *path) {
        size_t n = strcspn(path, "."), i = strtoul(path, NULL, 10);
        if (node->kind == YAML_SEQUENCE) node = i < node->n ? node->items[i] : NULL;
        else node = member(node, path, n);
        path += n + (path[n] == '.');
    }
    return node;
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
    struct yaml_file *y = parse(text, &d);
    assert_non_null(y);
    assert_int_equal(y->docs.n, 2);
    const struct yaml_node *doc = y->docs.v[0];
    assert_string_equal(at(doc, "metadata.name")->text, "train");
    const struct yaml_node *label = at(doc, "metadata.labels.a~b/c");
    assert_true(label->quoted);
    assert_int_equal(label->line, 4);
    assert_string_equal(label->parent->key, "labels");
    assert_string_equal(at(doc, "spec.containers.0.args.1")->text, "-c");
    assert_string_equal(at(doc, "spec.script")->text, "true\n");
    assert_int_equal(at(doc, "spec.containers")->line, 7); /* of its key */
    assert_int_equal(at(doc, "spec.containers.0")->line, 8);
    assert_int_equal(at(doc, "spec.containers")->n, 1);
    assert_string_equal(at(doc, "spec.replicas")->text, "4");
    assert_string_equal(at(doc, "spec.containers.0.limits.memory")->text, "16Gi");
    assert_string_equal(at(y->docs.v[1], "kind")->text, "Cohort");
    assert_int_equal(diag_errors(&d), 0);
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
    struct yaml_file *y = parse(text, &d);
    assert_non_null(y);
    const struct yaml_node *doc = y->docs.v[0], *c = at(doc, "copy.b.c");
    assert_string_equal(c->text, "2");
    assert_string_equal(c->parent->key, "b");
    assert_string_equal(c->parent->parent->key, "copy");
    assert_ptr_not_equal(c, at(doc, "base.b.c"));
    assert_string_equal(at(doc, "one.b")->text, "mine");
    assert_string_equal(at(doc, "one.a")->text, "1");
    assert_int_equal(at(doc, "one")->n, 2);
    assert_string_equal(at(doc, "two.a")->text, "1");
    assert_string_equal(at(doc, "two.d")->text, "8");
    assert_int_equal(at(doc, "two")->n, 4);
    assert_null(at(doc, "one.<<"));
    assert_int_equal(diag_errors(&d), 0);
    yaml_close(y);
    diag_free(&d);
}

/* Typing is the reader's: a scalar stays its text, whatever it looks like; only null is known. */
static void scalars(void **state)
{
    (void)state;
    static const struct {
        const char *key, *text;
        bool quoted, null;
    } rows[] = {
        {"on", "on", false, false},    {"yes", "yes", true, false},  {"norway", "NO", false, false}, {"octal", "010", false, false},
        {"ver", "1.10", false, false}, {"nothing", "", false, true}, {"tilde", "~", false, true},    {"word", "null", false, true},
        {"qnull", "null", true, false}, {"empty", "", true, false},
    };
    struct diag d = {0};
    struct yaml_file *y = parse("on: on\nyes: \"yes\"\nnorway: NO\noctal: 010\nver: 1.10\nnothing:\ntilde: ~\nword: null\n"
                                "qnull: \"null\"\nempty: ''\nlist: []\n", &d);
    assert_non_null(y);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct yaml_node *node = at(y->docs.v[0], rows[i].key);
        assert_string_equal(node->text, rows[i].text);
        assert_int_equal(node->quoted, rows[i].quoted);
        assert_int_equal(yaml_is_null(node), rows[i].null);
        assert_int_equal(node->line, i + 1);
    }
    assert_false(yaml_is_null(at(y->docs.v[0], "list")));
    assert_int_equal(diag_errors(&d), 0);
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
    assert_string_equal(at(y->docs.v[0], "a")->text, "1");
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
        cmocka_unit_test(a_manifest),  cmocka_unit_test(aliases_and_merges),   cmocka_unit_test(scalars),
        cmocka_unit_test(malformed),   cmocka_unit_test(duplicates_are_found), cmocka_unit_test(bombs),
        cmocka_unit_test(empty_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
