#!/usr/bin/env bash
# The command line: help, usage errors, and loads that check refuses before anything is touched.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

case_is "help and version go to standard output"
onager_exits 0 --version
says cmd.out '^onager [0-9]+\.[0-9]+\.[0-9]+'
for command in "" run simulate replay check report convert devices schema help; do
	# shellcheck disable=SC2086
	onager_exits 0 help $command
	says cmd.out "onager ${command:-run}"
	[ ! -s cmd.err ] || fail "help on stderr"
done
onager_exits 0 --help
onager_exits 0 run --help
onager_exits 0 help --help
says cmd.out 'onager help \[COMMAND\]'
onager_exits 2 replay x.pcap
says cmd.err 'no --port DEVICE given'

case_is "wrong usage: exit 2, a hint on standard error, nothing on standard output"
echo '{}' >empty.json
for arguments in "" "rnu x.json" "run" "run empty.json --nosuch" "run empty.json --format xml" \
	"run empty.json --duration abc" "run nosuch.json" "check" "help nosuch" "run empty.json more.json" \
	"replay x.pcap" "run empty.json --set" "run empty.json --set x"; do
	# shellcheck disable=SC2086
	onager_exits 2 $arguments
	[ -s cmd.err ] || fail "onager $arguments: nothing said"
	[ ! -s cmd.out ] || fail "onager $arguments: on standard output: $(cat cmd.out)"
done

case_is "a file without an end is refused"
onager_exits 2 check /dev/zero
says cmd.err '^/dev/zero: File too large$'

case_is "errors have file, line, column and path, all in one run"
cat >lab.json <<'END'
{
  "duration": "10s",
  "ports": [
    {"name": "c", "device": "loop:0", "address": ["10.0.0.1/24"],
      "cores": [4095]},
    {"name": "s", "device": "loop:0", "cores": [0], "adress": ["10.0.0.2/24"]}],
  "traffic": []
}
END
onager_exits 2 check lab.json
says cmd.err '^lab\.json:5:17: ports\[0\]\.cores: expected core numbers 0-[0-9]+ of this machine, got 4095$'
says cmd.err '^lab\.json:6:[0-9]+: ports\[1\]\.adress: unknown key \(did you mean "address"\?\)$'
cp cmd.err check.err
onager_exits 2 run lab.json
cmp cmd.err check.err || fail "run and check say different things"

case_is "70 000 connections from one address and one port, or one address, are refused with numbers"
http_client client.json net_null0 10.9.0.1/24 10.9.0.10 10.9.0.2
onager_exits 2 check client.json --set 'traffic.0.load={"concurrency": 70000}' \
	--set traffic.0.client_ports=5000
says cmd.err '70 ?,?000'
says cmd.err '(^|[^0-9])1([^0-9]|$)'
onager_exits 2 check client.json --set 'traffic.0.load={"concurrency": 70000}'
says cmd.err '70 ?,?000'
says cmd.err '64 ?,?512'
onager_exits 0 check client.json --set 'traffic.0.load={"concurrency": 70000}' \
	--set traffic.0.server_ports=80-81
onager_exits 2 run client.json --set 'traffic.0.load={"concurrency": 70000}'
says cmd.err '64 ?,?512'

case_is "pools of any size are counted, not expanded"
onager_exits 0 check client.json --json --set traffic.0.clients=10.0.0.0/8 \
	--set ports.0.address=10.0.0.1/8 --set 'traffic.0.load={"concurrency": "1m"}'
grep -Eq '1082331758592|1\.08[0-9]*e\+?12' cmd.out || fail "10.0.0.0/8 x 64512 tuples are not there"

case_is "a configuration of dperf is translated; what is wrong with one is said by line"
dperf=$source_dir/tests/golden/convert
onager_exits 0 convert dperf "$dperf/first-client.conf"
says cmd.err 'first-client\.conf:3: launch_num: '
mv cmd.out converted.json
onager_exits 0 check converted.json
"$onager" convert dperf - <"$dperf/first-server.conf" >stdin.json 2>cmd.err || fail "$(cat cmd.err)"
onager_exits 0 check stdin.json
onager_exits 2 convert dperf "$dperf/bad-twice.conf"
says cmd.err 'bad-twice\.conf:7: cps: '
onager_exits 2 convert dperf
onager_exits 2 convert trex "$dperf/first-client.conf"

case_is "the manual page has no fault and names every command"
groff -man -Tutf8 -ww -z "$source_dir/docs/onager.1" 2>groff.err || fail "$(cat groff.err)"
[ ! -s groff.err ] || fail "$(cat groff.err)"
for command in run simulate check report convert devices schema help; do
	says "$source_dir/docs/onager.1" "^\.B[RI]? onager $command|onager $command"
done

case_is "the reference of keys is the binary's"
"$source_dir/tools/manual" "$onager" >manual.md || fail "tools/manual: exit $?"
cmp manual.md "$source_dir/docs/CONFIGURATION.md" || fail "run: tools/manual >docs/CONFIGURATION.md"
