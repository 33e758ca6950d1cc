/* log.c - messages on stderr.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"

static const struct {
    const char *name, *colour;
} levels[] = {
    [LOG_ERROR] = {"error: ",   "\033[1;31m"},
    [LOG_WARN] = {"warning: ", "\033[1;33m"},
    [LOG_INFO] = {"",          ""          },
    [LOG_DEBUG] = {"debug: ",   "\033[2m"   },
};

void log_init(struct log *log, FILE *to)
{
    const char *no_colour = getenv("NO_COLOR");
    bool terminal = isatty(fileno(to)) == 1;
    *log = (struct log){
        .to = to,
        .level = LOG_INFO,
        .terminal = terminal,
        .colour = terminal && (no_colour == NULL || no_colour[0] == '\0'),
    };
}

static void put(const struct log *log, enum log_level level, const char *fmt, va_list args)
{
    if (log == NULL || level > log->level) return;
    struct str line = {0};
    bool colour = log->colour && levels[level].colour[0] != '\0';
    str_append(&line, "trainyard: ");
    if (colour) str_append(&line, levels[level].colour);
    str_append(&line, levels[level].name);
    if (colour) str_append(&line, "\033[0m");
    str_vprintf(&line, fmt, args);
    str_append_char(&line, '\n');
    fwrite(line.s, 1, line.n, log->to);
    fflush(log->to);
    str_free(&line);
}

#define LOG_FUNCTION(name, level)                                                                                      \
    void name(const struct log *log, const char *fmt, ...)                                                             \
    {                                                                                                                  \
        va_list args;                                                                                                  \
        va_start(args, fmt);                                                                                           \
        put(log, level, fmt, args);                                                                                    \
        va_end(args);                                                                                                  \
    }

LOG_FUNCTION(log_error, LOG_ERROR)
LOG_FUNCTION(log_warn, LOG_WARN)
LOG_FUNCTION(log_info, LOG_INFO)
LOG_FUNCTION(log_debug, LOG_DEBUG)
