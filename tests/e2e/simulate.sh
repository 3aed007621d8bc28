#!/usr/bin/env bash
# onager simulate: the same file and seed give the same bytes, the laws hold under every impairment, and
# a capture tells what befell each packet.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

cat >lab.json <<'END'
{
  "duration": "2s", "drain": "20s", "seed": 7,
  "ports": [{"name": "c", "device": "loop:0", "cores": [0], "address": "10.0.0.1/24"},
            {"name": "s", "device": "loop:0", "cores": [0], "address": "10.0.0.2/24"}],
  "traffic": [{"name": "web", "port": "c", "kind": "http-client", "clients": "16.0.0.1-16.0.0.9",
               "servers": "48.0.0.1", "load": {"cps": 101}, "timeout": "30s", "tcp": {"retries": 15}},
              {"name": "server", "port": "s", "kind": "http-server", "servers": "48.0.0.1",
               "response": {"body": {"size": 100}}, "timeout": "30s", "tcp": {"retries": 15}}]
}
END

simulate() { # NAME STATUS ARGUMENT...: the report is NAME.report
	onager_exits "$2" simulate lab.json --quiet --report "$1.report" "${@:3}"
	laws "$1"
}
rows() { tshark -r "$1" -Y "$2" -T fields -e frame.number 2>tshark.err | wc -l; }

case_is "a clean network: exact counts, six packets a connection, exact latencies"
simulate clean 0 --set network.delay=5ms --pcap clean.pcapng
expect clean '.traffic.web.succeeded == 202' '.traffic.server.succeeded == 202' '.total.pktTx == 6 * 202' \
	'.total.pktRx == .total.pktTx' '.total.synRt + .total.pushRt + .total.finRt == 0' \
	'.traffic.web.latency_us.connect | .min == 10000 and .max >= 10000 and .max < 10000.1' \
	'.phases.steady_s == 2' '.started == "1970-01-01T00:00:00Z"'
[ "$(rows clean.pcapng tcp)" = 1212 ] || fail "$(rows clean.pcapng tcp) packets"
[ "$(rows clean.pcapng 'tcp.analysis.flags || _ws.malformed || frame.comment')" = 0 ] || fail "remarks"

case_is "no clock: a minute takes seconds, and neither root nor a device is needed"
simulate minute 0 --duration 60s --set network.delay=50ms
expect minute '.traffic.web.succeeded == 6060'
setpriv --reuid 65534 --regid 65534 --clear-groups "$onager" simulate - --quiet <lab.json >cmd.out 2>cmd.err ||
	fail "as nobody: exit $?"

case_is "the same seed gives the same report and capture, another one another"
hard=(--set network.loss=0.02 --set network.reorder=0.05 --set network.duplicate=0.02
	--set network.corrupt=0.02 --set network.jitter=3ms --set network.delay=10ms
	--set traffic.1.response.body.size=20000)
simulate one 0 "${hard[@]}" --pcap one.pcapng
simulate two 0 "${hard[@]}" --pcap two.pcapng
cmp one.report two.report || fail "reports differ"
cmp one.pcapng two.pcapng || fail "captures differ"
simulate three 0 "${hard[@]}" --set seed=8 --pcap three.pcapng
! cmp -s one.pcapng three.pcapng || fail "another seed, the same packets"
expect one '.traffic.web.succeeded == 202' '.total.pushRt > 0' '.total.drops["tcp.bad_csum"] > 0'

case_is "the capture tells what befell each packet"
for fate in lost corrupted "held back" doubled; do
	[ "$(rows one.pcapng "frame.comment contains \"$fate\"")" -gt 0 ] || fail "no packet was $fate"
done
expect one ".total.pktTx == $(rows one.pcapng tcp)"
lost=$(rows one.pcapng 'frame.comment contains "lost"')
doubled=$(rows one.pcapng 'frame.comment contains "doubled"')
expect one ".total.pktRx == .total.pktTx - $lost + $doubled"

case_is "one direction, a rate and a queue"
simulate slow 0 --set network.to_client.rate=2Mbps --set network.to_client.queue=10 \
	--set traffic.1.response.body.size=30000 --set traffic.0.load.cps=5
expect slow '.total.pktTx > .total.pktRx' '.traffic.web.succeeded == 10'

case_is "chosen packets: the second SYN, a blackout, everything too long"
simulate syn 0 --set network.to_server='{"lose": {"what": "syn", "first": 2}}'
expect syn '.total.synRt == 1' '.traffic.web.latency_us.connect.max > 1000000' '.traffic.web.succeeded == 202'
simulate dark 0 --set 'network.blackouts=[{"from": "1s", "for": "500ms"}]'
expect dark '.total.synRt >= 50' '.traffic.web.succeeded == 202'
simulate hole 1 --set network.mtu=1000 --set traffic.1.response.body.size=5000 --set traffic.0.timeout=5s
expect hole '.verdict == "fail"' '.traffic.web.succeeded == 0' '.traffic.web.failed.timeout > 0'

case_is "payload that only the application can notice"
simulate flip 1 --set network.to_client.corrupt=0.5 --set network.to_client.corrupt_payload=true
expect flip '.total.badRx == 0' '.traffic.web.failed.protocol + .traffic.web.failed.status > 0' \
	'.traffic.web.succeeded > 0'

case_is "no far end, and a far end that serves another port"
onager_exits 2 simulate lab.json --set ports.0.device=if:x --set 'ports.1={"name": "s", "device": "if:y",
	"cores": [0], "address": "10.0.0.2/24"}' --set 'ports.2={"name": "t", "device": "if:z", "cores": [0],
	"address": "10.0.0.3/24"}'
says cmd.err 'port t has no far end'
simulate refused 1 --set traffic.1.server_ports=81
expect refused '.traffic.web.failed.refused == 202'

case_is "UDP: what a stream lost is what the wire lost"
cat >udp.json <<'END'
{
  "duration": "1s", "seed": 3,
  "ports": [{"name": "c", "device": "loop:0", "cores": [0], "address": "10.0.0.1/24"},
            {"name": "s", "device": "loop:0", "cores": [0], "address": "10.0.0.2/24"}],
  "traffic": [{"name": "blast", "port": "c", "kind": "udp-blast", "clients": "16.0.0.1", "servers": "48.0.0.1",
               "load": {"pps": 10000}},
              {"name": "sink", "port": "s", "kind": "udp-sink", "servers": "48.0.0.1"}],
  "network": {"loss": 0.01, "duplicate": 0.01, "delay": "1ms"}
}
END
onager_exits 1 simulate udp.json --quiet --report udp.report --pcap udp.pcapng
lost=$(rows udp.pcapng 'frame.comment contains "lost"')
expect udp '.streams.blast.sent == 10000' ".streams.blast.lost == $lost" \
	'.streams.blast | .unique + .lost == .sent' '.streams.blast.duplicate > 0'

case_is "a capture or report that cannot be written is said"
onager_exits 4 simulate lab.json --quiet --pcap /dev/full
[ -s cmd.err ] || fail "nothing said"
onager_exits 4 simulate lab.json --quiet --report /dev/full
[ -s cmd.err ] || fail "nothing said"

case_is "the example in conf/"
onager_exits 0 simulate "$source_dir/conf/simulate-loss.json" --quiet --duration 5s --report example.report
laws example

case_is "packets that the network loses, doubles and delays are accounted for; the run ends when all are sent"
onager_exits 1 simulate "$source_dir/conf/udp-loop.json" --report udp.report --set traffic.0.packets=100k \
	--set traffic.0.load.pps=1m --set 'network={"to_server": {"loss": 0.01, "duplicate": 0.02, "reorder": 0.01}}'
expect udp '.phases.steady_s == 0.1' '.traffic.blast.offered == 100000' \
	'.streams.blast | .sent == 100000 and .sent == .unique + .lost' \
	'.streams.blast | .lost > 800 and .lost < 1200 and .duplicate > 1500 and .late > 800' \
	'.streams.blast | .unique + .duplicate == '"$(jq .traffic.sink.received udp.report)"

case_is "requests over UDP: each is answered or lost"
onager_exits 1 simulate "$source_dir/conf/loop-udp-rps.json" --report rps.report --duration 1s \
	--set traffic.0.load='{"rps": 50000}' --set traffic.0.timeout=10ms --set 'network={"loss": 0.01, "delay": "100us"}'
expect rps '.traffic.ask.requests | .offered == 50000 and .offered == .succeeded + .failed.timeout' \
	'.traffic.ask.requests.failed.timeout == .total.udpLost and .total.udpLost > 800 and .total.udpLost < 1200' \
	'.traffic.echo.requests.succeeded >= .traffic.ask.requests.succeeded' '.verdict == "fail"'
