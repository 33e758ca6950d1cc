#!/bin/bash
# no_libm.sh - nothing that reaches the simulated clock calls the C library's transcendental functions.
#
#     tests/house/no_libm.sh BUILD      objects of BUILD/sim, BUILD/models and BUILD/base/detmath.o
#
# Their last bit depends on the CPU and on the library's version; base/detmath.h has what is needed. GSL's random
# distributions and special functions call libm inside, so sim/ may use of GSL only the generator interface.
# Exits 1 and names object and function on a find, 2 when there is nothing to look at.
#
# SPDX-License-Identifier: GPL-3.0-or-later
build=${1:-build}
shopt -s globstar nullglob
objects=("$build"/sim/**/*.o "$build"/models/**/*.o "$build"/base/detmath.o)
[ -e "$build/base/detmath.o" ] && [ ${#objects[@]} -gt 1 ] || { echo "no_libm: no objects in $build: run make first" >&2; exit 2; }

names='log|log2|log10|log1p|logb|exp|exp2|exp10|expm1|pow|pow10|sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh'
names+='|asinh|acosh|atanh|cbrt|hypot|erf|erfc|lgamma|lgamma_r|tgamma|gamma|j0|j1|jn|y0|y1|yn'
pattern="^(__)?($names)(f|l|f32|f64|f128|f32x|f64x)?(_finite)?(@.*)?\$|^gsl_(ran|cdf|sf|pow|log1p|expm1|hypot|acosh|asinh|atanh|randist)_?"

found=0
for object in "${objects[@]}"; do
    calls=$(nm -u "$object" | awk '{print $NF}' | grep -E "$pattern" | sort -u | tr '\n' ' ')
    [ -z "$calls" ] || { echo "no_libm: $object calls $calls" >&2; found=1; }
done
[ $found = 0 ] && echo "no_libm: ${#objects[@]} objects call no transcendental function of the C library"
exit $found
