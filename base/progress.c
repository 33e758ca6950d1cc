/* progress.c - how far long work is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/progress.h"

#include <time.h>

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

void progress_begin(struct progress *p, const struct log *log, const char *what, uint64_t total)
{
    if (log != NULL && log->level < LOG_INFO) log = NULL;
    *p = (struct progress){.log = log, .what = what, .total = total, .calls_a_look = 1};
    if (log == NULL) return;
    p->begin_ns = p->looked_ns = wall_ns();
    /* The first line comes after a second on a terminal, after ten elsewhere. */
    p->shown_ns = p->begin_ns + (log->terminal ? FIRST_NS - TERMINAL_NS : 0);
}

static void show(struct progress *p, int64_t now_ns)
{
    struct str line = {0};
    if (p->log->terminal) str_append(&line, "\r\033[K");
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
    if (!p->log->terminal) str_append_char(&line, '\n');
    fwrite(line.s, 1, line.n, p->log->to);
    fflush(p->log->to);
    str_free(&line);
    p->drawn = p->log->terminal;
    p->shown_ns = now_ns;
}

void progress_update(struct progress *p, uint64_t done)
{
    p->done = done;
    if (p->log == NULL || ++p->calls < p->calls_a_look) return;
    int64_t now_ns = wall_ns();
    bool soon = now_ns - p->looked_ns < LOOK_NS;
    if (soon && p->calls_a_look < LOOK_CALLS_MAX) p->calls_a_look *= 2;
    if (!soon && p->calls_a_look > 1) p->calls_a_look /= 2;
    p->calls = 0;
    p->looked_ns = now_ns;
    if (now_ns - p->shown_ns >= (p->log->terminal ? TERMINAL_NS : FILE_NS)) show(p, now_ns);
}

void progress_end(struct progress *p)
{
    if (p->log == NULL || !p->drawn) return;
    fputs("\r\033[K", p->log->to);
    fflush(p->log->to);
    p->drawn = false;
}
