/* pods.c - processes in the places of pods: their start, what they say, their end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/units.h"
#include "real/host/parts.h"

enum { LONGEST_LINE = 1 << 16, DEAF_S = 5 };

/* ---- where ---- */

static const struct live_hosts *hosts_of(const struct host *h, uint32_t node)
{
    for (size_t i = 0; i < h->live->n_hosts; i++)
        if (h->live->hosts[i].group == h->node_group[node]) return &h->live->hosts[i];
    return NULL;
}

/* NULL: this machine. */
static const char *address_of(const struct host *h, uint32_t node, const struct live_hosts *o)
{
    uint32_t first = h->scenario->cluster.groups[h->node_group[node]].first_node;
    return o ? o->addresses[(node - first) % o->n_addresses] : NULL;
}

/* "user@machine" is for ssh; the ranks meet at "machine". */
static const char *meeting_address(const struct host_job *j, uint32_t node)
{
    const char *address = address_of(j->host, node, hosts_of(j->host, node));
    const char *at = address ? strchr(address, '@') : NULL;
    return !address ? "127.0.0.1" : at ? at + 1 : address;
}

/* A port that nobody has now, nor gets until it is freed: a socket stays bound to it. Beside that one only who asks for this very port with
 * SO_REUSEADDR may bind, as rank 0 does; the system gives it to nobody who wants any. On another machine one can only hope. */
void job_new_port(struct host_job *j)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0 &&
              bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && getsockname(fd, (struct sockaddr *)&a, &n) == 0;
    job_free_port(j);
    j->port = ok ? ntohs(a.sin_port) : 29500;
    j->port_socket = fd;
}

void job_free_port(struct host_job *j)
{
    if (j->port_socket >= 0) close(j->port_socket);
    j->port_socket = -1;
}

/* ---- start ---- */

static void on_output(void *arg);

static bool run_process(struct host_pod *p, struct arena *a, uint32_t rank, uint32_t world)
{
    struct host_job *j = p->job;
    struct host *h = j->host;
    uint32_t node = p->holds.v[0].node, first = j->pods[0].holds.n ? j->pods[0].holds.v[0].node : node;
    const struct live_hosts *o = hosts_of(h, node);
    const char *saved = arena_printf(a, "%s/%s/saved-%s", o ? o->directory : h->work, j->plan.id, h->id);
    const char *data = o ? arena_printf(a, "%s/train.data", o->directory) : h->data;
    struct plan_files files = {.worker = o ? o->worker : h->options->worker, .data = data, .saved = saved};
    struct process_spec spec = {
        .argv = plan_command(a, h->scenario, j->spec, &j->plan, &files),
        .env = plan_environment(a, &j->plan, rank, world, meeting_address(j, first), j->port),
        .log = arena_printf(a, "%s/%s/%s.err", h->work, j->plan.id, j->plan.v[p->number].name),
        .address = address_of(h, node, o),
    };
    char *err = NULL;
    if (process_start(&p->process, &spec, &err)) return true;
    host_fail(h, err);
    return false;
}

void seat_start(struct host_pod *p, uint32_t rank, uint32_t world)
{
    struct host *h = p->job->host;
    struct arena a = {0};
    if (h->closing || !p->holds.n) return;
    bool ok = run_process(p, &a, rank, world);
    arena_free(&a);
    if (!ok) return;
    p->hung = p->stands = p->is_agent = p->by_agent = p->took_part = p->replaced = false;
    p->told_code = -1;
    p->started_ns = p->since_ns = host_now(h);
    str_clear(&p->text);
    loop_watch(h->loop, p->process.out, on_output, p);
    if (p->job->life->pods_start) seat_note(p, POD_IS_STARTING, p->holds.v[0].node);
    seat_enter(p, SEAT_STARTING);
}

static void on_deaf(void *arg)
{
    struct host_pod *p = arg;
    host_tell(p->job->host, p->job, "%s: its machine does not answer", p->job->plan.v[p->number].name);
    process_abandon(&p->process);
}

void seat_kill(struct host_pod *p, int code)
{
    loop_disarm(p->job->host->loop, &p->timer);
    if (!p->process.pid) return;
    if (p->told_code < 0) p->told_code = code;
    process_signal(&p->process, SIGKILL);
    if (p->process.control >= 0 && !p->deaf.place)
        loop_arm(p->job->host->loop, &p->deaf, loop_now(p->job->host->loop) + seconds(DEAF_S), on_deaf, p);
}

void job_kill_all(struct host_job *j)
{
    for (uint32_t i = 0; i < j->plan.n; i++) seat_kill(&j->pods[i], -1);
}

bool job_has_processes(const struct host_job *j)
{
    for (uint32_t i = 0; i < j->plan.n; i++)
        if (j->pods[i].process.pid) return true;
    return false;
}

void seat_enter(struct host_pod *p, enum seat_state state)
{
    p->state = state;
    ranks_refresh(p->job);
}

void seat_note(struct host_pod *p, enum pod_state state, int64_t b)
{
    struct host_job *j = p->job;
    const struct process_plan *v = &j->plan.v[p->number];
    if (state == p->noted || (p->noted != N_POD_STATES && p->noted >= POD_IS_SUCCEEDED && state != POD_IS_PENDING)) return;
    p->noted = state;
    for (uint32_t k = 0; k < v->n && k < p->holds.n; k++) {
        const struct pod_plan *pod = &j->plan.pods[v->first + k];
        uint32_t number = p->holds.v[k].group; /* a pod has the number of its group */
        if (number == LIVE_NONE) continue;
        live_note(j->host->run, &(struct record){.type = REC_POD_STATE, .job = (int32_t)j->index, .subject = number,
                                                 .code = (uint16_t)(state | (unsigned)pod->role << 8), .a = 1,
                                                 .b = state == POD_IS_PENDING ? (int64_t)pod->index - number : b});
    }
}

/* ---- output ---- */

/* The moment that the line names, where its clock is ours; never later than now. */
static void set_time(struct host_pod *p, const struct worker_line *w)
{
    struct host *h = p->job->host;
    int64_t now = host_now(h), then = now;
    if (p->process.control < 0) then = (int64_t)((double)loop_of_wall(h->loop, w->time_ns) * h->live->time_scale);
    live_at(h->run, then < now ? then : now);
}

static void read_lines(struct host_pod *p)
{
    const char *text = str_text(&p->text), *end;
    size_t at = 0;
    while ((end = memchr(text + at, '\n', p->text.n - at))) {
        struct worker_line w;
        size_t n = (size_t)(end - text) - at;
        if (worker_line_read(text + at, n, &w)) {
            set_time(p, &w);
            ranks_line(p, &w);
        }
        at += n + 1;
    }
    struct str rest = {0};
    if (p->text.n - at < LONGEST_LINE) str_append_n(&rest, text + at, p->text.n - at); /* what is longer is no line of ours */
    str_free(&p->text);
    p->text = rest;
}

/* All that is there. False: it has ended. */
static bool drain(struct host_pod *p)
{
    char buf[1 << 14];
    ssize_t n;
    if (p->reading) return true;
    p->reading = true;
    while ((n = read(p->process.out, buf, sizeof buf)) > 0 || (n < 0 && errno == EINTR)) {
        if (n <= 0) continue;
        str_append_n(&p->text, buf, (size_t)n);
        read_lines(p);
    }
    p->reading = false;
    return n < 0 && errno == EAGAIN;
}

void pods_read_others(struct host_pod *p, const struct worker_line *w)
{
    for (uint32_t i = 0; i < p->job->plan.n; i++)
        if (&p->job->pods[i] != p && p->job->pods[i].process.out >= 0) drain(&p->job->pods[i]);
    set_time(p, w);
}

static void close_output(struct host_pod *p)
{
    if (p->process.out < 0) return;
    loop_unwatch(p->job->host->loop, p->process.out);
    process_close_out(&p->process);
}

static void on_output(void *arg)
{
    struct host_pod *p = arg;
    if (p->process.out >= 0 && !drain(p)) close_output(p);
}

/* ---- end ---- */

void pods_none_left(struct host_job *j)
{
    struct host *h = j->host;
    if (j->stage == STAGE_ENDING) {
        j->stage = STAGE_OVER;
        host_look_for_end(h);
    } else if (j->stop_reason == WAIT_SUSPENDED) {
        live_requeued(h->run, j->index, WAIT_SUSPENDED);
        j->stage = STAGE_SUSPENDED;
        host_look_for_end(h);
    } else {
        live_requeued(h->run, j->index, WAIT_ORDER);
        queue_asks(j);
    }
}

static void on_ended(struct host_pod *p, int code)
{
    struct host_job *j = p->job;
    live_at(j->host->run, host_now(j->host));
    if (p->told_code >= 0) code = p->told_code;
    if (j->stage == STAGE_ENDING || j->stage == STAGE_STOPPING) {
        p->state = SEAT_NONE;
        queue_free(p);
        if (!job_has_processes(j)) pods_none_left(j);
        return;
    }
    bool stepped = p->state == SEAT_READY;
    p->state = SEAT_STOPPED;
    if (stepped && code != 0) ranks_stop(j, ACT_STALLED, WAIT_DETECTION, CAUSE_FAILURE);
    host_tell(j->host, j, "%s ends with %d", j->plan.v[p->number].name, code);
    j->life->ended(j, p, code);
    ranks_refresh(j);
}

static void reap(struct host_pod *p)
{
    int code;
    if (!process_reap(&p->process, &code)) return;
    loop_disarm(p->job->host->loop, &p->deaf);
    if (p->process.out >= 0) drain(p);
    close_output(p);
    on_ended(p, code);
}

void pods_reap(struct host *h)
{
    for (size_t i = 0; i < h->n_jobs; i++)
        for (uint32_t k = 0; k < h->jobs[i].plan.n; k++)
            if (h->jobs[i].pods[k].process.pid) reap(&h->jobs[i].pods[k]);
}
