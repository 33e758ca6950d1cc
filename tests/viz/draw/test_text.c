/* test_text.c - widths, cuts, characters; the expected advances are read from the font itself, by FreeType at its own scale.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "viz/draw/draw.h"
#include "viz/draw/draw_list.h"
#include "viz/draw/fonts.h"

static int set_up(void **state)
{
    char *err = NULL;
    *state = text_create(&err);
    if (!*state) print_error("%s\n", err);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    text_destroy(*state);
    return 0;
}

/* DejaVu Sans 2.37: 2,048 units an em; digits are 1,303 wide, the space 651, H 1,540 ("hmtx" table). */
static void advances_are_the_fonts(void **state)
{
    const struct text_engine *t = *state;
    assert_true(text_width(t, FACE_SANS, 12, "") == 0);
    for (char c = '0'; c <= '9'; c++) assert_true(fabsf(text_width(t, FACE_SANS, 512, (char[]){c, 0}) - 1303 / 4.0f) < 1e-3f);
    assert_true(fabsf(text_width(t, FACE_SANS, 512, " ") - 651 / 4.0f) < 1e-3f);
    assert_true(fabsf(text_width(t, FACE_SANS, 512, "H") - 1540 / 4.0f) < 1e-3f);
    assert_true(fabsf(text_width(t, FACE_MONO, 12, "i") - text_width(t, FACE_MONO, 12, "W")) < 1e-6f);
    assert_true(text_width(t, FACE_BOLD, 12, "Wait") > text_width(t, FACE_SANS, 12, "Wait"));
}

static void a_width_is_the_sum_of_advances(void **state)
{
    const struct text_engine *t = *state;
    static const char *const texts[] = {"AVAVA To WAVE", "\xe2\x89\xa4 3.2 GPU-h \xc2\xb1 5 %", "\xe2\x96\xb2\xe2\x9c\x93\xe2\x86\x92"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        float sum = 0;
        for (const char *p = texts[i], *from = p; text_next(&p); from = p) {
            char one[8] = {0};
            memcpy(one, from, (size_t)(p - from));
            sum += text_width(t, FACE_SANS, 13, one);
        }
        assert_true(fabsf(text_width(t, FACE_SANS, 13, texts[i]) - sum) < 1e-3f);
        assert_true(fabsf(text_width(t, FACE_SANS, 26, texts[i]) - 2 * sum) < 1e-3f);
    }
}

static void characters_are_those_of_utf8(void **state)
{
    (void)state;
    static const struct { const char *text; uint32_t c[4]; } rows[] = {
        {"Ab", {'A', 'b', 0}},
        {"\xc2\xb5", {0xb5, 0}},
        {"\xe2\x96\xb2x", {0x25b2, 'x', 0}},
        {"\xf0\x9f\x98\x80", {0x1f600, 0}},
        {"\xff" "a", {0xfffd, 'a', 0}},                 /* never part of UTF-8 */
        {"\xe2\x96", {0xfffd, 0xfffd, 0}},              /* cut off: each byte by itself */
        {"\xc0\xaf", {0xfffd, 0xfffd, 0}},              /* over-long */
        {"\xed\xa0\x80", {0xfffd, 0xfffd, 0xfffd, 0}},  /* a surrogate */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *p = rows[i].text;
        for (int k = 0; k < 4; k++) {
            uint32_t c = text_next(&p);
            assert_int_equal(c, rows[i].c[k]);
            if (!c) break;
        }
        assert_int_equal(*p, 0);
    }
}

static void a_cut_never_splits_a_character(void **state)
{
    const struct text_engine *t = *state;
    const char *text = "a\xc2\xb5" "b\xe2\x96\xb2" "c\xf0\x9f\x98\x80" "d";
    static const size_t ends[] = {0, 1, 3, 4, 7, 8, 12, 13};
    float all = text_width(t, FACE_SANS, 12, text);
    size_t last = 0, k = 0;
    for (float w = 0; w <= all + 1; w += 0.25f) {
        size_t n = text_fits(t, FACE_SANS, 12, text, w);
        assert_true(n >= last);
        while (ends[k] < n) k++;
        assert_int_equal(ends[k], n);
        char piece[16] = {0};
        memcpy(piece, text, n);
        assert_true(text_width(t, FACE_SANS, 12, piece) <= w + 0.01f);
        last = n;
    }
    assert_int_equal(last, strlen(text));
    assert_int_equal(text_fits(t, FACE_SANS, 12, text, all), strlen(text)); /* what is just as wide fits */
    assert_int_equal(text_fits(t, FACE_SANS, 12, text, -5), 0);
}

static const char *drawn(const struct draw_list *d)
{
    return d->chars.v + array_last(&d->items).text.first;
}

static void long_texts_end_in_an_ellipsis(void **state)
{
    struct draw_list *d = draw_create(*state);
    struct theme theme = theme_make(0, 1);
    const char *text = "waits for the quota", *dots = "\xe2\x80\xa6";
    float all = text_width(*state, FACE_SANS, 12, text), least = text_width(*state, FACE_SANS, 12, dots);
    for (float max = least + 0.5f; max < all + 3; max += 1.3f) {
        draw_begin(d, 300, 100, &theme);
        float w = draw_text(d, 10, 50, &(struct text_style){.max_width = max}, text);
        assert_true(w <= max);
        size_t n = strlen(drawn(d));
        if (max >= all) {
            assert_string_equal(drawn(d), text);
            continue;
        }
        assert_string_equal(drawn(d) + n - 3, dots);
        assert_memory_equal(drawn(d), text, n - 3);
        assert_true(n == 3 || drawn(d)[n - 4] != ' ');
        assert_true(fabsf(w - text_width(*state, FACE_SANS, 12, drawn(d))) < 1e-4f);
    }
    size_t before = draw_count(d);
    assert_true(draw_text(d, 10, 50, &(struct text_style){.max_width = least - 1}, text) == 0);
    assert_int_equal(draw_count(d), before);
    draw_destroy(d);
}

static void texts_stand_where_they_are_aligned(void **state)
{
    struct draw_list *d = draw_create(*state);
    struct theme theme = theme_make(1, 1);
    draw_begin(d, 300, 100, &theme);
    float w = draw_text(d, 200, 50.4f, &(struct text_style){.align = ALIGN_RIGHT}, "1,024");
    assert_int_equal(array_last(&d->items).text.x, lroundf(200 - w));
    assert_int_equal(array_last(&d->items).text.y, 50);
    draw_text(d, 200, 50, &(struct text_style){.align = ALIGN_CENTRE}, "1,024");
    assert_int_equal(array_last(&d->items).text.x, lroundf(200 - w / 2));
    draw_destroy(d);
}

/* What the font lacks is its glyph 0, a box: it has ink, and the advance of glyph 0. */
static void a_missing_glyph_is_a_box(void **state)
{
    const struct text_engine *t = *state;
    struct letter l = font_letter(&t->fonts[FACE_SANS], 0xE8A5); /* private use: no such character */
    assert_int_equal(l.index, 0);
    assert_true(text_width(t, FACE_SANS, 12, "\xee\xa2\xa5") > 5);
    const struct glyph *g = font_glyph(t, FACE_SANS, font_size_64(12), 0, 0);
    assert_true(g->w > 2 && g->h > 5);
    for (const char *p = "\xe2\x96\xb2\xe2\x96\xbc\xe2\x86\x92\xe2\x9c\x93\xe2\x89\xa4\xc2\xb1\xc2\xb5\xce\x94\xe2\x80\xa6\xe2\x88\x92\xc3\x97"; *p;)
        assert_int_not_equal(font_letter(&t->fonts[FACE_SANS], text_next(&p)).index, 0); /* those that the views use */
}

/* Hinted vertically: the strokes of E at 12 px take whole rows, and H has whole height at every shift. */
static void horizontal_strokes_are_sharp(void **state)
{
    const struct text_engine *t = *state;
    for (float size = 10; size <= 16; size++)
        for (unsigned shift = 0; shift < GLYPH_SHIFTS; shift++) {
            const struct glyph *g = font_glyph(t, FACE_SANS, font_size_64(size), font_letter(&t->fonts[0], 'E').index, shift);
            const uint8_t *top = g->coverage + g->w / 2, *bottom = top + (size_t)(g->h - 1) * g->w;
            assert_true(*top > 200 && *bottom > 200);
            assert_int_equal(g->top, (int)g->h); /* stands on the baseline */
        }
}

static void the_store_starts_anew_when_full(void **state)
{
    const struct text_engine *t = *state;
    uint32_t index = font_letter(&t->fonts[0], 'W').index;
    for (uint32_t size = 64 * 100; size < 64 * 110; size++) font_glyph(t, FACE_SANS, size, index, 0); /* 640 x 7,000 bytes and more */
    for (uint32_t size = 64 * 200; size < 64 * 210; size++) assert_true(font_glyph(t, FACE_BOLD, size, index, 0)->w > 150);
    assert_true(t->store->memory.bytes < GLYPH_STORE_BYTES + 200000);
}

static void expect_refused(const char *folder, const char *word)
{
    char *err = NULL;
    setenv("TRAINYARD_FONTS", folder, 1);
    struct text_engine *t = text_create(&err);
    unsetenv("TRAINYARD_FONTS");
    assert_null(t);
    assert_non_null(strstr(err, folder));
    assert_non_null(strstr(err, word));
    free(err);
}

static void missing_and_damaged_fonts_are_told(void **state)
{
    (void)state;
    char folder[] = "/tmp/trainyard-fonts-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    expect_refused(folder, "fonts-dejavu-core");
    snprintf(path, sizeof path, "%s/DejaVuSans.ttf", folder);
    FILE *f = fopen(path, "w");
    fputs("no font", f);
    fclose(f);
    expect_refused(folder, "not a font");
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advances_are_the_fonts),
        cmocka_unit_test(a_width_is_the_sum_of_advances),
        cmocka_unit_test(characters_are_those_of_utf8),
        cmocka_unit_test(a_cut_never_splits_a_character),
        cmocka_unit_test(long_texts_end_in_an_ellipsis),
        cmocka_unit_test(texts_stand_where_they_are_aligned),
        cmocka_unit_test(a_missing_glyph_is_a_box),
        cmocka_unit_test(horizontal_strokes_are_sharp),
        cmocka_unit_test(the_store_starts_anew_when_full),
        cmocka_unit_test(missing_and_damaged_fonts_are_told),
    };
    return cmocka_run_group_tests_name("viz/draw/text", tests, set_up, tear_down);
}
