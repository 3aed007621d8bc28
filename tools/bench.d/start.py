#!/usr/bin/env python3
"""Of tools/bench: seconds from starting a command to the begin of its load. Each line that it prints
is JSON with the time "t" since then."""
import json
import subprocess
import sys
import time

begin = time.monotonic()
with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
    line = process.stdout.readline()
    seconds = time.monotonic() - begin
    process.stdout.read()
    if not line:
        sys.exit(process.stderr.read())
print(round(seconds - json.loads(line)["t"], 3))
