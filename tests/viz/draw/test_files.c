/* test_files.c - PNG, SVG and PDF of one list, and what draw_check finds.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "viz/draw/draw.h"
#include "viz/draw/draw_list.h"
#include "viz/draw/pixels.h"
#include "viz/draw/raster_rects.h"
#include "viz/draw/strokes.h"
#include "viz/draw/vector.h"

enum { W = 320, H = 200 };

struct world {
    struct text_engine *text;
    struct draw_list *d;
    struct theme theme;
    char folder[32];
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    char *err = NULL;
    w->text = text_create(&err);
    w->d = draw_create(w->text);
    w->theme = theme_make(0, 1);
    strcpy(w->folder, "/tmp/trainyard-draw-XXXXXX");
    *state = w;
    return w->text && mkdtemp(w->folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    rmdir(w->folder);
    draw_destroy(w->d);
    text_destroy(w->text);
    free(w);
    return 0;
}

static struct draw_list *begin(struct world *w)
{
    draw_begin(w->d, W, H, &w->theme);
    return w->d;
}

/* Something of each kind. */
static struct draw_list *all_kinds(struct world *w)
{
    struct draw_list *d = begin(w);
    draw_rect(d, (struct box){0, 0, W, 20}, ROLE_BAR);
    draw_text(d, 8, 14, &(struct text_style){.face = FACE_BOLD}, "a <b> & \"c\" \x01\xff \xe2\x96\xb2");
    draw_text(d, 300, 14, &(struct text_style){.align = ALIGN_RIGHT, .role = ROLE_TEXT_DIM, .face = FACE_MONO, .size = 10}, "]]> x");
    for (enum pattern k = PATTERN_SOLID; k < N_PATTERNS; k++)
        draw_fill(d, (struct box){10 + 40 * (float)k, 30, 36, 20}, w->theme.hue[1 + k], k);
    draw_fill(d, (struct box){10, 40, 200, 5}, 0x60ffffff, PATTERN_SOLID);
    draw_frame(d, (struct box){10, 60, 40, 20}, w->theme.role[ROLE_ACCENT], 2);
    draw_line(d, (struct point){60, 60}, (struct point){100, 80.25f}, 0xff0072b2, 1.5f);
    draw_clip(d, (struct box){110, 60, 50, 20});
    draw_polygon(d, (struct point[]){{100, 60}, {150, 60}, {170, 90}}, 3, 0xffd55e00, PATTERN_CROSS);
    draw_text(d, 100, 78, &(struct text_style){0}, "cut by a clip");
    draw_unclip(d);
    uint32_t *r = draw_raster(d, (struct box){10, 100, 60, 40});
    for (int i = 0; i < 60 * 40; i++) r[i] = i / 600 % 2 ? 0xff009e73 : i % 60 < 30 ? 0 : 0x800072b2;
    r = draw_raster(d, (struct box){80, 100, 100, 90});
    for (uint32_t i = 0; i < 100 * 90; i++) r[i] = 0xff000000 | i * 2654435761u;
    return d;
}

static char *path_of(const struct world *w, const char *name)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", w->folder, name);
    return path;
}

static char *read_and_remove(const char *path, size_t *n)
{
    struct diag d = {0};
    char *text = file_read(path, FILE_READ_MAX, n, &d);
    assert_non_null(text);
    unlink(path);
    diag_free(&d);
    return text;
}

static void a_png_has_the_pixels(void **state)
{
    struct world *w = *state;
    struct pixels *p = pixels_create(W, H);
    char *err = NULL;
    pixels_paint(p, all_kinds(w));
    assert_true(pixels_png(p, path_of(w, "a.png"), &err));
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path_of(w, "a.png")));
    assert_int_equal(image.width, W);
    assert_int_equal(image.height, H);
    image.format = PNG_FORMAT_RGB;
    unsigned char *rgb = malloc(PNG_IMAGE_SIZE(image));
    assert_true(png_image_finish_read(&image, NULL, rgb, 0, NULL));
    for (size_t i = 0; i < W * H; i++)
        assert_int_equal(p->argb[i], 0xff000000u | (uint32_t)rgb[3 * i] << 16 | (uint32_t)rgb[3 * i + 1] << 8 | rgb[3 * i + 2]);
    free(rgb);
    size_t n, m;
    char *first = read_and_remove(path_of(w, "a.png"), &n);
    struct pixels *q = pixels_create(W, H);
    pixels_paint(q, all_kinds(w));
    assert_true(pixels_png(q, path_of(w, "b.png"), &err));
    char *second = read_and_remove(path_of(w, "b.png"), &m);
    assert_int_equal(n, m);
    assert_memory_equal(first, second, n);
    free(first);
    free(second);
    pixels_destroy(p);
    pixels_destroy(q);
}

/* Read back as RGBA: what went in, with a palette (256 colours) and without (257). */
static void pngs_keep_alpha(void **state)
{
    (void)state;
    for (uint32_t colours = 256; colours <= 257; colours++) {
        uint32_t argb[30 * 20];
        for (uint32_t i = 0; i < 600; i++) argb[i] = i % colours * 0x81030507u;
        struct str bytes = {0};
        png_append(&bytes, argb, 30, 20, true);
        assert_int_equal((unsigned char)bytes.s[25], colours == 256 ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB_ALPHA); /* of IHDR */
        png_image image = {.version = PNG_IMAGE_VERSION};
        assert_true(png_image_begin_read_from_memory(&image, bytes.s, bytes.n));
        image.format = PNG_FORMAT_RGBA;
        unsigned char rgba[600 * 4];
        assert_int_equal(PNG_IMAGE_SIZE(image), sizeof rgba);
        assert_true(png_image_finish_read(&image, NULL, rgba, 0, NULL));
        for (size_t i = 0; i < 600; i++)
            assert_int_equal(argb[i], (uint32_t)rgba[4 * i + 3] << 24 | (uint32_t)rgba[4 * i] << 16 | (uint32_t)rgba[4 * i + 1] << 8 | rgba[4 * i + 2]);
        str_free(&bytes);
    }
}

static void what_cannot_be_written_is_told(void **state)
{
    struct world *w = *state;
    struct pixels *p = pixels_create(4, 4);
    char *err = NULL;
    assert_false(pixels_png(p, path_of(w, "none/a.png"), &err));
    assert_non_null(strstr(err, "none/a.png: cannot"));
    free(err);
    assert_false(vector_write(begin(w), path_of(w, "none/a.svg"), &err));
    assert_non_null(strstr(err, "none/a.svg: cannot"));
    free(err);
    assert_false(vector_write(begin(w), path_of(w, "a.gif"), &err));
    assert_non_null(strstr(err, ".png, .svg or .pdf"));
    free(err);
    pixels_destroy(p);
}

/* A check of what well-formed means for what we write: tags nest, attributes are quoted, nothing is left unescaped. */
static void expect_well_formed(const char *xml)
{
    char stack[32][16];
    int depth = 0, elements = 0;
    for (const char *p = xml; *p;) {
        if (*p == '&') assert_true(!strncmp(p, "&amp;", 5) || !strncmp(p, "&lt;", 4) || !strncmp(p, "&gt;", 4));
        assert_true((unsigned char)*p >= 0x20 || *p == '\n');
        if (*p++ != '<') continue;
        bool closing = *p == '/';
        char name[16] = {0};
        sscanf(p + closing, "%15[a-zA-Z]", name);
        assert_true(name[0] != 0);
        bool quoted = false;
        char last = 0;
        for (; *p && (quoted || *p != '>'); last = *p++) {
            if (*p == '"') quoted = !quoted;
            assert_true(*p != '<');
        }
        assert_int_equal(*p, '>');
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(stack[--depth], name);
        } else if (last != '/') {
            assert_true(depth < 32);
            strcpy(stack[depth++], name);
        }
        elements++;
    }
    assert_int_equal(depth, 0);
    assert_true(elements > 10);
}

static unsigned times(const char *text, const char *word)
{
    unsigned n = 0;
    for (; (text = strstr(text, word)) != NULL; text++) n++;
    return n;
}

static void svg_is_text_that_can_be_searched(void **state)
{
    struct world *w = *state;
    struct str s = {0}, again = {0};
    vector_svg(all_kinds(w), NULL, "p1-", &s);
    expect_well_formed(str_text(&s));
    assert_non_null(strstr(s.s, ">a &lt;b&gt; &amp; \"c\" \xef\xbf\xbd\xef\xbf\xbd \xe2\x96\xb2</text>"));
    assert_non_null(strstr(s.s, ">]]&gt; x</text>"));
    assert_int_equal(times(s.s, "<pattern id=\"p1-p"), N_PATTERNS); /* five of fills, one of a polygon */
    assert_int_equal(times(s.s, "<clipPath id=\"p1-c"), 1);
    assert_int_equal(times(s.s, " id=\""), N_PATTERNS + 1);
    assert_int_equal(times(s.s, "<image "), 1); /* 9,000 colours; the other raster is paths */
    assert_int_equal(times(s.s, "crispEdges"), 2);
    vector_svg(all_kinds(w), NULL, "p1-", &again);
    assert_string_equal(s.s, again.s);
    str_free(&again);
    str_free(&s);
}

static struct draw_list *in_theme(struct world *w, struct theme *t, unsigned index, float shifted)
{
    struct draw_list *d = draw_create(w->text);
    *t = theme_make(index, 1);
    draw_begin(d, W, H, t);
    draw_rect(d, (struct box){10, 10, 20, 20}, ROLE_BAR);
    draw_rect(d, (struct box){10 + shifted, 40, 20, 20}, ROLE_SELECTION);
    draw_fill(d, (struct box){40, 10, 20, 20}, t->hue[1], PATTERN_HATCH);
    draw_text(d, 8, 100, &(struct text_style){0}, "text");
    uint32_t *r = draw_raster(d, (struct box){80, 100, 2, 1});
    r[0] = t->hue[2], r[1] = t->hue[2];
    r = draw_raster(d, (struct box){10, 120, 100, 60}); /* of more colours than become rectangles */
    for (uint32_t i = 0; i < 100 * 60; i++) r[i] = 0xff000000 | i * 7 << (8 * index);
    return d;
}

/* Colours by theme.c's table: light, then dark. */
static void svg_follows_the_page(void **state)
{
    struct world *w = *state;
    struct theme themes[3];
    struct inks inks = {0};
    struct str s = {0}, css = {0};
    struct draw_list *light = in_theme(w, &themes[0], 0, 0), *dark = in_theme(w, &themes[1], 1, 0), *other = in_theme(w, &themes[2], 1, 1);
    assert_false(inks_take(&inks, light, other)); /* more than colours */
    assert_true(inks_take(&inks, light, dark));
    vector_svg(light, &inks, "p1-", &s);
    expect_well_formed(str_text(&s));
    assert_int_equal(times(s.s, "#"), 1); /* no colour, but the pattern's name */
    assert_int_equal(times(s.s, "<image class=\"only-light\""), 1);
    assert_int_equal(times(s.s, "<image class=\"only-dark\""), 1);
    inks_css(&inks, &css);
    /* ground, bar, selection, hue 1, its lines, text, hue 2: those of the image are not named */
    assert_non_null(strstr(css.s, ":root{--k1:#ffffff;--k2:#eceff3;--k3:#0a63b824;--k4:#e69f00;"));
    assert_non_null(strstr(css.s, "@media screen and (prefers-color-scheme:dark){:root{--k1:#15181d;--k2:#232830;--k3:#4aa3e82a;--k4:#df9c0a;"));
    assert_int_equal(times(css.s, ":#"), 2 * 7);
    draw_destroy(light);
    draw_destroy(dark);
    draw_destroy(other);
    inks_free(&inks);
    str_free(&s);
    str_free(&css);
}

static void svg_places_are_exact(void **state)
{
    struct world *w = *state;
    struct draw_list *d = begin(w);
    draw_clip(d, (struct box){20, 20, 100, 100});
    draw_fill(d, (struct box){10, 30, 50, 8}, 0xff112233, PATTERN_SOLID);
    draw_fill(d, (struct box){70, 70, 9, 9}, 0xff112233, PATTERN_SOLID);
    draw_frame(d, (struct box){80, 70, 20, 10}, 0xff112233, 3);
    draw_polyline(d, (struct point[]){{30, 30}, {40.126f, 29.5f}, {40.126f, 29.5f}, {50, 31}, {55, 31}, {60, 31}, {60, 30.7f}}, 7, 0x80445566, 1.5f);
    draw_unclip(d);
    struct str s = {0};
    vector_svg(d, NULL, "", &s);
    assert_non_null(strstr(s.s, "<path fill=\"#112233\" d=\"M20 30h40v8h-40zM70 70h9v9h-9z\"/>")); /* cut by its clip; like its neighbour */
    assert_non_null(strstr(s.s, "<path fill=\"none\" stroke=\"#112233\" stroke-width=\"3\" d=\"M81.5 71.5h17v7h-17z\"/>"));
    assert_non_null(strstr(s.s, "<path d=\"M30 30l10.1-.5l9.9 1.5h10v-.3\""));
    assert_non_null(strstr(s.s, "stroke=\"#445566\" stroke-opacity=\"0.502\" stroke-width=\"1.5\""));
    assert_null(strstr(s.s, "clip"));
    str_free(&s);
}

static void pdf_is_whole_and_the_same_twice(void **state)
{
    struct world *w = *state;
    char *err = NULL;
    size_t n, m;
    assert_true(vector_write(all_kinds(w), path_of(w, "a.pdf"), &err));
    char *a = read_and_remove(path_of(w, "a.pdf"), &n);
    assert_true(vector_write(all_kinds(w), path_of(w, "b.pdf"), &err));
    char *b = read_and_remove(path_of(w, "b.pdf"), &m);
    assert_memory_equal(a, "%PDF-", 5);
    assert_memory_equal(a + n - 6, "%%EOF\n", 6);
    assert_null(memmem(a, n, "CreationDate", 12));
    assert_non_null(memmem(a, n, "DejaVuSans-Bold", 15)); /* embedded */
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
}

static bool on_stroke(const struct strokes *s, double x, double y)
{
    for (unsigned i = 0; i < s->n; i++) {
        double ax = s->v[i].x0, ay = s->v[i].y0, dx = s->v[i].x1 - ax, dy = s->v[i].y1 - ay, length = hypot(dx, dy);
        double along = ((x - ax) * dx + (y - ay) * dy) / length, across = ((x - ax) * dy - (y - ay) * dx) / length;
        if (along >= 0 && along <= length && fabs(across) <= (double)s->width / 2) return true;
    }
    return false;
}

/* The strokes for vectors cover as much of each pixel of a tile as its tone says, to a half; of the tile, to 2 of 64 pixels. */
static void strokes_match_the_tiles(void **state)
{
    (void)state;
    enum { FINE = 20 };
    for (enum pattern k = PATTERN_HATCH; k < N_PATTERNS; k++) {
        const uint32_t argb = 0xffff0000, tone = theme_pattern_tone(argb);
        uint32_t tile[64];
        double difference = 0;
        theme_pattern(argb, k, tile);
        for (int i = 0; i < 64; i++) {
            double covered = 0, red = tile[i] >> 16 & 255, toned = (255 - red) / (255 - (double)(tone >> 16 & 255));
            for (int f = 0; f < FINE * FINE; f++)
                covered += on_stroke(pattern_strokes(k), i % 8 + (f % FINE + 0.5) / FINE, i / 8 + (f / FINE + 0.5) / FINE);
            covered /= FINE * FINE;
            difference += covered - toned;
            if (fabs(covered - toned) > 0.5) fail_msg("pattern %u, pixel %d: %.2f, by strokes %.2f", k, i, toned, covered);
        }
        assert_true(fabs(difference) < 2);
    }
}

static void equal_neighbours_are_one_rectangle(void **state)
{
    (void)state;
    const uint32_t a = 0xff000001, b = 0xff000002;
    uint32_t argb[] = {a, a, 0, b,   /* a: 2 x 2; b: 1 x 1; b: 2 x 1, which is wider than the one above */
                       a, a, b, b,
                       0, a, b, 0};
    struct raster r = {.argb = argb, .w = 4, .h = 3};
    struct raster_rects rects = {0};
    assert_true(raster_rects(&r, 10, 20, (struct area){0, 0, 100, 100}, 5, &rects));
    const struct raster_rect expected[] = {{{10, 20, 12, 22}, a}, {{11, 22, 12, 23}, a}, {{13, 20, 14, 21}, b}, {{12, 21, 14, 22}, b}, {{12, 22, 13, 23}, b}};
    assert_int_equal(rects.all.n, 5);
    assert_memory_equal(rects.all.v, expected, sizeof expected);
    array_clear(&rects.all);
    assert_false(raster_rects(&r, 10, 20, (struct area){0, 0, 100, 100}, 4, &rects));
    array_clear(&rects.all);
    assert_true(raster_rects(&r, 10, 20, (struct area){11, 21, 13, 22}, 5, &rects)); /* a part of it */
    assert_int_equal(rects.all.n, 2);
    array_free(&rects.all);
}

static void every_theme_paints_and_writes(void **state)
{
    struct world *w = *state;
    struct pixels *p = pixels_create(W, H), *q = pixels_create(W, H);
    for (unsigned i = 0; i < N_THEMES; i++) {
        w->theme = theme_make(i, 1.5f);
        struct str s = {0};
        pixels_paint(p, all_kinds(w));
        assert_int_equal(p->argb[W * H - 1], w->theme.role[ROLE_BACKGROUND]);
        assert_memory_not_equal(p->argb, q->argb, sizeof(uint32_t) * W * H);
        memcpy(q->argb, p->argb, sizeof(uint32_t) * W * H);
        vector_svg(w->d, NULL, "", &s);
        expect_well_formed(s.s);
        str_free(&s);
    }
    w->theme = theme_make(0, 1);
    pixels_destroy(p);
    pixels_destroy(q);
}

static void expect_told(const struct draw_list *d, const char *lines)
{
    struct str s = {0};
    bool well = draw_check(d, &s);
    assert_string_equal(str_text(&s), lines);
    assert_int_equal(well, *lines == '\0');
    str_free(&s);
}

static void texts_that_are_cut_are_told(void **state)
{
    struct world *w = *state;
    struct text_style style = {0};
    struct draw_list *d = begin(w);
    draw_text(d, 8, 20, &style, "well");
    expect_told(d, "");
    draw_text(d, W - 10, 100, &style, "HH"); /* 9.02 px wide each, the second H from 1.2 to 7.8 px of it: ink to 327 */
    draw_text(d, W + 10, 120, &style, "gone");
    draw_text(d, 10, 4, &style, "H"); /* cap height 9 px */
    expect_told(d, "\"HH\" at 310,100: 7 px cut off at the right\n"
                   "\"gone\" at 330,120 lies outside of the picture\n"
                   "\"H\" at 10,4: 5 px cut off at the top\n");
    d = begin(w);
    draw_clip(d, (struct box){10, 50, 100, 60});
    draw_text(d, 5, 80, &style, "HH");
    draw_text(d, 20, 200, &style, "out of sight");
    draw_text(d, 40, 112, &style, "half a row");
    draw_unclip(d);
    expect_told(d, "\"HH\" at 5,80: 4 px cut off at the left\n");
}

static void texts_that_overlap_are_told(void **state)
{
    struct world *w = *state;
    struct text_style style = {0};
    struct draw_list *d = begin(w);
    draw_text(d, 8, 20, &style, "first");
    draw_text(d, 8, 34, &style, "next line"); /* of ink 11 px high */
    expect_told(d, "");
    draw_text(d, 20, 22, &style, "second");
    expect_told(d, "\"first\" at 8,20 overlaps \"second\" at 20,22\n");
    d = begin(w);
    draw_text(d, 8, 20, &style, "below");
    draw_rect(d, (struct box){0, 0, 100, 60}, ROLE_PANEL);
    draw_text(d, 12, 22, &style, "tooltip");
    expect_told(d, "");
    draw_rect(d, (struct box){0, 0, 100, 60}, ROLE_SELECTION); /* translucent: hides nothing */
    draw_text(d, 14, 22, &style, "more");
    expect_told(d, "\"tooltip\" at 12,22 overlaps \"more\" at 14,22\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_png_has_the_pixels),
        cmocka_unit_test(pngs_keep_alpha),
        cmocka_unit_test(what_cannot_be_written_is_told),
        cmocka_unit_test(svg_is_text_that_can_be_searched),
        cmocka_unit_test(svg_follows_the_page),
        cmocka_unit_test(svg_places_are_exact),
        cmocka_unit_test(pdf_is_whole_and_the_same_twice),
        cmocka_unit_test(strokes_match_the_tiles),
        cmocka_unit_test(equal_neighbours_are_one_rectangle),
        cmocka_unit_test(every_theme_paints_and_writes),
        cmocka_unit_test(texts_that_are_cut_are_told),
        cmocka_unit_test(texts_that_overlap_are_told),
    };
    return cmocka_run_group_tests_name("viz/draw/files", tests, set_up, tear_down);
}
