"""What browser.sh must see, worked out from jobs.csv alone.

    python3 tests/viz/report/expect.py DUMPED_PAGE JOBS_CSV dark|light

SPDX-License-Identifier: GPL-3.0-or-later
"""
import csv
import io
import json
import re
import sys
from decimal import Decimal

LISTED, PAGE = 200, 25
# theme.c: background and texts of the theme
GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 29)"}
TEXT = {"light": {"rgb(28, 36, 48)", "rgb(83, 93, 108)"}, "dark": {"rgb(228, 232, 238)", "rgb(169, 178, 190)"}}

page, theme = open(sys.argv[1], encoding="utf-8").read(), sys.argv[3]
found = re.search(r'<script type="application/json" id="seen">(.*?)</script>', page, re.S)
if not found:
    sys.exit("browser: the steps did not come to their end")
seen, bad = json.loads(found.group(1)), []


def same(what, is_, want):
    if is_ != want:
        bad.append("%s: %s in place of %s" % (what, str(is_)[:300], str(want)[:300]))


def seconds(row, key):
    return Decimal(row[key]) if row[key] else None


rows = list(csv.DictReader(open(sys.argv[2])))
end = max(seconds(r, k) or 0 for r in rows for k in ("submit_s", "started_s", "finished_s"))
for place, r in enumerate(rows):
    r["place"] = place
    started, finished, submit = seconds(r, "started_s"), seconds(r, "finished_s"), seconds(r, "submit_s")
    r["wait"] = (started if started is not None else finished if finished is not None else end) - submit
    r["end"] = finished - submit if finished is not None else None
rows.sort(key=lambda r: (-r["wait"], r["place"]))
listed = rows[:LISTED]
ids = [r["job"] for r in listed]
assert len(rows) > LISTED


def by(key, down=False):
    known = [r for r in listed if r[key] is not None and r[key] != ""]
    return [r["job"] for r in sorted(known, key=lambda r: Decimal(r[key]) * (-1 if down else 1))] + [r["job"] for r in listed if r not in known]


def natural(text):
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"\d+|\D+", text)]


same("first page", seen["first"]["ids"], ids[:PAGE])
same("its note", seen["first"]["note"], "rows 1 to 25 of 200")
same("its buttons", seen["first"]["enabled"], ["next", "all"])
same("second page", seen["second"]["ids"], ids[PAGE:2 * PAGE])
same("its note", seen["second"]["note"], "rows 26 to 50 of 200")
same("its buttons", seen["second"]["enabled"], ["previous", "next", "all"])
same("all rows", seen["all"]["ids"], ids)
same("by GPUs", seen["ascending"]["ids"], by("gpus"))
same("by GPUs down", seen["descending"]["ids"], by("gpus", True))
same("a third time", seen["as it was"]["ids"], ids)
same("heads that say so", [seen[k]["sort"][4] for k in ("ascending", "descending", "as it was")], ["ascending", "descending", None])
same("by time to the end", seen["end"]["ids"], by("end"))
assert any(r["end"] is None for r in listed)
same("down: those without an end stay last", seen["end down"]["ids"], by("end", True))
same("by id", seen["by id"]["ids"], sorted(ids, key=natural))
same("paged again", seen["by pages"]["ids"], sorted(ids, key=natural)[:PAGE])
speech = [i for i in sorted(ids, key=natural) if any(r["job"] == i and "speech" in (r["team"] + r["queue"] + r["job"]) for r in listed)]
assert speech
same("search", seen["search"]["ids"], speech[:PAGE])
same("its note", seen["search"]["note"], "rows 1 to %d of %d that hold the text, of 200" % (min(PAGE, len(speech)), len(speech)))
same("nothing found", (seen["nothing"]["ids"], seen["nothing"]["note"], seen["nothing"]["found"]), ([], "none of 200 rows holds the text", "0 rows"))
same("cleared", (seen["cleared"]["ids"], seen["cleared"]["found"]), (sorted(ids, key=natural)[:PAGE], ""))
same("small tables are whole", seen["small"], 0)
table = list(csv.reader(io.StringIO(seen["csv"])))
same("CSV", [r[0] for r in table[1:]], sorted(ids, key=natural))
same("its head", table[0][:6], ["job", "state", "team", "queue", "GPUs", "wait"])
waits = {r["job"]: r["wait"] for r in listed}
same("its numbers", [r[0] for r in table[1:] if abs(Decimal(r[5]) - waits[r[0]]) > waits[r[0]] * Decimal("1e-8")], [])
same("its name", seen["file"], "table-jobs-0.csv")
same("ground of the page and its pictures", (seen["back"], seen["ground"]), (GROUND[theme], GROUND[theme]))
same("texts of pictures", set(seen["text"]) <= TEXT[theme], True)
same("colours without a value", seen["unset"], 0)
same("images of the other theme", seen["images"][theme == "light"], 0)
same("images of this theme", seen["images"][theme == "dark"] > 0, True)
same("wider than the window", seen["wide"], False)
for line in bad:
    print("browser: %s: %s" % (theme, line), file=sys.stderr)
sys.exit(bool(bad))
