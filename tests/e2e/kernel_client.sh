#!/usr/bin/env bash
# Our client against Linux's TCP: bodies that it sends are those that arrive, bodies that it receives
# have their length, on every kind of path.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

linux_bed c

big=$((20000000 / (slow * slow)))
start sink k python3 "$source_dir/tests/e2e/sink.py" 8080
start forward x python3 "$source_dir/tests/e2e/reorder.py" xc xk
listens() { in_ns k curl -sS -m 1 -o /dev/null http://10.8.0.2:8080/; }
wait_for 10 listens
wait_for 10 grep -q ready forward.out

http_client near.json if:c0 10.9.0.2/24 10.9.0.10-10.9.0.19 10.8.0.2
http_client mixed.json if:c1 10.7.0.1/24 10.7.0.10-10.7.0.19 10.7.0.2
run=0
small_sum=$(set +o pipefail; pattern 21000 | sha256sum)
big_sum=$(set +o pipefail; pattern $big | sha256sum)
# both FILE ARGUMENT...: ten short bodies and a long one, twice: what arrives is what was sent, and the
# answers come whole.
both() {
	local file=$1 before

	shift
	run=$((run + 1))
	before=$(wc -l <sink.out)
	onager_run run$run c "$file" --set traffic.0.server_ports=8080 --set traffic.0.timeout=60s \
		--set "traffic.0.requests=[{\"method\": \"POST\", \"body\": {\"size\": 21000}, \"weight\": 10},
			{\"method\": \"POST\", \"body\": {\"size\": $big}}]" \
		--set traffic.0.response.body.size=100000 --set traffic.0.load.cps=22 \
		--duration 1s --set drain=60s "$@"
	finish_or_late run$run 0 90
	laws run$run
	complete run$run 22
	tail -n +$((before + 1)) sink.out >arrived
	[ "$(sort -u arrived)" = "$(printf '%s 0\n' "${small_sum%% *}" "${big_sum%% *}" | sort)" ] ||
		fail "what arrived: $(sort arrived | uniq -c)"
	[ "$(wc -l <arrived)" = "$(jq .traffic.web.succeeded run$run.report)" ] || fail "not all arrived"
	wait_for 5 no_sockets k 8080
}
gateway='--set ports.0.gateway=10.9.0.1'
filter() { # RULES: the router's rules from now on
	in_ns r nft flush ruleset
	in_ns r nft -f - <<<"$1"
}

case_is "bodies of 21000 and $big bytes over a clean path, nothing of them invalid to conntrack"
filter 'table ip watch {
	counter invalid { }
	chain forward {
		type filter hook forward priority 0;
		ct state invalid counter name invalid drop
	}
}'
# shellcheck disable=SC2086
both near.json $gateway
invalid=$(in_ns r nft -j list counter ip watch invalid | jq '.nftables[] | .counter? // empty | .packets')
[ "$invalid" = 0 ] || fail "$invalid packets are invalid to conntrack"

case_is "... through packet loss of 1 %"
filter 'table ip loss {
	chain forward {
		type filter hook forward priority 0;
		numgen random mod 1000 < 10 drop
	}
}'
# shellcheck disable=SC2086
both near.json $gateway

case_is "... with SACK and time stamps switched off at the peer"
in_ns k sysctl -qw net.ipv4.tcp_timestamps=0 net.ipv4.tcp_sack=0
# shellcheck disable=SC2086
both near.json $gateway --set traffic.0.tcp.congestion=cubic
in_ns k sysctl -qw net.ipv4.tcp_timestamps=1 net.ipv4.tcp_sack=1

case_is "... with a receive window of 8 KB"
filter ''
in_ns k sysctl -qw net.ipv4.tcp_rmem="4096 8192 8192"
# shellcheck disable=SC2086
both near.json $gateway
in_ns k sysctl -qw net.ipv4.tcp_rmem="4096 131072 6291456"

case_is "... with an MTU of 576"
for end in "r rk" "k k0"; do in_ns ${end% *} ip link set "${end#* }" mtu 576; done
# shellcheck disable=SC2086
both near.json $gateway
for end in "r rk" "k k0"; do in_ns ${end% *} ip link set "${end#* }" mtu 1500; done

case_is "... with segmentation and receive offloads"
for end in "r rk" "k k0"; do in_ns ${end% *} ethtool -K "${end#* }" tx on tso on gso on gro on >/dev/null; done
# shellcheck disable=SC2086
both near.json $gateway

case_is "... out of order"
both mixed.json
