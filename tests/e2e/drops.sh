#!/usr/bin/env bash
# Samples of refused packets: each kind of bad packet that a peer sends is in the file with its reason,
# and a segment outside the window with the state of its connection.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

netns c s
cable c c0 - s s0 -
http_server server.json if:s0 10.9.0.2/24 10.9.0.2
mac=$(in_ns s cat /sys/class/net/s0/address)

cat >bad.py <<'END'
"""Sends to the server of MAC address argv[1] from a packet socket on c0: a SYN, and when it is answered
one segment far outside the window; 25 segments with a wrong checksum at once; one of each other kind."""
import sys
import logging
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import Ether, IP, TCP, UDP, Raw, conf

us = "02:00:00:00:00:09"
socket = conf.L2socket(iface="c0")
to_server = Ether(src=us, dst=sys.argv[1]) / IP(src="10.9.0.50", dst="10.9.0.2")


def answer_to(packet):
    for attempt in range(100):
        socket.send(packet)
        for got in range(50):
            reply = socket.recv()
            if reply and Ether in reply and reply.dst == us and TCP in reply:
                return reply
    sys.exit("the server does not answer")


syn = to_server / TCP(sport=5000, dport=80, flags="S", seq=1000, options=[("MSS", 1460)])
reply = answer_to(syn)
here = dict(sport=5000, dport=80, seq=1001, ack=reply[TCP].seq + 1)
socket.send(to_server / TCP(flags="A", **here))
socket.send(to_server / TCP(flags="A", **{**here, "seq": 9001001}) / Raw("far away"))
for i in range(25):
    socket.send(to_server / TCP(sport=6000 + i, dport=80, flags="S", chksum=0x1234) / Raw("x" * 1000))
socket.send(to_server / TCP(sport=7000, dport=81, flags="S"))
socket.send(to_server / UDP(sport=7001, dport=82))
socket.send(to_server / TCP(sport=7002, dport=80, flags="A"))
socket.send(Ether(src=us, dst="02:00:00:00:00:77") / IP(src="10.9.0.50", dst="10.9.0.2") / TCP())
socket.send(Ether(src=us, dst=sys.argv[1], type=0x9999) / Raw("y" * 60))
END

# samples COUNT REASON [REST OF THE COMMENT]
samples() {
	local got

	got=$(grep -c "^$2: ${3:-}" comments.out || true)
	[ "$got" = "$1" ] || fail "$got samples of $2, expected $1"
}

case_is "each kind of bad packet is sampled, ten a second at most, and all are accounted for"
onager_run server s server.json --set capture.drops=drops.pcapng --set capture.snaplen=100 \
	--set duration=3600s
await server
in_ns c /usr/bin/python3 bad.py "$mac"
wait_for 10 eval '[ "$(tshark -n -r drops.pcapng 2>/dev/null | wc -l)" -ge 16 ]'
stop server
laws server
expect server '.capture.drops | .shown == .beyond + .dropped + .lost + .written' \
	'.capture.drops.shown == ([.total.drops[]] | add)' '.capture.drops.dropped + .capture.drops.lost == 0' \
	'.total.drops["tcp.bad_csum"] == 25' '.capture.drops.written >= 16' '.capture.drops.beyond >= 5'
tshark -n -r drops.pcapng -T fields -e frame.comment >comments.out 2>tshark.err
! grep -v '^Running as user' tshark.err || fail "tshark complains"
[ "$(wc -l <comments.out)" = "$(jq .capture.drops.written server.report)" ] || fail "not as many as reported"
got=$(grep -c '^tcp.bad_csum: TCP checksum wrong$' comments.out)
[ "$got" -ge 10 ] && [ "$got" -le 20 ] || fail "$got of tcp.bad_csum" # 20: a second ended in between
samples 1 tcp.bad_seq 'outside the receive window; ESTABLISHED of "web", rcv_nxt 1001 (segment +9000000), '
samples 1 tcp.no_port
samples 1 udp.no_port
samples 1 tcp.no_conn '.*; no connection$'
samples 1 eth.not_mine
samples 1 eth.type
[ -z "$(tshark -n -r drops.pcapng -Y 'frame.cap_len > 100' 2>/dev/null)" ] || fail "longer than 100 bytes"
[ -n "$(tshark -n -r drops.pcapng -Y 'frame.len > 1000 && frame.cap_len == 100' 2>/dev/null)" ] ||
	fail "the length on the wire is not kept"
[ "$(tshark -n -r drops.pcapng -Y 'frame.interface_name == "s"' 2>/dev/null | wc -l)" = \
	"$(wc -l <comments.out)" ] || fail "another interface than the port"

case_is "a clean run leaves a file without packets"
http_client client.json if:c0 10.9.0.1/24 10.9.0.10 10.9.0.2
onager_run server s server.json --set capture.drops=none.pcapng
await server
onager_run client c client.json --duration 1s
finish_or_late client 0 30
stop server
laws server
expect server '.capture.drops.shown == ([.total.drops[]] | add)'
capinfos -c none.pcapng >info.out
