#!/usr/bin/env bash
# A run whose far end is wrong, dead or absent fails, and says how.
. "$(dirname "$0")/lib.sh"

netns c s
cable c c0 - s s0 -
http_server server.json if:s0 10.9.0.2/24 10.9.0.2
http_client client.json if:c0 10.9.0.1/24 10.9.0.10-10.9.0.19 10.9.0.2
fast=(--set traffic.0.timeout=1s)

case_is "a 404 of the right length is a failure of its kind"
onager_run server s server.json --set traffic.0.response.status=404
await server
onager_run client c client.json --duration 1s
finish client 1 20
laws client
expect client '.verdict == "fail"' '.traffic.web | .failed.status == .offered and .offered > 150' \
	'.traffic.web.succeeded == 0' '.reasons | join(" ") | test("[0-9]+ status")'
stop server

case_is "a server that admits some clients counts the others"
onager_run server s server.json --set traffic.0.clients=10.9.0.10-10.9.0.14
await server
onager_run client c client.json "${fast[@]}" --duration 1s
finish client 1 20
stop server
laws client server
# Clients take turns: half of them are of the five that are served.
expect client '.traffic.web | .succeeded + .failed.refused + .failed.timeout == .offered' \
	'.traffic.web | .succeeded > 90 and .succeeded <= 100' '.traffic.web.offered > 180'
admitted=$(jq .traffic.web.succeeded client.report)
expect server '.total.drops["tcp.client"] >= 90' ".traffic.web.succeeded == $admitted"

case_is "a server killed in mid-run"
onager_run server s server.json
await server
onager_run client c client.json "${fast[@]}" --duration 4s
some() { [ "$(wc -l <client.out)" -ge 10 ]; }
wait_for 10 some
stop server 137 KILL
finish client 1 20
laws client
expect client '.verdict == "fail"' '.traffic.web.succeeded > 0' \
	'.traffic.web.failed.timeout > 0' '.reasons | join(" ") | test("time")'

case_is "a link that goes down for good"
onager_run server s server.json
await server
onager_run client c client.json "${fast[@]}" --duration 3s
wait_for 10 some
in_ns s ip link set s0 down
finish client 1 20
laws client
expect client '.verdict == "fail"' '.traffic.web | .succeeded > 0 and .open == 0' \
	'.reasons[0] | test("^port c: its link was down")'
in_ns s ip link set s0 up
stop server

case_is "an answer that has time, but the run has not"
onager_run server s server.json --set 'traffic.0.response.delay="20s"'
await server
onager_run client c client.json --set 'traffic.0.timeout="60s"' --duration 30s
wait_for 10 some
stop client 3
laws client
expect client '.traffic.web | .failed.cut > 0 and .succeeded + .failed.cut == .offered' \
	'.reasons[0] | test("cut off by the interruption")'
onager_run client c client.json --set 'traffic.0.timeout="60s"' --duration 1s
finish client 3 20
laws client
expect client '.traffic.web | .failed.cut == .offered' '.reasons[0] | test("end of the drain")'
stop server

case_is "no server behind the address: the kernel refuses"
in_ns s ip address add 10.9.0.2/24 dev s0
onager_run client c client.json --duration 1s
finish client 1 20
laws client
expect client '.verdict == "fail"' '.traffic.web | .failed.refused == .offered and .offered > 150' \
	'.reasons | join(" ") | test("refused")'

case_is "no answer at all: time-outs"
in_ns s nft -f - <<'END'
table ip silent { chain input { type filter hook input priority 0; meta l4proto tcp drop; }; }
END
onager_run client c client.json "${fast[@]}" --duration 1s
finish client 1 20
laws client
expect client '.verdict == "fail"' '.traffic.web | .failed.timeout == .offered and .offered > 150' \
	'.traffic.web.succeeded == 0' '.reasons | join(" ") | test("time")'

case_is "an expected figure that is missed, and one that does not exist"
in_ns s nft flush ruleset
in_ns s ip address del 10.9.0.2/24 dev s0
onager_run server s server.json
await server
onager_run client c client.json --duration 1s \
	--set 'expect=[{"metric": "traffic.web.achieved.cps", "min": 5000}]'
finish_or_late client 1 20
expect client '.verdict != "pass"' '.reasons | join(" ") | test("achieved.cps.*5000")'
onager_run client c client.json --duration 1s \
	--set 'expect=[{"metric": "traffic.web.achieved.nonsense", "min": 1}]'
finish_or_late client 1 20
expect client '.reasons | join(" ") | test("nonsense")'
onager_run client c client.json --duration 1s \
	--set 'expect=[{"metric": "traffic.web.achieved.cps", "min": 150, "max": 250}, {"metric": "total.drops.tcp.bad_seq", "max": 0}]'
finish_or_late client 0 20
stop server
