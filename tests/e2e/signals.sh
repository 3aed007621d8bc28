#!/usr/bin/env bash
# SIGTERM and SIGINT at any moment: drain, report, and exit within two seconds.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

cat >loop.json <<'END'
{
  "duration": "30s", "ramp": "1s", "drain": "20s",
  "ports": [
    {"name": "c", "device": "loop:0", "cores": [1], "address": ["10.0.0.1/24"], "gateway": "10.0.0.2"},
    {"name": "s", "device": "loop:0", "cores": [0], "address": ["10.0.0.2/24"], "gateway": "10.0.0.1"}],
  "traffic": [
    {"name": "web", "port": "c", "kind": "http-client", "clients": "16.0.0.1-16.0.0.9",
      "servers": "48.0.0.1", "load": {"cps": 500}, "requests_per_connection": 5, "think_time": "0.2s"},
    {"name": "site", "port": "s", "kind": "http-server", "servers": "48.0.0.1"}]
}
END
now_ms() { echo $(($(date +%s%N) / 1000000)); }

# Exit 3 before anything was measured, then 0: what was measured is judged. Both signals go the same way:
# they take turns.
for signal in TERM INT; do
	delays='0 0.1 0.7 2'
	[ $signal = TERM ] || delays='0.02 0.3 1.2 3.3'
	for delay in $delays; do
		case_is "SIG$signal after $delay s"
		rm -f run.report
		# A shell's background job ignores SIGINT; this wrapper restores it.
		start run - env --default-signal=INT "$onager" run loop.json --report run.report
		sleep "$delay"
		begin=$(now_ms)
		kill "-$signal" "${pid[run]}"
		wait_for 5 gone run
		took=$(($(now_ms) - begin))
		status=0
		wait "${pid[run]}" || status=$?
		unset "pid[run]"
		[ $took -le $((2000 * slow)) ] || fail "it took $took ms to end"
		case $delay:$status in
		0:1[34]? | 0.02:1[34]? | 0.1:1[34]?) continue ;; # it did not listen for signals yet
		esac
		[ $status = 0 ] || [ $status = 3 ] || fail "exit $status"
		case $delay in
		2 | 3.3) [ $status = 0 ] || late run || [ $slow != 1 ] || fail "exit $status after it had measured" ;;
		esac
		if [ -e run.report ]; then
			laws run
			expect run '.interrupted' '.verdict != "fail"' \
				'.reasons | join(" ") | test("interrupted")'
		else
			[ "$delay" = 0 ] || [ "$delay" = 0.02 ] || [ "$delay" = 0.1 ] ||
				fail "no report"
		fi
	done
done

# The server answers nobody, so the first signal leaves connections to wait for.
case_is "a second signal ends it at once"
start run - env --default-signal=INT "$onager" run loop.json --set traffic.1.clients=99.0.0.1
sleep 2
kill -INT "${pid[run]}"
sleep 0.2
kill -INT "${pid[run]}"
begin=$(now_ms)
wait_for 2 gone run
[ $(($(now_ms) - begin)) -le $((500 * slow)) ] || fail "not at once"
status=0
wait "${pid[run]}" || status=$?
unset "pid[run]"
[ $status != 0 ] || fail "exit 0"

# Neither the far end of the cable nor that of the memif is there.
case_is "while a link is waited for"
netns c s
cable c c0 - s s0 -
in_ns s ip link set s0 down
http_client link.json if:c0 10.9.0.1/24 10.9.0.10 10.9.0.2
for device in if:c0 "net_memif0,role=client,socket=$work/none,socket-abstract=no"; do
	rm -f run.report
	start run c env --default-signal=INT "$onager" run link.json --report run.report --set "ports.0.device=\"$device\""
	sleep 1
	begin=$(now_ms)
	kill -INT "${pid[run]}"
	wait_for 5 gone run
	[ $(($(now_ms) - begin)) -le $((1000 * slow)) ] || fail "it took too long"
	finish run 3
	expect run '.interrupted' '.reasons | join(" ") | test("interrupted")'
done

case_is "a lost terminal ends it in order"
rm -f run.report
start run - "$onager" run loop.json --report run.report
sleep 3.3
kill -HUP "${pid[run]}"
wait_for 5 gone run
status=0
wait "${pid[run]}" || status=$?
unset "pid[run]"
[ $status = 0 ] || [ $status = 3 ] || fail "exit $status"
laws run
expect run '.interrupted'

case_is "nohup"
start run - env --ignore-signal=HUP "$onager" run loop.json --set ramp=0s --duration 4s --report run.report
sleep 2
kill -HUP "${pid[run]}"
wait_for 20 gone run
wait "${pid[run]}" || [ $? = 3 ] || fail "exit $?"
unset "pid[run]"
laws run
expect run '.interrupted | not' '.phases.steady_s > 3.9'

case_is "a server that waits for clients ends in order"
jq '.ports |= [.[1]] | .traffic |= [.[1]] | .ports[0].device = "net_null0" |
	.ports[0].gateway_mac = "02:00:00:00:00:01"' loop.json >server.json
start run - "$onager" run server.json --report run.report
sleep 1.5
stop run
laws run
expect run '.verdict == "pass"'
