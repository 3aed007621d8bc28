#!/usr/bin/env bash
# Linux's TCP as the peer, both ways, on every kind of path: loss, reordering, small windows and
# segments, options switched off, segmentation offloads, connection tracking and a SYN proxy. What
# arrives is compared with the pattern that bodies are made of (docs/CONFIGURATION.md).
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

linux_bed s

big=$((50000000 / (slow * slow))) middle=$((5000000 / slow))
sum_of() { (set +o pipefail; pattern "$1" | sha256sum); }
small_sum=$(sum_of 21000)
middle_sum=$(sum_of $middle)
big_sum=$(sum_of $big)

ports='{"device": "if:s0", "cores": [0], "address": ["10.9.0.2/24"], "gateway": "10.9.0.1"'
cat >server.json <<END
{
  "duration": "10m", "drain": "1s",
  "ports": [$ports, "name": "a"}, {"name": "b", "device": "if:s1", "cores": [1], "address": ["10.7.0.1/24"]}],
  "traffic": [
    {"name": "small", "port": "a", "kind": "http-server", "servers": "10.9.0.2", "server_ports": 80,
      "response": {"content": "bare", "body": {"size": 21000}}, "tcp": {"window": 1000000}},
    {"name": "big", "port": "a", "kind": "http-server", "servers": "10.9.0.2", "server_ports": 81,
      "response": {"content": "bare", "body": {"size": $big}}},
    {"name": "middle", "port": "a", "kind": "http-server", "servers": "10.9.0.2", "server_ports": 82,
      "response": {"content": "bare", "body": {"size": $middle}}},
    {"name": "mixed", "port": "b", "kind": "http-server", "servers": "10.7.0.1", "server_ports": 80,
      "response": {"content": "bare", "body": {"size": 21000}}},
    {"name": "mixed-big", "port": "b", "kind": "http-server", "servers": "10.7.0.1", "server_ports": 81,
      "response": {"content": "bare", "body": {"size": $big}}, "tcp": {"congestion": "cubic"}}
  ]
}
END

filter() { # RULES: the router's rules from now on
	in_ns r nft flush ruleset
	in_ns r nft -f - <<<"$1"
}
loses() { # NUMBER: so many of a thousand packets are lost in either direction
	filter "table ip loss {
		chain forward {
			type filter hook forward priority 0;
			numgen random mod 1000 < $1 drop
		}
	}"
}
same() { # URL SUM: what is there arrives as it was made
	[ "$(in_ns k timeout 100 curl -sS -m 90 "http://$1" | sha256sum)" = "$2" ] || fail "the body of $1 is another"
}
fetch() { # ADDRESS
	same "$1/" "$small_sum"
	same "$1:81/" "$big_sum"
}
# The same with a body that takes less of the test's time.
fetch_less() { # ADDRESS
	same "$1/" "$small_sum"
	same "$1:82/" "$middle_sum"
}
# Twenty connections of wrk's, and none of them has anything to complain about.
load() { # ADDRESS
	in_ns k timeout 30 wrk -t 1 -c 20 -d 1s --timeout 20s "http://$1/" >wrk.out
	says wrk.out '[1-9][0-9]* requests in'
	! grep -E 'Socket errors|Non-2xx' wrk.out || fail "wrk is not content"
}
answers() { in_ns k curl -sS -m 1 -o /dev/null "http://$1/"; }

onager_run server s server.json
wait_for 10 answers 10.9.0.2
start forward x python3 "$source_dir/tests/e2e/reorder.py" xs xk
wait_for 10 grep -q ready forward.out
wait_for 10 answers 10.7.0.1

case_is "Linux fetches 21000 and $big bytes over a clean path"
fetch 10.9.0.2

case_is "... while conntrack drops what it thinks invalid"
filter 'table ip watch {
	counter invalid { }
	chain forward {
		type filter hook forward priority 0;
		ct state invalid counter name invalid drop
	}
}'
fetch_less 10.9.0.2
invalid=$(in_ns r nft -j list counter ip watch invalid | jq '.nftables[] | .counter? // empty | .packets')
[ "$invalid" = 0 ] || fail "$invalid packets are invalid to conntrack"

case_is "... through packet loss of 1 %"
loses 10
fetch_less 10.9.0.2
load 10.9.0.2

case_is "... with SACK and time stamps switched off at the peer"
in_ns k sysctl -qw net.ipv4.tcp_timestamps=0 net.ipv4.tcp_sack=0
fetch_less 10.9.0.2
in_ns k sysctl -qw net.ipv4.tcp_timestamps=1 net.ipv4.tcp_sack=1

case_is "... with a receive window of 8 KB"
filter ''
in_ns k sysctl -qw net.ipv4.tcp_rmem="4096 8192 8192"
fetch_less 10.9.0.2
in_ns k sysctl -qw net.ipv4.tcp_rmem="4096 131072 6291456"

case_is "... with an MTU of 576"
for end in "r rk" "k k0"; do in_ns ${end% *} ip link set "${end#* }" mtu 576; done
fetch_less 10.9.0.2
for end in "r rk" "k k0"; do in_ns ${end% *} ip link set "${end#* }" mtu 1500; done

case_is "... with segmentation and receive offloads"
for end in "r rk" "k k0"; do in_ns ${end% *} ethtool -K "${end#* }" tx on tso on gso on gro on >/dev/null; done
fetch_less 10.9.0.2

case_is "... past a router with an MTU of 600, which it says"
in_ns r ip link set rk mtu 600
fetch_less 10.9.0.2
in_ns r ip link set rk mtu 1500

case_is "... out of order"
fetch 10.7.0.1
load 10.7.0.1
stop server
laws server
expect server '.total.badRx == 0'

case_is "Time stamps, ECN, stretched acknowledgments and an MTU of 9000, through packet loss of 1 %"
in_ns k sysctl -qw net.ipv4.tcp_ecn=1
for end in "s s0" "r rs" "r rk" "k k0"; do in_ns ${end% *} ip link set "${end#* }" mtu 9000; done
onager_run stamped s server.json --set ports.0.mtu=9000 \
	--set 'traffic.0.tcp={"timestamps": true, "ecn": true, "delayed_ack": "10ms", "ack_every": 4}' \
	--set 'traffic.1.tcp={"timestamps": "peer", "ecn": true, "window": 1000000}'
wait_for 10 answers 10.9.0.2
filter ''
fetch_less 10.9.0.2
loses 10
fetch_less 10.9.0.2

case_is "... and through a SYN proxy"
in_ns r nft flush ruleset
in_ns r sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0
filter 'table ip proxy {
	chain pre {
		type filter hook prerouting priority raw;
		iifname "rk" tcp flags syn notrack
	}
	chain forward {
		type filter hook forward priority 0;
		ct state invalid,untracked synproxy mss 1460 timestamp sack-perm
		ct state invalid drop
	}
}'
fetch_less 10.9.0.2
stop stamped
laws stamped
expect stamped '.total.badRx == 0'
