/* fuzz_csv.c - any bytes as a CSV file (plain or gzip) and as lines: no crash; rows written again read back equal.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/lines.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *const need[] = {"id"}, *const may[] = {"gpus"};

static void require(bool holds)
{
    if (!holds) abort();
}

struct rows {
    struct csv_writer writer;
    size_t n;
    int last_line;
};

static bool on_row(void *arg, const struct csv_row *row)
{
    struct rows *rows = arg;
    const char *gpus = csv_field(row, 1);
    require(row->line >= rows->last_line); /* rows that a lone CR ends share a line */
    rows->last_line = row->line;
    csv_write_str(&rows->writer, csv_field(row, 0));
    csv_write_str(&rows->writer, gpus ? gpus : "");
    csv_write_row_end(&rows->writer);
    rows->n++;
    return true;
}

static bool count_row(void *arg, const struct csv_row *row)
{
    require(row->n == 2);
    ++*(size_t *)arg;
    return true;
}

static int make_file(const void *data, size_t n, char path[64])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static void read_lines(const char *path)
{
    struct diag d = {0};
    struct line_reader r;
    char *line, *field[8];
    require(line_open(&r, path, &d));
    while (line_next(&r, &line)) {
        require(strlen(line) == r.length);
        if (r.line % 2)
            line_split(line, '|', field, 8);
        else
            line_split_blanks(line, field, 8);
    }
    require(line_close(&r) == (diag_errors(&d) == 0));
    diag_free(&d);
}

static void read_rows(const char *path)
{
    static struct rows rows;
    struct diag d = {0};
    char *text = NULL, again[64];
    size_t n, n_again = 0;
    FILE *f = open_memstream(&text, &n);
    rows.n = 0;
    rows.last_line = 0;
    csv_writer_begin(&rows.writer, f);
    csv_write_str(&rows.writer, "id");
    csv_write_str(&rows.writer, "gpus");
    csv_write_row_end(&rows.writer);
    bool good = csv_read(path, &(struct csv_spec){need, 1, may, 1, on_row, &rows}, &d);
    require(good == (diag_errors(&d) == 0));
    require(csv_writer_end(&rows.writer));
    fclose(f);
    int fd = make_file(text, n, again);
    diag_free(&d);
    require(csv_read(again, &(struct csv_spec){need, 1, may, 1, count_row, &n_again}, &d));
    require(n_again == rows.n);
    close(fd);
    free(text);
    diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64];
    int fd = make_file(data, n, path);
    read_lines(path);
    read_rows(path);
    close(fd);
    return 0;
}
