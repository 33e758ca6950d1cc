/* log.h - messages on stderr.
 *
 * Results go to stdout, messages here: "trainyard: warning: 3 jobs can never fit". The caller owns the settings; a NULL
 * log is silent.
 *
 *     struct log log;
 *     log_init(&log, stderr);
 *     log.level = LOG_DEBUG;                            // --verbose; LOG_ERROR is --quiet
 *     log_warn(&log, "%d jobs can never fit", 3);
 *
 * A message is one write, so lines of several threads do not mix. Colour only on a terminal and without NO_COLOR.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_LOG_H
#define TRAINYARD_BASE_LOG_H

#include <stdbool.h>
#include <stdio.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log {
    FILE *to;
    enum log_level level; /* shown up to and with this one; LOG_INFO to begin with */
    bool colour;
    bool terminal; /* progress draws over its own line only here */
};

void log_init(struct log *log, FILE *to);

void log_error(const struct log *log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_warn(const struct log *log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_info(const struct log *log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_debug(const struct log *log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
