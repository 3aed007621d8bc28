#!/usr/bin/env bash
# Replays on a cable between kernel interfaces, with tcpdump, tcpreplay and tshark as judges; and of
# recordings that are streamed, and of one that takes decades.
. "$(dirname "$0")/lib.sh"
cases=$source_dir/tests/golden/pcap

netns a b
cable a a0 - b b0 -
listen() { # FILE
	start dump b tcpdump -i b0 -n -s 0 -U --time-stamp-precision=nano -w "$1" -Q in ether dst 02:00:00:00:00:02
	wait_for 10 grep -q 'listening on' dump.err
}
enough() { [ "$(tshark -r "$1" 2>/dev/null | wc -l)" -ge "$2" ]; }
heard() { # FILE COUNT: until so many packets are in the file
	wait_for 20 enough "$1" "$2"
	stop dump 0 INT
}
# replay NAME STATUS ARGUMENT...: by kernel interface; a busy machine may make it late, which it says.
replay() {
	local name=$1 want=$2

	shift 2
	start "$name" a "$onager" replay --port if:a0 --quiet --report "$name.report" "$@"
	ended "$name" 60
	[ "$status" = "$want" ] || says "$name.report" 'it took [0-9.]+ s instead of' ||
		fail "onager replay $* exited with $status, expected $want"
	expect "$name" '.traffic.replay | .wanted == .offered + ([.not_offered[]] + [.skipped[]] | add)'
}
hex() { tshark -r "$1" -x 2>tshark.err; }

case_is "byte by byte what the file has, and what tcpreplay sends of it"
to_b=(--rewrite-dst-mac 02:00:00:00:00:02)
onager_exits 0 replay "$cases/ns.pcapng" --port net_null0,no-rx=1 --quiet --topspeed "${to_b[@]}" \
	--set 'capture.packets=[{"file": "want.pcapng", "direction": "tx"}]'
listen onager.pcap
replay wire 0 "$cases/ns.pcapng" "${to_b[@]}"
heard onager.pcap 3
cmp <(hex onager.pcap) <(hex want.pcapng) || fail "other bytes on the wire"
listen peer.pcap
in_ns a tcpreplay -i a0 want.pcapng >tcpreplay.out 2>&1 || fail "tcpreplay: $(tail -3 tcpreplay.out)"
heard peer.pcap 3
cmp <(hex onager.pcap) <(hex peer.pcap) || fail "other bytes than tcpreplay's"
echo "  gaps in s, of 0.001000001 and 2.5: $(tshark -r onager.pcap -T fields -e frame.time_delta 2>/dev/null | tail -2 | tr '\n' ' ')"

case_is "2000 packets at 10 kpps from two cores: all there, in the order of their flows"
python3 - >many.pcap <<'END'
import struct, sys
out = sys.stdout.buffer
out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
for i in range(2000):
    udp = struct.pack(">HHHH", 1000 + i % 16, 9, 26, 0) + struct.pack(">IIHQ", i, 0, 0, 0)
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(udp), i, 0, 64, 17, 0, 0x0a000001 + i % 16, 0x0a000101)
    frame = bytes.fromhex("020000000002020000000001") + b"\x08\x00" + ip + udp
    out.write(struct.pack("<IIII", 0, i * 100000, len(frame), len(frame)) + frame)
END
listen got.pcap
replay many 0 many.pcap --core 0-1
heard got.pcap 2000
expect many '.traffic.replay | .offered == 2000 and .lateness_us.count == 2000'
tshark -r got.pcap -T fields -e udp.srcport -e ip.id 2>tshark.err | python3 -c '
import sys
last, count = {}, 0
for line in sys.stdin:
    flow, number = line.split()
    assert last.get(flow, -1) < int(number, 16), (flow, number)
    last[flow], count = int(number, 16), count + 1
assert len(last) == 16 and count == 2000, (len(last), count)' || fail "packets missing, or the order of a flow lost"
tshark -r got.pcap -T fields -e frame.time_delta 2>/dev/null | sort -g | awk '
	{ gap[NR] = $1 } END { printf "  median gap %.1f us of 100\n", gap[int(NR / 2)] * 1e6 }'

case_is "SIGINT ends a replay that waits for decades within a second, with a right report"
start waits - "$onager" replay "$cases/huge_gap.pcap" --port net_null0,no-rx=1 --report waits.report --format json
wait_for 10 [ -s waits.out ]
says waits.err 'a loop takes [0-9]+ s, its longest gap [0-9]+ s'
begin=$(date +%s%N)
stop waits 0 INT
took=$((($(date +%s%N) - begin) / 1000000))
[ $took -le 2000 ] || fail "it took $took ms"
expect waits '.traffic.replay | .wanted == 1 and .offered == 1'

case_is "a recording larger than the memory allowed is streamed, every packet of it, twice, on two cores"
python3 -c '
import sys
data = open("many.pcap", "rb").read()
sys.stdout.buffer.write(data[:24] + 20 * data[24:])' >large.pcap
onager_exits 0 replay large.pcap --port net_null0,no-rx=1 --core 0-1 --topspeed --loop 2 --memory 1Mi --quiet \
	--report large.report
expect large '.traffic.replay | .offered == 80000 and .wanted == 80000'
"$onager" replay - --port net_null0 --memory 1Mi <large.pcap >cmd.out 2>cmd.err && fail "a pipe was read twice"
cat large.pcap | "$onager" replay - --port net_null0 --memory 1Mi >cmd.out 2>cmd.err && fail "a pipe was read twice"
says cmd.err 'more than `memory` of 1048576 bytes, and it cannot be read twice'

case_is "through a bridge: two ports, each on a core; when it forwards nothing all is lost"
netns dut
cable a a1 - dut d1 10.1.0.2/24
cable b b1 - dut d2 10.2.0.2/24
in_ns dut ip link add br0 type bridge
for end in d1 d2; do in_ns dut ip address flush dev $end; in_ns dut ip link set $end master br0; done
in_ns dut ip link set br0 up
in_ns b ip link set b1 netns "onager-$$-a"
in_ns a ip link set b1 up
cat >two.json <<END
{"ports": [{"name": "c", "device": "if:a1", "cores": [0]}, {"name": "s", "device": "if:b1", "cores": [1]}],
 "traffic": [{"name": "replay", "kind": "replay", "port": "c", "server_port": "s", "files": ["$cases/pingpong8.pcap"],
   "pps": 1000, "loop": 100}]}
END
forwards() { in_ns dut bridge link | grep -c 'state forwarding' | grep -qx 2; }
wait_for 40 forwards
start two a "$onager" run two.json --quiet --report two.report
ended two 60
[ $status = 0 ] || [ $status = 3 ] || fail "exit $status"
expect two '.traffic.replay.compared | .sent == 800 and .received == 800 and .lost == 0'
in_ns dut ip link set d2 nomaster
start lost a "$onager" run two.json --quiet --report lost.report
ended lost 60
[ $status = 1 ] || fail "exit $status"
expect lost '.traffic.replay.compared | .sent == 800 and .lost == 800 and .received == 0' \
	'.reasons[0] == "replay: 800 of 800 packets sent were not received"'
