/* closed_form.h - formulas of queueing, reliability and communication that the tests hold the product against.
 *
 * Each is computed from its definition; none is the product's. Sources: Erlang (1917) and the recursion
 * B(c) = A B(c-1) / (c + A B(c-1)); Pollaczek and Khinchine (1930, 1932); Kleinrock, "Queueing Systems" I (1975) for the
 * machine repairmen and processor sharing; Bertsekas and Gallager, "Data Networks" (1992), section 6.5.2 for progressive
 * filling; Thakur, Rabenseifner and Gropp (2005), Sanders, Speck and Traff (2009) for all-reduce; Kokolis et al.
 * (arXiv 2410.21680) for ETTR.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_CLOSED_FORM_H
#define TRAINYARD_TESTS_SUPPORT_CLOSED_FORM_H

#include <stddef.h>

double erlang_b(double offered, unsigned servers);
double erlang_c(double offered, unsigned servers);                        /* P(wait) of M/M/c */
double mmc_wait(double lambda, double mu, unsigned servers);              /* mean time in the line */
double pollaczek_khinchine(double lambda, double service, double scv);    /* mean time in the line of M/G/1 */

/* n machines that live and are repaired exponentially by `crews`; means. */
struct repairmen { double down, failures_per_time, all_up; };
struct repairmen repairmen(unsigned n, unsigned crews, double life, double repair);

double harmonic(unsigned n);
double weibull_scale(double mean, double shape);
double weibull_scv(double shape);
double lognormal_sigma(double median, double mean);
double lognormal_scv(double sigma);

double ring_s(double ranks, double bytes, double bytes_per_s, double alpha_s);
double halving_doubling_s(double ranks, double bytes, double bytes_per_s, double alpha_s);
double binary_trees_s(double ranks, double bytes, double bytes_per_s, double alpha_s);

/* (1 - N r (u0 + dt/2)) / (1 + w/dt), all in minutes; r a node and day. */
double ettr_small_loss(double nodes, double per_node_day, double u0, double dt, double w);

/* Max-min fair rates. crosses[f * n_links + l]: flow f uses link l. */
void progressive_filling(size_t n_flows, size_t n_links, const unsigned char *crosses, const double *capacity, double *rate);

#endif
