/* series.c - see series.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/series.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "input/data.h"
#include "input/learning.h"
#include "models/step.h"
#include "models/traffic.h"

/* ---- learning ---- */

/* Hoffmann et al. (arXiv 2203.15556), equation 10 */
static const double CHINCHILLA_E = 1.69, CHINCHILLA_A = 406.4, CHINCHILLA_B = 410.7, CHINCHILLA_ALPHA = 0.34,
                    CHINCHILLA_BETA = 0.28;

/* floor + scale / (step x per_step)^exponent; per_step NAN: not known */
struct curve { double floor, scale, exponent, per_step; };

static struct curve curve_of(const struct series_job *j)
{
    const struct learning_spec *l = j->learning;
    if (l && !isnan(l->loss_floor))
        return (struct curve){l->loss_floor, l->loss_scale, l->loss_exponent, isnan(j->tokens) ? j->samples : j->tokens};
    return (struct curve){CHINCHILLA_E + CHINCHILLA_A / pow(j->parameters, CHINCHILLA_ALPHA), CHINCHILLA_B, CHINCHILLA_BETA, j->tokens};
}

double learning_loss(const struct series_job *j, int64_t step)
{
    struct curve c = curve_of(j);
    return step > 0 ? c.floor + c.scale / pow((double)step * c.per_step, c.exponent) : NAN;
}

double learning_gradient(const struct series_job *j, int64_t step)
{
    struct curve c = curve_of(j);
    double rate = learning_rate(j, step), x = (double)step * c.per_step;
    double fall = c.exponent * c.scale * c.per_step / pow(x, c.exponent + 1); /* of the loss, a step */
    return step > 0 && rate > 0 ? sqrt(fall / rate) : NAN;
}

double learning_rate(const struct series_job *j, int64_t step)
{
    const struct learning_spec *l = j->learning;
    if (!l || isnan(l->peak)) return NAN;
    if (step < l->warmup_steps) return l->peak * (double)step / (double)l->warmup_steps;
    if (l->schedule == LEARN_CONSTANT || j->total_steps <= l->warmup_steps) return l->peak;
    double f = (double)(step - l->warmup_steps) / (double)(j->total_steps - l->warmup_steps);
    double left = l->schedule == LEARN_COSINE ? (1 + cos(M_PI * fmin(f, 1))) / 2 : 1 - fmin(f, 1);
    return l->peak * (l->final + (1 - l->final) * left);
}

/* ---- what does not change ---- */

static void of_model(struct series_job *j, const struct step_input *m)
{
    struct memory_fit fit = memory_fit(&m->model, &m->split, &m->batch, m->hardware.gpu.memory_bytes, m->hardware.workspace_bytes);
    struct step_time t = step_time(m);
    j->samples = m->batch.global;
    if (m->model.layers) {
        j->tokens = j->samples * m->model.sequence;
        j->parameters = m->model.parameters;
    }
    j->memory_bytes = fit.total;
    j->network_bytes = t.fabric_bytes * parallel_ranks(&m->split);
}

static void of_data(struct series_job *j, const struct scenario *s, const struct job_spec *spec)
{
    const struct job_detail *d = &s->details[spec->detail];
    struct data_place at = data_place_nominal(s, spec);
    double samples = d->data->samples * data_loaders(d->data, at.gpus);
    if (isnan(j->samples)) j->samples = samples;
    if (d->data->store != NO_STORE) j->read_bytes = samples * (double)d->data->sample_bytes * (1 - data_hit(d->data, &at));
}

static struct series_job describe(const struct scenario *s, const struct job_spec *spec)
{
    const struct job_detail *d = &s->details[spec->detail];
    struct series_job j = {d->learning, 0, NAN, NAN, NAN, NAN, NAN, NAN};
    int64_t step_ns = step_nominal_ns(&d->step);
    uint32_t shares = job_role_shares(s, spec, d->n_roles - 1), pods = job_role_replicas(s, spec, d->n_roles - 1);
    uint32_t pod = shares >= SHARES_PER_GPU ? shares / SHARES_PER_GPU : 1, gpus = pod * (pods ? pods : 1);
    if (step_ns > 0 && spec->work_ns != TIME_NEVER) j.total_steps = spec->work_ns / step_ns;
    if (d->step.model) of_model(&j, d->step.model);
    else if (d->step.gradient_bytes && pods > 1) j.network_bytes = (double)traffic_ring_edge_bytes(d->step.gradient_bytes, gpus) * pods;
    if (d->data) of_data(&j, s, spec);
    return j;
}

/* ---- reading ---- */

static struct scenario *scenario_of(const struct run *run, char **err)
{
    struct str file = {0}, said = {0};
    struct diag d = {0};
    str_printf(&file, "%s/scenario.json", run->dir);
    struct scenario *s = scenario_load(str_text(&file), NULL, NULL, &d);
    if (!s) {
        str_printf(&said, "%s: %s", str_text(&file), d.entries.n ? d.entries.v[0].text : "cannot be read");
        *err = xstrdup(str_text(&said));
    }
    str_free(&file);
    str_free(&said);
    diag_free(&d);
    return s;
}

static void describe_all(struct series *s, uint32_t replication, int64_t **total)
{
    struct job_spec *jobs;
    bool owned;
    scenario_workload(s->scenario, replication, &jobs, &s->n_jobs, &owned);
    s->jobs = xcalloc(s->n_jobs + 1, sizeof *s->jobs);
    *total = xcalloc(s->n_jobs + 1, sizeof **total);
    for (size_t i = 0; i < s->n_jobs; i++) {
        s->jobs[i] = describe(s->scenario, &jobs[i]);
        (*total)[i] = s->jobs[i].total_steps;
    }
    if (owned) free(jobs);
}

bool series_read(const struct run *run, struct series *s, char **err)
{
    int64_t *total;
    *s = (struct series){.scenario = scenario_of(run, err)};
    if (!s->scenario) return false;
    describe_all(s, run->replication, &total);
    bool ok = progress_read(run, total, s->n_jobs, &s->progress, err);
    free(total);
    if (!ok) series_free(s);
    return ok;
}

void series_free(struct series *s)
{
    if (s->scenario) scenario_free(s->scenario);
    free(s->jobs);
    progress_free(&s->progress);
    *s = (struct series){0};
}

/* ---- points ---- */

struct series_point series_at(const struct series *s, const struct progress_span *p, int64_t step)
{
    const struct series_job *j = &s->jobs[p->job];
    double k = (double)step, n = (double)(p->last - p->first), wall = (double)(p->to_ns - p->from_ns);
    double steps_per_s = n * 1e9 / wall;
    return (struct series_point){
        .time_ns = p->from_ns + (int64_t)((double)(step - p->first) / n * wall),
        .samples = k * j->samples, .tokens = k * j->tokens, .loss = learning_loss(j, step),
        .learning_rate = learning_rate(j, step), .gradient_norm = learning_gradient(j, step),
        .samples_per_s = j->samples * steps_per_s, .tokens_per_s = j->tokens * steps_per_s, .memory_bytes = j->memory_bytes,
        .network_bytes_per_s = j->network_bytes * steps_per_s, .read_bytes_per_s = j->read_bytes * steps_per_s,
    };
}

int64_t series_next(const struct series *s, const struct progress_span *p, int64_t step, int64_t parts)
{
    int64_t total = s->jobs[p->job].total_steps, every = total / parts > 0 ? total / parts : 1;
    if (step >= p->last) return -1;
    int64_t next = (step / every + 1) * every;
    return next < p->last ? next : p->last;
}
