/* test_csv.c - CSV and lines: what is read, what is refused and where, what is written.
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
#include <unistd.h>
#include <zlib.h>

#include "base/csv.h"
#include "base/lines.h"
#include "base/str.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const char *temporary(void)
{
    return "test_csv.tmp";
}

static void write_file(const char *text, size_t n, bool gzip)
{
    gzFile gz = gzopen(temporary(), gzip ? "wb" : "wbT");
    assert_non_null(gz);
    if (n) assert_int_equal(gzwrite(gz, text, (unsigned)n), (int)n);
    gzclose(gz);
}

static int remove_file(void **state)
{
    (void)state;
    unlink(temporary());
    return 0;
}

static bool collect(void *arg, const struct csv_row *row)
{
    struct str *s = arg;
    str_printf(s, "%d:", row->line);
    for (size_t i = 0; i < 3; i++) {
        const char *f = csv_field(row, i);
        str_printf(s, "[%s]", f ? f : "-");
    }
    return strcmp(csv_field(row, 0), "stop") != 0;
}

static bool read_text(const char *text, size_t n, bool gzip, struct str *got, struct diag *d)
{
    static const char *const need[] = {"id", "gpus"}, *const may[] = {"team"};
    str_clear(got);
    write_file(text, n, gzip);
    return csv_read(temporary(), &(struct csv_spec){need, 2, may, 1, collect, got}, d);
}

static void good_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"id,gpus,team\na,1,x\nb,2,y\n",                    "2:[a][1][x]3:[b][2][y]"       },
        {"gpus,other,id\n1,zz,a",                           "2:[a][1][-]"                  }, /* another order, one column not wanted, no last line end */
        {"\xef\xbb\xbfid,gpus\r\na,1\r\n\r\n  \r\nb,2\r\n", "2:[a][1][-]5:[b][2][-]"       },
        {"id,gpus,team\n\"a,\"\"b\"\"\nc\",1,\"\"\nd,2,\n", "2:[a,\"b\"\nc][1][]4:[d][2][]"},
        {"id,gpus,team\n\"a\r\nb\",1,x\r\nc,2,y\r\n",       "2:[a\nb][1][x]4:[c][2][y]"    },
        {"id,gpus\n a , 1 \n",                              "2:[a][1][-]"                  }, /* libcsv drops blanks around unquoted fields */
        {"id,gpus\nstop,1\nb,2\n",                          "2:[stop][1][-]"               },
        {"id,gpus\n",                                       ""                             },
    };
    struct str got = {0};
    for (int gzip = 0; gzip < 2; gzip++) {
        for (size_t i = 0; i < COUNT(rows); i++) {
            struct diag d = {0};
            assert_true(read_text(rows[i].text, strlen(rows[i].text), gzip, &got, &d));
            assert_string_equal(str_text(&got), rows[i].want);
            assert_int_equal(diag_errors(&d), 0);
            diag_free(&d);
        }
    }
    str_free(&got);
}

static void bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n; /* 0: strlen */
        size_t errors;
        int line;
        const char *says, *help, *rows;
    } rows[] = {
        {"",                           0,  1, 0, "is empty; the first row names the columns", NULL,                                           ""           },
        {"\n\n",                       0,  1, 0, "is empty; the first row names the columns", NULL,                                           ""           },
        {"id,gpu\na,1\n",              0,  1, 1, "column \"gpus\" is missing",                "did you mean \"gpu\"?  columns here: id, gpu", ""           },
        {"x\na\n",                     0,  2, 1, "column \"id\" is missing",                  "columns here: x",                              ""           },
        {"id,gpus,id\na,1,b\n",        0,  1, 1, "column \"id\" is there twice",              NULL,                                           ""           },
        {"id,gpus\na\nb,2\nc,3,4\n",   0,  2, 2, "the row has 1 field, the header has 2",     NULL,                                           "3:[b][2][-]"},
        {"id,gpus\na\"b,1\n",          0,  1, 2, "a quote is out of place",                   NULL,                                           ""           },
        {"id,gpus\n\"a\"b,1\n",        0,  1, 2, "a quote is out of place",                   NULL,                                           ""           },
        {"id,gpus\nx,1\n\"a,1\nb,2\n", 0,  1, 3, "the quote that begins here is not closed",  NULL,                                           "2:[x][1][-]"},
        {"id,gpus\na\0b,1\n",          14, 1, 2, "the line holds a NUL byte",                 NULL,                                           ""           },
    };
    struct str got = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct diag d = {0};
        assert_false(read_text(rows[i].text, rows[i].n ? rows[i].n : strlen(rows[i].text), false, &got, &d));
        assert_int_equal(diag_errors(&d), rows[i].errors);
        assert_int_equal(d.entries.v[0].line, rows[i].line);
        assert_true(str_starts_with(d.entries.v[0].text, rows[i].says));
        if (rows[i].help) assert_string_equal(d.entries.v[0].help, rows[i].help);
        assert_string_equal(str_text(&got), rows[i].rows);
        diag_free(&d);
    }
    str_free(&got);
}

static void a_damaged_gzip_is_an_error(void **state)
{
    (void)state;
    struct str text = {0}, got = {0};
    struct diag d = {0};
    str_append(&text, "id,gpus\n");
    for (int i = 0; i < 5000; i++) str_printf(&text, "job-%d,%d\n", i * 7919, i % 8);
    write_file(text.s, text.n, true);
    FILE *f = fopen(temporary(), "rb+");
    fseek(f, 0, SEEK_END);
    assert_int_equal(ftruncate(fileno(f), ftell(f) / 2), 0);
    fclose(f);
    static const char *const need[] = {"id", "gpus"}, *const may[] = {"team"};
    assert_false(csv_read(temporary(), &(struct csv_spec){need, 2, may, 1, collect, &got}, &d));
    assert_int_equal(diag_errors(&d), 1);
    assert_string_equal(d.entries.v[0].text, "unexpected end of file");
    assert_true(d.entries.v[0].line > 100);
    assert_false(csv_read("no such file", &(struct csv_spec){need, 2, may, 1, collect, &got}, &d));
    assert_string_equal(d.entries.v[1].text, "cannot open: No such file or directory");
    assert_false(csv_read(".", &(struct csv_spec){need, 2, may, 1, collect, &got}, &d));
    assert_string_equal(d.entries.v[2].text, "cannot read: Is a directory");
    assert_int_equal(d.entries.v[2].line, 0);
    diag_free(&d);
    str_free(&text);
    str_free(&got);
}

static void lines_of_all_lengths(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 1000, 262143, 262144, 262145, 0, 1000000, 5};
    struct str text = {0};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        str_append_repeat(&text, (char)('a' + (int)i), lengths[i]);
        if (i + 1 < COUNT(lengths)) str_append(&text, i % 2 ? "\r\n" : "\n");
    }
    for (int gzip = 0; gzip < 2; gzip++) {
        struct diag d = {0};
        struct line_reader r;
        char *line;
        write_file(text.s, text.n, gzip);
        assert_true(line_open(&r, temporary(), &d));
        for (size_t i = 0; i < COUNT(lengths); i++) {
            assert_true(line_next(&r, &line));
            assert_int_equal(r.line, i + 1);
            assert_int_equal(r.length, lengths[i]);
            assert_int_equal(strlen(line), lengths[i]);
            if (lengths[i]) assert_int_equal(line[lengths[i] - 1], 'a' + (int)i);
            assert_int_equal(r.ended, i + 1 < COUNT(lengths));
        }
        assert_false(line_next(&r, &line));
        assert_true(line_close(&r));
        diag_free(&d);
    }
    str_free(&text);
}

static void splitting(void **state)
{
    (void)state;
    char *f[4];
    char pipes[] = "a||b|c|d", empty[] = "", one[] = "x";
    assert_int_equal(line_split(pipes, '|', f, 4), 5);
    assert_string_equal(f[0], "a");
    assert_string_equal(f[1], "");
    assert_string_equal(f[3], "c");
    assert_int_equal(line_split(empty, '|', f, 4), 1);
    assert_int_equal(line_split(one, '|', f, 4), 1);
    char blanks[] = "  1 \t -1  x ", none[] = " \t ", full[] = "1 2 3 4 5 6";
    assert_int_equal(line_split_blanks(blanks, f, 4), 3);
    assert_string_equal(f[1], "-1");
    assert_string_equal(f[2], "x");
    assert_int_equal(line_split_blanks(none, f, 4), 0);
    assert_int_equal(line_split_blanks(full, f, 4), 6);
    assert_string_equal(f[3], "4");
}

static void splitting_one_line(void **state)
{
    (void)state;
    char *f[4], plain[] = "8,24.9,,x", quoted[] = " \"a, b\" ,\"\"\"\" , 7 ", many[] = "1,2,3,4,5,6", blank[] = "  ", open[] = "1,\"2";
    assert_int_equal(csv_split(plain, f, 4), 4);
    assert_string_equal(f[0], "8");
    assert_string_equal(f[1], "24.9");
    assert_string_equal(f[2], "");
    assert_string_equal(f[3], "x");
    assert_int_equal(csv_split(quoted, f, 4), 3);
    assert_string_equal(f[0], "a, b");
    assert_string_equal(f[1], "\"");
    assert_string_equal(f[2], "7");
    assert_int_equal(csv_split(many, f, 4), 6);
    assert_string_equal(f[3], "4");
    assert_int_equal(csv_split(blank, f, 4), 0);
    assert_int_equal(csv_split(open, f, 4), 0);
}

static void writing(void **state)
{
    (void)state;
    static struct csv_writer w;
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    csv_writer_begin(&w, f);
    csv_write_str(&w, "job");
    csv_write_str(&w, "a,\"b\"\nc");
    csv_write_str(&w, "");
    csv_write_row_end(&w);
    csv_write_i64(&w, INT64_MIN);
    csv_write_u64(&w, UINT64_MAX);
    csv_write_seconds(&w, 9516326000);
    csv_write_empty(&w);
    csv_write_row_end(&w);
    assert_true(csv_writer_end(&w));
    fclose(f);
    assert_string_equal(text, "job,\"a,\"\"b\"\"\nc\",\n-9223372036854775808,18446744073709551615,9.516326,\n");
    free(text);
}

/* What is written is read back, over many buffers; and a full device is noticed. */
static void writing_much(void **state)
{
    (void)state;
    static struct csv_writer w;
    struct str got = {0}, want = {0}, longest = {0};
    struct diag d = {0};
    static const char *const need[] = {"id", "gpus"}, *const may[] = {"team"};
    str_append_repeat(&longest, 'x', 200000);
    FILE *f = fopen(temporary(), "w");
    csv_writer_begin(&w, f);
    csv_write_str(&w, "gpus");
    csv_write_str(&w, "id");
    csv_write_row_end(&w);
    for (int i = 0; i < 20000; i++) {
        const char *id = i % 5000 == 7 ? longest.s : "a \"quoted\", one";
        csv_write_i64(&w, i * 1001);
        csv_write_str(&w, id);
        csv_write_row_end(&w);
        str_printf(&want, "%d:[%s][%d][-]", i + 2, id, i * 1001);
    }
    assert_true(csv_writer_end(&w));
    fclose(f);
    assert_true(csv_read(temporary(), &(struct csv_spec){need, 2, may, 1, collect, &got}, &d));
    assert_string_equal(str_text(&got), str_text(&want));
    f = fopen("/dev/full", "w");
    if (f != NULL) {
        csv_writer_begin(&w, f);
        csv_write_str(&w, "x");
        assert_false(csv_writer_end(&w));
        fclose(f);
    }
    str_free(&got);
    str_free(&want);
    str_free(&longest);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(a_damaged_gzip_is_an_error),
        cmocka_unit_test(lines_of_all_lengths),
        cmocka_unit_test(splitting),
        cmocka_unit_test(splitting_one_line),
        cmocka_unit_test(writing),
        cmocka_unit_test(writing_much),
    };
    return cmocka_run_group_tests(tests, NULL, remove_file);
}
