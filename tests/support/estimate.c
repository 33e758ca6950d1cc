/* estimate.c - see estimate.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/support/estimate.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <math.h>

struct estimate estimate_controlled(const double *y, size_t n, const double *x, size_t k)
{
    gsl_matrix *a = gsl_matrix_alloc(n, k + 1), *cov = gsl_matrix_alloc(k + 1, k + 1);
    gsl_vector *c = gsl_vector_alloc(k + 1);
    gsl_vector_const_view v = gsl_vector_const_view_array(y, n);
    gsl_multifit_linear_workspace *w = gsl_multifit_linear_alloc(n, k + 1);
    double squares;
    for (size_t i = 0; i < n; i++) {
        gsl_matrix_set(a, i, 0, 1);
        for (size_t j = 0; j < k; j++) gsl_matrix_set(a, i, j + 1, x[i * k + j]);
    }
    gsl_multifit_linear(a, &v.vector, c, cov, &squares, w);
    double t = gsl_cdf_tdist_Pinv(0.975, (double)(n - k - 1));
    struct estimate e = {gsl_vector_get(c, 0), t * sqrt(gsl_matrix_get(cov, 0, 0))};
    gsl_multifit_linear_free(w);
    gsl_vector_free(c);
    gsl_matrix_free(cov);
    gsl_matrix_free(a);
    return e;
}

struct estimate estimate_mean(const double *y, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) sum += y[i];
    for (size_t i = 0; i < n; i++) squares += (y[i] - sum / (double)n) * (y[i] - sum / (double)n);
    double error = sqrt(squares / (double)(n - 1) / (double)n);
    return (struct estimate){sum / (double)n, gsl_cdf_tdist_Pinv(0.975, (double)(n - 1)) * error};
}
