#!/usr/bin/env bash
# What the environment lacks is said in words of its own, with exit 4, within five seconds.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

netns c s
cable c c0 - s s0 -
http_client client.json if:c0 10.9.0.1/24 10.9.0.10 10.9.0.2
cp "$onager" ./binary # where nobody may read it
chmod 755 binary

refused() { # PREFIX-COMMAND... --: then arguments of onager run; output in message
	local prefix=() status=0 begin=$SECONDS

	while [ "$1" != -- ]; do prefix+=("$1"); shift; done
	shift
	in_ns c timeout -k 1 8 "${prefix[@]}" ./binary run client.json "$@" \
		>message.out 2>message.err </dev/null || status=$?
	[ $status = 4 ] || fail "exit $status, expected 4"
	[ $((SECONDS - begin)) -le 6 ] || fail "took $((SECONDS - begin)) s"
	[ -s message.err ] || fail "nothing said"
	cat message.err >>all.err
}

case_is "an unknown interface, an unknown driver, a PCI device that is not there"
refused -- --set ports.0.device=if:nosuch
says message.err 'nosuch'
says message.err 'no such|does not exist|unknown'
refused -- --set ports.0.device=net_nosuch0
says message.err 'net_nosuch0'
refused -- --set ports.0.device=0000:ff:1f.7
says message.err '0000:ff:1f.7'
refused -- --set ports.0.device=net_memif0,role=client,socket=/nonexistent/x.sock,socket-abstract=no
says message.err 'net_memif0|memif'

case_is "no permission"
refused setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --
says message.err 'ermission|CAP_NET_RAW|root'

case_is "too few files"
refused sh -c 'ulimit -n 12; exec "$@"' sh --
says message.err 'ulimit -n'

case_is "the link is down"
in_ns s ip link set s0 down
refused --
says message.err 'link'
says message.err 'down'
in_ns s ip link set s0 up

case_is "a gateway, then an on-link server, that does not answer"
refused -- --set ports.0.gateway=10.9.0.254
says message.err 'c0|port c|ports\[0\]'
says message.err '10\.9\.0\.254'
says message.err '[0-9]+ (ARP )?requests'
refused -- --set ports.0.resolve_timeout=1s
says message.err '10\.9\.0\.2([^0-9]|$)'

case_is "with gateway_mac there is no wait"
onager_run client c client.json --set ports.0.gateway=10.9.0.254 --duration 0.5s \
	--set ports.0.gateway_mac=02:00:00:00:00:01 --set traffic.0.timeout=0.5s
finish client 1 5
laws client
expect client '.traffic.web | .failed.timeout == .offered and .offered > 80'

case_is "the messages differ"
[ "$(sed 's/^onager: *//' all.err | cut -c 1-60 | sort -u | wc -l)" -ge 7 ] ||
	fail "some are the same: $(cat all.err)"
