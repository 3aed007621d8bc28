#!/usr/bin/env bash
# The wire of clean runs, read by tshark in a bridge between client and server: no packet malformed,
# no checksum wrong, nothing repeated, and six packets a connection.
. "$(dirname "$0")/lib.sh"

netns c w s
cable c c0 - w wc -
cable s s0 - w ws -
in_ns w ip link add br0 type bridge mcast_snooping 0
in_ns w ip link set wc master br0
in_ns w ip link set ws master br0
in_ns w ip link set br0 up
http_server server.json if:s0 10.9.0.2/24 10.9.0.2-10.9.0.3
http_client client.json if:c0 10.9.0.1/24 10.9.0.10-10.9.0.19 10.9.0.2-10.9.0.3

read_wire() { # TSHARK ARGUMENT...
	tshark -n -r wire.pcap -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE "$@" 2>tshark.err
}
# record NAME=VALUE...: a run with these --set for the client; wire.pcap is what crossed the bridge.
record() {
	local set=()

	rm -f wire.pcap
	start tcpdump w tcpdump -n -i wc --immediate-mode -U -B 32768 -w wire.pcap
	wait_for 5 test -s wire.pcap
	onager_run server s server.json "${server_set[@]}"
	await server
	for name in "$@"; do set+=(--set "$name"); done
	onager_run client c client.json --set traffic.0.load.cps=100 --duration 2s "${set[@]}"
	finish_or_late client 0 30
	stop server
	stop tcpdump
	grep -q '^0 packets dropped by kernel' tcpdump.err || fail "tcpdump lost packets"
	laws client server
	connections=$(jq .traffic.web.succeeded client.report)
}
# A remark of tshark's: malformed, checksum, any TCP analysis flag, any expert warning.
is_clean() {
	read_wire -Y '_ws.malformed || ip.checksum.status == "Bad" || tcp.checksum.status == "Bad" ||
		icmp.checksum.status == "Bad" || tcp.analysis.flags || _ws.expert.severity >= "Warning"' \
		>remarks.out
	[ ! -s remarks.out ] || fail "remarks of tshark: $(head -n 5 remarks.out)"
}
count() { # FILTER NUMBER
	local got

	got=$(read_wire -Y "$1" | wc -l)
	[ "$got" = "$2" ] || fail "$got packets are '$1', expected $2"
}
server_set=()

case_is "short connections: six packets each, in the known order"
record
complete client 200
is_clean
count 'tcp.checksum.status == "Good"' $((connections * 6))
count 'tcp.flags.syn == 1 && tcp.flags.ack == 0' "$connections"
count 'tcp.flags.reset == 1' 0
read_wire -Y tcp -T fields -e tcp.stream -e tcp.flags.str |
	awk '{ gsub(/[^A-Z]/, "", $2); shape[$1] = shape[$1] " " $2 } END { for (s in shape) print shape[s] }' |
	sort | uniq -c >shapes.out
[ "$(wc -l <shapes.out)" = 1 ] || fail "connections differ: $(cat shapes.out)"
says shapes.out "^ *$connections +S AS AP AP?F AF A\$"
for name in client server; do
	expect $name ".total.tcpTx == $connections * 3" ".total.tcpRx == $connections * 3"
done

# In virtual time, where no other process can come in between.
case_is "evenly spaced: each connection at its time"
onager_exits 0 simulate "$source_dir/conf/loop-http-cps.json" --duration 2s --pcap spaced.pcap \
	--set traffic.0.load.cps=100
tshark -n -r spaced.pcap -Y 'tcp.flags.syn == 1 && tcp.flags.ack == 0' -T fields -e frame.time_relative 2>tshark.err |
	awk 'NR > 1 { good += ($1 - last > 0.00999 && $1 - last < 0.01001) } { last = $1 }
		END { print good + 0; exit NR != 200 || good != 199 }' >gaps.out ||
	fail "only $(cat gaps.out) of 199"

case_is "a separate ACK of the handshake and a separate FIN, by key"
server_set=(--set traffic.0.tcp.separate_fin=true)
record traffic.0.tcp.handshake_ack=true
complete client 200
is_clean
count 'tcp.len > 0 && tcp.flags.fin == 1' 0
count 'tcp.len == 0 && tcp.flags == 0x10 && tcp.seq == 1 && tcp.ack == 1' "$connections"
# Eight packets, or nine where both ends close at once.
packets=$(read_wire -Y tcp | wc -l)
[ "$packets" -ge $((connections * 8)) ] && [ "$packets" -le $((connections * 9)) ] ||
	fail "$packets packets for $connections connections"
server_set=()

case_is "keep-alive: two packets a request, clean to the end"
record traffic.0.requests_per_connection=10 traffic.0.load.cps=20
is_clean
requests=$(jq .traffic.web.requests.succeeded client.report)
[ "$requests" -gt 370 ] || fail "only $requests requests"
count http.request "$requests"
count http.response "$requests"
count 'tcp.flags.reset == 1' 0

case_is "pages of 21 kB and POSTs of 5 kB"
server_set=(--set traffic.0.response.body.size=21000)
record traffic.0.load.cps=20
complete client 40
is_clean
server_set=()
record 'traffic.0.request={"method": "POST", "body": {"size": 5000}}' traffic.0.load.cps=20
complete client 40
is_clean

case_is "raw payloads of tcp-client and tcp-server, both told the sizes"
sizes=('traffic.0.request={"size": 40}' 'traffic.0.response={"size": 300}')
server_set=(--set traffic.0.kind=tcp-server --set "${sizes[0]}" --set "${sizes[1]}"
	--set traffic.0.requests_per_connection=1)
record traffic.0.kind=tcp-client "${sizes[@]}" traffic.0.load.cps=50
complete client 100
is_clean
count tcp $((connections * 6))
