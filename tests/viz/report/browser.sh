#!/bin/bash
# browser.sh - the report in a real browser: sorting, paging, search, CSV and both themes do what they say.
#
#     tests/viz/report/browser.sh TRAINYARD
#
# steps.js is put behind the page's own script, clicks and types as a reader would, and leaves what is then seen in the page; expect.py works the same
# out from jobs.csv. Without a browser (chromium, chromium-headless-shell) it says so and passes; with CI set it fails.
#
# SPDX-License-Identifier: GPL-3.0-or-later
program=${1:-bin/trainyard} here=tests/viz/report
for tool in chromium-headless-shell chromium; do command -v $tool >/dev/null && break; tool=; done
if [ -z "$tool" ]; then
    echo "browser: skipped, neither chromium-headless-shell nor chromium is installed"
    [ -z "$CI" ]
    exit
fi
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
"$program" run scenarios/demo.json -a operator -n 1 -r full -s /run/horizon=2d -q -o "$out/run" >/dev/null || { echo "browser: no run" >&2; exit 1; }
"$program" report "$out/run" -o "$out/page.html" || { echo "browser: no report" >&2; exit 1; }
python3 - "$out/page.html" $here/steps.js > "$out/driven.html" <<'PY' || exit 1
import sys
page, steps = open(sys.argv[1]).read(), open(sys.argv[2]).read()
head, tail = page.rsplit("</body>", 1)
sys.stdout.write(head + "<script>\n" + steps + "</script>\n</body>" + tail)
PY
bad=0
for theme in dark light; do
    [ $theme = dark ] && scheme=0 || scheme=1
    HOME=$out "$tool" --headless --no-sandbox --disable-gpu --user-data-dir="$out/profile" --blink-settings=preferredColorScheme=$scheme \
        --virtual-time-budget=20000 --dump-dom "file://$out/driven.html" > "$out/$theme.html" 2> "$out/$theme.err" ||
        { echo "browser: $tool failed" >&2; tail -5 "$out/$theme.err" >&2; exit 1; }
    python3 $here/expect.py "$out/$theme.html" "$out/run/jobs.csv" $theme || bad=1
done
[ $bad = 0 ] && echo "browser: sorting, paging, search, CSV and themes by $tool"
exit $bad
