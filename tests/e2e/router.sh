#!/usr/bin/env bash
# Client and server on two kernel interfaces, a Linux machine between them as the device under test:
# as a router, then as a NAT gateway with connection tracking.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

netns c r s
cable c c0 - r rc 10.1.0.1/24
cable s s0 - r rs 10.2.0.1/24
in_ns r sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 \
	net.ipv4.conf.rc.rp_filter=0 net.ipv4.conf.rs.rp_filter=0
in_ns r ip route add 16.0.0.0/24 via 10.1.0.2
in_ns r ip route add 48.0.0.0/24 via 10.2.0.2
http_server server.json if:s0 10.2.0.2/24 48.0.0.1-48.0.0.2
http_client client.json if:c0 10.1.0.2/24 16.0.0.0/24 48.0.0.1-48.0.0.2

pair() { # ARGUMENT OF THE CLIENT...
	onager_run server s server.json --set ports.0.gateway=10.2.0.1
	await server
	onager_run client c client.json --set ports.0.gateway=10.1.0.1 "$@"
	finish_or_late client 0 30
	stop server
	laws client server
	connections=$(jq .traffic.web.offered client.report)
	expect server ".traffic.web.succeeded == $connections"
}

case_is "through a router: both gateways are asked for by ARP"
pair
complete client 400
expect client '.total.arpTx > 0' '.total.synRt == 0'

case_is "through NAT: the server sees one client address, conntrack sees nothing invalid"
in_ns r nft -f - <<'END'
table ip nat {
	counter clients { }
	chain post {
		type nat hook postrouting priority srcnat;
		oifname "rs" counter name clients masquerade
	}
}
table ip watch {
	counter invalid { }
	counter untranslated { }
	chain forward {
		type filter hook forward priority filter;
		ct state invalid counter name invalid drop
	}
	chain out {
		type filter hook postrouting priority 200;
		oifname "rs" ip saddr 16.0.0.0/24 meta l4proto tcp ct state established \
			ct original ip saddr 16.0.0.0/24 ct reply ip daddr != 10.2.0.1 \
			counter name untranslated
	}
}
END
# From few client ports, so that addresses that share one get another from the gateway.
pair --set traffic.0.client_ports=5000-5003
complete client 400
packets() { in_ns r nft -j list counter ip "$@" | jq '.nftables[] | .counter? // empty | .packets'; }
[ "$(packets nat clients)" = "$connections" ] ||
	fail "$(packets nat clients) connections translated, not $connections"
[ "$(packets watch invalid)" = 0 ] || fail "$(packets watch invalid) packets invalid to conntrack"
[ "$(packets watch untranslated)" = 0 ] || fail "packets passed untranslated"

case_is "through NAT, kept-open connections"
pair --set traffic.0.requests_per_connection=20 --set traffic.0.load.cps=20
complete client 40
expect client '.traffic.web.requests.succeeded | . > 650 and . <= 800'
