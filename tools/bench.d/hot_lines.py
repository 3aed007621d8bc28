#!/usr/bin/env python3
"""Of tools/bench: what a callgrind file with lines says of one operation.

    hot_lines.py CALLGRIND.OUT OPERATIONS

Prints JSON: instructions of an operation, and the ten lines that take most of them. A cost line after
"calls=" is of what was called, and is not counted again."""
import collections
import json
import os
import re
import sys

names, cost = {}, collections.Counter()
file, line, called = "?", 0, False
for text in open(sys.argv[1], encoding="utf-8", errors="replace"):
    if head := re.match(r"(fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?$", text):
        if head[3]:
            names[head[2]] = head[3].strip()
        if head[1] in ("fl", "fi", "fe"):
            file = names[head[2]]
    elif text.startswith("calls="):
        called = True
    elif place := re.match(r"(\*|[+-]?\d+) (\d+)$", text):
        if place[1] != "*":
            line = line + int(place[1]) if place[1][0] in "+-" else int(place[1])
        if not called:
            cost[file, line] += int(place[2])
        called = False
operations = max(int(sys.argv[2]), 1)


def source(path, number):
    """The line itself, where it is ours."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as lines:
        return next((text.strip() for at, text in enumerate(lines, 1) if at == number), "")


print(json.dumps({
    "unit": "instructions", "operations": operations,
    "median": round(sum(cost.values()) / operations),
    "hottest": [{"line": f"{os.path.relpath(path) if os.path.exists(path) else path}:{number}",
                 "instructions": round(count / operations, 1), "source": source(path, number)}
                for (path, number), count in cost.most_common(10)]}))
