/* collective_table.c - see collective_table.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/collective_table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/lines.h"
#include "base/str.h"
#include "base/units.h"

enum { MAX_FIELDS = 32, MAX_HOSTS = 4096, HOST_BYTES = 64 };
#define LEAST_US 1e-6 /* no operation is shorter than a picosecond */
enum column { SIZE, TIME, IN_PLACE, ALGBW, BUSBW, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {"size_bytes", "time_us", "inplace_time_us", "algbw_gbs", "busbw_gbs"};

struct host { char name[HOST_BYTES]; };

struct reading {
    struct collective_table *t;
    struct line_reader lines;
    struct diag *diag;
    bool csv, osu, has_root;
    int column[N_COLUMNS]; /* CSV: field of each, -1: none */
    size_t n_fields;
    double factor;         /* of the row with the largest bus bandwidth */
    ARRAY(struct host) hosts;
    unsigned rank_lines;
};

static void error(struct reading *r, const char *what, const char *text)
{
    diag_error(r->diag, r->lines.file, r->lines.line, NULL, "%s: \"%.40s\"", what, text);
}

/* ---- one row, however it came ---- */

struct values { double x[N_COLUMNS]; }; /* NAN: not given */

static void take(struct reading *r, const struct values *v, const char *size_text, const char *time_text)
{
    double size = v->x[SIZE], time = v->x[TIME], algbw = v->x[ALGBW], busbw = v->x[BUSBW];
    if (size == 0) return;
    if (!(size >= 1 && size <= 1e18)) {
        error(r, "the size is no number of bytes", size_text);
        return;
    }
    if (isnan(time) && algbw > 0) time = size / algbw / 1e3;
    if (v->x[IN_PLACE] < time || isnan(time)) time = v->x[IN_PLACE];
    if (!(time >= LEAST_US && time < 1e15)) {
        error(r, "the time is no positive number of microseconds", time_text);
        return;
    }
    array_push(&r->t->rows, (struct collective_row){size, time * 1e-6});
    if (algbw > 0 && busbw > r->t->best_busbw) {
        r->t->best_busbw = busbw;
        r->factor = busbw / algbw;
    }
}

static bool number(const char *text, double *x) { return !units_parse_double(text, x) && isfinite(*x); }

/* ---- CSV ---- */

static bool csv_header(struct reading *r, char *line)
{
    char *field[MAX_FIELDS];
    if (!strstr(line, "size_bytes")) return false;
    r->n_fields = csv_split(line, field, MAX_FIELDS);
    if (r->n_fields > MAX_FIELDS) r->n_fields = MAX_FIELDS;
    for (int c = 0; c < N_COLUMNS; c++) {
        r->column[c] = -1;
        for (size_t i = 0; i < r->n_fields; i++) {
            if (strcmp(field[i], column_names[c]) != 0) continue;
            if (r->column[c] >= 0) error(r, "the column is there twice", column_names[c]);
            r->column[c] = (int)i;
        }
    }
    r->csv = true;
    if (r->column[SIZE] < 0 || (r->column[TIME] < 0 && r->column[ALGBW] < 0))
        diag_error(r->diag, r->lines.file, r->lines.line, NULL, "the table needs the columns size_bytes and time_us");
    return true;
}

static void csv_row(struct reading *r, char *line)
{
    char *field[MAX_FIELDS];
    struct values v;
    if (!line[strspn(line, " \t")]) return;
    size_t n = csv_split(line, field, MAX_FIELDS);
    if (r->column[SIZE] < 0) return;
    if (n != r->n_fields) {
        if (n == 0) diag_error(r->diag, r->lines.file, r->lines.line, NULL, "a quote is out of place");
        else diag_error(r->diag, r->lines.file, r->lines.line, NULL, "%zu fields, but the header has %zu", n, r->n_fields);
        return;
    }
    for (int c = 0; c < N_COLUMNS; c++) {
        v.x[c] = NAN;
        const char *text = r->column[c] < 0 ? "" : field[r->column[c]];
        if (*text && !number(text, &v.x[c])) {
            diag_error(r->diag, r->lines.file, r->lines.line, NULL, "%s is no number: \"%.40s\"", column_names[c], text);
            return;
        }
    }
    take(r, &v, field[r->column[SIZE]], r->column[TIME] < 0 ? "" : field[r->column[TIME]]);
}

/* ---- the head of a text ---- */

static const struct { const char *words; enum collective_op op; } titles[] = {
    {"all_reduce", COLLECTIVE_ALL_REDUCE},         {"Allreduce", COLLECTIVE_ALL_REDUCE},
    {"all_gather", COLLECTIVE_ALL_GATHER},         {"Allgather", COLLECTIVE_ALL_GATHER},
    {"reduce_scatter", COLLECTIVE_REDUCE_SCATTER}, {"Reduce_scatter", COLLECTIVE_REDUCE_SCATTER},
    {"broadcast", COLLECTIVE_BROADCAST},           {"Broadcast", COLLECTIVE_BROADCAST},
    {"alltoall", COLLECTIVE_ALL_TO_ALL},           {"All-to-All", COLLECTIVE_ALL_TO_ALL},
    {"All-to-all", COLLECTIVE_ALL_TO_ALL},         {"sendrecv", COLLECTIVE_POINT_TO_POINT},
};

/* osu_latency, of one message: "# OSU MPI Latency Test v7.3", "# OSU MPI-CUDA Latency Test v5.8". */
static bool is_message_test(const char *line)
{
    const char *library = strstr(line, "OSU MPI");
    return library && str_starts_with(library + strcspn(library + 4, " ") + 4, " Latency Test");
}

static void take_title(struct reading *r, const char *line)
{
    for (size_t i = 0; i < sizeof titles / sizeof *titles && !r->t->op_known; i++)
        if (strstr(line, titles[i].words)) {
            r->t->op = titles[i].op;
            r->t->op_known = true;
        }
    if (!r->t->op_known && is_message_test(line)) {
        r->t->op = COLLECTIVE_POINT_TO_POINT;
        r->t->op_known = true;
    }
}

static void take_host(struct reading *r, const struct host *host)
{
    for (size_t i = 0; i < r->hosts.n; i++)
        if (!strcmp(r->hosts.v[i].name, host->name)) return;
    if (r->hosts.n < MAX_HOSTS) array_push(&r->hosts, *host);
}

/* "#  Rank  0 Group  0 Pid  3452 on  node-1 device  0 [0x1b] NVIDIA H100 80GB HBM3" */
static void take_rank(struct reading *r, const char *line)
{
    const char *on = strstr(line, " on "), *device = on ? strstr(on, " device ") : NULL;
    if (!device) return;
    struct host host = {""};
    if (sscanf(on + 4, "%63s", host.name) == 1) take_host(r, &host);
    r->rank_lines++;
    const char *gpu = strchr(device, ']');
    if (!gpu || *r->t->gpu) return;
    gpu += 1 + strspn(gpu + 1, " ");
    snprintf(r->t->gpu, sizeof r->t->gpu, "%.63s", gpu);
    for (size_t n = strlen(r->t->gpu); n > 0 && isspace((unsigned char)r->t->gpu[n - 1]); n--) r->t->gpu[n - 1] = '\0';
}

static void take_comment(struct reading *r, const char *line)
{
    unsigned threads, gpus;
    const char *n_thread = strstr(line, "nThread ");
    if (strstr(line, "OSU ") || strstr(line, "Avg Latency")) r->osu = true;
    if (r->osu && strstr(line, "Bandwidth (MB/s)"))
        diag_error(r->diag, r->lines.file, r->lines.line, NULL, "bandwidths of many messages at once are no times; give the latency test");
    if (n_thread && sscanf(n_thread, "nThread %u nGpus %u", &threads, &gpus) == 2 && threads > 0 && threads <= 1024 &&
        gpus > 0 && gpus <= 1024)
        r->t->gpus_per_process = threads * gpus;
    if (strstr(line, "Rank ") && strstr(line, " device ")) take_rank(r, line);
    if (strstr(line, "root") && strstr(line, "size")) r->has_root = true;
    take_title(r, line);
}

/* ---- rows of a text ---- */

static bool is_type(const char *word)
{
    static const char *const types[] = {"float", "half", "double", "bfloat16", "int", "uint", "f8", "fp8"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_starts_with(word, types[i])) return true;
    return false;
}

/* size count type [redop] [root] time algbw busbw wrong [time algbw busbw wrong]; a root is told by the head, or by a number
 * too many. */
static void nccl_row(struct reading *r, char **field, size_t n)
{
    struct values v = {{NAN, NAN, NAN, NAN, NAN}};
    size_t at = 3;
    double x;
    if (at < n && !number(field[at], &x)) at++;             /* redop */
    if (n - at == 5 || n - at == 9 || (r->has_root && at < n && n - at != 4 && n - at != 8)) at++;
    if (at + 2 >= n || !number(field[0], &v.x[SIZE]) || !number(field[at], &v.x[TIME]) ||
        !number(field[at + 1], &v.x[ALGBW]) || !number(field[at + 2], &v.x[BUSBW])) {
        error(r, "no row of nccl-tests (size, count, type, then time, algbw and busbw)", field[0]);
        return;
    }
    if (at + 4 < n && !number(field[at + 4], &v.x[IN_PLACE])) v.x[IN_PLACE] = NAN;
    take(r, &v, field[0], field[at]);
}

static void osu_row(struct reading *r, char **field)
{
    struct values v = {{NAN, NAN, NAN, NAN, NAN}};
    if (!number(field[0], &v.x[SIZE]) || !number(field[1], &v.x[TIME]))
        error(r, "no row of an OSU benchmark (size, average latency)", field[0]);
    else
        take(r, &v, field[0], field[1]);
}

/* What does not look like a row is talk of the library or of the launcher. */
static void text_line(struct reading *r, char *line)
{
    char *field[MAX_FIELDS], *prefix = strstr(line, "<stdout>:");
    if (prefix) line = prefix + strlen("<stdout>:");
    line += strspn(line, " \t");
    if (*line == '#') {
        take_comment(r, line);
        return;
    }
    size_t n = line_split_blanks(line, field, MAX_FIELDS);
    if (n > MAX_FIELDS) return;
    if (n >= 6 && isdigit((unsigned char)*field[0]) && isdigit((unsigned char)*field[1]) && is_type(field[2]))
        nccl_row(r, field, n);
    else if (r->osu && n >= 2 && isdigit((unsigned char)*field[0]) && isdigit((unsigned char)*field[1]))
        osu_row(r, field);
}

/* ---- the table ---- */

/* Ranks that the ratio of bus to algorithm bandwidth tells; 0: nothing. */
static unsigned ranks_of_ratio(enum collective_op op, double f)
{
    double n = op == COLLECTIVE_ALL_REDUCE ? 2 / (2 - f) : f < 1 ? 1 / (1 - f) : 0;
    return n > 1.5 && n < 1e6 ? (unsigned)(n + 0.5) : 0;
}

/* A head that was cut off lists far fewer ranks than the bandwidths tell; these are rounded, so a little is nothing. */
static void guess(struct reading *r)
{
    struct collective_table *t = r->t;
    double f = r->factor;
    unsigned ranks = 0;
    t->cpu = r->osu;
    if (f > 0 && f < 2) {
        if (!t->op_known) t->op = f > 0.995 ? COLLECTIVE_ALL_REDUCE : COLLECTIVE_ALL_GATHER;
        t->op_known = true;
        ranks = ranks_of_ratio(t->op, f);
    }
    t->ranks = r->rank_lines < ranks - ranks / 3 ? ranks : r->rank_lines;
    t->nodes = t->ranks == r->rank_lines ? (unsigned)r->hosts.n : 0;
    if (t->nodes && t->ranks % t->nodes) t->nodes = 0;
}

static int by_size(const void *a, const void *b)
{
    const struct collective_row *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

bool collective_table_read(const char *file, struct collective_table *t, struct diag *d)
{
    struct reading r = {.t = t, .diag = d};
    size_t errors = diag_errors(d);
    char *line;
    *t = (struct collective_table){0};
    if (!line_open(&r.lines, file, d)) return false;
    while (line_next(&r.lines, &line)) {
        if (r.csv)
            csv_row(&r, line);
        else if (!csv_header(&r, line))
            text_line(&r, line);
    }
    line_close(&r.lines);
    guess(&r);
    array_free(&r.hosts);
    if (t->rows.n == 0 && diag_errors(d) == errors) {
        diag_error(d, file, 0, NULL, "no row of a collective operation in it");
        diag_help(d, "a CSV with size_bytes,time_us, or the text that nccl-tests, rccl-tests or an OSU benchmark prints");
    }
    if (diag_errors(d) > errors) {
        collective_table_free(t);
        return false;
    }
    array_sort(&t->rows, by_size);
    return true;
}

void collective_table_join(struct collective_table *into, const struct collective_table *more)
{
    for (size_t i = 0; i < more->rows.n; i++) array_push(&into->rows, more->rows.v[i]);
    array_sort(&into->rows, by_size);
}

void collective_table_free(struct collective_table *t)
{
    array_free(&t->rows);
    *t = (struct collective_table){0};
}
