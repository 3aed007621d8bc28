#!/usr/bin/env bash
# Blasts and sinks as a stranger sees them: packets in capture files and on veth, read by tshark,
# tcpdump and a few lines of Python, never by our own reader.
. "$(dirname "$0")/lib.sh"

# blast FILE TRAFFIC-KEYS: a blast into a capture file per core.
blast() {
	cat >"$1" <<-END
	{
	  "duration": "1s", "drain": "1s",
	  "ports": [{"name": "p", "device": "net_pcap0,tx_pcap=0.pcap", "cores": [0],
	    "address": "10.9.0.1/24", "gateway": "10.9.0.2", "gateway_mac": "02:00:00:00:00:02"}],
	  "traffic": [{"name": "blast", "kind": "udp-blast", "servers": "10.1.0.1", "server_ports": 9,
	    $2}]
	}
	END
}
pools='"clients": "10.0.0.0-10.0.0.7", "client_ports": "1000-1099"'
two_queues=(--set 'ports.0.device="net_pcap0,tx_pcap=0.pcap,tx_pcap=1.pcap"' --set 'ports.0.cores=[0,1]')

# sent FILE STATUS ARGUMENT...: run it; all.txt has a line a packet: addresses, ports, length,
# and whether both checksums are right.
sent() {
	local file=$1 status=$2 capture

	shift 2
	rm -f ./*.pcap all.txt
	onager_exits "$status" run "$file" --report blast.report "$@"
	for capture in ?.pcap; do
		tshark -n -r "$capture" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE \
			-T fields -e ip.src -e udp.srcport -e frame.len -e ip.checksum.status \
			-e udp.checksum.status >>all.txt 2>tshark.err
	done
	# tshark: 1 is "good".
	[ -z "$(awk '$4 != 1 || $5 != 1' all.txt)" ] || fail "wrong checksums: $(awk '$4 != 1 || $5 != 1' all.txt | head -n 3)"
	expect blast '.traffic.blast | .wanted == .offered + ([.not_offered[]] | add)'
}
# pairs LEAST MOST TIMES-MOST: 800 pairs, each so often, and so many of them most often.
pairs() {
	local got

	got=$(cut -f 1,2 all.txt | sort | uniq -c | awk -v least="$1" -v most="$2" '
		{ n++; if ($1 < least || $1 > most) bad++; if ($1 == most) often++ }
		END { print n + 0, bad + 0, often + 0 }')
	[ "$got" = "800 0 $3" ] || fail "pairs, wrong ones, most often: $got, expected 800 0 $3"
}

case_is "every pair of address and port equally often, on one queue and on two"
blast pairs.json "$pools, \"load\": {\"pps\": \"max\"}"
for queues in one two; do
	set=()
	[ $queues = one ] || set=("${two_queues[@]}")
	sent pairs.json 0 --set traffic.0.packets=800 "${set[@]}"
	pairs 1 1 800
	sent pairs.json 0 --set traffic.0.packets=1600 "${set[@]}"
	pairs 2 2 800
	sent pairs.json 0 --set traffic.0.packets=801 "${set[@]}"
	pairs 1 2 1
done

case_is "the Internet mix, 7 to 4 to 1, on one queue and on two"
blast imix.json "$pools, \"imix\": true, \"packets\": 1200, \"load\": {\"pps\": \"max\"}"
for queues in one two; do
	set=()
	[ $queues = one ] || set=("${two_queues[@]}")
	sent imix.json 0 "${set[@]}"
	[ "$(cut -f 3 all.txt | sort -n | uniq -c | xargs)" = "700 60 400 590 100 1514" ] ||
		fail "$(cut -f 3 all.txt | sort -n | uniq -c | xargs)"
done

case_is "a packet of a capture file as template"
cp 0.pcap template.capture # of the mix, every second one: sizes 60, 60, 590, ...
blast template.json '"template": "pcap:template.capture#3", "packets": 3, "load": {"pps": "max"},
	"modify": [{"offset": 30, "bytes": 4}]'
sed -i 's/"servers": "10.1.0.1", "server_ports": 9,//' template.json
sent template.json 0
[ "$(cut -f 3 all.txt | sort | uniq -c | xargs)" = "3 590" ] || fail "$(cat all.txt)"
onager_exits 2 check template.json --set 'traffic.0.template="pcap:template.capture#100000"'
says cmd.err 'traffic\[0\].template: template.capture: no packet 100000'
onager_exits 2 check template.json --set 'traffic.0.template="pcap:no.pcap"'
says cmd.err 'traffic\[0\].template: no.pcap: No such file'

case_is "modifiers leave checksums right"
blast modify.json "$pools, \"sizes\": [\"70-90\"], \"packets\": 2000, \"load\": {\"pps\": \"max\"},
	\"modify\": [{\"field\": \"ip.id\"}, {\"field\": \"ip.ttl\", \"op\": \"random\"},
	{\"field\": \"ip.tos\", \"op\": \"list\", \"values\": [0, 184]}, {\"offset\": 61, \"bytes\": 3, \"step\": 257}]"
sent modify.json 0 "${two_queues[@]}"
[ "$(wc -l <all.txt)" = 2000 ] || fail "$(wc -l <all.txt) packets"

case_is "every protocol over both families, and their own VLANs: tshark finds each checksum right"
fields="_ws.malformed ip.checksum.status udp.checksum.status tcp.checksum.status icmp.checksum.status
	icmpv6.checksum.status frame.len ip.src ipv6.src ipv6.dst ipv6.flow udp.srcport tcp.flags tcp.len
	tcp.seq_raw icmp.type icmp.ident icmp.seq icmpv6.type icmpv6.echo.identifier
	icmpv6.echo.sequence_number ieee8021ad.id vlan.id vlan.priority"
# wire ARGUMENT...: a blast; all.txt has these fields of each packet, none is malformed or has a
# wrong checksum (0).
wire() {
	rm -f ./*.pcap
	onager_exits 0 run proto.json "$@"
	# shellcheck disable=SC2046,SC2086
	tshark -n -r 0.pcap -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -o tcp.check_checksum:TRUE \
		-T fields -E header=y $(printf -- '-e %s ' $fields) >all.txt 2>tshark.err
	[ -z "$(awk -F '\t' '$1 || $2 == "0" || $3 == "0" || $4 == "0" || $5 == "0" || $6 == "0"' <(tail -n +2 all.txt))" ] ||
		fail "tshark finds faults: $(head -n 3 all.txt)"
	[ "$(wc -l <all.txt)" = 241 ] || fail "$(wc -l <all.txt) lines"
}
# shows FIELD DIFFERENT [VALUE]: all packets have the field, so many different ones, perhaps of one
# value.
shows() {
	local got

	got=$(awk -F '\t' -v field="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == field) n = i; next }
		$n != "" { all++; seen[$n]++; last = $n } END { print all + 0, length(seen), last }' all.txt)
	[[ $got == "240 $2 "${3:-*} ]] || fail "$1: $got, expected 240 $2 ${3:-}"
}
blast proto.json '"packets": 240, "load": {"pps": "max"}, "client_ports": "1000-1005"'
sed -i 's/"servers": "10.1.0.1", "server_ports": 9,//' proto.json
of4='"10.0.0.0-10.0.0.9"' of6='"2001:db8::fffe-2001:db8::1:7"'
for family in 4 6; do
	clients=of$family version=ip
	ends=(--set "traffic.0.clients=${!clients}" --set 'traffic.0.servers="10.1.0.1"')
	[ $family = 4 ] || ends[3]='traffic.0.servers="2001:db8:1::1"' version=ipv6
	wire "${ends[@]}"
	shows udp.srcport 6
	shows $version.src 10
	wire "${ends[@]}" --set traffic.0.protocol=tcp --set 'traffic.0.modify=[{"field": "tcp.seq", "op": "random"}]' \
		--set traffic.0.size=$((family == 4 ? 60 : 74))
	shows tcp.flags 1 0x0002
	shows tcp.len 1 0
	shows tcp.seq_raw 240
	wire "${ends[@]}" --set traffic.0.protocol=icmp --set 'traffic.0.server_ports="1-4"' --set traffic.0.size=200
	if [ $family = 4 ]; then
		shows icmp.type 1 8
		shows icmp.ident 6
		shows icmp.seq 4
	else
		shows icmpv6.type 1 128
		shows icmpv6.echo.identifier 6
		shows icmpv6.echo.sequence_number 4
	fi
	wire "${ends[@]}" --set traffic.0.protocol=ip --set traffic.0.vlan=[7,9] --set traffic.0.vlan_priority=3
	shows $version.src 10
	shows ieee8021ad.id 1 7
	shows vlan.id 1 9
	shows vlan.priority 1 3
	wire "${ends[@]}" --set traffic.0.imix=true --set traffic.0.modify='[{"field": "ip.tos"}, {"field": "ip.ttl"}]'
	shows frame.len 3
done
wire "${ends[@]}" --set 'traffic.0.modify=[{"field": "ip.flow", "step": 5}, {"field": "ip.dst", "count": 7}]'
shows ipv6.flow 240
shows ipv6.dst 7

case_is "slow rates: 1 packet a second for 3.5 s are 4, half a packet a second for 5 s are 3"
blast slow.json "$pools, \"load\": {\"pps\": 1}"
sent slow.json 0 --duration 3.5s
[ "$(wc -l <all.txt)" = 4 ] || fail "$(wc -l <all.txt) packets, expected 4"
sent slow.json 0 --duration 5s --set traffic.0.load.pps=0.5
[ "$(wc -l <all.txt)" = 3 ] || fail "$(wc -l <all.txt) packets, expected 3"

case_is "a million flows, all seen"
cat >count.py <<'END'
import struct, sys
seen, packets = set(), 0
with open(sys.argv[1], "rb") as f:
    f.read(24)
    while head := f.read(16):
        frame = f.read(struct.unpack("<IIII", head)[2])
        seen.add(frame[26:38])
        packets += 1
print(packets, len(seen))
END
blast million.json '"clients": "10.0.0.0-10.0.3.231", "client_ports": "1-1000", "packets": "1m",
	"load": {"pps": "max"}'
rm -f ./*.pcap
onager_exits 0 run million.json --duration 30s
[ "$(python3 count.py 0.pcap)" = "1000000 1000000" ] || fail "$(python3 count.py 0.pcap)"
rm -f ./*.pcap

# Over the cable.
cat >loop.json <<END
{
  "duration": "1s", "drain": "2s",
  "ports": [{"name": "t", "device": "loop:a", "cores": [0], "address": "10.9.0.1/24"},
    {"name": "r", "device": "loop:a", "cores": [1], "address": "10.9.0.2/24"}],
  "traffic": [
    {"name": "blast", "port": "t", "kind": "udp-blast", "clients": "10.9.0.1",
      "servers": "10.9.0.2", "load": {"pps": "max"}},
    {"name": "sink", "port": "r", "kind": "udp-sink"}]
}
END
whole='.streams.blast | .sent == .unique + .lost'

case_is "exactly a million packets over the cable, fifty times: none lost, none too many; then the run ends"
for ((i = 0; i < ${REPEAT:-50}; i++)); do
	onager_exits 0 run loop.json --report loop.report --set traffic.0.packets=1m --duration 50s
	expect loop '.streams.blast | .sent == 1000000 and .unique == 1000000 and .lost == 0' \
		'.streams.blast | .late == 0 and .duplicate == 0 and .corrupt == 0' \
		'.traffic.sink | .received == 1000000 and .foreign == 0' '.phases.steady_s < 40' "$whole"
done

case_is "asked for too much: what was not offered is counted, the time is kept, the run is invalid"
onager_exits 3 run loop.json --report loop.report --set traffic.0.load.pps=1g
expect loop '.traffic.blast | .wanted == 1000000000 and .wanted == .offered + ([.not_offered[]] | add)' \
	'.phases.steady_s == 1' '.verdict == "invalid"' "$whole"

case_is "several workers at both ends"
onager_exits 0 run loop.json --report loop.report --set traffic.0.packets=100001 \
	--set ports.0.cores=[0,1,0] --set ports.1.cores=[1,0] --duration 3s
expect loop '.streams.blast | .sent == 100001 and .unique == 100001 and .late == 0' "$whole"

case_is "HTTP and packets on the same ports and cores"
start mixed - "$onager" run "$source_dir/conf/udp-with-http.json" --duration 2s \
	--set traffic.0.load.pps=1000 --set traffic.2.load.cps=100 --report mixed.report
finish_or_late mixed 0
expect mixed '.traffic.get.succeeded + .traffic.get.not_offered.late == 200' \
	'.traffic.blast.offered + .traffic.blast.not_offered.late == 2000' \
	'.streams.blast.lost == 0' '.total.udpRx == .streams.blast.sent' '.total.skErr == 0' \
	'.total.pktRx == .total.accepted + ([.total.drops[]] | add)'

# Through a forwarder that does to the packets what is said of them.
cat >forward.py <<'END'
import socket, sys
LAST = 1000
def raw(name):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 26)
    s.bind((name, 0))
    return s
a, b = raw(sys.argv[1]), raw(sys.argv[2])
a.settimeout(20)
print("ready", flush=True)
n, held = 0, {}
while n < LAST:
    frame, origin = a.recvfrom(2048)
    if origin[2] == socket.PACKET_OUTGOING or frame[12:14] != b"\x08\0" or frame[23] != 17:
        continue
    out = [frame]
    if n in (5, 6):
        out = []
    elif n in (10, 30):
        held[n], out = frame, []
    elif n == 11:
        out = [frame, held[10]]
    elif n == 20:
        out = [frame, frame]
    elif n == 40:
        out = [frame, held[30]]
    elif n == 50:
        out = [frame[:50] + bytes([frame[50] ^ 4]) + frame[51:]]
    elif n == 60: # foreign: no checksum, another payload
        out = [frame, frame[:40] + b"\0\0" + b"stranger" * 2 + b"!!"]
    for f in out:
        b.send(f)
    n += 1
END
netns x
for i in t r; do
	ip link add "${i}0" netns "onager-$$-x" type veth peer name "${i}1" netns "onager-$$-x"
	for end in "${i}0" "${i}1"; do in_ns x ip link set "$end" up; done
done
mac=$(in_ns x cat /sys/class/net/r0/address)
cat >script.json <<END
{
  "duration": "4s", "drain": "2s",
  "ports": [{"name": "t", "device": "if:t0", "cores": [0], "address": "10.9.0.1/24",
      "gateway": "10.9.0.2", "gateway_mac": "$mac"},
    {"name": "r", "device": "if:r0", "cores": [0], "address": "10.9.0.2/24"}],
  "traffic": [
    {"name": "blast", "port": "t", "kind": "udp-blast", "clients": "10.9.0.1", "packets": 1000,
      "servers": "10.9.0.2", "load": {"pps": 500}, "catch_up": "10s"},
    {"name": "sink", "port": "r", "kind": "udp-sink"}],
  "expect": [{"metric": "streams.blast.unique", "min": 997}]
}
END

case_is "a forwarder that drops 2, swaps 2, doubles 1, delays 1, damages 1 and adds a foreign one"
start forward x python3 "$work/forward.py" t1 r1
wait_for 10 grep -q ready forward.out
start script x "$onager" run script.json --report script.report
finish script 0
finish forward 0
expect script '.streams.blast | .sent == 1000 and .unique == 997 and .lost == 3' \
	'.streams.blast | .late == 2 and .duplicate == 1' \
	'.traffic.sink.corrupt == 1 and .traffic.sink.foreign == 1' "$whole" \
	'.streams.blast.latency_us.count == 997'

case_is "tcpdump sees what we say we sent"
start tcpdump x tcpdump -n -i t1 --immediate-mode -U -B 32768 -w wire.pcap udp
wait_for 5 test -s wire.pcap
start script x "$onager" run script.json --report script.report --duration 1s --set expect=[] \
	--set traffic.0.packets=400
finish script 1 # nobody forwards: all are lost
stop tcpdump
expect script '.streams.blast | .sent == 400 and .lost == 400' "$whole"
[ "$(tshark -n -r wire.pcap -Y udp.port==80 2>tshark.err | wc -l)" = 400 ] || fail "other packets"

case_is "the link goes down in the middle: the run ends on time"
start script x "$onager" run script.json --report script.report --format json --duration 2s \
	--set report.interval=0.1s --set expect=[]
await script
in_ns x ip link set t1 down
finish_any() { ended script 15; [ "$status" = 1 ] || [ "$status" = 3 ] || fail "exit $status"; }
finish_any
expect script '.traffic.blast | .wanted == .offered + ([.not_offered[]] | add)' "$whole"
