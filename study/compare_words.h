/* compare_words.h - the sentences of a comparison.
 *
 *     compare_sentences(c, &c->pairs[0], &out);       // one a line
 *     compare_plain_words(c, &c->pairs[0], &out);     // a heading and bullets of at most 100 columns
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_COMPARE_WORDS_H
#define TRAINYARD_STUDY_COMPARE_WORDS_H

#include "study/compare.h"

void compare_sentences(const struct compare *, const struct compare_pair *, struct str *out);
void compare_plain_words(const struct compare *, const struct compare_pair *, struct str *out);

#endif
