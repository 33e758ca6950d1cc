/* steplog.c - what a rank did, as JSON lines and as Prometheus text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/steplog.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/json_write.h"
#include "base/units.h"
#include "real/worker/net.h"

static void begin(struct steplog *l, struct json_writer *w, const char *event)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    str_clear(&l->text);
    json_write_begin(w, &l->text);
    json_write_object_inline(w);
    json_write_key(w, "event"), json_write_string(w, event);
    json_write_key(w, "time_s"), json_write_seconds(w, now.tv_sec * NS_PER_S + now.tv_nsec);
    json_write_key(w, "rank"), json_write_int64(w, l->rank);
}

/* Line by line, so that a killed process has written all that it did. */
static void end(struct steplog *l, struct json_writer *w)
{
    json_write_end(w);
    json_write_finish(w);
    fputs(str_text(&l->text), l->lines);
    fflush(l->lines);
}

static void whole(struct json_writer *w, const char *key, int64_t x)
{
    json_write_key(w, key), json_write_int64(w, x);
}

static void number(struct json_writer *w, const char *key, double x)
{
    json_write_key(w, key), json_write_double(w, x);
}

static void time_of(struct json_writer *w, const char *key, int64_t ns)
{
    json_write_key(w, key), json_write_seconds(w, ns);
}

static void text(struct json_writer *w, const char *key, const char *value)
{
    json_write_key(w, key), json_write_string(w, value);
}

void steplog_join(struct steplog *l, const char *kind)
{
    struct json_writer w;
    if (!l->lines) return;
    begin(l, &w, "join");
    text(&w, "kind", kind);
    end(l, &w);
}

void steplog_met(struct steplog *l)
{
    struct json_writer w;
    if (!l->lines) return;
    begin(l, &w, "met");
    whole(&w, "size", l->size);
    end(l, &w);
}

void steplog_start(struct steplog *l, const struct start_record *r)
{
    struct json_writer w;
    if (!l->lines) return;
    begin(l, &w, "start");
    text(&w, "kind", r->kind);
    whole(&w, "size", l->size);
    text(&w, "transport", r->transport);
    whole(&w, "parameters", (int64_t)r->parameters);
    time_of(&w, "rendezvous_s", r->rendezvous_ns);
    whole(&w, "resumed_step", r->resumed_step);
    time_of(&w, "load_s", r->load_ns);
    end(l, &w);
}

void steplog_gpu(struct steplog *l, const struct gpu_record *r)
{
    struct json_writer w;
    if (!l->lines) return;
    begin(l, &w, "gpu");
    text(&w, "name", r->name);
    number(&w, "step_s", r->step_s);
    number(&w, "flops_per_s", r->flops_per_s);
    number(&w, "power_w", r->power_w);
    number(&w, "utilisation", r->utilisation);
    end(l, &w);
}

/* ---- Prometheus ---- */

static const struct {
    const char *name, *type, *help;
    size_t at; /* in struct steplog */
    enum { WHOLE, NUMBER, SECONDS } form;
} metrics[] = {
#define AT(field) offsetof(struct steplog, field)
    {"step", "gauge", "Last finished step, from 0.", AT(last.step), WHOLE},
    {"loss", "gauge", "Mean loss of its batch.", AT(last.loss), NUMBER},
    {"learning_rate", "gauge", "Its learning rate.", AT(last.rate), NUMBER},
    {"gradient_norm", "gauge", "Euclidean norm of its mean gradient.", AT(last.gradient_norm), NUMBER},
    {"steps_total", "counter", "Steps finished by this process.", AT(steps), WHOLE},
    {"data_seconds_total", "counter", "Time spent waiting for data.", AT(sum.data_ns), SECONDS},
    {"compute_seconds_total", "counter", "Time spent computing.", AT(sum.compute_ns), SECONDS},
    {"communication_seconds_total", "counter", "Time spent in collectives.", AT(sum.communication_ns), SECONDS},
    {"checkpoint_seconds_total", "counter", "Time that training stood for checkpoints.", AT(sum.checkpoint_ns), SECONDS},
    {"step_seconds_total", "counter", "Time of whole steps.", AT(sum.all_ns), SECONDS},
    {"checkpoints_total", "counter", "Checkpoints finished.", AT(checkpoints), WHOLE},
    {"checkpoint_failures_total", "counter", "Checkpoints that could not be finished.", AT(failed_checkpoints), WHOLE},
#undef AT
};

static void put_value(struct str *s, const struct steplog *l, size_t i)
{
    const char *at = (const char *)l + metrics[i].at;
    if (metrics[i].form == NUMBER) str_append_double(s, *(const double *)at);
    else if (metrics[i].form == SECONDS) str_append_seconds(s, *(const int64_t *)at);
    else str_append_i64(s, *(const int64_t *)at);
}

static bool write_prometheus(struct steplog *l, struct diag *d)
{
    struct str s = {0};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        str_printf(&s, "# HELP trainyard_worker_%s %s\n# TYPE trainyard_worker_%s %s\n", metrics[i].name, metrics[i].help,
                   metrics[i].name, metrics[i].type);
        str_printf(&s, "trainyard_worker_%s{rank=\"%d\"} ", metrics[i].name, l->rank);
        put_value(&s, l, i);
        str_append_char(&s, '\n');
    }
    bool ok = file_write_atomic(l->prometheus, str_text(&s), s.n, d);
    str_free(&s);
    l->written_ns = net_now_ns();
    return ok;
}

/* ---- steps ---- */

static void add(struct step_times *sum, const struct step_times *t)
{
    sum->data_ns += t->data_ns;
    sum->compute_ns += t->compute_ns;
    sum->communication_ns += t->communication_ns;
    sum->checkpoint_ns += t->checkpoint_ns;
    sum->all_ns += t->all_ns;
}

static void step_line(struct steplog *l, const struct step_record *r)
{
    struct json_writer w;
    begin(l, &w, "step");
    whole(&w, "step", r->step);
    number(&w, "loss", r->loss);
    number(&w, "rate", r->rate);
    number(&w, "gradient_norm", r->gradient_norm);
    time_of(&w, "data_s", r->times.data_ns);
    time_of(&w, "compute_s", r->times.compute_ns);
    time_of(&w, "communication_s", r->times.communication_ns);
    time_of(&w, "checkpoint_s", r->times.checkpoint_ns);
    time_of(&w, "step_s", r->times.all_ns);
    end(l, &w);
}

void steplog_step(struct steplog *l, const struct step_record *r)
{
    struct diag later = {0}; /* a file that cannot be written is told at the end */
    l->last = *r;
    l->steps++;
    add(&l->sum, &r->times);
    if (l->lines && r->step % l->every == 0) step_line(l, r);
    if (l->prometheus && net_now_ns() - l->written_ns > NS_PER_S) write_prometheus(l, &later);
    diag_free(&later);
}

void steplog_save(struct steplog *l, int64_t step)
{
    struct json_writer w;
    if (!l->lines) return;
    begin(l, &w, "save");
    whole(&w, "step", step);
    end(l, &w);
}

void steplog_checkpoint(struct steplog *l, int64_t step, int64_t save_ns, bool ok)
{
    struct json_writer w;
    if (ok) l->checkpoints++;
    else l->failed_checkpoints++;
    if (!l->lines) return;
    begin(l, &w, "checkpoint");
    whole(&w, "step", step);
    time_of(&w, "save_s", save_ns);
    json_write_key(&w, "ok"), json_write_bool(&w, ok);
    end(l, &w);
}

void steplog_end(struct steplog *l, int64_t step, double loss, const char *weights, const char *reason)
{
    struct json_writer w;
    if (!l->lines) return;
    begin(l, &w, "end");
    whole(&w, "step", step);
    number(&w, "loss", loss);
    text(&w, "weights", weights);
    text(&w, "reason", reason);
    end(l, &w);
}

bool steplog_close(struct steplog *l, struct diag *d)
{
    bool ok = !l->prometheus || write_prometheus(l, d);
    if (l->lines && (fflush(l->lines) != 0 || ferror(l->lines))) {
        diag_error(d, "log", 0, NULL, "cannot write: %s", strerror(errno));
        ok = false;
    }
    if (l->lines && l->lines != stdout && fclose(l->lines) != 0) ok = false;
    str_free(&l->text);
    return ok;
}
