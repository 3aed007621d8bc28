#!/usr/bin/env bash
# Tunnels: Linux's VXLAN device as the far end, both ways and as a bridge, packets that are refused,
# and between two ports of ours every kind over both families, judged by tshark.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

netns s k l
for ns in k l; do
	in_ns $ns sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0 \
		net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
done

# Nothing is malformed and every checksum is right, outside and inside.
clean() { # FILE
	tshark -n -r "$1" -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE \
		-o udp.check_checksum:TRUE -Y "_ws.malformed || ip.checksum.status == Bad ||
		tcp.checksum.status == Bad || udp.checksum.status == Bad" >remarks.txt 2>/dev/null
	[ ! -s remarks.txt ] || fail "$1: tshark remarks: $(head -3 remarks.txt)"
}

fetch() { # NS URL...
	local ns=$1

	shift
	in_ns "$ns" timeout 20 curl -gsS -m 15 -o body -w '%{http_code} %{size_download}' "$@"
}

# Linux's end of VNI 7. A packet that leaves the bare cable has at most 1500 bytes.
cable s s0 - k k0 10.9.0.1/24
in_ns k ip link add vx7 type vxlan id 7 dev k0 local 10.9.0.1 remote 10.9.0.2 dstport 4789
in_ns k ip link set vx7 mtu 1450 up
in_ns k ip address add 192.168.7.1/24 dev vx7
in_ns k ip address add fd07::1/64 dev vx7 nodad
in_ns k ethtool -K vx7 tx off tso off gso off gro off >/dev/null

case_is "curl, wrk and ping over VXLAN to our server of two cores"
http_server server.json if:s0 10.9.0.2/24 192.168.7.2
onager_run server s server.json --set 'traffic.0.servers=["192.168.7.2","fd07::2"]' \
	--set 'ports.0.cores=[0,1]' --set traffic.0.response='{"content":"bare","body":{"size":21000}}' \
	--set 'ports.0.tunnel={"kind":"vxlan","vni":"5-9","remote":"10.9.0.1","mac":"02:07:07:07:07:07"}' \
	--set 'capture.packets=[{"file": "server.pcapng", "limit": 4000, "direction": "tx"}]'
await server
wait_for 10 fetch k -m 1 http://192.168.7.2/
pattern 21000 >expected || true
for url in http://192.168.7.2/ 'http://[fd07::2]/'; do
	got=$(fetch k "$url") || fail "curl $url: exit $?"
	[ "$got" = "200 21000" ] || fail "curl $url: got '$got'"
	cmp body expected || fail "$url: another body"
done
in_ns k ping -q -c 2 -i 0.1 -W 5 -s 1400 192.168.7.2 >ping.out || fail "no echo inside"
in_ns k ping -q -c 2 -i 0.1 -W 5 10.9.0.2 >ping.out || fail "no echo outside"
in_ns k ip neigh show 192.168.7.2 >neigh.out
says neigh.out 02:07:07:07:07:07
in_ns k timeout 20 wrk -t1 -c4 -d1s http://192.168.7.2/ >wrk.out
says wrk.out 'requests in'
! grep -q 'Non-2xx\|Socket errors' wrk.out || fail "$(cat wrk.out)"

case_is "what is refused, and why"
cat >refused.py <<'END'
import logging, sys
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import *
to = sys.argv[1]
inner = Ether(dst="02:07:07:07:07:07") / IP(src="192.168.7.9", dst="192.168.7.2") / TCP(dport=80, flags="A")
def outer(payload, **udp):
    return Ether(dst=to) / IP(src="10.9.0.1", dst="10.9.0.2") / UDP(sport=50000, **udp) / payload
vxlan = lambda vni, flags=8: VXLAN(flags=flags, vni=vni) / inner
for packet in (outer(vxlan(4), dport=4789, chksum=0), outer(vxlan(7, 0), dport=4789, chksum=0),
               outer(vxlan(7), dport=4790, chksum=0), outer(vxlan(7), dport=4789, chksum=1),
               outer(Raw(b"\x08\0\0\0\0\0"), dport=4789, chksum=0)):
    sendp(packet, iface="k0", verbose=False)
END
in_ns k /usr/bin/python3 refused.py "$(in_ns s cat /sys/class/net/s0/address)"
in_ns k curl -sS -m 5 -o body http://192.168.7.2/
stop server
laws server
expect server '.traffic.web.requests.succeeded >= 10' '.total.dropTx == 0' \
	'.total.drops | ["tunnel.number", "tunnel.bad", "tunnel.none", "tunnel.short", "udp.bad_csum"] as $names
		| [$names[] as $name | .[$name] == 1] | all'
clean server.pcapng

case_is "our client over VXLAN to a Linux server"
start http k /usr/bin/python3 -m http.server -b 192.168.7.1 80
cp expected page.html
wait_for 10 in_ns k curl -sS -m 1 -o body http://192.168.7.1/page.html
http_client client.json if:s0 10.9.0.2/24 192.168.7.100-192.168.7.109 192.168.7.1
onager_run client s client.json --set traffic.0.load.cps=30 --set traffic.0.request.path=/page.html \
	--set traffic.0.response.body.size=21000 --set ports.0.mtu=1400 \
	--set 'ports.0.tunnel={"kind":"vxlan","vni":7,"remote":"10.9.0.1","udp_checksum":true}' \
	--set 'capture.packets=[{"file": "client.pcapng", "direction": "tx"}]'
finish_or_late client 0 30
laws client
complete client 60
clean client.pcapng
tshark -n -r client.pcapng -Y 'udp.dstport == 4789 && udp.checksum == 0' >zero.txt 2>/dev/null
[ ! -s zero.txt ] || fail "a datagram has no checksum: $(head -1 zero.txt)"
[ "$(tshark -n -r client.pcapng -Y tcp.flags.syn==1 -T fields -e tcp.options.mss_val 2>/dev/null |
	sort -u)" = 1310 ] || fail "the MSS is not the MTU of 1400 less 50 and 40"
stop http 143 TERM

case_is "a bridge between VXLAN and a plain cable"
cable k k1 - l l0 192.168.7.8/24
in_ns k ip address flush dev vx7
in_ns k ip link add br0 type bridge
in_ns k ip link set vx7 master br0
in_ns k ip link set k1 master br0
in_ns k ip link set br0 up
in_ns l ip link set l0 mtu 1450
onager_run bridged s server.json --set traffic.0.response='{"content":"bare","body":{"size":21000}}' \
	--set 'ports.0.tunnel={"kind":"vxlan","vni":[7,9],"address":"192.168.7.2/24"}'
await bridged
wait_for 10 fetch l -m 1 http://192.168.7.2/
fetch l http://192.168.7.2/ >/dev/null
cmp body expected || fail "another body"
stop bridged
laws bridged

case_is "networks with tunnels of their own, and a route to a tunnel's end"
cat >networks.json <<'END'
{
  "duration": "300ms", "drain": "1s",
  "ports": [
    {"name": "c", "device": "loop:a", "cores": [0], "address": "10.0.0.1/24",
      "routes": {"10.9.0.0/16": "10.0.0.2"}, "tunnel": {"kind": "ipip", "remote": "10.9.0.1"},
      "networks": [
        {"name": "v", "vlan": 10, "address": "10.1.0.1/24",
          "tunnel": {"kind": "vxlan", "vni": 5, "remote": "10.1.0.2"}},
        {"name": "p", "vlan": 20, "address": "10.2.0.1/24"}]},
    {"name": "s", "device": "loop:a", "cores": [0], "address": "10.0.0.2/24",
      "tunnel": {"kind": "ipip", "local": "10.9.0.1"},
      "networks": [
        {"name": "v", "vlan": 10, "address": "10.1.0.2/24",
          "tunnel": {"kind": "vxlan", "vni": 5, "remote": "10.1.0.1"}},
        {"name": "p", "vlan": 20, "address": "10.2.0.2/24"}]}],
  "traffic": [
    {"name": "i", "port": "c", "kind": "http-client", "load": {"cps": 100}, "catch_up": "2s",
      "clients": "16.0.0.1-16.0.0.9", "servers": "48.0.0.1"},
    {"name": "v", "port": "c", "network": "v", "kind": "http-client", "load": {"cps": 100},
      "catch_up": "2s", "clients": "16.0.0.1-16.0.0.9", "servers": "48.0.0.1"},
    {"name": "p", "port": "c", "network": "p", "kind": "http-client", "load": {"cps": 100},
      "catch_up": "2s", "clients": "10.2.0.1", "servers": "10.2.0.2"},
    {"name": "si", "port": "s", "kind": "http-server", "servers": "48.0.0.1"},
    {"name": "sv", "port": "s", "network": "v", "kind": "http-server", "servers": "48.0.0.1"},
    {"name": "sp", "port": "s", "network": "p", "kind": "http-server", "servers": "10.2.0.2"}]
}
END
onager_exits 0 simulate networks.json --report networks.report
laws networks
expect networks '[.traffic[] | .succeeded == 30] | all' '.total.pktRx == .total.accepted'
onager_run networks - networks.json --set 'capture.packets=[{"file": "networks.pcapng", "direction": "tx"}]'
finish_or_late networks 0
laws networks
expect networks '[.traffic[] | .succeeded > 0] | all' '[.traffic[].failed[]] | add == 0' '.total.dropTx == 0'
clean networks.pcapng

case_is "every kind, over IPv4 and IPv6, on a simulated network"
cat >pair.json <<'END'
{
  "duration": "200ms", "drain": "1s",
  "ports": [
    {"name": "c", "device": "loop:a", "cores": [0], "address": ["10.0.0.1/24", "fd00::1/64"]},
    {"name": "s", "device": "loop:a", "cores": [0], "address": ["10.0.0.2/24", "fd00::2/64"]}],
  "traffic": [
    {"name": "web", "port": "c", "kind": "http-client", "load": {"cps": 100},
      "clients": ["16.0.0.1-16.0.0.9", "fd16::1-fd16::9"], "servers": ["48.0.0.1", "fd48::1"],
      "response": {"body": {"size": 21000}}},
    {"name": "webs", "port": "s", "kind": "http-server", "servers": ["48.0.0.1", "fd48::1"],
      "clients": ["16.0.0.1-16.0.0.9", "fd16::1-fd16::9"], "response": {"body": {"size": 21000}}},
    {"name": "ask", "port": "c", "kind": "udp-client", "load": {"cps": 50},
      "clients": "16.0.0.1-16.0.0.9", "servers": "48.0.0.1"},
    {"name": "asked", "port": "s", "kind": "udp-server", "servers": "48.0.0.1"},
    {"name": "blast", "port": "c", "kind": "udp-blast", "load": {"pps": 500}, "sizes": [64, 1400],
      "clients": "16.0.0.1", "client_ports": "20000-20040", "servers": "48.0.0.1", "server_ports": 9},
    {"name": "sink", "port": "s", "kind": "udp-sink", "server_ports": 9}]
}
END
# kind_is NAME CLIENT SERVER FILTER [SET...]: two ends, all of whose packets are as the filter says.
kind_is() {
	local name=$1 client=$2 server=$3 filter=$4 four six

	shift 4
	for far in 10.0.0 fd00::; do
		four=${far%::}.; [ "$far" = fd00:: ] && four=fd00::
		onager_exits 0 simulate pair.json --report "$name.report" --pcap "$name.pcapng" "$@" \
			--set "ports.0.tunnel={$client,\"remote\":\"${four}2\"}" \
			--set "ports.1.tunnel={$server,\"remote\":\"${four}1\"}"
		expect "$name" '.traffic.web.succeeded == 20' '.traffic.ask.requests.succeeded == 10' \
			'.traffic.sink.received == 100' '.total.dropTx == 0' '[.total.drops[]] | add == 0'
		clean "$name.pcapng"
		tshark -n -r "$name.pcapng" -Y "!($filter)" >other.txt 2>/dev/null
		[ ! -s other.txt ] || fail "$name: not $filter: $(head -1 other.txt)"
	done
}
kind_is vxlan '"kind":"vxlan","vni":"70-74"' '"kind":"vxlan","vni":"70-74"' \
	'vxlan.vni >= 70 && vxlan.vni <= 74 && udp.srcport >= 49152'
kind_is vlan '"kind":"vxlan","vni":7,"udp_checksum":true' '"kind":"vxlan","vni":7' \
	'ieee8021ad.id == 5 && vlan.id == 6 && vxlan.vni == 7' --set 'ports.0.vlan=[5,6]' --set 'ports.1.vlan=[5,6]'
kind_is gre '"kind":"gre"' '"kind":"gre"' 'gre && !gre.key && !vxlan'
kind_is key '"kind":"gre","key":"1-4","local_key":"11-14"' '"kind":"gre","key":"11-14","local_key":"1-4"' \
	'gre.key >= 1 && gre.key <= 14'
kind_is gretap '"kind":"gretap","key":4294967295' '"kind":"gretap","key":4294967295' \
	'gre.proto == 0x6558 && gre.key == 0xffffffff'
kind_is gtpu '"kind":"gtpu","teid":"100-109","local_teid":"500-509","qfi":9' \
	'"kind":"gtpu","teid":"500-509","local_teid":"100-109","qfi":9' \
	'gtp.message == 0xff && gtp.ext_hdr.pdu_ses_con.qos_flow_id == 9'
kind_is teid '"kind":"gtpu","teid":4294967295' '"kind":"gtpu","teid":4294967295' \
	'gtp.teid == 0xffffffff && !gtp.ext_hdr'
kind_is ipip '"kind":"ipip"' '"kind":"ipip"' 'ip.proto == 4 || ip.proto == 41 || ipv6.nxt == 4 || ipv6.nxt == 41'
kind_is mpls '"kind":"mpls","label":"16-20","label_stack":[100,101]' '"kind":"mpls","label":"16-20"' \
	'mpls.label >= 16'
