#!/usr/bin/env bash
# DPDK's telemetry on a running instance: its socket answers, and counts what the port sends.
. "$(dirname "$0")/lib.sh"

cat >ask.py <<'END'
"""Asks the telemetry socket argv[1] for argv[2]."""
import socket
import sys

ask = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
ask.connect(sys.argv[1])
ask.recv(4096)
ask.send(sys.argv[2].encode())
print(ask.recv(65536).decode())
END

case_is "a replay's port, asked while it runs"
start replay - "$onager" replay "$source_dir/tests/golden/pcap/one_udp.pcap" --port net_null0,no-rx=1 --pps 1000 \
	--loop max --format json --report replay.report
wait_for 10 [ -s replay.out ]
sockets=("$RUNTIME_DIRECTORY"/dpdk/*/dpdk_telemetry.v2)
[ -S "${sockets[0]}" ] || fail "no telemetry socket"
python3 ask.py "${sockets[0]}" /ethdev/list | jq -e '."/ethdev/list" == [0]' >jq.out || fail "no port is listed"
python3 ask.py "${sockets[0]}" /ethdev/stats,0 | jq -e '."/ethdev/stats".opackets > 100' >jq.out || fail "counts nothing"
stop replay 0 INT
expect replay '.traffic.replay.offered > 100'
