#!/usr/bin/env bash
# onager replay --offline: recordings go into a server of ours under a virtual clock - one of a simulated
# run, one that tcpdump made of curl and a server on a cable, samples of refused packets - and the answers
# are as they were, whatever sequence numbers they have now.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

cat >pair.json <<'END'
{
  "duration": "1s", "drain": "3s", "seed": 5,
  "ports": [{"name": "c", "device": "loop:0", "cores": [0], "address": "10.0.0.1/24"},
            {"name": "s", "device": "loop:0", "cores": [0], "address": "10.0.0.2/24"}],
  "traffic": [{"name": "get", "port": "c", "kind": "http-client", "clients": "16.0.0.1-16.0.0.9",
               "servers": "48.0.0.1", "load": {"cps": 50}},
              {"name": "web", "port": "s", "kind": "http-server", "servers": "48.0.0.1",
               "response": {"body": {"size": 5000}}}]
}
END
server() { # FILE ADDRESS
	cat >"$1" <<-END
	{"duration": "60s", "drain": "3s", "seed": 77,
	 "ports": [{"name": "s", "device": "if:s0", "cores": [0], "address": "10.9.0.2/24"}],
	 "traffic": [{"name": "web", "kind": "http-server", "servers": "$2", "response": {"body": {"size": 5000}}}]}
	END
}
count() { tshark -r "$1" -Y "$2" -T fields -e frame.number 2>tshark.err | wc -l; }
# feed FILE RECORDING OUT [ARGUMENT...]
feed() { onager_exits 0 replay --offline "$1" "$2" -o "$3" "${@:4}"; }

case_is "a simulated run's recording into a server of another seed: every answer, at its time"
onager_exits 0 simulate pair.json --quiet --pcap pair.pcapng
server one.json 48.0.0.1
feed one.json pair.pcapng out.pcapng
says cmd.out 'packets of the recording 500, of these 300 its own end.s, too large 0, fed 200; answers 300'
[ "$(count out.pcapng http.response)" = 50 ] || fail "$(count out.pcapng http.response) responses"
[ "$(count out.pcapng 'tcp.flags.reset == 1 || tcp.analysis.retransmission')" = 0 ] || fail "resets or repetitions"
[ "$(tshark -r out.pcapng -T fields -e frame.time_relative 2>/dev/null | tail -1 | cut -c 1-4)" = 0.98 ] ||
	fail "the clock is not the recording's"

case_is "the same seed gives the same bytes, another one another, a pipe makes no difference"
feed one.json pair.pcapng again.pcapng
cmp out.pcapng again.pcapng || fail "answers differ"
feed one.json pair.pcapng other.pcapng --set seed=78
! cmp -s out.pcapng other.pcapng || fail "another seed, the same answers"
"$onager" replay --offline one.json - -o - <pair.pcapng >pipe.pcapng 2>cmd.err || fail "exit $?"
cmp out.pcapng pipe.pcapng || fail "the pipe makes a difference"

case_is "what is lost in the recording is repeated by the server, for as long as drain says"
editcap -r pair.pcapng begun.pcapng 1-3
feed one.json begun.pcapng begun-out.pcapng
[ "$(count begun-out.pcapng tcp.analysis.retransmission)" -ge 1 ] || fail "nothing is repeated"

case_is "a cable: what tcpdump recorded of curl, and samples of what was refused"
netns c s
cable c c0 10.9.0.1/24 s s0 -
server two.json 10.9.0.2
onager_run web s two.json --set capture.drops=drops.pcapng
await web
start dump c tcpdump -i c0 -n -s 0 -U -w curl.pcap tcp port 80
wait_for 10 grep -q 'listening on' dump.err
in_ns c curl -sf -m 10 -o body http://10.9.0.2/ || fail "curl: exit $?"
in_ns c curl -s -m 1 -o /dev/null http://10.9.0.2:81/ && fail "port 81 answers"
closed() { [ "$(count curl.pcap 'tcp.flags.fin == 1')" -ge 2 ]; }
wait_for 10 closed
stop dump 0 INT
stop web 0 INT
feed two.json curl.pcap curl-out.pcapng
[ "$(count curl-out.pcapng 'http.response.code == 200')" = 1 ] || fail "no response: $(cat cmd.out)"
[ "$(count curl-out.pcapng 'tcp.flags.reset == 1')" = 0 ] || fail "a reset"
tshark -r curl-out.pcapng -o tcp.check_checksum:TRUE -Y 'tcp.checksum.status == 0' 2>tshark.err | grep . && fail "checksums"
feed two.json drops.pcapng drops-out.pcapng
says cmd.out 'refused [1-9][0-9]*: tcp.no_port: SYN to an address or port that nobody listens on'

case_is "arguments that are wrong"
onager_exits 2 replay --offline two.json curl.pcap
says cmd.err 'no -o OUT given'
onager_exits 2 replay --offline two.json curl.pcap curl.pcap -o out.pcapng
says cmd.err 'expected one PCAP, got 2'
onager_exits 2 replay --offline none.json curl.pcap -o out.pcapng
says cmd.err 'none.json: No such file'
onager_exits 2 replay --offline two.json none.pcap -o out.pcapng
onager_exits 4 replay --offline two.json curl.pcap -o none/out.pcapng
onager_exits 4 replay --offline two.json curl.pcap -o /dev/full
