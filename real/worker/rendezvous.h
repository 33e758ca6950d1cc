/* rendezvous.h - the ranks of a job find each other and connect, each with each.
 *
 * One process keeps the meeting place: rank 0, or, where ranks are not known yet, the one on whose machine the place is and
 * which binds its port first. Each process opens a port of its own and says hello to the place (its rank, if it knows it,
 * the size it expects, its port, which data and options it runs with). When all are there, or, in an elastic world, when at
 * least `min_size` are there and no more have come for `last_call_ns`, each is told its rank, the size and where the others
 * listen; then each pair connects, the higher rank to the lower, within pairing_ns a peer: one may have ended since. Who came to
 * the place from its own machine is looked for at the address at which one has reached the place.
 *
 * Ranks that were not given are filled in order of arrival, the keeper of the place first (it is rank 0 then).
 * A second hello with a rank that is there already replaces the first: that process was restarted. A hello that expects
 * another size or runs with other options is refused with the reason, and so is one that comes too late. What says
 * nothing sensible (a port scanner) is dropped after RENDEZVOUS_HELLO_NS and holds up nobody.
 *
 *     struct mesh m = {0};
 *     struct rendezvous_options o = { .timeout_ns = RENDEZVOUS_TIMEOUT_NS, .pairing_ns = RENDEZVOUS_PAIRING_NS };
 *     if (!rendezvous_join(&world, &o, &m, &diag)) return EXIT_IO;
 *     net_send(m.fd[1], ...);
 *     mesh_close(&m);
 *
 * An elastic world is joined again, by all, when a rank is lost or a new one comes. Its keeper leaves the place open
 * meanwhile and learns from rendezvous_newcomer() that somebody is there; who is turned away so, or comes while the
 * place changes hands, tries again until its time is up; so do all when one has ended before each pair was connected. Whoever is
 * on the keeper's machine can be the next keeper; when there is none, the job ends.
 *
 * Time: a static world needs two round trips after the last has come. Sizes: size^2 / 2 connections in all.
 * In an elastic world the join defaults are torchrun's: 600 s, last call 30 s.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_RENDEZVOUS_H
#define TRAINYARD_REAL_WORKER_RENDEZVOUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "real/worker/world.h"

#define RENDEZVOUS_HELLO_NS     (INT64_C(5) * 1000000000)
#define RENDEZVOUS_TIMEOUT_NS   (INT64_C(600) * 1000000000)
#define RENDEZVOUS_LAST_CALL_NS (INT64_C(30) * 1000000000)
#define RENDEZVOUS_PAIRING_NS   (INT64_C(30) * 1000000000) /* all listen: a round trip, or after four lost packets 15 s (RFC 6298, 5.5) */

struct rendezvous_options {
    int64_t timeout_ns;   /* for the whole of it */
    int64_t last_call_ns; /* elastic: how long to wait for more once enough are there */
    int64_t pairing_ns;   /* for the next peer to connect, once all have been told */
    uint64_t settings;    /* fingerprint of what all ranks must run with alike */
};

struct mesh {
    int rank, size;
    int *fd;          /* by rank; -1 for oneself */
    bool keeps_place; /* of an elastic world: `place` listens on, for those who come later */
    int place;
};

bool rendezvous_join(const struct world *, const struct rendezvous_options *, struct mesh *, struct diag *);

/* Whether a process of this kind has come to the place since; it is sent away, to come again when all join. */
bool rendezvous_newcomer(const struct mesh *);

/* All zero is a closed mesh. */
void mesh_close(struct mesh *);

#endif
