#!/usr/bin/env bash
# IPv6 with Linux at the far end and as the device: curl and ping to our server, our client to nginx,
# a router that advertises itself, NAT66, both families in one load.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

netns s k c r
for ns in k r; do
	in_ns $ns sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0 \
		net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0 \
		net.ipv6.conf.default.accept_ra=0
done
# tshark's judgement of a capture: nothing is malformed, every checksum right, no warning. (Linux writes
# ffff for a TCP checksum of 0, one packet in 65 536.)
clean() { # FILE...
	local file

	for file in "$@"; do
		[ "$(tshark -n -r "$file" 2>/dev/null | wc -l)" -gt 20 ] || fail "$file is nearly empty"
		tshark -n -r "$file" -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE \
			-Y '_ws.malformed || tcp.checksum.status == "Bad" || icmpv6.checksum.status == "Bad"
			|| _ws.expert.severity >= "Warning" && !tcp.analysis.flags && !tcp.connection.rst
			&& !tcp.checksum.ffff' \
			>remarks.txt 2>/dev/null
		[ ! -s remarks.txt ] || fail "$file: tshark remarks: $(head -3 remarks.txt)"
	done
}

case_is "curl and ping to our server"
cable s s0 - k k0 2001:db8:9::1/64
in_ns k ip -6 route add 2001:db8:48::/64 dev k0
http_server server.json if:s0 2001:db8:9::2/64 2001:db8:9::2-2001:db8:9::3
onager_run server s server.json --set 'traffic.0.servers=["2001:db8:9::2","2001:db8:48::/112"]' \
	--set 'capture.packets=[{"file": "server.pcapng"}]' --set traffic.0.response.body.size=21000
await server
fetch() { in_ns k timeout 20 curl -6 -gsS -m 15 -o body -w '%{http_code} %{size_download}' "$@"; }
wait_for 10 fetch -m 1 'http://[2001:db8:9::2]/'
for address in 2001:db8:9::2 2001:db8:48:: 2001:db8:48::ffff; do
	got=$(fetch "http://[$address]/") || fail "curl $address: exit $?"
	[ "$got" = "200 21000" ] || fail "curl $address: got '$got'"
	in_ns k ping -6 -q -c 2 -i 0.1 -W 5 -s 1000 $address >ping.out || fail "no echo from $address"
done
status=0
fetch -m 3 'http://[2001:db8:9::2]:81/' >/dev/null 2>&1 || status=$?
[ $status = 7 ] || fail "a closed port: curl ended with $status, not refused"
in_ns k ip -6 neigh flush dev k0
[ "$(fetch 'http://[2001:db8:9::2]/')" = "200 21000" ] || fail "not found again after the flush"
stop server
laws server
expect server '.traffic.web.succeeded >= 5' '.total.drops["tcp.no_port"] == 1' \
	'.total.icmpTx >= 9' '.total.badRx == 0'
clean server.pcapng

case_is "our client to nginx"
mkdir www
head -c 21000 /dev/zero | tr '\0' p >www/page.html
cat >nginx.conf <<END
daemon off; master_process off; pid $work/nginx.pid; error_log $work/nginx-error.log;
events { }
http {
  types { text/html html; }
  log_format counted '\$status \$remote_addr';
  access_log $work/access.log counted;
  client_body_temp_path $work/body6; proxy_temp_path $work/p; fastcgi_temp_path $work/f;
  uwsgi_temp_path $work/u; scgi_temp_path $work/s; root $work/www;
  server { listen [::]:80; }
}
END
start nginx k nginx -p "$work" -e "$work/nginx-error.log" -c "$work/nginx.conf"
wait_for 10 in_ns k curl -6 -gsS -m 1 'http://[2001:db8:9::1]/page.html'
: >access.log
http_client client.json if:s0 2001:db8:9::2/64 2001:db8:9::100-2001:db8:9::109 2001:db8:9::1
onager_run client s client.json --set traffic.0.load.cps=100 --set traffic.0.request.path=/page.html \
	--set traffic.0.response.body.size=21000 --set 'capture.packets=[{"file": "client.pcapng"}]'
finish_or_late client 0 30
laws client
complete client 200
connections=$(jq .traffic.web.offered client.report)
[ "$(grep -c '^200 2001:db8:9::10' access.log)" = "$connections" ] || fail "nginx's log differs"
[ "$(sort -u access.log | wc -l)" = 10 ] || fail "not ten clients in nginx's log"
clean client.pcapng
stop nginx 0 QUIT

case_is "UDP sockets: the kernel's answer ours, and ours the kernel's"
cat >udp6.py <<'ENDPY'
# serve ADDRESS PORT: sends back what it receives; ask ADDRESS PORT SIZE...: and is answered so.
import os, socket, sys
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.settimeout(20)
to = (sys.argv[2], int(sys.argv[3]))
if sys.argv[1] == "serve":
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    s.bind(to)
    print("ready", flush=True)
    while True:
        s.sendto(*s.recvfrom(65535))
s.connect(to)
for size in map(int, sys.argv[4:]):
    sent = os.urandom(size)
    s.send(sent)
    assert s.recv(65535) == sent, size
print("good")
ENDPY
start serve k python3 udp6.py serve 2001:db8:9::1 7
wait_for 10 grep -q ready serve.out
cat >ask.json <<ENDJSON
{
  "duration": "1s", "drain": "2s",
  "ports": [{"name": "c", "device": "if:s0", "cores": [0], "address": "2001:db8:9::2/64"}],
  "traffic": [{"name": "ask", "kind": "udp-client", "clients": "2001:db8:9::10-2001:db8:9::19",
    "server_ports": 7, "servers": "2001:db8:9::1", "load": {"rps": 300}, "catch_up": "5s", "timeout": "2s"}]
}
ENDJSON
for size in 1 1400; do
	onager_run ask s ask.json --set "traffic.0.request.size=$size"
	finish_or_late ask 0
	expect ask '.traffic.ask.requests | .offered + .not_offered.late == 300 and .succeeded == .offered' \
		'.total.drops["udp.bad_csum"] == 0'
done
stop serve 143
onager_run answer s ask.json --set 'traffic.0={"name": "echo", "port": "c", "kind": "udp-server",
	"servers": "2001:db8:9::2-2001:db8:9::3", "server_ports": "7-9"}' --duration 60s
wait_for 10 in_ns k ping -6 -c 1 -W 1 2001:db8:9::2
for offload in off on; do
	in_ns k ethtool -K k0 tx $offload >ethtool.out 2>&1
	[ "$(in_ns k python3 udp6.py ask 2001:db8:9::3 8 1 3 4 18 19 100 1451 1452)" = good ] ||
		fail "the echo differs"
done
stop answer
expect answer '.traffic.echo.requests | .offered == .succeeded and .offered == 16'

case_is "nobody answers: it says which address and how it asked"
status=0
in_ns s timeout 20 "$onager" run client.json --set 'traffic.0.servers="2001:db8:9::77"' \
	--set ports.0.resolve_timeout=300ms >cmd.out 2>cmd.err || status=$?
[ $status = 4 ] || fail "exit $status, not 4"
says cmd.err 'no answer to Neighbour Discovery for server 2001:db8:9::77: [0-9]+ requests'

# A router between two interfaces, which tells the client's side that it is one.
cable c c0 - r rc 2001:db8:1::1/64
cable s s1 - r rs 2001:db8:2::1/64
in_ns r ip address add 10.1.0.1/24 dev rc
in_ns r ip address add 10.2.0.1/24 dev rs
in_ns r sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1 \
	net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.rc.rp_filter=0 net.ipv4.conf.rs.rp_filter=0
in_ns r ip -6 route add 2001:db8:16::/64 via 2001:db8:1::2
in_ns r ip -6 route add 2001:db8:48::/64 via 2001:db8:2::2
in_ns r ip route add 16.0.0.0/24 via 10.1.0.2
in_ns r ip route add 48.0.0.0/24 via 10.2.0.2
http_server server.json if:s1 2001:db8:2::2/64 2001:db8:48::1-2001:db8:48::2
http_client client.json if:c0 2001:db8:1::2/64 2001:db8:16::/120 2001:db8:48::1-2001:db8:48::2
pair() { # ARGUMENT OF THE CLIENT...
	onager_run server s server.json --set 'ports.0.gateway="2001:db8:2::1"' \
		--set 'capture.packets=[{"file": "server.pcapng"}]'
	await server
	onager_run client c client.json --set 'ports.0.gateway="auto"' \
		--set 'capture.packets=[{"file": "client.pcapng"}]' "$@"
	finish_or_late client 0 30
	stop server
	laws client server
	connections=$(jq .traffic.web.offered client.report)
	expect server ".traffic.web.succeeded == $connections"
	clean server.pcapng client.pcapng
}

case_is "no router is there: the run is not begun"
status=0
in_ns c timeout 20 "$onager" run client.json --set 'ports.0.gateway="auto"' \
	--set ports.0.resolve_timeout=300ms >cmd.out 2>cmd.err || status=$?
[ $status = 4 ] || fail "exit $status, not 4"
says cmd.err 'port c: no IPv6 router has advertised itself in 0.3 s'

case_is "a router that advertises itself"
cat >advertise.py <<'END'
import socket, struct, time
advertisement = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0)
s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
while True:
    s.sendto(advertisement, ("ff02::1", 0, 0, socket.if_nametoindex("rc")))
    time.sleep(0.3)
END
start advertiser r python3 advertise.py
pair
complete client 400
expect client '.total.synRt == 0' '.total.icmpTx >= 1'

case_is "NAT66: the server sees one client, conntrack sees nothing invalid"
in_ns r nft -f - <<'END'
table ip6 nat {
	counter clients { }
	chain post {
		type nat hook postrouting priority srcnat;
		oifname "rs" counter name clients masquerade
	}
}
table ip6 watch {
	counter invalid { }
	chain forward {
		type filter hook forward priority filter;
		ct state invalid counter name invalid drop
	}
}
END
pair --set traffic.0.client_ports=5000-5003
complete client 400
packets() { in_ns r nft -j list counter ip6 "$@" | jq '.nftables[] | .counter? // empty | .packets'; }
[ "$(packets nat clients)" = "$connections" ] ||
	fail "$(packets nat clients) connections translated, not $connections"
[ "$(packets watch invalid)" = 0 ] || fail "$(packets watch invalid) packets invalid to conntrack"
[ "$(tshark -n -r server.pcapng -Y 'tcp.flags == 2' -T fields -e ipv6.src 2>/dev/null |
	sort -u)" = 2001:db8:2::1 ] || fail "the server saw another client than the gateway"
in_ns r nft flush ruleset

case_is "both families, half of the connections each"
mixed() {
	onager_run server s server.json --set 'ports.0.address=["10.2.0.2/24","2001:db8:2::2/64"]' \
		--set 'ports.0.gateway=["10.2.0.1","2001:db8:2::1"]' \
		--set 'traffic.0.servers=["2001:db8:48::1","48.0.0.1"]'
	await server
	onager_run client c client.json --set 'ports.0.address=["10.1.0.2/24","2001:db8:1::2/64"]' \
		--set 'ports.0.gateway=["10.1.0.1","2001:db8:1::1"]' \
		--set 'traffic.0.clients=["16.0.0.1-16.0.0.20","2001:db8:16::/120"]' \
		--set 'traffic.0.servers=["48.0.0.1","2001:db8:48::1"]' \
		--set 'capture.packets=[{"file": "mixed.pcapng", "filter": "tcp[13] = 2 or ip6[53] = 2"}]'
	finish_or_late client 0 30
	stop server
	laws client server
}
until_punctual client mixed
complete client 400
expect client '.total.arpTx > 0' '.total.icmpTx > 0'
if ! late client; then
	for filter in ip ipv6; do
		got=$(tshark -n -r mixed.pcapng -Y "$filter" 2>/dev/null | wc -l)
		[ "$got" = 200 ] || fail "$got connections of $filter, not 200"
	done
fi
