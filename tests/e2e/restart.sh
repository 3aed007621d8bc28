#!/usr/bin/env bash
# What connections leave behind: nothing after a thousand of curl's, and nothing that hinders a client
# that was killed and starts again at once with the same tuples.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

netns s c k
cable s s0 - k k0 10.9.0.1/24
http_server server.json if:s0 10.9.0.2/24 10.9.0.2

case_is "a thousand fetches of curl's: nothing sent twice, no reset, no socket left"
onager_run server s server.json --set ports.0.gateway=10.9.0.1
await server
retransmitted() { in_ns k nstat -asz TcpRetransSegs TcpExtTCPTimeouts | awk '!/^#/ { n += $2 } END { print n }'; }
before=$(retransmitted)
in_ns k timeout 60 curl -sS -m 50 -H 'Connection: close' -o fetched -w '%{http_code} %{size_download}\n' \
	'http://10.9.0.2/[1-1000]' >codes
[ "$(grep -c '^200 100$' codes)" = 1000 ] || fail "$(sort codes | uniq -c)"
[ "$(retransmitted)" = "$before" ] || fail "Linux sent something twice"
wait_for 5 no_sockets k 80
stop server
laws server
expect server '.traffic.web.succeeded == 1000' '.traffic.web.failed | add == 0' \
	'.total | .synRt + .finRt + .pushRt + .ackRt == 0' '.total | .rstRx + .rstTx == 0'

# The client's connections are held open by its think time; it is killed, and its second run walks
# through the same addresses and ports again while the server still has them all.
case_is "a client is killed and starts again: it connects at once"
cable s s1 - c c0 -
sed 's/s0/s1/' server.json >server1.json
http_client client.json if:c0 10.9.0.9/24 10.9.0.10-10.9.0.11 10.9.0.2
killed='--set ports.0.gateway=10.9.0.2 --set traffic.0.client_ports=2000-2499 --set traffic.0.think_time=30s
	--set traffic.0.load.cps=600 --set traffic.0.catch_up=5s'
onager_run server s server1.json --set ports.0.gateway=10.9.0.9
await server
# shellcheck disable=SC2086
onager_run first c client.json $killed --duration 60s
wait_for 20 grep -Eq '"skCon": ?[5-9][0-9][0-9]' first.out
kill -KILL "${pid[first]}"
wait "${pid[first]}" 2>/dev/null || true
unset "pid[first]"
# shellcheck disable=SC2086
onager_run second c client.json $killed --duration 1s
finish_or_late second 0 30
laws second
expect second '.traffic.web.offered > 400' '.traffic.web | .succeeded >= .offered * 0.999' \
	'.traffic.web.latency_us.connect | .p99 < 500000'
stop server
laws server
expect server '.traffic.web.failed.reset > 300'
