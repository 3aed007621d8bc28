#!/usr/bin/env python3
"""Verifies made-up sensitive data: lines "KIND VALUE" on standard input, by the standards' own rules.

Written from the standards (GB 11643, GB 32100, GB 11714, GA 36, ISO/IEC 7812), not from the generator.
"""
import collections
import datetime
import re
import sys

USCC = "0123456789ABCDEFGHJKLMNPQRTUWXY"
PROVINCES = "京津沪渝冀晋蒙辽吉黑苏浙皖闽赣鲁豫鄂湘粤桂琼川贵云藏陕甘青宁新"


def id_card(text):
    if not re.fullmatch(r"[1-6]\d{16}[\dX]", text):
        return False
    born = datetime.datetime.strptime(text[6:14], "%Y%m%d")
    total = sum(int(d) * pow(2, 17 - i, 11) for i, d in enumerate(text[:17]))
    last = 10 if text[17] == "X" else int(text[17])
    return born.year >= 1900 and born < datetime.datetime.now() and (total + last) % 11 == 1


def phone(text):
    return re.fullmatch(r"1(3\d|4[5-9]|5[0-35-9]|6[2567]|7[0-8]|8\d|9[0-35-9])\d{8}", text)


def plate(text):
    if text[0] not in PROVINCES or not re.fullmatch(r"[A-Z]", text[1]):
        return False
    rest = text[2:]
    if len(rest) == 5:
        return re.fullmatch(r"[0-9A-HJ-NP-Z]{5}", rest) and len(re.findall("[A-Z]", rest)) <= 2
    return re.fullmatch(r"[DF][0-9A-HJ-NP-Z]\d{4}|\d{5}[DF]", rest)


def bank_card(text):
    if not re.fullmatch(r"62\d{14,17}", text):
        return False
    total = 0
    for i, d in enumerate(reversed(text)):
        n = int(d) * (2 if i % 2 else 1)
        total += n - 9 if n > 9 else n
    return total % 10 == 0


def business(text):
    if len(text) != 18 or not text.startswith("91") or any(c not in USCC for c in text):
        return False
    total = sum(USCC.index(c) * pow(3, i, 31) for i, c in enumerate(text[:17]))
    if (total + USCC.index(text[17])) % 31:
        return False
    inner, weights = text[8:17], (3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(c, 36) * w for c, w in zip(inner, weights))
    last = 10 if inner[8] == "X" else int(inner[8])
    return (total + last) % 11 == 0


def email(text):
    return re.fullmatch(r"[a-z0-9._]+@example\.(com|org|net)", text)


RULES = {"id-card": id_card, "phone": phone, "plate": plate, "bank-card": bank_card,
         "business-registration": business, "email": email}
count = collections.Counter()
seen = collections.defaultdict(set)
for line in sys.stdin:
    kind, value = line.split(None, 1)
    value = value.rstrip("\n")
    if not RULES[kind](value):
        sys.exit(f"no {kind}: {value}")
    count[kind] += 1
    seen[kind].add(value)
for kind in RULES:
    if not count[kind]:
        sys.exit(f"no {kind} at all")
    print(kind, count[kind], len(seen[kind]))
