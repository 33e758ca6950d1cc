/* sizes.c - see sizes.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "cli/sizes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/lines.h"
#include "base/mem.h"
#include "base/units.h"

enum { MAX_FIELDS = 64 };

static bool add_size(struct sizes *to, const char *text, const char *file, int line, struct diag *d)
{
    int64_t bytes;
    const char *wrong = units_parse_bytes(text, &bytes);
    if (!wrong && bytes < 1) wrong = "a size is at least one byte";
    if (wrong) {
        diag_error(d, file, line, NULL, "\"%.40s\": %s", text, wrong);
        if (line == 0 && isalpha((unsigned char)*text)) diag_help(d, "nor is there a file of this name");
    } else {
        array_push(&to->v, (double)bytes);
    }
    return !wrong;
}

static void from_list(struct sizes *to, const char *list, const char *option, struct diag *d)
{
    char *text = xstrdup(list), *rest = text, *size;
    while ((size = strsep(&rest, ", \t\n")) != NULL)
        if (*size && !add_size(to, size, option, 0, d)) break;
    free(text);
}

/* A size a line, the first field, or that below size_bytes. */
static void from_file(struct sizes *to, const char *file, struct diag *d)
{
    struct line_reader r;
    char *line, *field[MAX_FIELDS];
    size_t column = 0;
    if (!line_open(&r, file, d)) return;
    while (line_next(&r, &line)) {
        size_t n = line_split(line, ',', field, MAX_FIELDS);
        if (n > MAX_FIELDS) n = MAX_FIELDS;
        bool header = false;
        for (size_t i = 0; i < n; i++)
            if (!strcmp(field[i], "size_bytes")) column = i, header = true;
        if (!header && n > column && *field[column] && !add_size(to, field[column], file, r.line, d)) break;
    }
    line_close(&r);
}

void sizes_read(const char *text, const char *option, struct sizes *to, struct diag *d)
{
    size_t errors = diag_errors(d);
    if (!strchr(text, ',') && (!strcmp(text, "-") || file_exists(text)))
        from_file(to, text, d);
    else
        from_list(to, text, option, d);
    if (to->v.n == 0 && diag_errors(d) == errors) diag_error(d, option, 0, NULL, "no sizes");
}

void sizes_double(struct sizes *to, double from, double until)
{
    for (double bytes = from; bytes <= until; bytes *= 2) array_push(&to->v, bytes);
}
