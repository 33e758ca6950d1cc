/* style.h - how the page looks and how its tables are sorted and searched: all that there is, since it may load nothing.
 *
 * Neither text holds '<' or '&', so that the page stays well-formed XML. Without the script the page reads the same.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_REPORT_STYLE_H
#define TRAINYARD_VIZ_REPORT_STYLE_H

extern const char html_style[], html_script[];

#endif
