/* data_loading.c - see data_loading.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/data_loading.h"

#include <math.h>

#include "base/detmath.h"
#include "models/order_statistics.h"

const char *const data_limit_names[N_DATA_LIMITS] = {"nothing", "workers", "cores", "interpreter lock", "storage"};

static double over(double work, double time) { return time > 0 ? work / time : INFINITY; }

struct data_rate data_loading_rate(const struct data_loading *l)
{
    double miss = 1 - l->hit, bytes = l->read_bytes_per_s > 0 ? miss * l->sample_bytes / l->read_bytes_per_s : 0;
    const double bound[N_DATA_LIMITS] = {
        [DATA_UNLIMITED] = INFINITY,
        [DATA_WORKERS] = over(l->workers ? l->workers : 1, l->cpu_s + miss * l->latency_s + bytes),
        [DATA_CORES] = l->cores > 0 ? over(l->cores, l->cpu_s) : INFINITY,
        [DATA_LOCK] = l->threads && l->workers ? over(1, l->locked * l->cpu_s) : INFINITY,
        [DATA_STORAGE] = over(1, bytes),
    };
    struct data_rate least = {INFINITY, DATA_UNLIMITED};
    for (int i = 0; i < N_DATA_LIMITS; i++)
        if (bound[i] < least.samples_per_s) least = (struct data_rate){bound[i], (enum data_limit)i};
    return least;
}

double data_loading_batch_s(const struct data_loading *l) { return l->samples / data_loading_rate(l).samples_per_s; }

bool data_loads_ahead(const struct data_loading *l) { return l->workers > 0 && l->prefetch > 0; }

static const double JUMP = 0.58259715793901; /* -zeta(1/2) / sqrt(2 pi) */

/* What presses on the lower wall: drift m and deviation s a step, walls B apart. */
static double pressure(double m, double s, double walls)
{
    double x = 2 * m * walls / (s * s);
    if (x > 700) return 0;
    if (x < -700) return -m;
    return x > -1e-9 && x < 1e-9 ? s * s / (2 * walls) : m / (det_exp(x) - 1);
}

/* p = pressure(m + (n - 1) p), which falls in p, by bisection to 2^-60 of the greatest that it can be. */
static double own_pressure(double m, double s, double walls, double n)
{
    double low = 0, high = pressure(m, s, walls);
    for (int i = 0; n > 1 && i < 60; i++) {
        double p = (low + high) / 2;
        if (pressure(m + (n - 1) * p, s, walls) > p) low = p;
        else high = p;
    }
    return high;
}

double data_loading_wait_s(const struct data_loading *l, double step_s)
{
    double load_s = data_loading_batch_s(l), ahead_s = step_s - load_s, s = l->variation * load_s;
    if (!(load_s > 0)) return 0;
    double n = l->ranks ? l->ranks : 1, slowest_s = s > 0 ? load_s + s * max_of_normals(n) : load_s;
    if (!data_loads_ahead(l)) return slowest_s;
    if (!(s > 0)) return ahead_s < 0 ? -ahead_s : 0;
    double walls_s = (l->prefetch > 1 ? l->prefetch - 1 : 0) * step_s + 2 * JUMP * s;
    double wait_s = n * own_pressure(ahead_s, s, walls_s, n);
    if (l->prefetch < 2 && wait_s < slowest_s - step_s) wait_s = slowest_s - step_s;
    return wait_s < slowest_s ? wait_s : slowest_s; /* never worse than taking turns */
}

/* P(X Y > a), X and Y uniform on [m, 1]. */
static double product_above(double m, double a)
{
    double width = 1 - m, area;
    if (a >= 1) return 0;
    if (a <= m * m) return 1;
    if (a > m) area = 1 - a + a * det_log(a);
    else area = (1 - a / m) * width + (a / m - m) - a * det_log(a / (m * m));
    return area / (width * width);
}

double data_cache_hit(enum cache_rule rule, double held, uint32_t nodes)
{
    if (!(held > 0)) return 0;
    if (held >= 1) return 1;
    if (rule == CACHE_KEEP) return held;
    double n = nodes ? nodes : 1, m = 1 - 1 / n, unseen = 1, hit = 0;
    while (unseen > 1 - held && unseen > 0) { /* `unseen` falls by m each time: at most n ln(1 / (1 - held)) times */
        hit += unseen / n * product_above(m, (1 - held) / unseen);
        unseen *= m;
    }
    return hit;
}

double data_cache_hit_of_run(double hit, double epochs) { return epochs > 1 ? hit * (1 - 1 / epochs) : 0; }
