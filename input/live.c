/* live.c - the keys of "live"; see live.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/live.h"

#include "input/raw.h"

static const struct field host_fields[] = {
    FIELD(raw_live_hosts, group, "group", TYPE_STRING, .required = true, .help = "a node group"),
    FIELD(raw_live_hosts, addresses, "addresses", TYPE_STRINGS, .required = true,
          .help = "machines, as ssh knows them and as the ranks reach each other; node n is on number n modulo their count"),
    FIELD(raw_live_hosts, worker, "worker", TYPE_STRING, .fallback = "trainyard-worker", .help = "the program there"),
    FIELD(raw_live_hosts, directory, "directory", TYPE_STRING, .required = true,
          .help = "for data and checkpoints there; all machines of a job must see the same one"),
};
static const struct object_type hosts_type =
    OBJECT(raw_live_hosts, host_fields, "live hosts", "Where the nodes of a group are; those of other groups are this machine.");

static const struct field live_fields[] = {
    FIELD(raw_live, time_scale, "time_scale", TYPE_NUMBER, .fallback = "1",
          .help = "seconds of the scenario that a second of a live run stands for; what takes its own time (the start of a process, a "
                  "collective) is not made faster, and counts that many times"),
    FIELD(raw_live, processes, "processes", TYPE_INT, .min = 1, .max = 4096,
          .help = "most processes of a job: one with more pods runs so many, and holds the GPUs of all; absent: one a pod"),
    FIELD(raw_live, pace, "pace", TYPE_BOOL, .fallback = "true",
          .help = "a step computes as long as the job says; false: as fast as the machine goes"),
    FIELD(raw_live, hidden, "hidden", TYPE_INT, .fallback = "32", .min = 1, .max = 65536,
          .help = "width of the hidden layer of the model that is trained"),
    FIELD(raw_live, features, "features", TYPE_INT, .fallback = "16", .min = 1, .max = 65536, .help = "of a sample"),
    FIELD(raw_live, classes, "classes", TYPE_INT, .fallback = "4", .min = 2, .max = 65536, .help = "of the samples"),
    FIELD(raw_live, samples, "samples", TYPE_INT, .fallback = "4096", .min = 1, .max = 100000000, .help = "of the data set"),
    FIELD(raw_live, batch, "batch", TYPE_INT, .fallback = "64", .min = 1, .max = 1 << 24, .help = "samples a step, of all ranks together"),
    FIELD(raw_live, hosts, "hosts", TYPE_LIST, .sub = &hosts_type, .help = "machines beside this one, over ssh"),
};
const struct object_type live_type =
    OBJECT(raw_live, live_fields, "live", "What live back ends scale, and where they run; the simulator reads none of it.");

static void build_hosts(struct build *b, const struct raw_live_hosts *raw, struct live_spec *live)
{
    const struct cluster_spec *c = &b->s->cluster;
    const char *names[64];
    size_t n = 0;
    if (!raw->group || !raw->addresses.n || !raw->directory) {
        if (raw->addresses.v && !raw->addresses.n) value_error(b->diag, place_of(raw->at, "addresses"), "no machine is named");
        return;
    }
    while (n < c->n_groups && n < 64 && !str_equal(c->groups[n].name, raw->group)) names[n] = c->groups[n].name, n++;
    if (n == c->n_groups) {
        name_error(b->diag, place_of(raw->at, "group"), "node group", raw->group, names, n);
        return;
    }
    live->hosts[live->n_hosts++] = (struct live_hosts){ .group = (uint32_t)n, .addresses = raw->addresses.v,
                                                        .n_addresses = raw->addresses.n, .worker = raw->worker,
                                                        .directory = raw->directory };
}

void build_live(struct build *b, struct raw_live *raw)
{
    struct live_spec *live = arena_new(b->arena, struct live_spec);
    bool given = raw != NULL;
    if (!given) raw = object_read(&b->reader, &live_type, NULL);
    *live = (struct live_spec){ .time_scale = raw->time_scale, .processes = raw->processes == ABSENT ? 0 : (uint32_t)raw->processes,
                                .pace = raw->pace, .given = given, .hidden = (uint32_t)raw->hidden,
                                .features = (uint32_t)raw->features, .classes = (uint32_t)raw->classes,
                                .samples = (uint32_t)raw->samples, .batch = (uint32_t)raw->batch };
    if (!(raw->time_scale >= 0.001 && raw->time_scale <= 1e6))
        value_error(b->diag, place_of(raw->at, "time_scale"), "between 0.001 and 1,000,000 is allowed");
    if (raw->batch > raw->samples)
        value_error(b->diag, place_of(raw->at, "batch"), "more than the %lld samples of the data set", (long long)raw->samples);
    live->hosts = arena_array(b->arena, raw->hosts.n, struct live_hosts);
    for (size_t i = 0; i < raw->hosts.n; i++) build_hosts(b, &LIST_AT(raw->hosts, struct raw_live_hosts, i), live);
    b->s->live = live;
}
