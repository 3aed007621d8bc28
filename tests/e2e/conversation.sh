#!/usr/bin/env bash
# Conversations: what tcpdump recorded of curl and nginx, and of a server that speaks first, is held again
# between our client and our server; with our server alone and curl, and with our client alone and the
# real server. tshark follows streams of the recording and of what was played: the same bytes.
. "$(dirname "$0")/lib.sh"

cat >talker.py <<'END'
"""Speaks first, answers each line in capitals after 50 ms, and closes after QUIT."""
import socketserver, time
class Talk(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"220 ready\r\n")
        for line in self.rfile:
            time.sleep(0.05)
            self.wfile.write(line.upper())
            if line == b"quit\r\n":
                return
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128
Server(("10.9.0.2", 2525), Talk).serve_forever()
END
cat >caller.py <<'END'
import socket
with socket.create_connection(("10.9.0.2", 2525), 10) as s:
    lines = s.makefile("rwb")
    assert lines.readline() == b"220 ready\r\n"
    for word in b"helo onager", b"data " + 5000 * b"x", b"quit":
        lines.write(word + b"\r\n")
        lines.flush()
        assert lines.readline() == word.upper() + b"\r\n"
END
netns c s
cable c c0 10.9.0.1/24 s s0 10.9.0.2/24
in_ns s ip address add 10.9.0.3/24 dev s0
head -c 200000 /dev/urandom >large
cat >nginx.conf <<END
daemon off; master_process off; pid $work/nginx.pid;
events { }
http { access_log off; server { listen 10.9.0.2:80; root $work; location = /page { return 200 page; } } }
END
start nginx s nginx -e "$work/nginx-error.log" -c "$work/nginx.conf"
start talker s python3 talker.py
answers() { in_ns c curl -sf -m 1 -o body http://10.9.0.2/page && in_ns c python3 caller.py; }
wait_for 10 answers

case_is "a recording of three connections, and the plan of it"
start dump c tcpdump -i c0 -n -s 0 -U -w session.pcap tcp
wait_for 10 grep -q 'listening on' dump.err
in_ns c curl -sf -m 10 http://10.9.0.2/page -o body http://10.9.0.2/large -o body || fail "curl: exit $?"
in_ns c python3 caller.py || fail "caller.py: exit $?"
in_ns c curl -sf -m 10 http://10.9.0.2/large -o body || fail "curl: exit $?"
closed() { [ "$(tshark -r session.pcap -Y tcp.flags.fin==1 2>/dev/null | wc -l)" -ge 6 ]; }
wait_for 10 closed
stop dump 0 INT
cat >both.json <<'END'
{"duration": "2s", "drain": "5s",
 "ports": [{"name": "c", "device": "loop:0", "cores": [0]}, {"name": "s", "device": "loop:0", "cores": [0]}],
 "traffic": [{"name": "talk", "kind": "conversation", "port": "c", "server_port": "s", "files": ["session.pcap"],
   "clients": "16.0.0.1-16.0.0.9", "servers": "48.0.0.1", "load": {"cps": 30}}],
 "capture": {"packets": [{"file": "played.pcapng", "port": "c"}]}}
END
onager_exits 0 check both.json
says cmd.out 'plays 3 of 3 conversations'

# both.txt of FILE STREAM: what the client said, and what the server said, in hexadecimal digits
follow() {
	tshark -r "$1" -q -z "follow,tcp,raw,$2" 2>tshark.err | python3 -c '
import re, sys
said = ["", ""]
for line in sys.stdin:
    if re.fullmatch(r"\t?[0-9a-f]+\n", line):
        said[line.startswith("\t")] += line.strip()
print(said[0], said[1], sep="\n")'
}
case_is "held again, 30 a second: all succeed, every byte compared, on the wire the same"
start both - "$onager" run both.json --report both.report
finish_or_late both 0
laws both
expect both '[.traffic[] | .failed[]] | add == 0' '.traffic.talk.offered >= 59' \
	'.traffic.talk | .succeeded == .offered' '.traffic.talk.compared_bytes > 59 * 100000' \
	'.traffic.talk.recording | .conversations == 3 and .played == 3' \
	'.traffic.talk.latency_us.response.max > 150000'
for stream in 0 1 2; do
	follow session.pcap $stream >want.txt
	follow played.pcapng $stream >got.txt
	[ "$(wc -c <want.txt)" -gt 100 ] || fail "nothing followed"
	cmp want.txt got.txt || fail "conversation $stream differs"
done

case_is "our server alone: curl asks, and is answered as nginx did"
cat >server.json <<'END'
{"duration": "60s", "drain": "1s", "ports": [{"name": "s", "device": "if:s0", "cores": [0], "address": "10.9.0.3/24"}],
 "traffic": [{"name": "talk", "kind": "conversation-server", "files": ["session.pcap"], "filter": "port 80",
   "servers": "10.9.0.4"}]}
END
onager_run server s server.json
await server
for page in page large; do
	[ $page = page ] && arguments=(-o body http://10.9.0.4/page -o body) || arguments=(-o body)
	in_ns c curl -sf -m 10 -H 'Host: 10.9.0.2' "${arguments[@]}" http://10.9.0.4/large || fail "curl: exit $?"
	cmp body large || fail "another page"
done
in_ns c curl -s -m 10 -o body http://10.9.0.4/other && fail "an answer that nobody recorded"
stop server 0 INT
expect server '.traffic.talk | .succeeded == 2 and .failed.mismatch == 1'

case_is "our client alone: the real server says what it said; one that says more is a mismatch"
cat >client.json <<'END'
{"duration": "1s", "drain": "5s", "ports": [{"name": "c", "device": "if:c0", "cores": [0], "address": "10.9.0.9/24"}],
 "traffic": [{"name": "talk", "kind": "conversation-client", "files": ["session.pcap"], "flow": 1,
   "clients": "10.9.0.9", "servers": "10.9.0.2", "server_ports": 2525, "load": {"cps": 20}}]}
END
start client c "$onager" run client.json --report client.report
finish_or_late client 0
laws client
expect client '.traffic.talk | .offered >= 19 and .succeeded == .offered'
sed -i 's/220 ready/220 at your service/' talker.py
stop talker 143 TERM
start talker s python3 talker.py
listens() { in_ns s ss -ltn | grep -q :2525; }
wait_for 10 listens
start other c "$onager" run client.json --report other.report
ended other 20
[ $status = 1 ] || fail "exit $status"
expect other '.traffic.talk | .failed.mismatch == .offered and .offered >= 1'

case_is "what is missing is named, and spoils the verdict unless that is allowed"
editcap session.pcap gap.pcap "$(tshark -r session.pcap -Y 'tcp.stream == 2 && tcp.len > 1000 && tcp.srcport == 80' -T fields -e frame.number 2>/dev/null | sed -n 3p)"
one=(--quiet --set 'traffic.0.files=["gap.pcap"]' --set traffic.0.load.cps=10 --set 'capture={}')
onager_exits 3 simulate both.json "${one[@]}"
says cmd.err 'gap.pcap: conversation 2, 10.9.0.1 port [0-9]+ to 10.9.0.2 port 80: bytes are missing .* behind its first [0-9]+'
onager_exits 0 simulate both.json "${one[@]}" --set traffic.0.allow_incomplete=true
onager_exits 2 check both.json --set 'traffic.0.files=["gap.pcap"]' --set traffic.0.flow=2
says cmd.err 'nothing to play: gap.pcap: conversation 2'
onager_exits 2 check both.json --set 'traffic.0.files=["none.pcap"]'
