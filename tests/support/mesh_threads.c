/* mesh_threads.c - ranks as threads of one process, connected each with each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/mesh_threads.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "real/worker/comm_shm.h"

struct one {
    pthread_t thread;
    struct comm *comm;
    void (*body)(struct comm *, void *);
    void *arg;
};

static void *run(void *arg)
{
    struct one *o = arg;
    o->body(o->comm, o->arg);
    comm_close(o->comm);
    return NULL;
}

static void connect_all(int size, struct mesh *meshes)
{
    for (int a = 0; a < size; a++) {
        meshes[a] = (struct mesh){.rank = a, .size = size, .fd = xmalloc((size_t)size * sizeof(int))};
        meshes[a].fd[a] = -1;
    }
    for (int a = 0; a < size; a++)
        for (int b = 0; b < a; b++) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair)) abort();
            meshes[a].fd[b] = pair[0];
            meshes[b].fd[a] = pair[1];
        }
}

void mesh_threads(int size, enum comm_transport transport, enum comm_algorithm algorithm, int64_t timeout_ns,
                  void (*body)(struct comm *, void *arg), void *arg)
{
    struct mesh meshes[MESH_THREADS_MAX];
    struct one ones[MESH_THREADS_MAX];
    void *region = NULL;
    connect_all(size, meshes);
    if (transport == COMM_SHM) {
        if (posix_memalign(&region, 4096, comm_shm_bytes(size))) abort();
        memset(region, 0, comm_shm_bytes(size));
    }
    for (int r = 0; r < size; r++) {
        struct comm *c = comm_over_tcp(meshes[r], algorithm, timeout_ns);
        if (region) comm_shm_over(c, region);
        ones[r] = (struct one){.comm = c, .body = body, .arg = arg};
    }
    for (int r = 0; r < size; r++)
        if (pthread_create(&ones[r].thread, NULL, run, &ones[r])) abort();
    for (int r = 0; r < size; r++) pthread_join(ones[r].thread, NULL);
    free(region);
}
