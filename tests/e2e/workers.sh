#!/usr/bin/env bash
# Several workers for one server address, two of them on each core: counts are exact, no tuple is used
# twice, each worker has its share - on a cable, over memif, on kernel interfaces with a queue each.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

http_server server.json loop:0 10.9.0.2/24 10.9.0.2
http_client client.json loop:0 10.9.0.1/24 10.9.0.1 10.9.0.2
jq -s '.[1].traffic[0].name = "site" | .[0] + {ports: map(.ports[]), traffic: map(.traffic[])}
	| .traffic[0].port = "c" | .traffic[1].port = "s" | .seed = 3
	| .capture.packets = [{file: "syn.pcap", port: "c", direction: "tx", format: "pcap", snaplen: 64,
		filter: "tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn"}]' client.json server.json >loop.json
of=([1]='[1]' [2]='[1,0]' [4]='[1,0,1,0]')

# Each SYN that is no retransmission has a tuple of its own; capture is of one process and file.
tuples_are_unique() { # SYNS
	python3 - "$1" <<-'END' || fail "tuples"
	import struct, sys
	data, seen, at = open("syn.pcap", "rb").read(), {}, 24
	while at < len(data):
	    size = struct.unpack_from("<I", data, at + 8)[0]
	    packet = data[at + 16:at + 16 + size]
	    seen.setdefault(packet[26:38], set()).add(packet[38:42])
	    at += 16 + size
	twice = sum(len(sequence) > 1 for sequence in seen.values())
	assert len(seen) == int(sys.argv[1]) and not twice, (len(seen), twice)
	END
}

# 20 to 30 percent for each of four; of N workers, the like.
shares_are_even() { # NAME WORKERS
	expect "$1" "[.workers[] | select(.port == \"c\") | .connections] | length == $2 and
		(add as \$all | all(.[]; . >= 0.8 * \$all / $2 and . <= 1.2 * \$all / $2))"
}

on_the_cable() { # CLIENT-WORKERS SERVER-WORKERS ARGUMENT...
	local c=$1 s=$2

	shift 2
	onager_run run - loop.json --set "ports.0.cores=${of[$c]}" --set "ports.1.cores=${of[$s]}" "$@"
	finish_or_late run 0 40
	laws run
}
for workers in "1 1" "2 2" "4 4" "4 1" "1 4" "2 4"; do
	case_is "a cable, workers: $workers"
	read -r c s <<<"$workers"
	on_the_cable "$c" "$s" --duration 1s --set traffic.0.load.cps=2000 --set traffic.1.max_connections=4000
	complete run 2000
	tuples_are_unique "$(jq .traffic.web.offered run.report)"
	shares_are_even run "$c"
done

case_is "concurrency is exact, and divided among the workers"
on_the_cable 4 2 --set 'traffic.0.load={"concurrency": 202}' --set traffic.0.think_time=0.1s
expect run '.traffic.web | .open_max == 202 and .achieved.concurrency >= 201 and ([.failed[]] | add) == 0'

# The server has one queue, so that all it sends comes to queue 0; one worker owns both ports, or each one.
case_is "tuples that are too few: the run ends on time, and says what rate they allow"
begin=$SECONDS
onager_run run - loop.json --set ports.0.cores=[1,0] --set 'traffic.0.client_ports="1024-1025"' \
	--set traffic.0.load.cps=100000 --set traffic.0.catch_up=100ms
ended run 40
[ "$status" = 3 ] || fail "exit $status, expected 3"
[ $((SECONDS - begin)) -le $((8 * slow)) ] || fail "it took $((SECONDS - begin)) s"
laws run
expect run '.phases.steady_s == 2' '.traffic.web.not_offered.no_tuple > 1000' \
	'.traffic.web | .failed | add == 0' \
	'.reasons | join(" ") | test("its 2 pairs of .* allowed [0-9.]+ connections a second")'

case_is "two processes over memif, four queues"
memif=net_memif0,socket=$work/memif,socket-abstract=no,id=7,role
onager_run server - server.json --set "ports.0.device=\"$memif=server\"" --set ports.0.cores=[0,1,0,1]
wait_for 10 test -S memif
onager_run client - client.json --set "ports.0.device=\"$memif=client\"" --set ports.0.cores=[1,0,1,0] \
	--set traffic.0.load.cps=1000
finish_or_late client 0 40
stop server
laws client server
complete client 2000
shares_are_even client 4
expect server ".traffic.web.succeeded == $(jq .traffic.web.succeeded client.report)"

case_is "kernel interfaces, four queues at either end"
netns c s
cable c c0 - s s0 -
onager_run server s server.json --set 'ports.0.device="if:s0"' --set ports.0.cores=[0,1,0,1]
await server
onager_run client c client.json --set 'ports.0.device="if:c0"' --set ports.0.cores=[1,0,1,0] \
	--set traffic.0.load.cps=500
finish_or_late client 0 40
stop server
laws client server
complete client 1000
shares_are_even client 4
expect server ".traffic.web.succeeded == $(jq .traffic.web.succeeded client.report)"
