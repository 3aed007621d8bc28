#!/usr/bin/env bash
# Replays of the case files in virtual time: which packets leave, when, and how a run with a recording
# that is damaged, odd or empty ends.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"
cases=$source_dir/tests/golden/pcap

cat >lab.json <<'END'
{
  "ports": [{"name": "a", "device": "loop:0", "cores": [0]}, {"name": "b", "device": "loop:0", "cores": [0]}],
  "traffic": [{"name": "r", "port": "a", "kind": "replay", "files": []}]
}
END

# play NAME STATUS FILE [ARGUMENT...]: what is sent is in NAME.pcapng.
play() {
	local name=$1 status=$2 file=$3

	shift 3
	onager_exits "$status" simulate lab.json --quiet --report "$name.report" --pcap "$name.pcapng" \
		--set "traffic.0.files=[\"$cases/$file\"]" "$@"
	expect "$name" '.traffic.r | .wanted == .offered + ([.not_offered[]] + [.skipped[]] | add)'
}
fields() { tshark -r "$1" -T fields "${@:2}" 2>tshark.err; }
# times NAME MS...: when the packets of a run left, in ms since the first.
times() {
	local got

	got=$(fields "$1.pcapng" -e frame.time_relative | awk '{printf "%s%.7g", gap, $1 * 1000; gap = " "}')
	[ "$got" = "${*:2}" ] || fail "sent at $got, expected ${*:2}"
}
# bytes NAME FILE: the bytes sent are those of the file.
bytes() {
	tshark -r "$1.pcapng" -x 2>tshark.err >got.hex
	tshark -r "$2" -x 2>tshark.err >want.hex
	cmp got.hex want.hex || fail "$1: other bytes than those of $2"
}
# lengths NAME BYTES...
lengths() {
	local got

	got=$(fields "$1.pcapng" -e frame.len | tr '\n' ' ')
	[ "$got" = "${*:2} " ] || fail "frames of $got bytes, expected ${*:2}"
}

case_is "every encoding gives the same packets at their times"
for file in us_le.pcap ns_be.pcap ns.pcapng; do
	play same 0 $file
	bytes same "$cases/$file"
	expect same '.traffic.r | .offered == 3 and .bytes == 222'
	[ $file = us_le.pcap ] && times same 0 1 2501 || times same 0 1.000001 2501
done
for file in default_us.pcapng bin10.pcapng; do
	play pair 0 $file
	times pair 0 1000
done
play two 0 two_snaplens.pcapng
silent cmd.err
play t20 0 t20.pcap
play t20gz 0 t20.pcap.gz
cmp t20.pcapng t20gz.pcapng || fail "gzip makes a difference"

case_is "a pipe written byte by byte"
python3 -c '
import sys
for byte in open(sys.argv[1], "rb").read():
    sys.stdout.buffer.write(bytes([byte]))
    sys.stdout.buffer.flush()' "$cases/t20.pcap" | "$onager" simulate lab.json --quiet --pcap pipe.pcapng \
	--set 'traffic.0.files=["-"]' >cmd.out 2>cmd.err || fail "exit $?: $(cat cmd.err)"
cmp t20.pcapng pipe.pcapng || fail "the pipe makes a difference"

case_is "time: loops, their gap, speed, rates"
play loops 0 100ms.pcap --set traffic.0.loop=3
# shellcheck disable=SC2046
times loops $(seq -s ' ' 0 100 1400)
expect loops '.traffic.r | .offered == 15 and .bytes == 1110'
play gap 0 100ms.pcap --set traffic.0.loop=3 --set traffic.0.loop_gap=50ms
times gap 0 100 200 300 400 450 550 650 750 850 900 1000 1100 1200 1300
play slow 0 100ms.pcap --set traffic.0.speed=0.5
times slow 0 200 400 600 800
play fast 0 100ms.pcap --set traffic.0.speed=2
times fast 0 50 100 150 200
play pps1 0 one_udp.pcap --set traffic.0.loop=max --set traffic.0.pps=1 --set traffic.0.duration=3.5s
times pps1 0 1000 2000 3000
play half 0 one_udp.pcap --set traffic.0.loop=max --set traffic.0.pps=0.5 --set duration=5s
times half 0 2000 4000
play count 0 one_udp.pcap --set traffic.0.loop=max --set traffic.0.pps=1000 --set traffic.0.packets=2000
expect count '.traffic.r | .offered == 2000 and .elapsed_s == 1.999'
play bps 0 one_udp.pcap --set traffic.0.loop=1000 --set traffic.0.bps=1m
expect bps '.traffic.r | 999 / .elapsed_s | . > 1602.55 and . < 1602.57'
play l1 0 one_udp.pcap --set traffic.0.loop=1000 --set traffic.0.bps_l1=1m
expect l1 '.traffic.r | 999 / .elapsed_s | . > 1275.50 and . < 1275.52'

case_is "times that go back, and a gap of decades"
play back 0 backwards.pcap
times back 0 200 200 200 200 1500 1500
expect back '.traffic.r.recording.problems | .time_backwards == 4 and .time_fraction == 1'
play huge 0 huge_gap.pcap --set traffic.0.max_gap=1s
times huge 0 1000 1010
expect huge '.traffic.r.recording.gaps_clamped == 1'

case_is "blocks of every kind; other link types"
play blocks 0 blocks.pcapng
lengths blocks 64 64 60 74 74
play links 3 two_linktypes.pcapng
expect links '.traffic.r | .offered == 2 and .skipped.link == 1' \
	'.reasons[0] | contains("packet 2 at offset 200: link type LINUX_SLL (113) of interface 1")'
play links 0 two_linktypes.pcapng --set traffic.0.allow_incomplete=true
macs='traffic.0.convert={"dst": "02:00:00:00:00:01", "src": "02:00:00:00:00:02"}'
play links 0 two_linktypes.pcapng --set "$macs"
expect links '.traffic.r | .offered == 3'
[ "$(fields links.pcapng -e eth.type | sort -u)" = 0x0800 ] || fail "not Ethernet"
for file in sll raw null_le; do
	onager_exits 2 simulate lab.json --set "traffic.0.files=[\"$cases/$file.pcap\"]"
	says cmd.err '(LINUX_SLL \(113\)|RAW \(101\)|NULL \(0\)) of interface 0 is not Ethernet: nothing to send'
	play $file 0 $file.pcap --set "$macs"
	[ "$(fields $file.pcapng -Y ip -e eth.type | grep -c 0x0800)" = 3 ] || fail "$file is not converted"
done
onager_exits 2 simulate lab.json --set "traffic.0.files=[\"$cases/radiotap.pcap\"]" --set "$macs"
says cmd.err 'IEEE802_11_RADIO \(127\) of interface 0 cannot become Ethernet'

case_is "packets not captured whole, and too large ones"
play snap 0 snap60.pcap
says cmd.err 'r: 3 of 3 packets were not captured whole and are sent as they are'
lengths snap 60 60 60
play pad 0 snap60.pcap --set traffic.0.truncated=pad
lengths pad 1042 1042 1042
[ "$(fields pad.pcapng -e ip.len | sort -u)" = 1028 ] || fail "IP length"
play skip 3 snap60.pcap --set traffic.0.truncated=skip
expect skip '.traffic.r | .offered == 0 and .skipped.truncated == 3'
onager_exits 2 simulate lab.json --set "traffic.0.files=[\"$cases/sizes.pcap\"]"
says cmd.err 'sizes.pcap: packet 7 at offset .*the port.s MTU of 1500'
play sizes 0 sizes.pcap --set traffic.0.oversize=skip
expect sizes '.traffic.r | .offered == 6 and .skipped.oversize == 5'
lengths sizes 60 60 60 60 64 1514
play sizes 0 sizes.pcap --set traffic.0.oversize=truncate
lengths sizes 60 60 60 60 64 1514 1514 1514 1514 1514 1514
play sizes 0 sizes.pcap --set ports.0.mtu=9202 --set ports.1.mtu=9202
lengths sizes 60 60 60 60 64 1514 1518 1519 4096 9014 9216
play snaplen 0 hdr_snap_40.pcap
lengths snaplen 74 74 74

case_is "damaged files: what can be sent is, and the run says that it was not all"
play cut 3 cut_hdr.pcap --set traffic.0.loop=2
expect cut '.traffic.r.offered == 6' '.reasons[0] | contains("packet 4 at offset 294: the file ends inside it: 16 bytes needed, 9 there")'
[ "$(grep -c 'offset 294' cmd.err)" = 1 ] || fail "said more than once"
play cut 0 cut_hdr.pcap --set traffic.0.allow_incomplete=true
play cut 3 cut.pcapng
expect cut '.traffic.r.offered == 1'
play damaged 3 caplen_7fffffff.pcap
expect damaged '.traffic.r.offered == 1' '.reasons[0] | contains("packet 2 at offset 114")'
play more 0 caplen_gt_len.pcap
lengths more 74 90 74
play zero 0 zero_len.pcap
expect zero '.traffic.r | .offered == 2 and .skipped.empty == 1'
for file in empty not_pcap header_only; do
	onager_exits 2 simulate lab.json --set "traffic.0.files=[\"$cases/$file.pcap\"]"
	cat cmd.err >>nothing.err
done
[ "$(sed 's/.*pcap: //' nothing.err | sort -u | wc -l)" -ge 3 ] || fail "not three messages: $(cat nothing.err)"

case_is "rewriting: addresses, ports, tags; other flows in each loop"
play map 0 rewrite.pcap \
	--set 'traffic.0.rewrite.map={"10.0.0.1": "192.0.2.1", "10.0.0.2": "198.51.100.2"}'
expect map '.traffic.r.offered == 12'
checks=(-o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -o tcp.check_checksum:TRUE)
for bad in 'ip.checksum.status == 0' 'udp.checksum.status == 0' 'tcp.checksum.status == 0' \
	'icmp.checksum.status == 0' 'ip.addr == 10.0.0.0/8'; do
	[ -z "$(tshark -r map.pcapng "${checks[@]}" -Y "$bad" 2>tshark.err)" ] || fail "rewritten, but $bad"
done
[ "$(fields map.pcapng -Y arp -e arp.src.proto_ipv4 -e arp.dst.proto_ipv4)" = "192.0.2.1	198.51.100.2" ] ||
	fail "ARP is not mapped"
play flows 0 one_udp.pcap --set traffic.0.loop=1000 --set traffic.0.pps=1000 --set traffic.0.rewrite.loop_step=1
fields flows.pcapng "${checks[@]}" -Y 'ip.checksum.status == 1 && udp.checksum.status == 1' -e ip.src -e ip.dst |
	sort -u >pairs
[ "$(wc -l <pairs)" = 1000 ] || fail "$(wc -l <pairs) pairs of addresses with good checksums, expected 1000"
play tags 0 us_le.pcap --set traffic.0.rewrite.vlan_push='[5, 6]' --set traffic.0.rewrite.dst_mac=02:00:00:00:00:77
lengths tags 82 82 82
[ "$(fields tags.pcapng -e ieee8021ad.id -e vlan.id -e eth.dst | sort -u)" = "5	6	02:00:00:00:00:77" ] || fail "tags"

case_is "two ports: who is the client; strict order; what does not arrive is known by its content"
# sent NAME: whose packets left, in order, each with its place in the conversation.
sent() { fields "$1.pcapng" -e frame.interface_name -e tcp.srcport | awk '{printf "%s%s ", $1, $2}'; }
order="a1000 b80 a1000 b80 a1000 b80 a1000 b80 "
for split in '{}' '{"by": "syn"}' '{"by": "address", "servers": "10.0.0.2"}' '{"by": "port", "ports": 80}' \
	"{\"by\": \"mac\", \"mac\": \"$(fields $cases/pingpong8.pcap -e eth.src | sed -n 2p)\"}"; do
	play two 0 pingpong8.pcap --set traffic.0.server_port=b --set "traffic.0.split=$split"
	[ "$(sent two)" = "$order" ] || fail "split $split: $(sent two)"
	expect two '.traffic.r.compared | .sent == 8 and .received == 8 and .lost == 0 and .foreign == 0'
done
play strict 0 pingpong8.pcap --set traffic.0.server_port=b --set traffic.0.strict_order=true \
	--set traffic.0.topspeed=true --set traffic.0.loop=3
[ "$(sent strict)" = "$order$order$order" ] || fail "strict order: $(sent strict)"
[ "$(fields strict.pcapng -e tcp.seq_raw -e tcp.len | head -8)" = \
	"$(fields $cases/pingpong8.pcap -e tcp.seq_raw -e tcp.len)" ] || fail "another order than the file's"
play lossy 1 pingpong8.pcap --set traffic.0.server_port=b --set traffic.0.loop=100 --set network.loss=0.1
expect lossy '.traffic.r.compared | .lost > 20 and .lost < 200 and .received == .sent - .lost' \
	".traffic.r.compared.lost == $(fields lossy.pcapng -Y 'frame.comment contains "lost"' -e frame.number | wc -l)"
play double 0 pingpong8.pcap --set traffic.0.receive_port=b --set network.duplicate=1 \
	--set traffic.0.rewrite.loop_step=1 --set traffic.0.loop=5
expect double '.traffic.r.compared | .sent == 40 and .received == 80 and .duplicate == 40 and .lost == 0'

case_is "arguments that are wrong"
file=$cases/us_le.pcap
onager_exits 2 replay --port net_null0
says cmd.err 'no PCAP given'
onager_exits 2 replay "$file"
says cmd.err 'no --port DEVICE given'
onager_exits 2 replay "$file" --port net_null0 --pps 5 --topspeed
says cmd.err 'expected one of speed, pps, bps, bps_l1 and topspeed, got 2'
onager_exits 2 replay "$file" --port net_null0 --filter 'tcp prot 80'
onager_exits 2 replay "$file" --port
says cmd.err "option '--port' needs a value"
onager_exits 2 replay none.pcap --port net_null0
says cmd.err 'none.pcap: No such file'
