#!/usr/bin/env python3
"""The JSON Schema against every configuration that the tests have.

    onager schema | tests/golden/schema.py        or: schema.py < conf/schema/onager.json

It must accept each file of conf/ and refuse each file of golden/config/, but for those that need more
than a schema: cross-*.json compare keys with each other or with the machine, or bound a number that is
written as text; syntax-*.json are no JSON at all, and those with a .set file are wrong by a setting.
"""
import json
import pathlib
import re
import sys

import jsonschema

tests = pathlib.Path(__file__).resolve().parent
schema = json.load(sys.stdin)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
string_or_comment = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)


def load(path):
    text = path.read_text(encoding="utf-8-sig")
    return json.loads(string_or_comment.sub(lambda m: m.group(1) or " ", text))


failures = []
good = sorted((tests.parent.parent / "conf").glob("*.json"))
wrong = [p for p in sorted((tests / "config").glob("*.json"))
         if not p.with_suffix(".set").exists() and not p.name.startswith("syntax-")]
for path in good:
    for error in validator.iter_errors(load(path)):
        failures.append(f"{path.name} is refused: {error.json_path}: {error.message}")
for path in wrong:
    accepted = validator.is_valid(load(path))
    if accepted and not path.name.startswith("cross-"):
        failures.append(f"{path.name} is accepted")
    if not accepted and path.name.startswith("cross-"):
        failures.append(f"{path.name} is refused, it need not be called cross-")


def descriptions(node, path):
    """Every property an editor shows has a description."""
    for name, value in node.get("properties", {}).items():
        if name != "kind" and isinstance(value, dict) and "const" not in value and \
                not value.get("description"):
            failures.append(f"{path}.{name} has no description")
        descriptions(value, f"{path}.{name}")
    if "items" in node:
        descriptions(node["items"], path + "[]")
    for branch in node.get("allOf", []):
        descriptions(branch["then"], path)


descriptions(schema, "")
if not good or len(wrong) < 60:
    failures.append(f"only {len(good)} good and {len(wrong)} wrong files found")
for failure in failures:
    print(failure, file=sys.stderr)
print(f"{len(good)} accepted, {len(wrong)} looked at")
sys.exit(1 if failures else 0)
