#!/usr/bin/env bash
# What test beds are made of: every MTU, over both address families; VLANs; TOS and TTL; silence
# and announcements; a link that goes down and comes back.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

page() { # FILE: client and server on a simulated network, 21 000-byte bodies
	cat >"$1" <<'END'
	{
	  "duration": "300ms", "drain": "1s",
	  "ports": [
	    {"name": "c", "device": "loop:l", "cores": [0], "address": ["10.0.0.1/24", "2001:db8::1/64"]},
	    {"name": "s", "device": "loop:l", "cores": [1], "address": ["10.0.0.2/24", "2001:db8::2/64"]}],
	  "traffic": [
	    {"name": "web", "port": "c", "kind": "http-client", "clients": ["10.0.0.1", "2001:db8::1"],
	     "servers": ["10.0.0.2", "2001:db8::2"], "load": {"cps": 100}, "catch_up": "1s",
	     "request": {"method": "POST", "body": {"size": 5000}},
	     "response": {"body": {"size": 21000}}},
	    {"name": "page", "port": "s", "kind": "http-server", "servers": ["10.0.0.2", "2001:db8::2"],
	     "response": {"body": {"size": 21000}}}]
	}
END
}

case_is "every MTU, both families: segments as long as fit, bodies whole"
page page.json
for mtu in 576 577 1280 1500 1501 4000 9000 9709 9710; do
	onager_exits 0 simulate page.json --set "ports.0.mtu=$mtu" --set "ports.1.mtu=$mtu" \
		--report page.report --pcap mtu.pcapng
	laws page
	complete page 30
	expect page '.traffic.page.succeeded == .traffic.web.succeeded' '.total.badRx == 0'
	for family in "ip" "ipv6"; do
		longest=$(tshark -n -r mtu.pcapng -Y "$family && tcp" -T fields -e frame.len 2>/dev/null |
			sort -n | tail -1)
		[ "$longest" = $((mtu + 14)) ] || fail "MTU $mtu: the longest frame of $family has $longest bytes"
	done
done

case_is "a VLAN in another, both families, and TOS and TTL of the entry"
onager_exits 0 simulate page.json --set 'ports.0.vlan=[20,100]' --set 'ports.1.vlan=[20,100]' \
	--set traffic.1.tos=184 --set traffic.1.ttl=33 --report page.report --pcap tagged.pcapng
laws page
complete page 30
tagged() { tshark -n -r tagged.pcapng -Y "$1" 2>/dev/null | wc -l; }
[ "$(tagged 'frame[12:4] == 88:a8:00:14 && frame[16:4] == 81:00:00:64')" = "$(tagged frame)" ] || fail "not all have both tags"
for family in 'ip ip.dsfield == 184 && ip.ttl == 33' 'ipv6 ipv6.tclass == 184 && ipv6.hlim == 33'; do
	[ "$(tagged "tcp.srcport == 80 && ${family%% *}")" -gt 0 ] || fail "no ${family%% *}"
	[ "$(tagged "tcp.srcport == 80 && ${family%% *} && ${family#* }")" = "$(tagged "tcp.srcport == 80 && ${family%% *}")" ] ||
		fail "not all are: $family"
done

netns s k
cable s s0 - k k0 10.9.0.1/24
http_server server.json if:s0 10.9.0.2/24 10.9.0.2

case_is "silence for the addresses of the traffic, and an announcement of the port's own"
start tcpdump k tcpdump -n -i k0 --immediate-mode -U -w announced.pcap arp
wait_for 5 test -s announced.pcap
onager_run server s server.json --set ports.0.neighbor=\"ignore\" --set ports.0.announce=true \
	--set 'traffic.0.servers=["10.9.0.2","10.9.0.100"]'
await server
wait_for 10 in_ns k curl -sS -m 2 -o body http://10.9.0.2/
in_ns k ping -q -c 1 -W 1 10.9.0.100 >ping.out && fail "10.9.0.100 is heard of"
# As a load balancer would hand packets on: by the MAC address of the real server.
mac=$(in_ns k ip -j neigh show 10.9.0.2 | jq -r '.[0].lladdr')
in_ns k ip neigh replace 10.9.0.100 lladdr "$mac" dev k0
in_ns k curl -sS -m 5 -o body http://10.9.0.100/ || fail "10.9.0.100 does not serve"
stop server
stop tcpdump
laws server
expect server '.traffic.web.succeeded >= 2' '.total.arpTx == 2' # announced one, answered for one
[ -n "$(tshark -n -r announced.pcap -Y 'arp.isgratuitous && arp.src.proto_ipv4 == 10.9.0.2' 2>/dev/null)" ] ||
	fail "no announcement"

case_is "a link that goes down and comes back: losses are counted, the run goes on"
mkdir www
printf x >www/index.html
start httpd k python3 -m http.server -d www 80
wait_for 10 in_ns k curl -sS -m 1 -o body http://10.9.0.1/
http_client client.json if:s0 10.9.0.2/24 10.9.0.2 10.9.0.1
onager_run client s client.json --duration 4s --set traffic.0.load.cps=20 --set traffic.0.timeout=1s \
	--set traffic.0.tcp.initial_rto=300ms
await client
lines() { [ "$(wc -l <client.out)" -gt "$1" ]; } # ten a second
wait_for 10 lines 8
in_ns k ip link set k0 down
wait_for 10 grep -q 'link is down' client.err
wait_for 10 lines 26
in_ns k ip link set k0 up
wait_for 10 grep -q 'link is up' client.err
ended client 30
laws client
expect client '.traffic.web.failed.timeout > 0' '.traffic.web.succeeded > 20' \
	'.traffic.web.wanted == 80'
