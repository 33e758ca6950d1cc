"""Checks an HTML report: well-formed XML, ids once, links and labels lead somewhere, nothing is loaded, pictures have titles.

    python3 tests/viz/report/check_page.py PAGE...

SPDX-License-Identifier: GPL-3.0-or-later
"""
import re
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


def check(path):
    text = open(path, encoding="utf-8").read()
    wrong = []
    root = xml.fromstring(text.replace("<!DOCTYPE html>", "", 1))
    if root.get("lang") is None:
        wrong.append("no language")
    ids = [e.get("id") for e in root.iter() if e.get("id") is not None]
    wrong += ["id %s is there %d times" % (i, ids.count(i)) for i in sorted(set(ids)) if ids.count(i) > 1]
    for element in root.iter():
        for key in ("src", "srcset", "action", "data"):
            if element.get(key) is not None:
                wrong.append("%s loads %s" % (element.tag, element.get(key)))
        for key, value in element.items():
            if key.endswith("href") and not value.startswith(("#", "data:image/png;base64,")):
                wrong.append("%s leads to %s" % (element.tag, value[:80]))
            if key.endswith("href") and value.startswith("#") and value[1:] not in ids:
                wrong.append("%s leads nowhere" % value)
            if key in ("aria-labelledby", "aria-describedby"):
                wrong += ["label %s is not there" % i for i in value.split() if i not in ids]
            wrong += ["%s is not there" % i for i in re.findall(r"url\(#([^)]+)\)", value) if i not in ids]
    inks = set(re.findall(r"var\((--k\d+)\)", text))
    style = "".join(e.text or "" for e in root.iter("style"))
    if "url(" in style or "@import" in style:
        wrong.append("the style loads something")
    themes = [t for t in re.findall(r":root\{([^}]*)\}", style) if "--k" in t]
    if inks and len(themes) != 2:
        wrong.append("the pictures' colours are not there in two themes")
    for theme in themes:
        wrong += ["colour %s is not there" % k for k in sorted(inks - set(re.findall(r"(--k\d+):", theme)))]
    for picture in root.iter(SVG + "svg"):
        wrong += ["a picture does not follow the theme: %s" % e.attrib for e in picture.iter()
                  for key in ("fill", "stroke") if e.get(key, "none").startswith("#")]
        if not [c for c in picture if c.tag == SVG + "title" and c.text]:
            wrong.append("a picture has no title")
    for table in root.iter("table"):
        heads = len(table.findall("./thead/tr/th"))
        if table.find("caption") is None or heads == 0:
            wrong.append("a table has no caption or head")
        wrong += ["%s: a row has %d cells of %d" % (table.get("id"), len(row), heads) for row in table.findall("./tbody/tr") if len(row) != heads]
    pictures = len(list(root.iter(SVG + "svg")))
    tables = len(list(root.iter("table")))
    return wrong, "%d bytes, %d ids, %d pictures, %d tables" % (len(text.encode()), len(ids), pictures, tables)


bad = 0
for page in sys.argv[1:]:
    found, size = check(page)
    for line in found:
        print("%s: %s" % (page, line))
    print("%s: %s" % (page.rsplit("/", 1)[-1], size))
    bad |= bool(found)
sys.exit(bad)
