#!/usr/bin/env bash
# A kernel interface through AF_XDP: curl and wrk against our server, and the link's state.
. "$(dirname "$0")/lib.sh"

netns s k
cable s s0 - k k0 10.9.0.1/24
http_server server.json xdp:s0 10.9.0.2/24 10.9.0.2

case_is "curl and wrk"
onager_run server s server.json
answers() { in_ns k curl -sf -m 2 -o body "http://10.9.0.2/${1:-}"; }
wait_for 10 answers
for path in 1 2 3 4 5 6 7 8 9; do answers $path || fail "curl: exit $?"; done
in_ns k taskset -c 1 timeout 30 wrk -t 1 -c 20 -d 2s http://10.9.0.2/ >wrk.out 2>&1 || fail "wrk failed"
says wrk.out '[1-9][0-9]* requests in'
! grep -E 'Socket errors|Non-2xx' wrk.out || fail "wrk: see above"
stop server
laws server
expect server '.verdict == "pass"' '.traffic.web.requests.succeeded > 100' '.ports.s.driver == "net_af_xdp"'

case_is "the interface is the kernel's again"
in_ns s ip link show s0 >link.out
! grep -q xdp link.out || fail "a program is left: $(cat link.out)"
