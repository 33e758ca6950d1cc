/* style.h - how the page looks and how its tables are sorted and searched: all that there is, since it may load nothing.
 *
 * The script: a head sorts by its column (ascending, descending, as it was; what has no number stays last), the search keeps the rows that hold a
 * text, tables of more than 25 rows are paged, and each can be saved as CSV. tests/viz/report/browser.sh tries it in a browser.
 *
 * Neither text holds '<' or '&', so that the page stays well-formed XML. Without the script the page reads the same.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_REPORT_STYLE_H
#define TRAINYARD_VIZ_REPORT_STYLE_H

extern const char html_style[], html_script[];

#endif
