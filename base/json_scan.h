/* json_scan.h - the scan behind json.h: checks the grammar, blanks comments, notes places.
 *
 * Grammar: RFC 8259, with // and block comments where white space may stand, and a UTF-8 byte order mark at the start.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_BASE_JSON_SCAN_H
#define TRAINYARD_BASE_JSON_SCAN_H

#include <stdbool.h>

#include "base/json.h"

/* Goes over doc->text, which must have a NUL behind its n bytes, and fills doc->places (all but their keys). False
 * after an error, which is reported to doc->diag. */
bool json_scan(struct json_doc *doc);

#endif
