/* closed_form.c - see closed_form.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/closed_form.h"

#include <math.h>
#include <stdbool.h>

double erlang_b(double offered, unsigned servers)
{
    double b = 1;
    for (unsigned c = 1; c <= servers; c++) b = offered * b / (c + offered * b);
    return b;
}

double erlang_c(double offered, unsigned servers)
{
    double b = erlang_b(offered, servers), rho = offered / servers;
    return b / (1 - rho * (1 - b));
}

double mmc_wait(double lambda, double mu, unsigned servers) { return erlang_c(lambda / mu, servers) / (servers * mu - lambda); }

double pollaczek_khinchine(double lambda, double service, double scv)
{
    return lambda * service * service * (1 + scv) / (2 * (1 - lambda * service));
}

/* Birth and death: k down, (n - k)/life up to k + 1, min(k, crews)/repair back. */
struct repairmen repairmen(unsigned n, unsigned crews, double life, double repair)
{
    struct repairmen r = {0};
    double p = 1, sum = 0;
    for (unsigned k = 0; k <= n; k++) {
        sum += p;
        r.down += k * p;
        r.failures_per_time += (n - k) / life * p;
        p *= (n - k) / life * repair / fmin(k + 1, crews);
    }
    r.down /= sum;
    r.failures_per_time /= sum;
    r.all_up = 1 / sum;
    return r;
}

double harmonic(unsigned n)
{
    double h = 0;
    for (unsigned i = n; i > 0; i--) h += 1.0 / i;
    return h;
}

double weibull_scale(double mean, double shape) { return mean / tgamma(1 + 1 / shape); }

double weibull_scv(double shape)
{
    double first = tgamma(1 + 1 / shape);
    return tgamma(1 + 2 / shape) / (first * first) - 1;
}

double lognormal_sigma(double median, double mean) { return sqrt(2 * log(mean / median)); }

double lognormal_scv(double sigma) { return expm1(sigma * sigma); }

double ring_s(double n, double bytes, double bytes_per_s, double alpha_s)
{
    return 2 * (n - 1) * alpha_s + 2 * (n - 1) / n * bytes / bytes_per_s;
}

double halving_doubling_s(double n, double bytes, double bytes_per_s, double alpha_s)
{
    return 2 * log2(n) * alpha_s + 2 * (n - 1) / n * bytes / bytes_per_s;
}

double binary_trees_s(double n, double bytes, double bytes_per_s, double alpha_s)
{
    return 2 * log2(n) * alpha_s + 2 * bytes / bytes_per_s;
}

double ettr_small_loss(double nodes, double per_node_day, double u0, double dt, double w)
{
    return (1 - nodes * per_node_day / 1440 * (u0 + dt / 2)) / (1 + w / dt);
}

/* All rates grow alike until a link is full; the flows on it stay, the others grow on. */
void progressive_filling(size_t n_flows, size_t n_links, const unsigned char *crosses, const double *capacity, double *rate)
{
    bool fixed[64] = {false};
    for (size_t f = 0; f < n_flows; f++) rate[f] = 0;
    for (;;) {
        size_t tight = n_links;
        double level = INFINITY;
        for (size_t l = 0; l < n_links; l++) {
            double left = capacity[l];
            unsigned growing = 0;
            for (size_t f = 0; f < n_flows; f++) {
                if (!crosses[f * n_links + l]) continue;
                if (fixed[f]) left -= rate[f];
                else growing++;
            }
            if (growing && left / growing < level) level = left / growing, tight = l;
        }
        if (tight == n_links) return;
        for (size_t f = 0; f < n_flows; f++)
            if (!fixed[f] && crosses[f * n_links + tight]) rate[f] = level, fixed[f] = true;
    }
}
