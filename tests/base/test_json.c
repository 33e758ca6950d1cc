/* test_json.c - JSON: places, values, refusals, writing.
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

#include "base/json.h"
#include "base/json_write.h"
#include "base/units.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static struct json_doc *parse(const char *text, struct diag *d)
{
    return json_parse("t.json", text, strlen(text), d);
}

static void comments_and_places(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbf// a lab\n"
                               "{ /* several\n"
                               "     lines */ \"name\": \"a // b /* c */\", // not a string's\n"
                               "  \"nodes\": [\n"
                               "    1, /*x*/ 2.50,\n"
                               "    {\"a/b~c\":\n"
                               "       9007199254740993}\n"
                               "  ] /**/ }//";
    struct diag d = {0};
    struct json_doc *doc = json_parse("t.json", text, sizeof text - 1, &d);
    assert_non_null(doc);
    const char *name = NULL;
    assert_true(json_get_string(doc, doc->root, "name", &name));
    assert_string_equal(name, "a // b /* c */");
    assert_int_equal(json_line(doc, doc->root), 2);
    assert_int_equal(json_line(doc, json_member(doc->root, "name")), 3);
    const cJSON *nodes = json_get_array(doc, doc->root, "nodes");
    assert_int_equal(json_line(doc, nodes), 4);
    assert_int_equal(json_line(doc, nodes->child->next), 5);
    assert_string_equal(json_number_text(doc, nodes->child->next), "2.50");
    const cJSON *deep = nodes->child->next->next->child;
    assert_int_equal(json_line(doc, deep), 6); /* of its key */
    struct str pointer = {0};
    json_pointer(doc, doc->root, &pointer);
    assert_string_equal(str_text(&pointer), "");
    json_pointer(doc, deep, &pointer);
    assert_string_equal(str_text(&pointer), "/nodes/2/a~1b~0c");
    int64_t x = 0;
    assert_true(json_as_int64(doc, deep, INT64_MIN, INT64_MAX, &x));
    assert_true(x == 9007199254740993); /* 2^53 + 1 is no double */
    assert_null(json_member(doc->root, "NAME"));
    assert_int_equal(diag_errors(&d), 0);
    str_free(&pointer);
    json_free(doc);
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
        {"",                                                                1, "holds no JSON value"                                         },
        {"  // only a comment\n",                                           2, "holds no JSON value"                                         },
        {"\xef\xbb\xbf",                                                    1, "holds no JSON value"                                         },
        {"{",                                                               1, "a key in double quotes is missing before the end of the file"},
        {"[",                                                               1, "a value is missing before the end of the file"               },
        {"{\n\"a\" 1}",                                                     2, "a colon is missing after the key, before '1'"                },
        {"{\"a\":}",                                                        1, "a value is missing before '}'"                               },
        {"{\"a\":1\n\"b\":2}",                                              2, "a comma or '}' (it closes line 1) is missing before '\"'"    },
        {"{\"a\":1,}",                                                      1, "a comma before '}'"                                          },
        {"[1,]",                                                            1, "a comma before ']'"                                          },
        {"[1 2]",                                                           1, "a comma or ']'"                                              },
        {"[1}",                                                             1, "a comma or ']'"                                              },
        {"{a:1}",                                                           1, "a key in double quotes is missing before 'a'"                },
        {"{'a':1}",                                                         1, "a key in double quotes is missing before '''"                },
        {"{1:1}",                                                           1, "a key in double quotes"                                      },
        {"{} {}",                                                           1, "text after the end of the value, beginning with '{'"         },
        {"1\n2",                                                            2, "text after the end"                                          },
        {"[1]]",                                                            1, "text after the end"                                          },
        {"tru",                                                             1, "\"tru\" is no JSON value; strings need quotes"               },
        {"[True]",                                                          1, "\"True\" is no JSON value"                                   },
        {"[NaN]",                                                           1, "\"NaN\" is no JSON value"                                    },
        {"[truefalse]",                                                     1, "\"truefalse\" is no JSON value"                              },
        {"[30m]",                                                           1, "a comma or ']'"                                              },
        {"[01]",                                                            1, "not a number"                                                },
        {"[-]",                                                             1, "not a number"                                                },
        {"[1.]",                                                            1, "not a number"                                                },
        {"[.5]",                                                            1, "a value is missing before '.'"                               },
        {"[+1]",                                                            1, "a value is missing before '+'"                               },
        {"[1e]",                                                            1, "not a number"                                                },
        {"[1e400]",                                                         1, "a number beyond what a double holds"                         },
        {"[-1e400]",                                                        1, "a number beyond what a double holds"                         },
        {"[1111111111111111111111111111111111111111111111111111111111111]", 1, "a number with more than 60 characters"                       },
        {"\"abc",                                                           1, "the string has no closing quote on its line"                 },
        {"\"abc\n\"",                                                       1, "the string has no closing quote on its line"                 },
        {"\"a\tb\"",                                                        1, "a control character in a string"                             },
        {"\"\\x41\"",                                                       1, "an unknown escape"                                           },
        {"\"\\",                                                            1, "an unknown escape"                                           },
        {"\"\\u12\"",                                                       1, "\\u needs four hexadecimal digits"                           },
        {"\"\\u12",                                                         1, "\\u needs four hexadecimal digits"                           },
        {"\"\\u0000\"",                                                     1, "\\u0000 is not allowed"                                      },
        {"\"\\ud800\"",                                                     1, "\\ud800 is the first half"                                   },
        {"\"\\ud800\\u0041\"",                                              1, "\\ud800 is the first half"                                   },
        {"\"\\udc00\"",                                                     1, "\\udc00 is the second half"                                  },
        {"[1] /* open\n\n",                                                 1, "the comment that begins here has no end"                     },
        {"[1] /*/",                                                         1, "the comment that begins here has no end"                     },
        {"[1] /",                                                           1, "text after the end"                                          },
        {"[1] # no",                                                        1, "text after the end"                                          },
        {"[\n\"\xff\"]",                                                    2, "byte 0xff is not valid UTF-8"                                },
        {"[\"\xc0\xaf\"]",                                                  1, "byte 0xc0 is not valid UTF-8"                                },
        {"[\"\xed\xa0\x80\"]",                                              1, "byte 0xed is not valid UTF-8"                                },
        {"[\"\xf4\x90\x80\x80\"]",                                          1, "byte 0xf4 is not valid UTF-8"                                },
        {"[\"\xe2\x82",                                                     1, "byte 0xe2 is not valid UTF-8"                                },
        {"[\xc3\xa4]",                                                      1, "a value is missing before a character outside ASCII"         },
        {"[\x01]",                                                          1, "a value is missing before a control character"               },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct diag d = {0};
        assert_null(parse(rows[i].text, &d));
        assert_int_equal(diag_errors(&d), 1);
        if (!str_starts_with(d.entries.v[0].text, rows[i].says))
            print_error("%s: %s, not %s\n", rows[i].text, d.entries.v[0].text, rows[i].says);
        assert_true(str_starts_with(d.entries.v[0].text, rows[i].says));
        assert_int_equal(d.entries.v[0].line, rows[i].line);
        assert_string_equal(d.entries.v[0].file, "t.json");
        diag_free(&d);
    }
    struct diag d = {0};
    assert_null(json_parse("t.json", "[\"a\0b\"]", 8, &d));
    assert_string_equal(d.entries.v[0].text, "a NUL byte; is this a text file?");
    assert_null(json_load("no such file", &d));
    assert_string_equal(d.entries.v[1].text, "cannot open: No such file or directory");
    diag_free(&d);
}

static void nesting(void **state)
{
    (void)state;
    struct str s = {0}, pointer = {0};
    struct diag d = {0};
    str_append_repeat(&s, '[', 64);
    str_append_char(&s, '1');
    str_append_repeat(&s, ']', 64);
    struct json_doc *doc = parse(s.s, &d);
    assert_non_null(doc);
    const cJSON *node = doc->root;
    while (node->child) node = node->child;
    json_pointer(doc, node, &pointer);
    assert_int_equal(pointer.n, 128);
    json_free(doc);
    str_clear(&s);
    str_append_repeat(&s, '[', 100000);
    assert_null(parse(s.s, &d));
    assert_string_equal(d.entries.v[0].text, "nested deeper than 64 levels");
    str_free(&s);
    str_free(&pointer);
    diag_free(&d);
}

static void duplicate_keys(void **state)
{
    (void)state;
    struct diag d = {0};
    struct json_doc *doc = parse("{\"a\": 1,\n \"b\": {\"x\": 1, \"\\u0078\": 2},\n \"a\": 3, \"A\": 4}", &d);
    assert_non_null(doc);
    assert_int_equal(diag_errors(&d), 2);
    assert_string_equal(d.entries.v[0].pointer, "/b/x");
    assert_string_equal(d.entries.v[0].text, "the key is there twice; first on line 2");
    assert_int_equal(d.entries.v[1].line, 3);
    assert_string_equal(d.entries.v[1].text, "the key is there twice; first on line 1");
    json_free(doc);
    diag_free(&d);
}

static void duplicate_keys_among_many(void **state)
{
    (void)state;
    struct diag d = {0};
    struct str s = {0};
    for (int i = 0; i < 5000; i++) str_printf(&s, "%s\"k%d\": 0", i ? ",\n" : "{", i == 4999 ? 7 : i);
    str_append(&s, "}");
    struct json_doc *doc = parse(s.s, &d);
    assert_int_equal(diag_errors(&d), 1);
    assert_int_equal(d.entries.v[0].line, 5000);
    assert_string_equal(d.entries.v[0].text, "the key is there twice; first on line 8");
    json_free(doc);
    str_free(&s);
    diag_free(&d);
}

static const char typed[] =
    "{\"i\": -12, \"whole\": 3e2, \"half\": 2.5, \"big\": 9223372036854775808, \"s\": \"x\", \"t\": true,\n"
    "\"o\": {}, \"a\": [], \"n\": null}";

static void typed_values(void **state)
{
    (void)state;
    static const char *const words[] = {"y", "x"};
    struct diag d = {0};
    struct json_doc *doc = parse(typed, &d);
    int64_t i = 0;
    double f = 0;
    assert_true(json_get_int64(doc, doc->root, "i", -12, 0, &i) && i == -12);
    assert_true(json_get_int64(doc, doc->root, "whole", 0, 1000, &i) && i == 300);
    assert_true(json_get_double(doc, doc->root, "half", &f) && f == 2.5);
    assert_int_equal(json_get_word(doc, doc->root, "s", words, 2), 1);
    assert_non_null(json_get_object(doc, doc->root, "o"));
    i = 77;
    assert_false(json_get_int64(doc, doc->root, "absent", 0, 1, &i));
    assert_false(json_get_double(doc, NULL, "absent", &f));
    assert_int_equal(i, 77);
    assert_int_equal(json_get_word(doc, doc->root, "absent", words, 2), -1);
    assert_null(json_get_object(doc, doc->root, "absent"));
    assert_int_equal(diag_errors(&d), 0);
    json_free(doc);
    diag_free(&d);
}

/* Each of these is one error, whose text is known. */
static void typed_errors(void **state)
{
    (void)state;
    static const char *const words[] = {"pack", "spread"}, *const keys[] = {"i", "whole"};
    struct diag d = {0};
    struct json_doc *doc = parse(typed, &d);
    const cJSON *r = doc->root;
    int64_t i = 77;
    double f;
    const char *s;
    assert_false(json_get_int64(doc, r, "i", 0, INT64_MAX, &i));
    assert_false(json_get_int64(doc, r, "i", 1, 5, &i));
    assert_false(json_get_int64(doc, r, "whole", INT64_MIN, 5, &i));
    assert_false(json_get_int64(doc, r, "half", 0, 5, &i));
    assert_false(json_get_int64(doc, r, "big", 0, 5, &i));
    assert_false(json_get_int64(doc, r, "s", 0, 5, &i));
    assert_false(json_get_double(doc, r, "o", &f));
    assert_false(json_get_string(doc, r, "t", &s));
    assert_null(json_get_array(doc, r, "o"));
    assert_int_equal(json_get_word(doc, r, "s", words, 2), -1);
    assert_null(json_require(doc, r, "missing"));
    assert_int_equal(i, 77);
    static const char *const want[] = {
        "must be at least 0, is -12",
        "must lie between 1 and 5, is -12",
        "must be at most 5, is 300",
        "2.5 is not a whole number",
        "9223372036854775808 is too large; it must lie within 64 bits",
        "must be a whole number, is a string",
        "must be a number, is an object",
        "must be a string, is true or false",
        "must be an array, is an object",
        "\"x\" is not known",
        "the key \"missing\" is missing"};
    assert_int_equal(diag_errors(&d), COUNT(want));
    for (size_t k = 0; k < COUNT(want); k++) assert_string_equal(d.entries.v[k].text, want[k]);
    assert_string_equal(d.entries.v[9].help, "allowed here: pack, spread");
    assert_string_equal(d.entries.v[8].pointer, "/o");
    assert_int_equal(d.entries.v[8].line, 2);
    json_check_keys(doc, r, keys, 2);
    assert_int_equal(diag_errors(&d), COUNT(want) + 7);
    assert_string_equal(d.entries.v[COUNT(want)].pointer, "/half");
    json_free(doc);
    diag_free(&d);
}

static void writing(void **state)
{
    (void)state;
    struct str out = {0};
    struct json_writer w;
    json_write_begin(&w, &out);
    json_write_object(&w);
    json_write_key(&w, "name");
    json_write_string(&w, "a\"\\\n\x01\xc3\xa4\xff");
    json_write_key(&w, "finished_s");
    json_write_seconds(&w, 9516326000);
    json_write_key(&w, "list");
    json_write_array(&w);
    json_write_int64(&w, INT64_MIN);
    json_write_uint64(&w, UINT64_MAX);
    json_write_double(&w, 0.1);
    json_write_double(&w, 1e308 * 10);
    json_write_bool(&w, true);
    json_write_string(&w, NULL);
    json_write_array_inline(&w);
    json_write_int64(&w, 0);
    json_write_object(&w);
    json_write_key(&w, "k");
    json_write_raw(&w, "4.50");
    json_write_end(&w);
    json_write_end(&w);
    json_write_array(&w);
    json_write_end(&w);
    json_write_end(&w);
    json_write_key(&w, "empty");
    json_write_object(&w);
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
    assert_string_equal(str_text(&out), "{\n"
                                        "  \"name\": \"a\\\"\\\\\\n\\u0001\xc3\xa4\xef\xbf\xbd\",\n"
                                        "  \"finished_s\": 9.516326,\n"
                                        "  \"list\": [\n"
                                        "    -9223372036854775808,\n"
                                        "    18446744073709551615,\n"
                                        "    0.1,\n"
                                        "    null,\n"
                                        "    true,\n"
                                        "    null,\n"
                                        "    [0, {\"k\": 4.50}],\n"
                                        "    []\n"
                                        "  ],\n"
                                        "  \"empty\": {}\n"
                                        "}\n");
    struct diag d = {0};
    struct json_doc *doc = json_parse("w", out.s, out.n, &d);
    assert_non_null(doc);
    struct str again = {0};
    json_write_begin(&w, &again);
    json_write_cjson(&w, doc->root);
    json_write_finish(&w);
    struct json_doc *second = json_parse("w", again.s, again.n, &d);
    assert_true(cJSON_Compare(doc->root, second->root, true));
    json_free(second);
    json_free(doc);
    str_free(&again);
    str_free(&out);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_and_places),
        cmocka_unit_test(malformed),
        cmocka_unit_test(nesting),
        cmocka_unit_test(duplicate_keys),
        cmocka_unit_test(duplicate_keys_among_many),
        cmocka_unit_test(typed_values),
        cmocka_unit_test(typed_errors),
        cmocka_unit_test(writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
