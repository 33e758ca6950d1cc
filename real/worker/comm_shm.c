/* comm_shm.c - all-reduce through memory that the ranks of one host share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/comm_shm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "real/worker/net.h"

enum { SPIN_TURNS = 4000, YIELD_TURNS = 200, LINE = 128 };

/* One line a rank, so that a post touches no other rank's. */
struct control {
    _Alignas(LINE) atomic_uint posted;
    atomic_uint sleepers; /* on `posted` */
};

struct head {
    _Alignas(LINE) uint64_t token; /* rank 0's: that the right memory was opened */
    struct control control[];
};

struct shm {
    struct head *head;
    float *slots; /* [rank][2][SHM_SEGMENT_FLOATS] */
    size_t bytes;
    bool mapped;      /* by this comm */
    uint32_t posts;   /* of this rank, and so of each when all are level */
    uint32_t segment; /* its number mod 2 chooses the slot */
    int spins;
};

static size_t head_bytes(int size)
{
    return sizeof(struct head) + (size_t)size * sizeof(struct control);
}

size_t comm_shm_bytes(int size)
{
    return head_bytes(size) + (size_t)size * 2 * SHM_SEGMENT_FLOATS * sizeof(float);
}

static float *slot_of(const struct shm *s, int rank)
{
    return s->slots + ((size_t)rank * 2 + s->segment % 2) * SHM_SEGMENT_FLOATS;
}

/* ---- post and wait ---- */

static void futex(atomic_uint *at, int op, unsigned value, const struct timespec *timeout)
{
    syscall(SYS_futex, at, op, value, timeout, NULL, 0);
}

/* Sequentially consistent on both sides: either the poster sees the sleeper, or the sleeper sees the post. */
static void post(struct comm *c)
{
    struct shm *s = c->state;
    struct control *mine = &s->head->control[c->rank];
    atomic_store(&mine->posted, ++s->posts);
    if (atomic_load(&mine->sleepers)) futex(&mine->posted, FUTEX_WAKE, (unsigned)c->size, NULL);
}

static bool reached(const struct shm *s, int rank)
{
    return (int32_t)(atomic_load_explicit(&s->head->control[rank].posted, memory_order_acquire) - s->posts) >= 0;
}

static void sleep_on(struct control *peer, unsigned seen)
{
    struct timespec look = {0, COMM_LOOK_NS};
    atomic_fetch_add(&peer->sleepers, 1);
    futex(&peer->posted, FUTEX_WAIT, seen, &look); /* returns at once when `posted` is no longer `seen` */
    atomic_fetch_sub(&peer->sleepers, 1);
}

static bool wait_asleep(struct comm *c, int rank)
{
    struct shm *s = c->state;
    struct control *peer = &s->head->control[rank];
    int64_t deadline_ns = net_now_ns() + c->timeout_ns;
    for (;;) {
        unsigned seen = atomic_load(&peer->posted);
        if (reached(s, rank)) return true;
        if (c->mesh.fd[rank] >= 0 && net_gone(c->mesh.fd[rank]) && !reached(s, rank))
            return comm_fail(c, "rank %d is gone", rank);
        if (net_now_ns() > deadline_ns)
            return comm_fail(c, "no answer from rank %d within %g s", rank, (double)c->timeout_ns * 1e-9);
        sleep_on(peer, seen);
    }
}

static inline void pause_core(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

static bool wait_for(struct comm *c, int rank)
{
    struct shm *s = c->state;
    for (int i = 0; i < s->spins; i++) {
        if (reached(s, rank)) return true;
        pause_core();
    }
    for (int i = 0; i < YIELD_TURNS; i++) {
        if (reached(s, rank)) return true;
        sched_yield();
    }
    return wait_asleep(c, rank);
}

static bool post_and_wait(struct comm *c)
{
    bool ok = true;
    post(c);
    for (int r = 0; ok && r < c->size; r++) ok = r == c->rank || wait_for(c, r);
    return ok;
}

/* ---- sums ---- */

static const float *part_of(const struct comm *c, int rank, size_t from, const float *own)
{
    return rank == c->rank ? own : slot_of(c->state, rank) + from;
}

/* v[0, n) = the sum over ranks of what each has from `from` on, in the order of ranks; one's own is v itself, the others' lie
 * in their slots. Where `shown` is given, the sum is put there, too. */
static void sum_ranks(const struct comm *c, size_t from, size_t n, float *v, float *shown)
{
    enum { BLOCK = 1024 }; /* stays in the first cache while the ranks are added */
    float sum[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t m = n - at < BLOCK ? n - at : BLOCK;
        const float *a = part_of(c, 0, from + at, v + at), *b = part_of(c, 1, from + at, v + at);
        for (size_t i = 0; i < m; i++) sum[i] = a[i] + b[i];
        for (int r = 2; r < c->size; r++) {
            const float *x = part_of(c, r, from + at, v + at);
            for (size_t i = 0; i < m; i++) sum[i] += x[i];
        }
        memcpy(v + at, sum, m * sizeof *v);
        if (shown) memcpy(shown + at, sum, m * sizeof *v);
    }
}

static bool flat(struct comm *c, float *v, size_t n)
{
    struct shm *s = c->state;
    memcpy(slot_of(s, c->rank), v, n * sizeof *v);
    if (!post_and_wait(c)) return false;
    sum_ranks(c, 0, n, v, NULL);
    s->segment++;
    return true;
}

/* Slices begin at cache lines. */
static size_t slice_at(size_t n, int size, int r)
{
    size_t slice = (n / (size_t)size + 31) / 16 * 16, at = slice * (size_t)r;
    return at < n ? at : n;
}

/* What the others add. */
static void copy_in(struct comm *c, const float *v, size_t n)
{
    float *slot = slot_of(c->state, c->rank);
    size_t from = slice_at(n, c->size, c->rank), end = slice_at(n, c->size, c->rank + 1);
    memcpy(slot, v, from * sizeof *v);
    memcpy(slot + end, v + end, (n - end) * sizeof *v);
}

/* What the others have added. */
static void copy_out(const struct comm *c, uint32_t segment, float *v, size_t n)
{
    struct shm then = *(struct shm *)c->state;
    then.segment = segment;
    for (int r = 0; r < c->size; r++) {
        size_t from = slice_at(n, c->size, r), end = slice_at(n, c->size, r + 1);
        if (r != c->rank) memcpy(v + from, slot_of(&then, r) + from, (end - from) * sizeof *v);
    }
}

static size_t segment_floats(size_t n, size_t at)
{
    return n - at < SHM_SEGMENT_FLOATS ? n - at : SHM_SEGMENT_FLOATS;
}

static bool sliced(struct comm *c, float *v, size_t n)
{
    struct shm *s = c->state;
    copy_in(c, v, segment_floats(n, 0));
    if (!post_and_wait(c)) return false;
    for (size_t at = 0; at < n; at += SHM_SEGMENT_FLOATS) {
        size_t m = segment_floats(n, at), next = at + m;
        size_t from = slice_at(m, c->size, c->rank), end = slice_at(m, c->size, c->rank + 1);
        sum_ranks(c, from, end - from, v + at + from, slot_of(s, c->rank) + from);
        if (!post_and_wait(c)) return false;
        uint32_t segment = s->segment++;
        if (next < n) copy_in(c, v + next, segment_floats(n, next)), post(c);
        copy_out(c, segment, v + at, m);
        for (int r = 0; next < n && r < c->size; r++)
            if (r != c->rank && !wait_for(c, r)) return false;
    }
    return true;
}

static bool shm_all_reduce(struct comm *c, float *v, size_t n)
{
    return n <= SHM_FLAT_FLOATS ? flat(c, v, n) : sliced(c, v, n);
}

/* Rank 0's slot, a segment at a time. */
static bool shm_broadcast(struct comm *c, void *data, size_t bytes)
{
    struct shm *s = c->state;
    const size_t most = SHM_SEGMENT_FLOATS * sizeof(float);
    for (size_t at = 0; at < bytes; at += most) {
        size_t n = bytes - at < most ? bytes - at : most;
        if (c->rank == 0) memcpy(slot_of(s, 0), (char *)data + at, n);
        if (!post_and_wait(c)) return false;
        if (c->rank > 0) memcpy((char *)data + at, slot_of(s, 0), n);
        s->segment++;
    }
    return true;
}

/* ---- opening ---- */

static void shm_close(struct comm *c)
{
    struct shm *s = c->state;
    if (s->mapped) munmap(s->head, s->bytes);
    free(s);
}

static const struct comm_ops ops = {"shm", shm_all_reduce, shm_broadcast, shm_close};

void comm_shm_over(struct comm *c, void *region)
{
    struct shm *s = xcalloc(1, sizeof *s);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *s = (struct shm){
        .head = region, .slots = (float *)((char *)region + head_bytes(c->size)), .bytes = comm_shm_bytes(c->size)};
    s->spins = c->size <= cores ? SPIN_TURNS : 0;
    c->state = s;
    c->ops = &ops;
}

/* How rank 0 names its memory to the others. */
struct offer {
    int64_t pid;
    int32_t fd, there; /* fd of that process; whether there is memory at all */
    uint64_t token;
};

static struct head *map(int fd, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* posix_fallocate, so that a full memory is an error here and no signal later. */
static struct head *make(const struct comm *c, struct offer *o)
{
    size_t bytes = comm_shm_bytes(c->size);
    o->fd = memfd_create("trainyard-worker", MFD_CLOEXEC);
    if (o->fd < 0 || ftruncate(o->fd, (off_t)bytes) || posix_fallocate(o->fd, 0, (off_t)bytes)) return NULL;
    struct head *h = map(o->fd, bytes);
    if (!h || getrandom(&o->token, sizeof o->token, 0) != sizeof o->token) return NULL;
    h->token = o->token;
    o->there = 1;
    return h;
}

static struct head *open_offered(const struct comm *c, const struct offer *o)
{
    char path[64];
    size_t bytes = comm_shm_bytes(c->size);
    snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)o->pid, (int)o->fd);
    int fd = o->there ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return NULL;
    struct head *h = lseek(fd, 0, SEEK_END) == (off_t)bytes ? map(fd, bytes) : NULL;
    close(fd);
    if (h && h->token == o->token) return h;
    if (h) munmap(h, bytes);
    return NULL;
}

bool comm_shm_try(struct comm *c, bool *shared)
{
    struct offer o = {.pid = getpid(), .fd = -1};
    struct head *h = c->rank == 0 ? make(c, &o) : NULL;
    int own_fd = o.fd;
    bool ok = comm_broadcast(c, &o, sizeof o);
    if (ok && c->rank > 0) h = open_offered(c, &o);
    float have = h != NULL;
    ok = ok && comm_all_reduce(c, &have, 1);
    if (c->rank == 0 && own_fd >= 0) close(own_fd);
    *shared = ok && have == (float)c->size;
    if (*shared) {
        comm_shm_over(c, h);
        ((struct shm *)c->state)->mapped = true;
    } else if (h) {
        munmap(h, comm_shm_bytes(c->size));
    }
    return ok;
}
