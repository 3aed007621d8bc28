#!/usr/bin/env bash
# Instances do not meet: two at once, one after a kill, one without root.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

cat >loop.json <<'END'
{
  "duration": "2s", "drain": "1s",
  "ports": [
    {"name": "c", "device": "loop:0", "cores": [1], "address": ["10.0.0.1/24"], "gateway": "10.0.0.2"},
    {"name": "s", "device": "loop:0", "cores": [0], "address": ["10.0.0.2/24"], "gateway": "10.0.0.1"}],
  "traffic": [
    {"name": "web", "port": "c", "kind": "http-client", "clients": "16.0.0.1-16.0.0.9",
      "servers": "48.0.0.1", "load": {"cps": 200}, "catch_up": "2s"},
    {"name": "site", "port": "s", "kind": "http-server", "servers": "48.0.0.1"}]
}
END
clean() { # NAME...
	laws "$@"
	for name in "$@"; do complete "$name" 400; done
}

case_is "two at once, of the same file"
onager_run one - loop.json
onager_run two - loop.json
finish_or_late one 0
finish_or_late two 0
clean one two

case_is "the next run works after a kill, and then nothing is left"
remains() { find /dev/hugepages /dev/shm runtime -type f -o -type s 2>/dev/null | sort || true; }
remains >before.list
onager_run killed - loop.json --duration 30s
await killed
stop killed 137 KILL
onager_run next - loop.json
finish_or_late next 0
clean next
remains >after.list
cmp -s before.list after.list || fail "left behind: $(comm -13 before.list after.list)"

case_is "without root"
cp "$onager" ./binary # where nobody may read it
chmod 755 binary
mkdir -m 777 open
start nobody - setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
	env -u RUNTIME_DIRECTORY -u XDG_RUNTIME_DIR HOME=/nonexistent ./binary run loop.json \
	--report open/report.json
wait_for 30 gone nobody
cp open/report.json nobody.report
finish_or_late nobody 0
clean nobody
silent nobody.err

case_is "devices are listed, with root and without"
onager_exits 0 devices
says cmd.out 'lo|eth|if:'
onager_exits 0 devices --json
jq -e . cmd.out >jq.out || fail "devices --json is not JSON"
setpriv --reuid=65534 --regid=65534 --clear-groups ./binary devices >cmd.out 2>cmd.err ||
	fail "exit $? without root"
