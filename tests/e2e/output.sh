#!/usr/bin/env bash
# Where output goes: standard output and files, whole or with an error; formats that programs read.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

cat >loop.json <<'END'
{
  "duration": "1s", "drain": "1s", "report": {"interval": "0.2s"},
  "ports": [
    {"name": "c", "device": "loop:0", "cores": [1], "address": ["10.0.0.1/24"], "gateway": "10.0.0.2"},
    {"name": "s", "device": "loop:0", "cores": [0], "address": ["10.0.0.2/24"], "gateway": "10.0.0.1"}],
  "traffic": [
    {"name": "web", "port": "c", "kind": "http-client", "clients": "16.0.0.1-16.0.0.9",
      "servers": "48.0.0.1", "load": {"cps": 200}, "catch_up": "2s"},
    {"name": "site", "port": "s", "kind": "http-server", "servers": "48.0.0.1"}]
}
END

# With exit status 0 or, where the machine is busy, 3.
run_loop() { # ARGUMENT...
	local status=0

	timeout 60 "$onager" run loop.json --report cmd.report "$@" >cmd.out 2>cmd.err </dev/null ||
		status=$?
	[ $status = 0 ] || [ $status = 3 ] || fail "exit $status"
}

case_is "text: every counter's name, and the verdict; nothing on stderr"
run_loop
for name in pktRx bitsTx dropTx tcpRx arpTx synRx rstTx pushRt skOpen skCon httpGet http2XX imissed; do
	says cmd.out "$name"
done
says cmd.out '^verdict: (pass|invalid)'
silent cmd.err
laws cmd

case_is "a report on standard output is nothing but the report"
timeout 60 "$onager" run loop.json --quiet --report - >cmd.out 2>cmd.err </dev/null || [ $? = 3 ] ||
	fail "exit $?"
jq -e '.verdict and .traffic.web.succeeded > 0' cmd.out >jq.out ||
	fail "standard output is not a report: $(head -c 300 cmd.out)"

case_is "JSON lines: each interval is an object, and they add up to the total; then the verdict"
run_loop --format json
jq -se 'length >= 6 and all(.[:-1][]; has("pktRx")) and (last | has("verdict"))' cmd.out >jq.out || fail "not JSON lines"
laws cmd
expect cmd '.total.skOpen > 300' '. as $r | [.total | to_entries[] | select((.value | type) == "number") | .key] -
	["seconds", "skCon", "accepted"] | all(.[]; . as $k | ([$r.intervals[] | .[$k]] | add) == $r.total[$k])'

case_is "CSV: a header, then as many fields in every line"
run_loop --format csv
python3 - <<'END' || fail "not CSV"
import csv
rows = list(csv.reader(open("cmd.out")))
assert len(rows) >= 6 and "pktRx" in rows[0], rows[:1]
assert all(len(row) == len(rows[0]) for row in rows), [len(row) for row in rows]
[float(x) for x in rows[1] if x.replace(".", "").isdigit()]
END

says cmd.err '^verdict: '
onager_exits 1 run loop.json --format csv --duration 0.3s \
	--set 'expect=[{"metric": "total.pktRx", "max": 0}]'
says cmd.err '^verdict: fail'
says cmd.err '^  total.pktRx [0-9]+ is above max 0'

case_is "quiet: the result alone"
run_loop --quiet
[ "$(wc -l <cmd.out)" -lt 60 ] && ! grep -q remaining cmd.out || fail "intervals in spite of --quiet"

case_is "standard input is a configuration"
"$onager" run - --quiet --report in.report <loop.json >cmd.out || [ $? = 3 ] || fail "exit $?"
laws in
"$onager" check - <loop.json >cmd.out || fail "exit $?"

case_is "a report that cannot be written is an error, and leaves no half"
onager_exits 4 run loop.json --quiet --report /dev/full
says cmd.err 'No space left'
onager_exits 4 run loop.json --quiet --report nosuch/dir/report.json
says cmd.err 'nosuch/dir'
echo old >kept.report
onager_exits 4 run loop.json --set ports.0.device=if:nosuch --set ports.1.device=if:nosuch2 \
	--report kept.report
[ "$(cat kept.report)" = old ] || fail "a report that was there is gone"

case_is "a full disk as standard output"
for command in "run loop.json" "check loop.json" schema devices "help run" --version; do
	status=0
	# shellcheck disable=SC2086
	timeout 30 "$onager" $command >/dev/full 2>cmd.err || status=$?
	[ $status = 4 ] || fail "onager $command >/dev/full: exit $status, expected 4"
	says cmd.err 'No space left'
done

case_is "closed standard descriptors: no file takes their place"
status=0
timeout 60 "$onager" run loop.json --duration 0.3s --report cmd.report 2>cmd.err >&- || status=$?
[ $status = 4 ] || fail "exit $status"
says cmd.err '^onager: standard output: Bad file descriptor$'
laws cmd
timeout 60 "$onager" run loop.json --duration 0.3s --report cmd.report >cmd.out 2>&- <&- ||
	[ $? = 3 ] || fail "exit $?"
says cmd.out '^verdict: '
laws cmd

case_is "a reader that goes away"
for command in "run loop.json" "check loop.json" schema devices "help run"; do
	echo 0 >status
	# shellcheck disable=SC2086
	(timeout 30 "$onager" $command 2>cmd.err || echo $? >status) | head -n 1 >first.out || true
	case $(cat status) in
	0 | 4 | 141) ;;
	*) fail "onager $command | head: exit $(cat status): $(head -n 3 cmd.err)" ;;
	esac
done

case_is "a report as a page: well-formed, complete, and escaped"
jq '.traffic[0].name = "<b>&\"web"' loop.json >odd.json
timeout 60 "$onager" run odd.json --quiet --report odd.report >cmd.out 2>cmd.err </dev/null || [ $? = 3 ] ||
	fail "exit $?"
onager_exits 0 report odd.report -o page.html
[ ! -s cmd.out ] && [ ! -s cmd.err ] || fail "something was said"
xmllint --noout page.html || fail "not well-formed"
at() { # XPATH VALUE
	local got

	got=$(xmllint --html --xpath "$1" page.html 2>xmllint.err) || true
	[ "$got" = "$2" ] || fail "$1 is '$got', expected '$2'"
}
at 'string(//p[contains(@class,"verdict")])' "verdict: $(jq -r .verdict odd.report)"
at 'string(//h2[1])' '<b>&"web'
at 'count(//b)' 0
at 'count(//script) + count(//link) + count(//img)' 0
at 'count(//*[contains(@class,"wrong")])' 0
at 'count(//svg) > 3' true
at 'string(//tr[th="skOpen"]/td[1])' "$(jq .total.skOpen odd.report)"
at 'string(//tr[td="wanted "]/td[2])' "$(jq '.traffic[].wanted' odd.report | head -n 1)"
"$onager" report - -o - <odd.report >page.2 || fail "exit $?"
cmp page.html page.2

case_is "what is no report is refused, and nothing is written"
printf '{"onager": "0.1.0",\n "verdict": nonsense}' >bad.report
onager_exits 2 report bad.report -o bad.html
says cmd.err '^bad.report:2:13: expected a value'
printf '{"onager": "0.1.0", "verdict": "pass"}' >bad.report
onager_exits 2 report bad.report -o bad.html
says cmd.err 'bad.report: no whole report'
onager_exits 2 report loop.json -o bad.html
says cmd.err 'loop.json: no report of Onager'
onager_exits 2 report no-such.report -o bad.html
says cmd.err '^no-such.report: No such file'
onager_exits 2 report odd.report
onager_exits 2 report
[ ! -e bad.html ] || fail "bad.html was written"
onager_exits 4 report odd.report -o /nonexistent/page.html
says cmd.err '/nonexistent/page.html: No such file'
