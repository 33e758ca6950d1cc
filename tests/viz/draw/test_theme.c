/* test_theme.c - themes by formula: contrast of texts (WCAG 2.1), looks that can be told apart.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/contrast.h"
#include "viz/draw/theme.h"
#include "viz/model/scene.h"

/* A colour with an alpha on an opaque ground. */
static uint32_t over(uint32_t ground, uint32_t colour)
{
    return theme_mix(ground, colour | 0xff000000, (float)(colour >> 24) / 255) | 0xff000000;
}

/* WCAG's definition gives 21 for black on white, 1 for a colour on itself; W3C's G18 example: #767676 on white has 4.54. */
static void contrast_is_wcags(void **state)
{
    (void)state;
    assert_true(fabsf(contrast_of(0xff000000, 0xffffffff) - 21) < 1e-4f);
    assert_true(fabsf(contrast_of(0xff0072b2, 0xff0072b2) - 1) < 1e-6f);
    assert_true(fabsf(contrast_of(0xffffffff, 0xff767676) - 4.54f) < 0.005f);
}

static const enum role texts[] = {ROLE_TEXT, ROLE_TEXT_DIM, ROLE_ACCENT, ROLE_EARLIER, ROLE_LATER, ROLE_FAILURE, ROLE_WARNING};
static const enum role grounds[] = {ROLE_BACKGROUND, ROLE_PANEL, ROLE_BAR};

static void texts_are_read_on_every_ground(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_THEMES; i++) {
        struct theme t = theme_make(i, 1);
        float least = strcmp(t.name, "contrast") == 0 ? 7 : 4.5f;
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            for (size_t g = 0; g < 3 * sizeof grounds / sizeof grounds[0]; g++) {
                uint32_t ground = t.role[grounds[g / 3]];
                if (g % 3 == 1) ground = over(ground, t.role[ROLE_SELECTION]);
                if (g % 3 == 2) ground = over(ground, t.role[ROLE_HOVER]);
                float c = contrast_of(t.role[texts[k]], ground);
                if (c < least) fail_msg("%s: role %u on ground %zu has contrast %.2f", t.name, texts[k], g, (double)c);
            }
        assert_true(contrast_of(t.role[ROLE_TEXT_ON_ACCENT], t.role[ROLE_ACCENT]) >= least);
        assert_true(contrast_of(t.role[ROLE_CURSOR], t.role[ROLE_BACKGROUND]) >= 4.5f);
    }
}

static void letters_are_read_on_any_colour(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 1u << 24; c += 0x010305) /* a few colours of each kind */
        assert_true(contrast_of(theme_text_on(0xff000000 | c), 0xff000000 | c) >= 4.5f);
}

/* Shows that stand for one thing (a wait, and what the GPU does meanwhile) share a look; else something must differ. */
static void looks_can_be_told_apart(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_THEMES; i++) {
        struct theme t = theme_make(i, 1);
        for (unsigned a = 0; a < N_SHOWS; a++) {
            struct look p = theme_look(&t, a);
            assert_true(p.letter > ' ' && p.letter < 127);
            assert_int_equal(p.argb >> 24, 255);
            for (unsigned b = 0; b < a; b++) {
                struct look q = theme_look(&t, b);
                bool differ = p.argb != q.argb || p.pattern != q.pattern, letters = p.letter != q.letter;
                bool both_tracks = a >= SHOW_WAIT && b < SHOW_WORK;  /* never side by side */
                bool parts_of_work = a == SHOW_WORK && b == ACT_COMPUTE;
                if (!differ && letters && !parts_of_work && !both_tracks) fail_msg("%s: %s and %s look alike", t.name, show_name(a), show_name(b));
                if (!both_tracks && !letters) fail_msg("%s: %s and %s have one letter", t.name, show_name(a), show_name(b));
            }
        }
    }
}

static void what_has_its_own_sign(void **state)
{
    (void)state;
    struct theme t = theme_make(0, 1);
    const struct { unsigned show; uint32_t argb; } rows[] = {{SHOW_WORK, 0xff009e73}, {SHOW_WAIT + WAIT_QUOTA, 0xff0072b2},
        {ACT_FAILED, 0xffd55e00}, {SHOW_REDONE, 0xffcc79a7}, {ACT_IMAGE_PULL, 0xfff0e442}, {ACT_WAIT_PEERS, 0xffe69f00}}; /* Okabe and Ito */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) assert_int_equal(theme_look(&t, rows[i].show).argb, rows[i].argb);
    struct look none = theme_look(&t, SHOW_NOTHING), idle = theme_look(&t, ACT_FREE);
    assert_int_equal(none.argb, idle.argb);
    assert_true(theme_look(&t, ACT_FAILED).pattern != PATTERN_SOLID && theme_look(&t, SHOW_REDONE).pattern != PATTERN_SOLID);
}

static void neighbours_differ_in_colour(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_THEMES; i++) {
        struct theme t = theme_make(i, 1);
        for (uint32_t a = 0; a < 28; a++)
            for (uint32_t b = 0; b < a; b++) assert_int_not_equal(theme_colour_of(&t, a), theme_colour_of(&t, b));
        assert_int_equal(theme_colour_of(&t, 5), theme_colour_of(&t, 33));
    }
}

static void themes_scale(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_THEMES; i++) {
        struct theme one = theme_make(i, 1), two = theme_make(i, 2);
        assert_string_equal(one.name, theme_names[i]);
        assert_true(one.font_size == 12 && two.font_size == 24 && two.line == 2 * one.line && two.pad == 2 * one.pad);
    }
}

static void colours_mix(void **state)
{
    (void)state;
    assert_int_equal(theme_mix(0xff000000, 0xffffffff, 0), 0xff000000);
    assert_int_equal(theme_mix(0xff000000, 0xffffffff, 1), 0xffffffff);
    assert_int_equal(theme_mix(0xff102030, 0xff304050, 0.5f), 0xff203040);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contrast_is_wcags),
        cmocka_unit_test(texts_are_read_on_every_ground),
        cmocka_unit_test(letters_are_read_on_any_colour),
        cmocka_unit_test(looks_can_be_told_apart),
        cmocka_unit_test(what_has_its_own_sign),
        cmocka_unit_test(neighbours_differ_in_colour),
        cmocka_unit_test(themes_scale),
        cmocka_unit_test(colours_mix),
    };
    return cmocka_run_group_tests_name("viz/draw/theme", tests, NULL, NULL);
}
