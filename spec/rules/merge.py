#!/usr/bin/env python3
"""Writes spec/rules/*.txt (`N-03 | rule | reason and source`) into their sections of spec/semantics.md.

May be run again: a section is everything between its marker and the next heading.
"""
import glob
import re
import textwrap



def wrapped(rule):
    return "\n".join(textwrap.fill(line, 100, break_long_words=False, break_on_hyphens=False)
                     for line in rule.split("\n")) + "\n"


path = "spec/semantics.md"
text = open(path).read()
rules = {}
for name in sorted(glob.glob("spec/rules/*.txt")):
    for line in open(name):
        if line.strip() and not line.startswith("#"):
            number, rule, reason = (part.strip() for part in line.split("|", 2))
            rules[number] = wrapped("**%s** %s\nWhy: %s" % (number, rule, reason))
for letter in "HWLNOF":
    mine = [rules[number] for number in sorted(rules) if number[0] == letter]
    marker = "<!-- %s -->\n" % letter
    if mine and marker in text:
        start = text.index(marker) + len(marker)
        end = re.compile(r"^## ", re.M).search(text, start)
        old = text[start:end.start() if end else len(text)]
        kept = [r for r in re.findall(r"^\*\*.*?(?:\n\n|\Z)", old, re.M | re.S) if r[2:6] not in rules]
        body = "\n".join(sorted([r.strip() + "\n" for r in kept] + mine))
        text = text[:start] + "\n" + body + "\n" + text[start + len(old):]
open(path, "w").write(text.rstrip() + "\n")
