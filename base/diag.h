/* diag.h - errors with a place.
 *
 * Bad input never stops at its first fault: a reader adds each to a list, goes on as far as it sensibly can, and the
 * command prints them all and exits 3.
 *
 *     struct diag d = {0};
 *     diag_error(&d, "lab.json", 14, "/cluster/nodes/0/cuont", "unknown key");
 *     diag_help_allowed(&d, "cuont", keys, n_keys);
 *     if (diag_errors(&d)) { diag_print(&d, stderr); code = 3; }
 *     diag_free(&d);
 *
 * prints
 *
 *     lab.json:14: /cluster/nodes/0/cuont: unknown key
 *         did you mean "count"?  allowed here: group, count, profile
 *     1 error in lab.json
 *
 * Printed file by file in order of first mention, within a file by line, then by order of report.
 * Line 0 and pointer NULL or "" mean "not known" and are left out. All texts are copied. All zero is the empty list.
 * Kept are the first DIAG_KEEP_MAX, printed the first DIAG_PRINT_MAX a file; all are counted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_DIAG_H
#define TRAINYARD_BASE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/array.h"

#define DIAG_KEEP_MAX  10000
#define DIAG_PRINT_MAX 100

enum diag_severity { DIAG_ERROR, DIAG_WARNING };

struct diag_entry {
    enum diag_severity severity;
    const char *file;
    int line;
    const char *pointer; /* "" when not known */
    const char *text;
    const char *help; /* NULL when there is none */
};

struct diag {
    ARRAY(struct diag_entry) entries;
    size_t errors, warnings; /* all of them, also those not kept */
    bool last_kept;          /* whether diag_help has an entry to go to */
    struct arena arena;
};

void diag_error(struct diag *d, const char *file, int line, const char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void diag_add(struct diag *d, enum diag_severity severity, const char *file, int line, const char *pointer,
              const char *fmt, va_list args) __attribute__((format(printf, 6, 0)));

/* Adds to the last entry what is allowed or what to do; several helps stand on lines of their own. */
void diag_help(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The help of a word that is none of the allowed: did you mean "count"?  allowed here: ... */
void diag_help_allowed(struct diag *d, const char *word, const char *const *allowed, size_t n);

size_t diag_errors(const struct diag *d);

/* Prints all as shown above; nothing when the list is empty. */
void diag_print(const struct diag *d, FILE *to);

void diag_free(struct diag *d);

#endif
