#!/usr/bin/env python3
"""detmath_values.py - writes detmath_values.h: values of ln, e^x, x^y and the normal quantile to 40 digits.

    python3 tests/base/detmath_values.py > tests/base/detmath_values.h     (needs mpmath)

Only such points are kept whose true value lies within 0.04 units in the last place of a double: a function with an
error below 0.46 before its last rounding must then give exactly that double, so the row has one right answer. The normal
quantile is less exact; its rows give the value as a sum of two doubles.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import math
import random

from mpmath import erfc, exp, findroot, log, mp, mpf, sqrt

mp.dps = 40
rng = random.Random(1)


def near(y):
    d = float(y)
    return d, d != 0 and abs(y - mpf(d)) < mpf(0.04) * mpf(math.ulp(d))


def rows(count, draw, f):
    while count:
        args = draw()
        d, keep = near(f(*map(mpf, args)))
        if keep:
            print("    {" + ", ".join(x.hex() for x in (*args, d)) + "},")
            count -= 1


def table(name, columns, fill):
    print(f"static const double {name}[][{columns}] = {{")
    fill()
    print("};\n")


def quantile(p):
    low = -sqrt(-2 * log(mpf(p)))  # P(N <= low) < p < 1/2
    return findroot(lambda x: log(erfc(-x / sqrt(mpf(2))) / 2) - log(mpf(p)), (low, mpf(0)), solver="anderson")


def quantile_rows():
    for p in [0.5 - 2.0**-30, 0.4, 0.3, 0.2, 0.1, 0.075, 0.0749, 0.05, 0.025, 0.01, 1e-3, 1e-5, 1e-8, 1.3e-11, 1.5e-11,
              1e-15, 2.0**-53, 1e-20, 1e-50, 1e-100, 1e-300]:
        x = quantile(p)
        print(f"    {{{p.hex()}, {float(x).hex()}, {float(x - mpf(float(x))).hex()}}},")


print("/* detmath_values.h - written by detmath_values.py: {arguments, value} to 40 digits, rounded once.\n *\n"
      " * SPDX-License-Identifier: GPL-3.0-or-later\n */\n"
      "#ifndef TRAINYARD_TESTS_BASE_DETMATH_VALUES_H\n#define TRAINYARD_TESTS_BASE_DETMATH_VALUES_H\n")
table("LOG", 2, lambda: (rows(12, lambda: (rng.uniform(0.5, 2),), log),
                         rows(4, lambda: (1 + rng.uniform(-1, 1) * 2.0**-20,), log),
                         rows(6, lambda: (rng.random() * 2.0**rng.randrange(-1000, 1000),), log),
                         rows(2, lambda: (rng.randrange(1, 2**40) * 5e-324,), log)))
table("EXP", 2, lambda: (rows(10, lambda: (rng.uniform(-1, 1),), exp), rows(10, lambda: (rng.uniform(-700, 700),), exp),
                         rows(4, lambda: (rng.uniform(-1, 1) * 2.0**-20,), exp)))
table("POW", 3, lambda: (rows(16, lambda: (rng.expovariate(1), rng.uniform(0.2, 4)), lambda x, y: x**y),
                         rows(8, lambda: (rng.random() * 2.0**20, rng.uniform(-3, 3)), lambda x, y: x**y)))
print("/* {p, value, value - its first double} */")
table("QUANTILE", 3, quantile_rows)
print("#endif")
