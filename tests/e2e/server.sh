#!/usr/bin/env bash
# Real clients against our server on a kernel interface: curl, wrk and ab, keep-alive and not.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

netns s k
cable s s0 - k k0 10.9.0.1/24
cat >server.json <<'END'
{
  "duration": "120s", "drain": "1s",
  "ports": [{"name": "s", "device": "if:s0", "cores": [0], "address": ["10.9.0.2/24"]}],
  "traffic": [
    {"name": "web", "kind": "http-server", "servers": "10.9.0.2-10.9.0.3", "server_ports": 80,
      "response": {"body": {"size": 100}}},
    {"name": "empty", "kind": "http-server", "servers": "10.9.0.2", "server_ports": 81,
      "response": {"body": {"size": 0}}},
    {"name": "page", "kind": "http-server", "servers": "10.9.0.2", "server_ports": "82-83",
      "response": {"headers": {"X-Onager": "yes"}, "body": {"size": 21000}}},
    {"name": "big", "kind": "http-server", "servers": "10.9.0.2", "server_ports": 84,
      "response": {"body": {"size": 5000000}}},
    {"name": "busy", "kind": "http-server", "servers": "10.9.0.2", "server_ports": 85,
      "response": {"status": 503, "body": {"size": 10}}},
    {"name": "ab", "kind": "http-server", "servers": "10.9.0.2", "server_ports": 8080,
      "response": {"body": {"size": 1}}},
    {"name": "abk", "kind": "http-server", "servers": "10.9.0.2", "server_ports": 8081,
      "response": {"body": {"size": 2000}}}
  ]
}
END
onager_run server s server.json

fetch() { # curl ARGUMENT...: prints "STATUS SIZE CONNECTS" for each transfer
	in_ns k timeout 20 curl -sS -m 15 -o body -w '%{http_code} %{size_download} %{num_connects}\n' "$@"
}
fetched() { # EXPECTED ARGUMENT...
	local want=$1 got

	shift
	got=$(fetch "$@") || fail "curl $*: exit $?"
	[ "$got" = "$want" ] || fail "curl $*: expected '$want', got '$got'"
}

case_is "curl gets pages of every size"
wait_for 10 fetch -m 1 http://10.9.0.2/
fetched "200 100 1" http://10.9.0.3/
fetched "200 0 1" http://10.9.0.2:81/
fetched "200 21000 1" http://10.9.0.2:82/a/path?with=query
fetched "200 5000000 1" http://10.9.0.2:84/
fetched "503 10 1" http://10.9.0.2:85/
in_ns k curl -sS -m 5 -D head -o body http://10.9.0.2:83/
says head '^HTTP/1.1 200 '
says head '^Content-Length: 21000'
says head '^X-Onager: yes'

case_is "one connection carries several requests"
fetched $'200 100 1\n200 100 0\n200 100 0' http://10.9.0.2/1 -o body http://10.9.0.2/2 -o body \
	http://10.9.0.2/3
fetched "200 100 1" -0 http://10.9.0.2/
fetched "200 100 1" -H 'Connection: close' http://10.9.0.2/
fetched $'200 0 1\n200 0 0' -I http://10.9.0.2/ -o body http://10.9.0.2/

case_is "request bodies are taken in full"
head -c 100000 /dev/zero >upload
fetched $'200 100 1\n200 100 0' --data-binary @upload http://10.9.0.2/ -o body http://10.9.0.2/
head -c 3000000 /dev/zero >upload # this large curl asks for "100 Continue" first
fetched "200 100 1" --data-binary @upload http://10.9.0.2/
# ... which it waits for, up to the time given here.
fetched $'200 100 1\n200 100 0' --expect100-timeout 20 -H 'Transfer-Encoding: chunked' --data-binary @upload \
	http://10.9.0.2/ -o body http://10.9.0.2/

case_is "ping is answered for own addresses only, a closed port is refused"
in_ns k ping -c 2 -i 0.2 -W 2 -s 1000 10.9.0.3 >ping.out || fail "no echo from 10.9.0.3"
! in_ns k ping -c 1 -W 1 10.9.0.9 >ping.out || fail "10.9.0.9 is nobody's address"
status=0
fetch http://10.9.0.2:9/ >refused.out 2>&1 || status=$?
[ $status = 7 ] || fail "curl to a closed port: exit $status, expected 7 (refused)"

wrk_is_clean() { # ARGUMENT...
	in_ns k taskset -c 1 timeout 30 wrk -t 1 -c 20 -d 2s "$@" >wrk.out 2>&1 || fail "wrk failed"
	says wrk.out '[1-9][0-9]* requests in'
	! grep -E 'Socket errors|Non-2xx' wrk.out || fail "wrk $*: see above"
}
case_is "wrk, keep-alive and not"
wrk_is_clean http://10.9.0.2/
wrk_is_clean http://10.9.0.2:82/
wrk_is_clean -H 'Connection: close' http://10.9.0.2/

ab_is_clean() { # ARGUMENT...
	in_ns k taskset -c 1 timeout 60 ab -q -n 2000 -c 10 "$@" >ab.out 2>&1 ||
		fail "ab failed: $(tail -n 2 ab.out)"
	says ab.out '^Complete requests: +2000$'
	says ab.out '^Failed requests: +0$'
	! grep -q 'Non-2xx' ab.out || fail "ab: not only 200"
}
case_is "ab, keep-alive and not"
ab_is_clean http://10.9.0.2:8080/
ab_is_clean -k http://10.9.0.2:8081/
says ab.out '^Keep-Alive requests: +(2000|19[0-9][0-9])$'

case_is "nothing is left at the peer, and the report counts what the clients counted"
wait_for 5 no_sockets k 80
wait_for 5 no_sockets k 8081
stop server
laws server
# (ab opens up to nine connections that it then has no request for.)
expect server '.verdict == "pass"' '.traffic.ab | .offered >= 2000 and .offered < 2010' \
	'.traffic.ab.requests.succeeded == 2000' '.traffic.abk.requests.succeeded == 2000' \
	'.traffic.abk.offered <= 30' '.traffic.busy.requests.succeeded == 1' \
	'.traffic.big.requests.succeeded == 1' '.traffic.empty.requests.succeeded == 1' \
	'.total.httpErr == 0' '.total.badRx == 0'

case_is "a kernel that leaves segmentation to a NIC: it is said what to do"
onager_run server s server.json --duration 20s
await server
in_ns k ethtool -K k0 tx on tso on gso on >/dev/null
in_ns k timeout 20 curl -sS -m 3 -o body --data-binary @upload http://10.9.0.2/ >curl.out 2>&1 || true
wait_for 5 grep -q 'port s: .*ethtool -K' server.err
in_ns k ethtool -K k0 tx off tso off gso off >/dev/null
fetched "200 100 1" --data-binary @upload http://10.9.0.2/
stop server
laws server
expect server '.total.drops["ip.cut"] > 0'
[ "$(grep -c 'ip.cut' server.err)" = 1 ] || fail "it was said more than once"
