/* client.h - Ray's REST API for jobs and nodes, as its dashboard serves it.
 *
 *     struct ray_client *c = ray_client_create("http://127.0.0.1:8265", token, &stop);
 *     ray_submit(c, "trainyard-1-a", "python3 driver.py", variables, n, diag);
 *     enum ray_status s; ray_job_status(c, "trainyard-1-a", &s, diag);
 *     ray_job_logs(c, "trainyard-1-a", &text, diag);
 *
 * A call whose connection breaks or cannot be made, or that is answered 502, 503, 504 or with "No available agent", is tried again for 30 s, with a
 * pause of 0.2 s that doubles up to 5 s, or until *stop is set. Other failures are entries of the diag: file = address, text
 * = verb, path, HTTP code and what the server said (its first line). A submission id that is there already is answered 500
 * by Ray 2.60: ids must be new. When a submission fails the head is asked for the job: one that is there was accepted by a call whose
 * answer was lost.
 * Token: of `ray get-auth-token`, sent as a bearer; NULL: none. One thread. Answers above RAY_ANSWER_MAX bytes are an error.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_RAY_CLIENT_H
#define TRAINYARD_REAL_RAY_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/str.h"

#define RAY_ANSWER_MAX ((size_t)64 << 20)

enum ray_status { RAY_PENDING, RAY_RUNNING, RAY_SUCCEEDED, RAY_FAILED, RAY_STOPPED, N_RAY_STATUSES };
extern const char *const ray_status_names[N_RAY_STATUSES];

struct ray_variable { const char *name, *value; };

struct ray_node { char address[64]; double gpus, cpus; int64_t start_ms; /* since the epoch; 0: not told */ };
struct ray_nodes { ARRAY(struct ray_node) list; };

struct ray_client;
struct ray_client *ray_client_create(const char *address, const char *token, const volatile int *stop);
void ray_client_free(struct ray_client *);

bool ray_submit(struct ray_client *, const char *id, const char *entrypoint, const struct ray_variable *, size_t n, struct diag *);
bool ray_job_status(struct ray_client *, const char *id, enum ray_status *, struct diag *);
/* All of its output so far, in place of what `out` has. */
bool ray_job_logs(struct ray_client *, const char *id, struct str *out, struct diag *);
bool ray_job_stop(struct ray_client *, const char *id, struct diag *);
/* Whether the last call has got an answer, be it an error. */
bool ray_answered(const struct ray_client *);
/* Nodes that are alive, by address. */
bool ray_nodes_list(struct ray_client *, struct ray_nodes *, struct diag *);

#endif
