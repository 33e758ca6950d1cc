/* bench_draw.c - what painting a frame costs.
 *
 * The least of some rounds is told: the machine is shared, and painting does the same each time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "viz/draw/draw.h"
#include "viz/draw/pixels.h"
#include "viz/draw/vector.h"

enum { W = 1920, H = 1080, ROUNDS = 15 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Spans of some pixels, as a Gantt has them. */
static void fill_body(struct draw_list *d, const struct theme *theme)
{
    uint32_t *body = draw_raster(d, (struct box){0, 24, W, H - 24});
    for (uint32_t y = 0; y < H - 24; y++)
        for (uint32_t x = 0; x < W; x++) body[y * W + x] = theme_colour_of(theme, (x / 16 + y / 6 * 7) % 28);
}

static void add_texts(struct draw_list *d)
{
    char text[64];
    for (int i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "h100-%d: job train-%d", i, i * 37 % 1000);
        draw_text(d, (float)(i % 10) * 190 + 4, (float)(i / 10) * 20 + 40, &(struct text_style){.face = i % 7 ? FACE_SANS : FACE_BOLD}, text);
    }
}

static void add_curves(struct draw_list *d, const struct theme *theme)
{
    struct point p[W];
    for (int k = 0; k < 8; k++) {
        for (int x = 0; x < W; x++)
            p[x] = (struct point){(float)x, 500 + 40 * (float)k + 200 * sinf((float)x * 0.01f + (float)k) + 6 * cosf((float)x * 0.9f)};
        draw_polyline(d, p, W, theme->hue[k], 1.5f);
    }
}

static double paint(struct pixels *p, const struct draw_list *d)
{
    double least = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_ms();
        pixels_paint(p, d);
        double took = now_ms() - begin;
        if (took < least) least = took;
    }
    return least;
}

int main(void)
{
    char *err = NULL;
    struct text_engine *text = text_create(&err);
    if (!text) return fprintf(stderr, "%s\n", err), 1;
    struct theme theme = theme_make(1, 1);
    struct draw_list *d = draw_create(text);
    struct pixels *p = pixels_create(W, H);

    draw_begin(d, W, H, &theme);
    fill_body(d, &theme);
    add_texts(d);
    printf("paint_1080p %.2f ms goal 5\n", paint(p, d));

    draw_begin(d, W, H, &theme);
    for (int i = 0; i < 100000; i++)
        draw_fill(d, (struct box){(float)(i * 7919 % 1900), (float)(i * 9973 % 1070), 20, 10}, theme_colour_of(&theme, (uint32_t)i), PATTERN_SOLID);
    printf("paint_100k_rects %.2f ms goal 33\n", paint(p, d));

    draw_begin(d, W, H, &theme);
    add_curves(d, &theme);
    printf("paint_8_curves_of_1920 %.2f ms goal -\n", paint(p, d));
    pixels_destroy(p);
    draw_destroy(d);
    text_destroy(text);
    return 0;
}
