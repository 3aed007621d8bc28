#!/usr/bin/env bash
# UDP sockets and echoed blasts against the kernel's own: a Python echo server, netcat, sockets.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

netns o k
cable o o0 - k k0 10.9.0.1/24

# echo.py PORT [DROP]: sends back what it receives, but for every DROP-th datagram; says how many at
# the end.
cat >echo.py <<'END'
import signal, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
s.bind(("10.9.0.1", int(sys.argv[1])))
drop = int(sys.argv[2]) if len(sys.argv) > 2 else 0
n = 0
def over(*_):
    print("received", n, flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, over)
print("ready", flush=True)
while True:
    data, peer = s.recvfrom(65535)
    n += 1
    if not drop or n % drop:
        s.sendto(data, peer)
END
# ask.py ADDRESS PORT ANSWER SIZE...: datagrams of these sizes, and what comes back: ANSWER bytes
# that begin with the first four, or with 0 the same.
cat >ask.py <<'END'
import os, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
s.connect((sys.argv[1], int(sys.argv[2])))
answer = int(sys.argv[3])
for size in map(int, sys.argv[4:]):
    sent = os.urandom(size)
    s.send(sent)
    got = s.recv(65535)
    if answer:
        assert len(got) == answer and got[:4] == sent[:min(4, size)].ljust(4, b"\0"), (size, got[:8])
    else:
        assert got == sent, (size, len(got))
print("good")
END
echo_start() { # PORT [DROP]
	start echo k python3 "$work/echo.py" "$@"
	wait_for 10 grep -q ready echo.out
}
echo_stop() { # the number it received is in $received
	stop echo
	received=$(sed -n 's/^received //p' echo.out)
}

cat >client.json <<'END'
{
  "duration": "2s", "drain": "2s",
  "ports": [{"name": "c", "device": "if:o0", "cores": [1], "address": "10.9.0.2/24"}],
  "traffic": [{"name": "ask", "kind": "udp-client", "clients": "10.9.0.10-10.9.0.19", "server_ports": 7,
    "servers": "10.9.0.1", "load": {"rps": 300}, "catch_up": "5s", "timeout": "1s"}]
}
END
asked='.traffic.ask.requests | .wanted == 600 and .offered + .not_offered.late == 600'
closed='.traffic.ask.requests | .offered == .succeeded + ([.failed[]] | add)'

case_is "the kernel's sockets answer ours"
echo_start 7
for size in 1 18 1400; do
	onager_run client o client.json --set "traffic.0.request={\"size\": $size}"
	finish_or_late client 0
	expect client "$asked" "$closed" '.traffic.ask.requests.failed.timeout == 0' '.total.udpLost == 0' \
		'.total | .udpReq == .udpRsp' '.total.drops["udp.bad_csum"] == 0'
done
echo_stop
[ "$received" -ge 1500 ] || fail "the kernel received $received"

case_is "each request that is not answered is lost, and no other"
echo_start 7 10
onager_run client o client.json
finish client 1 30
expect client "$asked" "$closed" '.traffic.ask.requests | .failed.timeout == (.offered / 10 | floor)' \
	'.total.udpLost == .traffic.ask.requests.failed.timeout'
echo_stop

case_is "a port that is closed: all are lost"
onager_run client o client.json --duration 1s --set traffic.0.timeout=100ms
finish client 1 30
expect client "$closed" '.traffic.ask.requests | .succeeded == 0 and .failed.timeout == .offered'

case_is "tagged packets that the kernel sends back: a round trip of each"
echo_start 7
cat >blast.json <<'END'
{
  "duration": "2s", "drain": "2s",
  "ports": [{"name": "c", "device": "if:o0", "cores": [1], "address": "10.9.0.2/24"}],
  "traffic": [
    {"name": "blast", "kind": "udp-blast", "clients": "10.9.0.10-10.9.0.19", "server_ports": 7,
      "servers": "10.9.0.1", "load": {"pps": 400}, "catch_up": "5s", "packets": 500},
    {"name": "back", "kind": "udp-sink", "servers": "10.9.0.10-10.9.0.19"}]
}
END
onager_run blast o blast.json
finish blast 0 30
echo_stop
[ "$received" = 500 ] || fail "the kernel received $received packets of 500"
expect blast '.streams.blast | .sent == 500 and .unique == 500 and .lost == 0 and .latency_us.count == 500'

case_is "and nobody who sends them back: lost, not unjudged"
onager_run blast o blast.json --set traffic.0.packets=50
finish blast 1 30
expect blast '.streams.blast | .sent == 50 and .lost == 50'

cat >server.json <<'END'
{
  "duration": "60s", "drain": "1s",
  "ports": [{"name": "s", "device": "if:o0", "cores": [0], "address": "10.9.0.2/24"}],
  "traffic": [
    {"name": "echo", "kind": "udp-server", "servers": "10.9.0.2-10.9.0.3", "server_ports": "7-9"},
    {"name": "long", "kind": "udp-server", "servers": "10.9.0.2", "server_ports": 17, "response": {"size": 1000}},
    {"name": "all", "kind": "udp-sink"}]
}
END
case_is "our server answers the kernel's sockets and netcat, which leave checksums to a device or not"
onager_run server o server.json
wait_for 10 in_ns k ping -c 1 -W 1 10.9.0.2
sizes='1 2 3 4 17 18 19 100 1471 1472'
for offload in off on; do
	in_ns k ethtool -K k0 tx $offload >ethtool.out 2>&1
	# shellcheck disable=SC2086
	[ "$(in_ns k python3 ask.py 10.9.0.3 8 0 $sizes)" = good ] || fail "the echo differs"
	# shellcheck disable=SC2086
	[ "$(in_ns k python3 ask.py 10.9.0.2 17 1000 $sizes)" = good ] || fail "the answer differs"
done
[ "$(printf 'hello, onager' | in_ns k timeout 10 nc -u -W 1 -w 5 10.9.0.2 7)" = "hello, onager" ] ||
	fail "netcat was not answered"
in_ns k bash -c 'echo stray >/dev/udp/10.9.0.2/99'
stop server
expect server '.traffic.echo.requests | .offered == .succeeded and .offered >= 20' \
	'.traffic.long.requests | .offered == 20 and .succeeded == 20' \
	'.traffic.all | .received == 1 and .foreign == 1' \
	'.total.udpRx == .total.udpReq + 1' '.total.udpRsp == .total.udpReq'
expect server '.total.pktRx == .total.accepted + ([.total.drops[]] | add)'
