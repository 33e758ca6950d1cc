/* doc_section.h - parts of a page in docs/ that a test makes: figures are measured, not typed.
 *
 *     doc_section("docs/models.md", "step errors", str_text(&table));
 *
 * The part stands between a line "<!-- table: NAME -->" and the next "<!-- end -->". With TRAINYARD_WRITE_DOCS=1 it is
 * replaced; else a test fails when it differs. Runs in the root of the checkout; prints the part, too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_DOC_SECTION_H
#define TRAINYARD_TESTS_SUPPORT_DOC_SECTION_H

void doc_section(const char *page, const char *name, const char *text);

#endif
