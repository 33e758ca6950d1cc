/* dataset.c - the file of samples and its generator.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/detmath.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/philox.h"

struct file_header {
    char magic[8];
    uint32_t samples, features, classes, crc;
    uint64_t seed;
};

_Static_assert(sizeof(struct file_header) == DATASET_HEADER_BYTES, "header of a data set");

static const char MAGIC[8] = "TYDATA1\n";

static size_t row_bytes(const struct dataset_shape *s)
{
    return ((size_t)s->features + 1) * 4;
}

/* ---- the generator ---- */

enum purpose { CENTRE = 1, NOISE, LABEL };

static double uniform(uint64_t seed, enum purpose purpose, uint32_t a, uint32_t b)
{
    uint32_t draw[4];
    philox4x32_10((uint32_t[4]){a, b, purpose, 0}, (uint32_t[2]){(uint32_t)seed, (uint32_t)(seed >> 32)}, draw);
    return (draw[0] + 0.5) * 0x1p-32;
}

static void make_row(uint64_t seed, const struct dataset_shape *s, double noise, uint32_t i, char *row)
{
    uint32_t label = (uint32_t)(uniform(seed, LABEL, i, 0) * s->classes);
    for (uint32_t f = 0; f < s->features; f++) {
        double centre = 2 * uniform(seed, CENTRE, label, f) - 1;
        float x = (float)(centre + noise * det_norm_inv(uniform(seed, NOISE, i, f)));
        memcpy(row + 4 * (size_t)f, &x, sizeof x);
    }
    memcpy(row + 4 * (size_t)s->features, &label, sizeof label);
}

bool dataset_generate(const char *path, struct dataset_shape shape, double noise, uint64_t seed, struct diag *d)
{
    size_t row = row_bytes(&shape), bytes = sizeof(struct file_header) + row * shape.samples;
    char *file = xmalloc(bytes), *rows = file + sizeof(struct file_header);
    for (uint32_t i = 0; i < shape.samples; i++) make_row(seed, &shape, noise, i, rows + row * i);
    struct file_header h = {
        .samples = shape.samples, .features = shape.features, .classes = shape.classes, .seed = seed};
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    h.crc = hash_crc32(0, rows, row * shape.samples);
    memcpy(file, &h, sizeof h);
    bool ok = file_write_atomic(path, file, bytes, d);
    free(file);
    return ok;
}

/* ---- opening ---- */

static bool bad(struct diag *d, const char *path, const char *wrong)
{
    diag_error(d, path, 0, NULL, "%s", wrong);
    diag_help(d, "make one with trainyard-worker --make-data FILE");
    return false;
}

static bool rows_are_whole(const struct dataset *s, uint32_t expected)
{
    enum { PIECE = 1 << 20 };
    char *piece = xmalloc(PIECE);
    uint32_t crc = 0;
    ssize_t got;
    off_t at = sizeof(struct file_header);
    while ((got = pread(s->fd, piece, PIECE, at)) > 0) {
        crc = hash_crc32(crc, piece, (size_t)got);
        at += got;
    }
    free(piece);
    return got == 0 && crc == expected;
}

static bool check(struct dataset *s, const char *path, struct diag *d)
{
    struct file_header h;
    struct stat st;
    if (fstat(s->fd, &st) || pread(s->fd, &h, sizeof h, 0) != (ssize_t)sizeof h ||
        memcmp(h.magic, MAGIC, sizeof MAGIC) != 0)
        return bad(d, path, "is no data set");
    s->shape = (struct dataset_shape){h.samples, h.features, h.classes};
    s->crc = h.crc;
    if (h.samples < 1 || h.features < 1 || h.features > 65536 || h.classes < 2 || h.classes > 65536)
        return bad(d, path, "names no sensible number of samples, features (1 to 65536) or classes (2 to 65536)");
    if ((size_t)st.st_size != sizeof h + row_bytes(&s->shape) * h.samples)
        return bad(d, path, "is cut off, or has bytes too many");
    return rows_are_whole(s, h.crc) || bad(d, path, "is damaged: its checksum is another");
}

struct dataset *dataset_open(const char *path, struct diag *d)
{
    struct dataset *s = xcalloc(1, sizeof *s);
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0) diag_error(d, path, 0, NULL, "cannot open: %s", strerror(errno));
    if (s->fd >= 0 && check(s, path, d)) return s;
    dataset_close(s);
    return NULL;
}

void dataset_close(struct dataset *s)
{
    if (!s) return;
    if (s->fd >= 0) close(s->fd);
    free(s);
}
