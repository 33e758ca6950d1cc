/* object_store.h - a small S3 in a thread: objects in memory, and failures by choice.
 *
 *     struct object_store *s = object_store_start();       // and AWS_* of the environment name it
 *     store_open("s3://runs/a", &diag) ...
 *     object_store_fail(s, 2, 503);                        // the next two requests
 *     char *bytes = object_store_find(s, "a/step-0000000010.manifest", &n);
 *     object_store_stop(s);
 *
 * It has one bucket, "runs", and the requests that real/worker/s3.h makes. Each body must have the SHA-256 that the request says,
 * and that must be among what is signed, with the host and the date, for the region and the key that were set; the
 * signature itself is checked by tests/live/s3.sh, with a server that can. One request at a time, one a connection.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_OBJECT_STORE_H
#define TRAINYARD_TESTS_SUPPORT_OBJECT_STORE_H

#include <stddef.h>

struct object_store;

struct object_store *object_store_start(void);
void object_store_stop(struct object_store *);

/* The next n requests, after `skip` others, answer this status; 0: the connection is closed without an answer. */
void object_store_fail(struct object_store *, int skip, int n, int status);
/* ... with this code in the answer's text ("" : none). */
void object_store_fail_with(struct object_store *, const char *code);
/* From now on requests of this verb are denied, as to a key that lacks the permission; NULL: none. */
void object_store_deny(struct object_store *, const char *verb);
/* Keys a page of a list; 1,000 to begin with. */
void object_store_page(struct object_store *, int keys);

size_t object_store_requests(struct object_store *); /* so far */
size_t object_store_objects(struct object_store *);
size_t object_store_uploads(struct object_store *);  /* begun and neither completed nor aborted */

/* Of the first object whose key begins and ends so: its bytes, to be read while no request is under way (NULL: there is none);
 * a bit of byte `at` turned; cut to n bytes; taken away. */
char *object_store_find(struct object_store *, const char *begin, const char *end, size_t *n);
void object_store_turn(struct object_store *, const char *begin, const char *end, size_t at);
void object_store_cut(struct object_store *, const char *begin, const char *end, size_t n);
void object_store_drop(struct object_store *, const char *begin, const char *end);

#endif
