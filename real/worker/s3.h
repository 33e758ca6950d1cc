/* s3.h - objects of one bucket of an S3-compatible store: put, get, list, delete.
 *
 * Requests are signed by libcurl (CURLOPT_AWS_SIGV4, signature version 4), the body's SHA-256 among what is signed. The
 * bucket stands in the path, not in the host's name, which every store understands. What it must know stands in the
 * environment, under the names that Amazon's own tools read:
 *
 *     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY      required; AWS_SESSION_TOKEN where the key is a temporary one
 *     AWS_ENDPOINT_URL_S3, else AWS_ENDPOINT_URL    else https://s3.REGION.amazonaws.com
 *     AWS_REGION, else AWS_DEFAULT_REGION           else us-east-1
 *     AWS_MAX_ATTEMPTS                              how often a request is tried (S3_ATTEMPTS)
 *     AWS_CA_BUNDLE                                 certificates to trust instead of the system's
 *
 *     struct s3 *s = s3_open("s3://runs/a/b", &diag);
 *     s3_put(s, "x", data, n, &diag);                      // s3://runs/a/b/x, kept when it returns
 *     char *text = s3_get(s, "x", 0, 64, &n, &diag);       // its first 64 bytes
 *     s3_close(s);
 *
 * Bodies above S3_PART_BYTES go in parts: the object is there with the last call or not at all. A request that gets no
 * answer, or 429, 500, 502, 503 or 504, is made again after S3_WAIT_NS, twice that, four times that ... each lengthened
 * by up to a half at random. Keys are letters, digits and - _ . / only, so that no encoding can differ.
 * s3_failed() says whether the last call failed for any other reason than that the object is not there, is empty, or is too large.
 *
 * One thread at a time. Ownership: texts given back are the caller's, freed with free.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_S3_H
#define TRAINYARD_REAL_WORKER_S3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"

#define S3_ATTEMPTS   5
#define S3_WAIT_NS    (INT64_C(100) * 1000000)
#define S3_PART_BYTES ((size_t)16 << 20) /* at least 5 MiB by the interface */
#define S3_PARTS_MAX  10000              /* by the interface; parts grow beyond */

struct s3;

struct s3 *s3_open(const char *url, struct diag *);
void s3_close(struct s3 *);

bool s3_failed(const struct s3 *);

bool s3_put(struct s3 *, const char *key, const void *data, size_t n, struct diag *);

/* The object from its first byte on, at most `limit` bytes, with a NUL behind; *bytes how many, *whole how long the object is. */
char *s3_get(struct s3 *, const char *key, size_t limit, size_t *bytes, size_t *whole, struct diag *);

/* Fine when it is not there. */
bool s3_delete(struct s3 *, const char *key, struct diag *);

struct s3_keys { /* below the prefix, ascending; they live in the arena */
    ARRAY(const char *) list;
    struct arena arena;
};

/* All that begin so. */
bool s3_list(struct s3 *, const char *begin, struct s3_keys *, struct diag *);
void s3_keys_free(struct s3_keys *);

/* Ends uploads in parts that an earlier life began and never finished; a store that knows none, or allows no listing of
 * them, is left alone. */
void s3_abort_uploads(struct s3 *, const char *begin);

/* "s3://BUCKET/PREFIX/KEY", for messages. */
char *s3_name(const struct s3 *, struct arena *, const char *key);

/* ---- answers, which come from outside ---- */

/* The text of the next <NAME> element from *at on, and *at behind it; NULL when there is none. Entities stay as they are. */
char *s3_element(struct arena *, const char **at, const char *name);

#endif
