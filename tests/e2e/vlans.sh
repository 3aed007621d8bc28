#!/usr/bin/env bash
# Several networks on one port: VLANs and QinQ with Linux at the far ends, each with its own gateway
# and routes.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

case_is "two ports on a cable: every network's packets bear its tags and no other's"
netns c
in_ns c ip link add c0 type veth peer name s0
cable_end c c0 -
cable_end c s0 -
for at in c0 s0; do # what a packet socket sends, only the far end sees
	start "tcpdump-$at" c tcpdump -n -i $at -Q in --immediate-mode -U -w $at.pcap -B 65536
	wait_for 5 test -s $at.pcap
done
start tagged c "$onager" run "$source_dir/conf/loop-vlans.json" --duration 1s --report tagged.report \
	--set ports.0.device=if:c0 --set ports.1.device=if:s0 --set traffic.0.load.cps=100 \
	--set traffic.1.load.cps=200 --set traffic.2.load.cps=300 --set traffic.3.load.cps=50 \
	--set traffic.3.response.body.size=3000 --set traffic.7.response.body.size=3000 --set 'expect=[]'
finish_or_late tagged 0 30
stop tcpdump-c0
stop tcpdump-s0
mergecap -w tagged.pcap c0.pcap s0.pcap
laws tagged
expect tagged '[.traffic[].failed[]] | add == 0' '.total.badRx == 0' '.total.arpRx > 0' \
	'.traffic.guests.succeeded == .traffic."web-guests".succeeded' \
	'.traffic.customer | .succeeded + .not_offered.late == 50' '.traffic.guests.port == "clients/guests"'
count() { tshark -n -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -r tagged.pcap -Y "$1" 2>/dev/null | wc -l; }
[ "$(count '_ws.malformed || ip.checksum.status == Bad || tcp.checksum.status == Bad')" = 0 ] ||
	fail "tshark finds packets malformed or with wrong checksums"
for is in 'vlan && ip.addr == 10.0.0.0/24' 'ip.addr == 10.10.0.0/16 && !(vlan.id == 10)' \
	'ip.addr == 48.0.0.0/8 && !(vlan.id == 10)' 'ipv6 && tcp && !(vlan.id == 20)' \
	'ipv6 && tcp.dstport == 80 && !(vlan.priority == 5)' 'ip.addr == 10.7.0.0/24 && !(frame[12:4] == 88:a8:00:64 && frame[16:4] == 81:00:00:07)' \
	'ip.addr == 10.7.0.0/24 && ip.len > 1400' 'vlan && arp && frame[12:4] == 81:00:00:64'; do
	[ "$(count "$is")" = 0 ] || fail "there are packets with $is"
done
[ "$(count 'ip.src == 10.7.0.0/24 && tcp.flags.syn == 1 && tcp.flags.ack == 0')" -ge 45 ] || fail "no QinQ"

# Onager's trunk is in c; Linux lies in VLAN 10 and 20, and as two routers and a host in VLAN 30.
netns x k r1 r2 h
in_ns c ip link add c1 type veth peer name xc
in_ns c ip link set xc netns "onager-$$-x"
cable_end c c1 -
cable_end x xc -
cable x xk10 - k k10 10.10.0.2/24
cable x xk20 - k k20 10.20.0.2/24
cable x xr1 - r1 e0 10.30.0.11/24
cable x xr2 - r2 e0 10.30.0.12/24
cable x xh - h e0 10.30.0.13/24
start hub x python3 "$source_dir/tests/e2e/hub.py" xc xk10=10 xk20=20 xr1=30 xr2=30 xh=30
wait_for 10 grep -q ready hub.out
mkdir www
printf x >www/index.html
httpd() { # NS ADDRESS...
	local ns=$1 address

	shift
	for address in "$@"; do
		in_ns "$ns" ip address add "$address/32" dev lo
	done
	start "httpd-$ns" "$ns" python3 -m http.server -d www 80
	wait_for 10 in_ns "$ns" curl -sS -m 1 -o body "http://$1/"
}
# What is behind each router answers from there alone.
httpd r1 48.1.0.1 48.3.0.1
httpd r2 48.2.0.1
httpd h 10.99.0.1
in_ns r1 ip route add 16.0.0.0/24 via 10.30.0.1
in_ns r2 ip route add 16.0.0.0/24 via 10.30.0.1
in_ns h ip route add 16.0.0.0/24 via 10.30.0.1
in_ns k ip route add 48.0.0.0/24 via 10.20.0.1

case_is "servers in two VLANs, their clients Linux's: one on the link, one behind a gateway"
cat >server.json <<'END'
{
  "duration": "60s", "drain": "1s",
  "ports": [{"name": "s", "device": "if:c1", "cores": [0], "networks": [
    {"name": "a", "vlan": 10, "address": "10.10.0.1/24"},
    {"name": "b", "vlan": 20, "vlan_priority": 3, "address": "10.20.0.1/24", "gateway": "10.20.0.2"}]}],
  "traffic": [
    {"name": "one", "network": "a", "kind": "http-server", "servers": "10.10.0.9"},
    {"name": "two", "network": "b", "kind": "http-server", "servers": "48.0.0.1"},
    {"name": "tagged", "port": "s", "vlan": [20], "kind": "http-server", "servers": "48.0.0.2"}]
}
END
onager_run server c server.json
await server
for at in 10.10.0.9 48.0.0.1 48.0.0.2; do
	wait_for 10 in_ns k curl -sS -m 2 -o body "http://$at/"
done
in_ns k ping -q -c 1 -W 5 10.20.0.1 >ping.out || fail "no echo in VLAN 20"
in_ns k ping -q -c 1 -W 1 -I k10 10.20.0.1 >ping.out && fail "an address of VLAN 20 is heard of in VLAN 10"
stop server
laws server
expect server '[.traffic[].succeeded >= 1] | all' '.total.arpTx >= 2' '.traffic.two.port == "s/b"'

case_is "routes: the longest prefix, two routers and a host on the link, all asked for before the start"
cat >client.json <<'END'
{
  "duration": "1s", "drain": "1s",
  "ports": [{"name": "c", "device": "if:c1", "cores": [1], "networks": [
    {"name": "n", "vlan": 30, "address": "10.30.0.1/24", "gateway": "10.30.0.13", "routes": {
      "48.0.0.0/8": "10.30.0.11", "48.2.0.0/16": "10.30.0.12", "48.3.0.1/32": "10.30.0.11"}}]}],
  "traffic": [
    {"name": "web", "network": "n", "kind": "http-client", "clients": "16.0.0.1-16.0.0.50",
     "servers": ["48.1.0.1", "48.2.0.1", "48.3.0.1", "10.99.0.1", "10.30.0.13", "10.30.0.12"],
     "load": {"cps": 120}, "catch_up": "1s"}]
}
END
onager_run client c client.json
finish_or_late client 0 30
laws client
complete client 120
expect client '.total.arpTx >= 3' '.traffic.web.failed | add == 0'

case_is "a next hop that is not there is named"
onager_run client c client.json --set 'ports.0.networks.0.routes={"48.0.0.0/8":"10.30.0.77"}' \
	--set ports.0.resolve_timeout=300ms
finish client 4 10
says client.err 'port c/n: no answer to ARP for next hop 10.30.0.77: [0-9]+ requests sent in 0.3 s.*this network and VLAN'
