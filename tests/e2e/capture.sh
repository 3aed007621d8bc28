#!/usr/bin/env bash
# Capture files: what tcpdump sees on the same cable they hold, samples of refused packets bear their
# reason, and whatever a disk or a pipe does, every packet is written or counted.
. "$(dirname "$0")/lib.sh"

# A bridge between the two, where tcpdump listens: packet sockets do not see what others send past
# the queueing discipline.
netns c w s
cable c c0 - w wc -
cable s s0 - w ws -
in_ns w ip link add br0 type bridge mcast_snooping 0
in_ns w ip link set wc master br0
in_ns w ip link set ws master br0
in_ns w ip link set br0 up
http_server server.json if:s0 10.9.0.2/24 10.9.0.2
http_client client.json if:c0 10.9.0.1/24 10.9.0.10-10.9.0.19 10.9.0.2

# Every packet that a file was for is in it, or counted for a reason.
capture_laws() { # NAME...
	local name

	for name in "$@"; do
		expect "$name" '[.capture | (.drops, .packets[]?) | select(.) |
			.shown == .filtered + .beyond + .dropped + .lost + .written] | all' \
			'if .capture.drops then .capture.drops.shown == ([.total.drops[]] | add) else true end'
	done
}

# pair ARGUMENT OF THE CLIENT...: on a busy machine the verdict may be invalid, which does not matter.
pair() {
	local status

	onager_run server s server.json
	await server
	onager_run client c client.json --duration 1s "$@"
	ended client 30
	[ $status = 0 ] || [ $status = 3 ] || fail "the client exited with $status"
	stop server
	laws client server
	capture_laws client
}

# written CLIENT'S FILE NUMBER: as the report, so capinfos and tshark.
written() {
	local got

	got=$(tshark -n -r "$1" 2>tshark.err | wc -l)
	grep -v '^Running as user' tshark.err && fail "$1: tshark complains"
	[ "$got" = "$2" ] || fail "$1: tshark sees $got packets, expected $2"
}

# TCP packets of a file as text: size and hash, flow by flow (the cable keeps the order of those alone).
packets_of() { # FILE FILTER
	tshark -n -r "$1" -o frame.generate_md5_hash:TRUE -Y "$2" -T fields -e ip.src -e ip.dst \
		-e tcp.srcport -e tcp.dstport -e frame.len -e frame.md5_hash 2>/dev/null | sort -s -k 1,4
}

case_is "both directions: the same packets as tcpdump, in the same order in each flow"
start tcpdump w tcpdump -n -i wc --immediate-mode -U -B 32768 -w wire.pcap
wait_for 5 test -s wire.pcap
pair --set 'capture={"packets": [{"file": "all.pcapng"}]}'
stop tcpdump
grep -q '^0 packets dropped by kernel' tcpdump.err || fail "tcpdump lost packets"
for side in src dst; do
	packets_of wire.pcap "tcp && ip.$side == 10.9.0.2" >wire.out
	packets_of all.pcapng "tcp && ip.$side == 10.9.0.2" >all.out
	[ "$(wc -l <all.out)" -ge 400 ] || fail "only $(wc -l <all.out) packets"
	cmp wire.out all.out || fail "packets of $side differ"
done
written all.pcapng "$(jq '.capture.packets[0].written' client.report)"
expect client '.capture.packets[0].written == .total.pktRx + .total.pktTx' \
	'.capture.packets[0].lost + .capture.packets[0].dropped == 0'
capinfos -Mm all.pcapng >info.out
says info.out 'onager 0'
says info.out 'Name = c'
says info.out 'Interface statistics|Number of stat entries = 1'

case_is "their times are tcpdump's"
for file in wire.pcap all.pcapng; do
	tshark -n -r $file -Y 'tcp && ip.src == 10.9.0.1 || tcp && ip.dst == 10.9.0.2' \
		-T fields -e frame.time_epoch 2>/dev/null >$file.time
done
paste wire.pcap.time all.pcapng.time |
	awk '{ d = $1 - $2; if (d < 0) d = -d; print d }' | sort -g >error.out
near=$(sed -n "$(($(wc -l <error.out) / 10))p" error.out)
awk "BEGIN { exit !($near < 0.01) }" || fail "nine of ten differ by more than $near s"

case_is "one direction, a filter, a snaplen, a limit; several files at once"
pair --set 'capture={"packets": [
	{"file": "rx.pcapng", "port": "c", "direction": "rx", "snaplen": 60},
	{"file": "tx.pcap", "port": "c", "direction": "tx", "format": "pcap"},
	{"file": "syn.pcapng", "filter": "tcp[13] & 2 != 0"},
	{"file": "ten.pcapng", "limit": 10}]}'
expect client '.capture.packets[0].written == .total.pktRx' \
	'.capture.packets[1].written == .total.pktTx' \
	'.capture.packets[2].written == .total.synRx + .total.synTx' \
	'.capture.packets[2].filtered + .capture.packets[2].written == .total.pktRx + .total.pktTx' \
	'.capture.packets[3].written == 10'
written rx.pcapng "$(jq .total.pktRx client.report)"
written tx.pcap "$(jq .total.pktTx client.report)"
written ten.pcapng 10
[ -z "$(tshark -n -r rx.pcapng -Y 'frame.cap_len > 60' 2>/dev/null)" ] || fail "longer than 60 bytes"
[ -z "$(tshark -n -r syn.pcapng -Y 'tcp.flags.syn == 0 || arp' 2>/dev/null)" ] || fail "no SYN"
[ -z "$(tshark -n -r rx.pcapng -Y 'frame.packet_flags_direction != 1' 2>/dev/null)" ] || fail "direction"

case_is "files of a hundred packets: none is missing"
pair --set 'capture={"packets": [{"file": "ring.pcapng", "file_packets": 100}]}'
total=0
for file in ring-*.pcapng; do
	total=$((total + $(tshark -n -r "$file" 2>/dev/null | wc -l)))
done
[ $total = "$(jq '.capture.packets[0].written' client.report)" ] || fail "$total packets in all files"
expect client '.capture.packets[0].written == .total.pktRx + .total.pktTx' \
	".capture.packets[0].files == $(ls ring-*.pcapng | wc -l)"

case_is "standard output is the file, and nothing else is on it"
onager_run server s server.json
await server
{
	in_ns c timeout 60 "$onager" run client.json --duration 1s --report out.report \
		--set 'capture={"packets": [{"file": "-"}]}' 2>out.err </dev/null || [ $? = 3 ]
} | tshark -n -r - >tshark.out 2>tshark.err
stop server
[ "$(wc -l <tshark.out)" = "$(jq '.capture.packets[0].written' out.report)" ] || fail "tshark sees others"
expect out '.capture.packets[0].written == .total.pktRx + .total.pktTx'

case_is "a full device: traffic goes on, and the report says what is missing"
pair --set 'capture={"packets": [{"file": "/dev/full"}]}'
expect client '.verdict != "fail"' '.capture.packets[0].written == 0' '.capture.packets[0].lost > 1000' \
	'.capture.packets[0].error | test("No space left on device")' \
	'.reasons | join(" ") | test("No space left")'

case_is "a disk that fills up: the file ends behind a whole packet"
mkdir small
onager_run server s server.json
await server
start client c unshare -m bash -c 'mount -t tmpfs -o size=64k none small && "$@"; status=$?
	cp small/full.pcapng full.pcapng; exit $status' - \
	"$onager" run client.json --duration 1s --report client.report \
	--set 'capture={"packets": [{"file": "small/full.pcapng"}]}'
ended client 30
[ $status = 0 ] || [ $status = 3 ] || fail "the client exited with $status"
stop server
laws client
capture_laws client
expect client '.capture.packets[0].lost > 0' '.capture.packets[0].error | test("No space left")'
written full.pcapng "$(jq '.capture.packets[0].written' client.report)"
[ "$(stat -c %s full.pcapng)" -gt 60000 ] || fail "it is short"

case_is "a reader that does not read: given up in time, and counted"
mkfifo pipe
exec 9<>pipe
onager_run server s server.json
await server
onager_run client c client.json --duration 30s --set traffic.0.load.cps=400 \
	--set 'capture={"packets": [{"file": "pipe"}]}'
await client
wait_for 10 eval '[ "$(wc -l <client.out)" -ge 20 ]'
kill "${pid[client]}"
ended client 3
exec 9<&-
stop server
capture_laws client
expect client '.capture.packets[0].lost > 0' '.capture.packets[0].written > 0' \
	'.capture.packets[0].error | test("timed out")'

case_is "killed in mid-run: readable to the last packet written"
onager_run server s server.json
await server
onager_run client c client.json --duration 30s --set 'capture={"packets": [{"file": "kill.pcapng"}]}'
await client
wait_for 10 eval '[ $(stat -c %s kill.pcapng) -gt 30000 ]'
stop client 137 KILL
stop server
[ "$(tshark -n -r kill.pcapng 2>tshark.err | wc -l)" -gt 100 ] || fail "too few packets"
! grep -v '^Running as user' tshark.err || fail "not readable to the end"

case_is "a place that cannot be written, a bad filter: said before anything else"
onager_exits 4 run client.json --set capture.drops=/none/x.pcapng
says cmd.err '/none/x.pcapng: open failed: No such file'
onager_exits 2 check client.json --set 'capture={"packets": [{"file": "x", "filter": "tcp prot 80"}]}'
says cmd.err 'capture.packets\[0\].filter: .*(syntax|parse) error'
onager_exits 2 run client.json --report - --set capture.drops=-
