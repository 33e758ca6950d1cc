/* diag.c - errors with a place.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/diag.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

void diag_add(struct diag *d, enum diag_severity severity, const char *file, int line, const char *pointer,
              const char *fmt, va_list args)
{
    if (severity == DIAG_ERROR)
        d->errors++;
    else
        d->warnings++;
    d->last_kept = d->entries.n < DIAG_KEEP_MAX;
    if (!d->last_kept) return;
    /* Entries of one file share its name, which printing then compares by address. */
    const char *name = NULL;
    for (size_t i = d->entries.n; i > 0 && name == NULL; i--)
        if (strcmp(d->entries.v[i - 1].file, file) == 0) name = d->entries.v[i - 1].file;
    struct diag_entry e = {
        .severity = severity,
        .file = name ? name : arena_strdup(&d->arena, file),
        .line = line,
        .pointer = pointer ? arena_strdup(&d->arena, pointer) : "",
        .text = arena_vprintf(&d->arena, fmt, args),
    };
    array_push(&d->entries, e);
}

void diag_error(struct diag *d, const char *file, int line, const char *pointer, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    diag_add(d, DIAG_ERROR, file, line, pointer, fmt, args);
    va_end(args);
}

void diag_help(struct diag *d, const char *fmt, ...)
{
    if (!d->last_kept) return;
    struct diag_entry *e = &array_last(&d->entries);
    va_list args;
    va_start(args, fmt);
    const char *more = arena_vprintf(&d->arena, fmt, args);
    va_end(args);
    e->help = e->help ? arena_printf(&d->arena, "%s\n%s", e->help, more) : more;
}

void diag_help_allowed(struct diag *d, const char *word, const char *const *allowed, size_t n)
{
    struct str s = {0};
    const char *meant = word ? str_suggest(word, allowed, n) : NULL;
    if (meant) str_printf(&s, "did you mean \"%s\"?  ", meant);
    str_append(&s, "allowed here: ");
    for (size_t i = 0; i < n; i++) str_printf(&s, "%s%s", i ? ", " : "", allowed[i]);
    if (n == 0) str_append(&s, "nothing");
    diag_help(d, "%s", str_text(&s));
    str_free(&s);
}

size_t diag_errors(const struct diag *d)
{
    return d->errors;
}

/* A control character that came with the input must not reach a terminal; a help may have several lines. */
static void print_clean(const char *text, bool lines, FILE *to)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '\n' && lines)
            fputs("\n    ", to);
        else if (*p < ' ' || *p == 0x7f)
            fprintf(to, "\\x%02x", *p);
        else
            fputc(*p, to);
    }
}

static void print_entry(const struct diag_entry *e, FILE *to)
{
    fputs(e->file, to);
    if (e->line > 0) fprintf(to, ":%d", e->line);
    fputs(": ", to);
    if (e->pointer[0] != '\0') {
        print_clean(e->pointer, false, to);
        fputs(": ", to);
    }
    if (e->severity == DIAG_WARNING) fputs("warning: ", to);
    print_clean(e->text, false, to);
    fputc('\n', to);
    if (e->help == NULL) return;
    fputs("    ", to);
    print_clean(e->help, true, to);
    fputc('\n', to);
}

static int by_line(const void *a, const void *b)
{
    const struct diag_entry *x = *(const struct diag_entry *const *)a, *y = *(const struct diag_entry *const *)b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x < y ? -1 : x > y; /* both lie in one array: the order of report */
}

static void print_count(size_t n, const char *what, const char *file, FILE *to)
{
    if (n) fprintf(to, "%zu %s%s in %s\n", n, what, n == 1 ? "" : "s", file);
}

static void print_file(const struct diag_entry **list, size_t n, FILE *to)
{
    size_t errors = 0;
    qsort(list, n, sizeof *list, by_line);
    for (size_t i = 0; i < n; i++) errors += list[i]->severity == DIAG_ERROR;
    for (size_t i = 0; i < n && i < DIAG_PRINT_MAX; i++) print_entry(list[i], to);
    if (n > DIAG_PRINT_MAX) fprintf(to, "... and %zu more\n", n - DIAG_PRINT_MAX);
    print_count(errors, "error", list[0]->file, to);
    print_count(n - errors, "warning", list[0]->file, to);
}

void diag_print(const struct diag *d, FILE *to)
{
    size_t n = d->entries.n, dropped = d->errors + d->warnings - n;
    struct arena scratch = {0};
    const struct diag_entry **list = arena_array(&scratch, n, const struct diag_entry *);
    bool *printed = arena_array(&scratch, n, bool);
    for (size_t i = 0; i < n; i++) {
        size_t m = 0;
        if (printed[i]) continue;
        for (size_t j = i; j < n; j++) {
            if (d->entries.v[j].file != d->entries.v[i].file) continue;
            printed[j] = true;
            list[m++] = &d->entries.v[j];
        }
        print_file(list, m, to);
    }
    if (dropped) fprintf(to, "... and %zu more that were not kept\n", dropped);
    arena_free(&scratch);
}

void diag_free(struct diag *d)
{
    array_free(&d->entries);
    arena_free(&d->arena);
    *d = (struct diag){0};
}
