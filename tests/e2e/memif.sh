#!/usr/bin/env bash
# Two processes over a memif: nothing but a socket file between them.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

memif() { # ROLE ID
	echo "net_memif$2,role=$1,id=$2,socket=$work/memif.sock,socket-abstract=no"
}
http_server server.json "$(memif server 0)" 10.9.0.2/24 48.0.0.1-48.0.0.4
http_client client.json "$(memif client 0)" 10.9.0.1/24 16.0.0.0/24 48.0.0.1-48.0.0.4

pair() { # ARGUMENT OF THE CLIENT...
	onager_run server - server.json --set ports.0.gateway=10.9.0.1
	onager_run client - client.json --set ports.0.gateway=10.9.0.2 "$@"
	finish_or_late client 0 30
	stop server
	laws client server
}

case_is "sockets that ask for more than the memory between them holds: nothing is lost"
cat >udp.json <<END
{
  "duration": "2s", "drain": "5s",
  "ports": [{"name": "p", "device": "$(memif client 1)", "cores": [0], "address": "10.9.0.1/24", "gateway": "10.9.0.2"}],
  "traffic": [{"name": "ask", "kind": "udp-client", "clients": "16.0.0.0/24", "servers": "48.0.0.1",
    "requests_per_connection": "max", "timeout": "20s", "load": {"concurrency": 20000}}]
}
END
onager_run server - udp.json --set "ports.0.device=\"$(memif server 1)\"" --set ports.0.gateway=10.9.0.1 \
	--set ports.0.address=10.9.0.2/24 --set 'traffic.0={"name": "echo", "kind": "udp-server", "servers": "48.0.0.1"}' \
	--duration 60s
onager_run client - udp.json
ended client 30
[ "$status" = 0 ] || [ "$status" = 3 ] || fail "exit $status"
stop server
expect client '.total.udpLost == 0 and .total.dropTx == 0' '.traffic.ask.requests | .succeeded == .offered' \
	'.traffic.ask.requests.offered > 20000'
expect server '.total.dropTx == 0 and .total.udpReq == .total.udpRsp'
[ "$(jq .total.udpReq server.report)" = "$(jq .total.udpReq client.report)" ] || fail "requests lost on the way"

case_is "short connections: as many arrive as leave, nothing is repeated"
pair --set traffic.0.load.cps=2000
complete client 4000
[ "$(jq .traffic.web.offered server.report)" = "$(jq .traffic.web.offered client.report)" ] ||
	fail "connections lost on the way"
expect client '.total.synRt + .total.finRt + .total.pushRt == 0'
expect server '.total.synRt + .total.finRt + .total.pushRt == 0' '.total.tcpDrop == 0'
[ "$(jq .total.tcpTx client.report)" = "$(jq .total.tcpRx server.report)" ] ||
	fail "segments lost on the way to the server"
[ "$(jq .total.tcpTx server.report)" = "$(jq .total.tcpRx client.report)" ] ||
	fail "segments lost on the way to the client"

case_is "kept-open connections"
pair --set 'traffic.0.load={"concurrency": 200}' --set traffic.0.requests_per_connection=max \
	--set traffic.0.think_time=20ms
complete client 200
expect client '.traffic.web.requests.succeeded >= 7000'

# Its link goes with it, and the client's port takes no packet any more.
for signal in KILL TERM; do
	case_is "a server that ends in mid-run, by SIG$signal"
	onager_run server - server.json --set ports.0.gateway=10.9.0.1
	onager_run client - client.json --set ports.0.gateway=10.9.0.2 \
		--set traffic.0.load.cps=3000 --set traffic.0.timeout=1s
	await client
	some() { [ "$(wc -l <client.out)" -ge 5 ]; }
	wait_for 10 some
	stop server "$([ $signal = KILL ] && echo 137 || echo 0)" $signal
	finish client 1 20
	laws client
	expect client '.verdict == "fail"' '.traffic.web | .succeeded > 0 and .open == 0' \
		'.traffic.web.failed | .timeout + .cut > 0' \
		'.reasons[0] | test("^port c: its link was down .* did not come up again$")'
done
