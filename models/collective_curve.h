/* collective_curve.h - the time of a collective operation over message size, by three numbers and a form.
 *
 *     struct collective_curve c = {form, latency_s, plateau_bytes_per_s, third};
 *     double s = collective_curve_s(&c, 1 << 20);
 *
 * Each form says how a library gets from its latency (small messages) to its plateau (large ones). `latency_s` is the
 * time of the smallest message; `plateau_bytes_per_s` the algorithm bandwidth that large messages approach. x is
 * S / plateau, the pure transfer time.
 *
 *   filling     one protocol, whose bandwidth grows with the message as channels and chunks fill, up to size h:
 *               m = x (1 + (h / S)^u)^(r / u),   t = (latency^1.3 + m^1.3)^(1 / 1.3)
 *               third = h in bytes; r how fast it grows (0: full at once, 1: not at all below h), u how sharply it ends
 *   late start  two protocols, the faster is taken: lines of 8-byte words (LL) at a bandwidth of their own, and large
 *               buffers (Simple) whose start costs k times the latency, with chunks pipelined through its hops:
 *               t1 = latency + S / third,   t2 = k latency + x + p sqrt(k latency x);   third = bandwidth of LL in bytes/s
 *   slow words  the same two, where the words reach a known part w of the plateau and the start of the buffers is free:
 *               t1 = (latency^1.5 + (x / w)^1.5)^(1 / 1.5),   t2 = third + x + p sqrt(third x);   third in s
 *
 * sqrt(a x) is what optimal chunks cost: (sqrt a + sqrt x)^2 = a + x + 2 sqrt(a x) for two stages (van de Geijn, "On
 * global combine operations", JPDC 22, 1994); p below 2 says that the stages overlap in part. The two protocols are
 * joined by (t1^-8 + t2^-8)^(-1/8): at most 8 % below the lower, where both are equal.
 * The exponents 1.3, 1.5 and 8 and the values of r, u, k, p, w (collective_curve.c) are the same for all platforms.
 *
 * Pure, no libm; does not fall when bytes grow. Cost: below 0.3 us.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_COLLECTIVE_CURVE_H
#define TRAINYARD_MODELS_COLLECTIVE_CURVE_H

enum { COLLECTIVE_NO_CURVE = 0 };

struct collective_curve {
    unsigned form; /* 1 .. collective_curve_n_forms(); COLLECTIVE_NO_CURVE: none */
    double latency_s, plateau_bytes_per_s, third;
};

enum collective_curve_kind { COLLECTIVE_FILLING, COLLECTIVE_LATE_START, COLLECTIVE_SLOW_WORDS, COLLECTIVE_N_CURVE_KINDS };
extern const char *const collective_curve_kind_names[COLLECTIVE_N_CURVE_KINDS];

/* How a form reads: "filling r=0.3 u=0.7", "late-start k=3 p=1", "slow-words w=0.25 p=0.5". */
struct collective_curve_form { enum collective_curve_kind kind; double a, b; };
unsigned collective_curve_n_forms(void);
struct collective_curve_form collective_curve_form(unsigned form); /* form >= 1 */

/* Seconds, for bytes >= 0. */
double collective_curve_s(const struct collective_curve *c, double bytes);

#endif
