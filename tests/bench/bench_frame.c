/* bench_frame.c - what a whole frame of the viewer costs: ui_draw and the pixels, 1920 x 1080, of the Gantt chart.
 *
 *     bench_frame DIR NAME      NAME VALUE UNIT goal GOAL, for frame.sh
 *
 * One core; the least of ROUNDS. Full range, a fiftieth of it, and a row a job. Between rounds the window moves by a little, as when it is dragged.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "viz/draw/pixels.h"
#include "viz/ui/ui.h"

enum { WIDTH = 1920, HEIGHT = 1080, ROUNDS = 25 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double frame_ms(struct ui *u, struct draw_list *d, struct pixels *p)
{
    double best = 1e9;
    int64_t from = u->from_ns, width = u->to_ns - u->from_ns;
    for (int i = 0; i < ROUNDS; i++) {
        u->from_ns = from + width / 1000 * (i % 5);
        u->to_ns = u->from_ns + width;
        double begin = now_ms();
        ui_draw(u, d);
        pixels_paint(p, d);
        double ms = now_ms() - begin;
        best = ms < best ? ms : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    char *err = NULL;
    if (argc != 3) return 2;
    struct scene *s = scene_open(argv[1], &err);
    struct text_engine *text = text_create(&err);
    if (!s || !text) {
        fprintf(stderr, "%s\n", err);
        return 4;
    }
    bool large = strcmp(argv[2], "1e7") == 0;
    struct ui *u = ui_create(&s, 1, text, &(struct ui_options){.font_scale = 1});
    struct draw_list *d = draw_create(text);
    struct pixels *p = pixels_create(WIDTH, HEIGHT);
    ui_event(u, &(struct ui_event){.kind = UI_RESIZE, .x = WIDTH, .y = HEIGHT});
    printf("frame-full-%s %.2f ms goal %d\n", argv[2], frame_ms(u, d, p), large ? 40 : 16);
    int64_t end = s->end_ns;
    ui_window(u, end / 2, end / 2 + end / 50);
    printf("frame-zoomed-%s %.2f ms goal %d\n", argv[2], frame_ms(u, d, p), large ? 16 : 8);
    u->by_job = true;
    ui_window(u, 0, end);
    printf("frame-by-job-%s %.2f ms goal %d\n", argv[2], frame_ms(u, d, p), large ? 40 : 16);
    pixels_destroy(p);
    draw_destroy(d);
    ui_destroy(u);
    text_destroy(text);
    scene_close(s);
    return 0;
}
