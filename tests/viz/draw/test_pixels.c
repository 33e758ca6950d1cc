/* test_pixels.c - what the pixel back end paints, by hand-computed pixels and areas.
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

#include "viz/draw/draw.h"
#include "viz/draw/pixels.h"

enum { W = 64, H = 48 };
#define BLACK 0xff000000u
#define WHITE 0xffffffffu
#define RED   0xffff0000u

struct world {
    struct text_engine *text;
    struct draw_list *list;
    struct pixels *pixels;
    struct theme theme; /* light, white ground */
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    char *err = NULL;
    w->text = text_create(&err);
    if (!w->text) print_error("%s\n", err);
    assert_non_null(w->text);
    w->list = draw_create(w->text);
    w->pixels = pixels_create(W, H);
    w->theme = theme_make(0, 1);
    w->theme.role[ROLE_BACKGROUND] = WHITE;
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    pixels_destroy(w->pixels);
    draw_destroy(w->list);
    text_destroy(w->text);
    free(w);
    return 0;
}

static struct draw_list *begin(struct world *w)
{
    draw_begin(w->list, W, H, &w->theme);
    return w->list;
}

static uint32_t at(const struct world *w, int x, int y)
{
    return w->pixels->argb[y * W + x];
}

/* Black on white: the sum of what is covered, in pixels. */
static double ink(const struct world *w)
{
    double sum = 0;
    for (int i = 0; i < W * H; i++) sum += (255 - (double)(w->pixels->argb[i] & 255)) / 255;
    return sum;
}

static void expect_near(double is, double should, double off)
{
    if (fabs(is - should) > off) fail_msg("%g instead of %g", is, should);
}

static void expect_only(const struct world *w, int x0, int y0, int x1, int y1, uint32_t argb)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            assert_int_equal(at(w, x, y), x >= x0 && x < x1 && y >= y0 && y < y1 ? argb : WHITE);
}

static void a_box_fills_its_pixels(void **state)
{
    struct world *w = *state;
    draw_fill(begin(w), (struct box){10, 5, 20, 8}, RED, PATTERN_SOLID);
    pixels_paint(w->pixels, w->list);
    expect_only(w, 10, 5, 30, 13, RED);
}

static void boxes_are_rounded_and_never_lost(void **state)
{
    struct world *w = *state;
    draw_fill(begin(w), (struct box){10.4f, 5.5f, 20.2f, 8}, RED, PATTERN_SOLID); /* to 30.6 and 13.5 */
    pixels_paint(w->pixels, w->list);
    expect_only(w, 10, 6, 31, 14, RED);
    draw_fill(begin(w), (struct box){20.1f, 7, 0.01f, 3}, RED, PATTERN_SOLID);
    pixels_paint(w->pixels, w->list);
    expect_only(w, 20, 7, 21, 10, RED);
}

static void boxes_outside_or_without_size_paint_nothing(void **state)
{
    struct world *w = *state;
    struct draw_list *d = begin(w);
    draw_fill(d, (struct box){10, 10, 0, 5}, RED, PATTERN_SOLID);
    draw_fill(d, (struct box){10, 10, -5, 5}, RED, PATTERN_SOLID);
    draw_fill(d, (struct box){W, 0, 5, 5}, RED, PATTERN_SOLID);
    draw_fill(d, (struct box){-1e30f, 0, 5, 5}, RED, PATTERN_SOLID);
    draw_fill(d, (struct box){NAN, 0, NAN, 5}, RED, PATTERN_SOLID);
    draw_fill(d, (struct box){0, 0, 5, 5}, 0x00ff0000, PATTERN_SOLID);
    assert_int_equal(draw_count(d), 1);
    pixels_paint(w->pixels, d);
    expect_only(w, 0, 0, 0, 0, RED);
}

static void huge_boxes_are_cut_to_the_picture(void **state)
{
    struct world *w = *state;
    draw_fill(begin(w), (struct box){-1e20f, 40, 3e20f, 1e9f}, RED, PATTERN_HATCH);
    draw_fill(w->list, (struct box){-1e20f, 40, 3e20f, 1e9f}, RED, PATTERN_SOLID);
    pixels_paint(w->pixels, w->list);
    expect_only(w, 0, 40, W, H, RED);
}

static void clips_nest_and_end(void **state)
{
    struct world *w = *state;
    struct draw_list *d = begin(w);
    draw_clip(d, (struct box){10, 10, 20, 20});
    draw_clip(d, (struct box){20, 0, 40, 20});
    draw_fill(d, (struct box){0, 0, W, H}, RED, PATTERN_SOLID);
    draw_unclip(d);
    pixels_paint(w->pixels, d);
    expect_only(w, 20, 10, 30, 20, RED);
    draw_fill(d, (struct box){0, 0, W, H}, RED, PATTERN_SOLID);
    pixels_paint(w->pixels, d);
    expect_only(w, 10, 10, 30, 30, RED);
    draw_unclip(d);
    draw_fill(d, (struct box){0, 0, W, H}, BLACK, PATTERN_SOLID);
    pixels_paint(w->pixels, d);
    expect_only(w, 0, 0, W, H, BLACK);
}

/* 0xff * a / 255 + 0x00 * (255 - a) / 255, rounded. */
static void translucent_fills_mix(void **state)
{
    struct world *w = *state;
    for (uint32_t a = 1; a < 256; a++) {
        draw_fill(begin(w), (struct box){0, 0, W, H}, a << 24 | 0x204060, PATTERN_SOLID);
        pixels_paint(w->pixels, w->list);
        for (int shift = 0; shift < 24; shift += 8) {
            double over = 0x204060 >> shift & 255;
            assert_int_equal(at(w, 3, 3) >> shift & 255, lround((over * a + 255.0 * (255 - a)) / 255));
        }
    }
}

static void a_frame_lies_within_its_box(void **state)
{
    struct world *w = *state;
    draw_frame(begin(w), (struct box){10, 10, 20, 10}, BLACK, 2);
    pixels_paint(w->pixels, w->list);
    expect_near(ink(w), 20 * 10 - 16 * 6, 1e-9);
    assert_int_equal(at(w, 10, 10), BLACK);
    assert_int_equal(at(w, 29, 19), BLACK);
    assert_int_equal(at(w, 12, 12), WHITE);
    assert_int_equal(at(w, 30, 10), WHITE);
}

static void lines_along_an_axis_are_sharp(void **state)
{
    struct world *w = *state;
    draw_line(begin(w), (struct point){10.7f, 5}, (struct point){10.7f, 15}, BLACK, 1);
    pixels_paint(w->pixels, w->list);
    expect_only(w, 10, 5, 11, 15, BLACK);
    draw_line(begin(w), (struct point){20, 7}, (struct point){4, 7}, BLACK, 3);
    pixels_paint(w->pixels, w->list);
    expect_only(w, 4, 6, 20, 9, BLACK);
}

/* A line of width b and length l covers b * l; a closed shape its area. Coverage is rounded to 1/255 a pixel. */
static void smooth_lines_cover_their_area(void **state)
{
    struct world *w = *state;
    static const struct { struct point a, b; float width; } rows[] = {
        {{10, 10}, {50, 20}, 1}, {{10, 40}, {20, 5}, 2.5f}, {{5, 5}, {45, 45}, 1.5f}, {{50, 6}, {8, 41}, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        draw_line(begin(w), rows[i].a, rows[i].b, BLACK, rows[i].width);
        pixels_paint(w->pixels, w->list);
        double length = hypot(rows[i].a.x - rows[i].b.x, rows[i].a.y - rows[i].b.y);
        expect_near(ink(w), length * rows[i].width, 0.02 * length);
    }
}

static void polygons_cover_their_area(void **state)
{
    struct world *w = *state;
    struct point triangle[] = {{10, 40}, {30.5f, 7.25f}, {52, 33}};
    draw_polygon(begin(w), triangle, 3, BLACK, PATTERN_SOLID);
    pixels_paint(w->pixels, w->list);
    double twice = (30.5 - 10) * (33 - 40) - (52.0 - 10) * (7.25 - 40);
    expect_near(ink(w), fabs(twice) / 2, 0.5);
    struct point arrow[] = {{10, 10}, {50, 10}, {50, 40}, {30, 20}, {10, 40}}; /* concave: 40 x 30 less a triangle 40 x 20 / 2 */
    draw_polygon(begin(w), arrow, 5, BLACK, PATTERN_SOLID);
    pixels_paint(w->pixels, w->list);
    expect_near(ink(w), 40 * 30 - 40 * 20 / 2.0, 0.5);
}

/* A corner of two strokes leaves no notch: the square around it of the stroke's width is covered but for the round. */
static void corners_are_filled(void **state)
{
    struct world *w = *state;
    struct point p[] = {{10, 30}, {30, 30}, {30, 10}};
    draw_polyline(begin(w), p, 3, BLACK, 4);
    pixels_paint(w->pixels, w->list);
    double octagon = 2 * sqrt(2) * 2 * 2; /* of radius 2; a quarter of it lies outside of both strokes */
    expect_near(ink(w), 20 * 4 + 20 * 4 - 2 * 2 + octagon / 4, 0.3);
}

static void far_ends_do_not_bend_a_line(void **state)
{
    struct world *w = *state;
    struct point p[] = {{-1e7f, 20}, {1e7f, 20.5f}};
    draw_polyline(begin(w), p, 2, BLACK, 2);
    pixels_paint(w->pixels, w->list);
    expect_near(ink(w), 2 * W, 0.5);
    struct point q[] = {{-1e6f, 20}, {1e6f, 20}, {1e6f, 30}, {-1e6f, 30}};
    draw_polygon(begin(w), q, 4, BLACK, PATTERN_SOLID);
    pixels_paint(w->pixels, w->list);
    expect_only(w, 0, 20, W, 30, BLACK);
}

static void shapes_keep_to_their_clip(void **state)
{
    struct world *w = *state;
    struct draw_list *d = begin(w);
    draw_clip(d, (struct box){20, 10, 20, 20});
    struct point p[] = {{0, 0}, {W, H}, {W, 0}, {0, H}};
    draw_polyline(d, p, 4, BLACK, 6);
    draw_polygon(d, p, 4, BLACK, PATTERN_DOTS);
    draw_text(d, 0, 20, &(struct text_style){.size = 30}, "MMMM");
    uint32_t *r = draw_raster(d, (struct box){0, 0, W, H});
    for (int i = 0; i < W * H; i++) r[i] = 0x80ff0000;
    draw_unclip(d);
    pixels_paint(w->pixels, d);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            if (x < 20 || x >= 40 || y < 10 || y >= 30) assert_int_equal(at(w, x, y), WHITE);
            else assert_int_not_equal(at(w, x, y), WHITE);
}

/* Neighbours of one look join: the tile hangs on the picture, not on the box. And each pattern is seen in a box of 8 x 8. */
static void patterns_hang_on_the_picture(void **state)
{
    struct world *w = *state;
    for (enum pattern k = PATTERN_SOLID; k < N_PATTERNS; k++) {
        draw_fill(begin(w), (struct box){3, 2, 50, 40}, RED, k);
        pixels_paint(w->pixels, w->list);
        uint32_t *whole = malloc(sizeof(uint32_t) * W * H), tile[64];
        memcpy(whole, w->pixels->argb, sizeof(uint32_t) * W * H);
        draw_fill(begin(w), (struct box){3, 2, 17, 40}, RED, k);
        draw_polygon(w->list, (struct point[]){{20, 2}, {53, 2}, {53, 42}, {20, 42}}, 4, RED, k);
        pixels_paint(w->pixels, w->list);
        assert_memory_equal(whole, w->pixels->argb, sizeof(uint32_t) * W * H);
        theme_pattern(RED, k, tile);
        unsigned other = 0;
        for (int i = 0; i < 64; i++) {
            assert_int_equal(tile[i], whole[(8 + i / 8) * W + 8 + i % 8]);
            other += tile[i] != RED;
        }
        assert_true(k == PATTERN_SOLID ? other == 0 : other >= 8 && other <= 56);
        free(whole);
    }
}

static void rasters_lie_where_they_were_put(void **state)
{
    struct world *w = *state;
    struct draw_list *d = begin(w);
    uint32_t *a = draw_raster(d, (struct box){10, 5, 3, 2}), *b = draw_raster(d, (struct box){-1, -1, 2, 2});
    for (int i = 0; i < 6; i++) assert_int_equal(a[i], 0);
    a[0] = RED;
    a[5] = BLACK;
    a[1] = 0x80000000;
    b[3] = RED;
    pixels_paint(w->pixels, d);
    assert_int_equal(at(w, 10, 5), RED);
    assert_int_equal(at(w, 12, 6), BLACK);
    assert_int_equal(at(w, 11, 5), 0xff7f7f7f);
    assert_int_equal(at(w, 12, 5), WHITE);
    assert_int_equal(at(w, 0, 0), RED);
    d = begin(w); /* the memory is used again, and zeroed */
    a = draw_raster(d, (struct box){10, 5, 3, 2});
    for (int i = 0; i < 6; i++) assert_int_equal(a[i], 0);
}

static void one_list_paints_the_same_twice(void **state)
{
    struct world *w = *state;
    struct draw_list *d = begin(w);
    draw_text(d, 4, 20, &(struct text_style){.size = 13}, "Wait 3.2 h");
    draw_polyline(d, (struct point[]){{0, 0}, {33, 47}, {64, 3}}, 3, RED, 1.5f);
    pixels_paint(w->pixels, d);
    uint32_t first[W * H];
    memcpy(first, w->pixels->argb, sizeof first);
    pixels_paint(w->pixels, d);
    assert_memory_equal(first, w->pixels->argb, sizeof first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_fills_its_pixels),
        cmocka_unit_test(boxes_are_rounded_and_never_lost),
        cmocka_unit_test(boxes_outside_or_without_size_paint_nothing),
        cmocka_unit_test(huge_boxes_are_cut_to_the_picture),
        cmocka_unit_test(clips_nest_and_end),
        cmocka_unit_test(translucent_fills_mix),
        cmocka_unit_test(a_frame_lies_within_its_box),
        cmocka_unit_test(lines_along_an_axis_are_sharp),
        cmocka_unit_test(smooth_lines_cover_their_area),
        cmocka_unit_test(polygons_cover_their_area),
        cmocka_unit_test(corners_are_filled),
        cmocka_unit_test(far_ends_do_not_bend_a_line),
        cmocka_unit_test(shapes_keep_to_their_clip),
        cmocka_unit_test(patterns_hang_on_the_picture),
        cmocka_unit_test(rasters_lie_where_they_were_put),
        cmocka_unit_test(one_list_paints_the_same_twice),
    };
    return cmocka_run_group_tests_name("viz/draw/pixels", tests, set_up, tear_down);
}
