/* progress.c - how far long work is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/progress.h"

#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "base/units.h"

#define FIRST_NS       NS_PER_S
#define TERMINAL_NS    (100 * NS_PER_MS)
#define FILE_NS        (10 * NS_PER_S)
#define LOOK_NS        (20 * NS_PER_MS) /* the updates between two looks at the clock are chosen to take about this long */
#define LOOK_CALLS_MAX 4096

static int64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

struct progress_sink progress_sink(FILE *to)
{
    return (struct progress_sink){.to = to, .terminal = to != NULL && isatty(fileno(to)) == 1};
}

void progress_begin(struct progress *p, const struct progress_sink *sink, const char *what, uint64_t total)
{
    if (sink != NULL && sink->to == NULL) sink = NULL;
    *p = (struct progress){.sink = sink, .what = what, .total = total, .calls_a_look = 1};
    if (sink == NULL) return;
    p->begin_ns = p->looked_ns = wall_ns();
    /* The first line comes after a second on a terminal, after ten elsewhere. */
    p->shown_ns = p->begin_ns + (sink->terminal ? FIRST_NS - TERMINAL_NS : 0);
}

static void show(struct progress *p, int64_t now_ns)
{
    struct str line = {0};
    if (p->sink->terminal) str_append(&line, "\r\033[K");
    str_append(&line, "trainyard: ");
    units_format_count(&line, (int64_t)p->done);
    if (p->total) {
        str_append(&line, " of ");
        units_format_count(&line, (int64_t)p->total);
    }
    str_printf(&line, " %s", p->what);
    if (p->total) str_printf(&line, ", %d %%", (int)(100.0 * (double)p->done / (double)p->total));
    str_append(&line, ", ");
    units_format_duration(&line, now_ns - p->begin_ns);
    if (!p->sink->terminal) str_append_char(&line, '\n');
    fwrite(line.s, 1, line.n, p->sink->to);
    fflush(p->sink->to);
    str_free(&line);
    p->drawn = p->sink->terminal;
    p->shown_ns = now_ns;
}

void progress_update(struct progress *p, uint64_t done)
{
    p->done = done;
    if (p->sink == NULL || ++p->calls < p->calls_a_look) return;
    int64_t now_ns = wall_ns();
    bool soon = now_ns - p->looked_ns < LOOK_NS;
    if (soon && p->calls_a_look < LOOK_CALLS_MAX) p->calls_a_look *= 2;
    if (!soon && p->calls_a_look > 1) p->calls_a_look /= 2;
    p->calls = 0;
    p->looked_ns = now_ns;
    if (now_ns - p->shown_ns >= (p->sink->terminal ? TERMINAL_NS : FILE_NS)) show(p, now_ns);
}

void progress_end(struct progress *p)
{
    if (p->sink == NULL || !p->drawn) return;
    fputs("\r\033[K", p->sink->to);
    fflush(p->sink->to);
    p->drawn = false;
}
