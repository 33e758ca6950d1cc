/* export_perfetto.c - see export_perfetto.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/export_perfetto.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/command.h"
#include "viz/draw/picture_file.h"
#include "viz/model/chrome_trace.h"

/* Opens all of them; the end of the longest. An exit code. */
static int open_all(const struct run_list *runs, struct chrome_trace_source *to, size_t *n, int64_t *end_ns)
{
    for (*n = 0; *n < runs->n; ++*n) {
        char *err = NULL;
        struct scene *s = scene_open(runs->dirs[*n], &err);
        if (!s) {
            int code = command_fail(EXIT_INPUT, "%s", err);
            free(err);
            return code;
        }
        if (s->notes) fputs(s->notes, stderr);
        if (s->end_ns > *end_ns) *end_ns = s->end_ns;
        to[*n] = (struct chrome_trace_source){s, curves_create(s), runs->n > 1 ? s->title : ""};
    }
    return EXIT_OK;
}

int export_perfetto(const struct run_list *runs, int64_t from_ns, int64_t to_ns, const char *out)
{
    struct chrome_trace_source *sources = xcalloc(runs->n + 1, sizeof *sources);
    struct str text = {0};
    char *err = NULL;
    size_t n = 0;
    int64_t end_ns = 0;
    int code = open_all(runs, sources, &n, &end_ns);
    if (to_ns > end_ns) to_ns = end_ns;
    if (code == EXIT_OK && !chrome_trace(sources, (unsigned)n, from_ns, to_ns, &text, &err)) code = command_fail(EXIT_INPUT, "%s", err);
    else if (code == EXIT_OK && !picture_write(out, &text, &err)) code = command_fail(EXIT_IO, "%s", err);
    for (size_t i = 0; i < n; i++) {
        curves_destroy((struct curves *)(uintptr_t)sources[i].curves);
        scene_close((struct scene *)(uintptr_t)sources[i].scene);
    }
    free(err);
    str_free(&text);
    free(sources);
    return code;
}
