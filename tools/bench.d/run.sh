# Of tools/bench: one run, one floor, and the row that is made of them.

cleanup() {
	server_stop
	[ ! -e "$work/netns" ] || ip netns del "onager-bench-$$"
	[ ! -e "$work/hugepages" ] || cat "$work/hugepages" >/proc/sys/vm/nr_hugepages
	rm -rf "$work"
}

# Tables and packet buffers lie in hugepages where there are some.
hugepages_reserve() {
	local count=${HUGEPAGES:-1024} file=/proc/sys/vm/nr_hugepages before

	before=$(cat $file 2>/dev/null || echo 0)
	if [ "$(id -u)" = 0 ] && [ "$count" -gt "$before" ] && [ -w $file ]; then
		echo "$before" >"$work/hugepages"
		echo "$count" >$file || true
	fi
	hugepages=$(jq -n --argjson before "$before" --argjson during "$(cat $file 2>/dev/null || echo 0)" \
		'{page: "2 MiB", reserved_before: $before, reserved_for_bench: $during}')
}

# A cable between two kernel interfaces, in a namespace of its own.
veth_make() {
	local ns=onager-bench-$$

	within=(ip netns exec "$ns")
	[ ! -e "$work/netns" ] || return 0
	ip netns add "$ns"
	touch "$work/netns"
	"${within[@]}" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	ip link add bench0 netns "$ns" type veth peer name bench1 netns "$ns"
	"${within[@]}" ip link set bench0 up
	"${within[@]}" ip link set bench1 up
}

# A recording of 200,000 frames of 64 bytes with FCS in 1000 flows, at top speed.
replay_define() { # MEMORY CORES
	conf=$work/replay.json unit=pps settings=()
	[ -s "$work/replay.pcap" ] || python3 - >"$work/replay.pcap" <<-'END'
	import struct, sys
	out = sys.stdout.buffer
	out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
	for i in range(200000):
	    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 46, 0, 0, 64, 17, 0, 0x0a000001 + i % 1000, 0x0b000001)
	    frame = bytes(12) + b"\x08\x00" + ip + struct.pack(">HHHH", i % 1000, 9, 26, 0) + bytes(18)
	    out.write(struct.pack("<IIII", 0, i, len(frame), len(frame)) + frame)
	END
	cat >"$conf" <<-END
	{"duration": "5s", "ports": [{"name": "tx", "device": "net_null0,no-rx=1", "cores": $2}],
	 "traffic": [{"name": "replay", "kind": "replay", "files": ["$work/replay.pcap"], "topspeed": true,
	              "loop": "max", "memory": "$1"}]}
	END
}

server_start() { # COMMAND...
	"$@" >"$work/server.log" 2>&1 </dev/null &
	server=$!
}

server_stop() {
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null || true
	wait "$server" || true
	server=
}

# Settings as arguments: the array `set`.
set_make() { # SETTING...
	local setting

	set=()
	for setting; do set+=(--set "$setting"); done
}

# One run: its report is $work/run.json. Further settings may be given.
run_once() { # SETTING...
	local set setting

	command="onager run $conf --duration ${duration}s"
	for setting in "${settings[@]}" "$@"; do command+=" --set '$setting'"; done
	if [ "$far" != - ]; then
		set_make "${far_settings[@]}"
		server_start $onager run "$far" --duration 600s --quiet "${set[@]}"
	fi
	set_make "${settings[@]}" "$@"
	rm -f "$work/run.json"
	"${within[@]}" $onager run "$conf" --duration "${duration}s" --quiet --report "$work/run.json" "${set[@]}" \
		>"$work/run.log" 2>&1 </dev/null || [ $? = 1 ] || [ -s "$work/run.json" ] ||
		die "$command: $(cat "$work/run.log" "$work/server.log" 2>/dev/null)"
	server_stop
}

# Of a report: the figure, packets each way per operation (the busier way), mean frame sizes, and the
# cycles that an operation took of all workers of this process (the far end of a memif is another).
figures_of() { # UNIT
	jq --arg unit "$1" '
		first(.traffic[] | select(.kind | endswith("client") or . == "udp-blast" or . == "replay")) as $t | .ports[$t.port] as $p
		| ($t.achieved | {rx: (.bps_rx // 0), tx: (.bps_tx // 0)}) as $bps
		| (if $unit == "pps" then $t.offered elif $unit == "cps" then $t.succeeded elif $unit == "rps" then $t.requests.succeeded
		   else $bps.rx * .phases.steady_s end) as $operations
		| ([.workers[].cycles_per_packet] | add / length) as $cycles
		| {value: $t.achieved[$unit],
		   packets: ([$p.rx_packets, $p.tx_packets] | max / ([$operations, 1] | max)),
		   to_server: ([$bps.tx * .phases.steady_s / 8 / ([$p.tx_packets, 1] | max), 60] | max | round),
		   to_client: ([$bps.rx * .phases.steady_s / 8 / ([$p.rx_packets, 1] | max), 60] | max | round),
		   failed: ([($t.failed // {})[], (.streams[].lost // 0)] | add // 0),
		   retransmitted: (.total | .synRt + .finRt + .pushRt),
		   cycles: $cycles,
		   cycles_per_operation: ($cycles * ([.ports[] | .rx_packets + .tx_packets] | add) / ([$operations, 1] | max))}' \
		"$work/run.json"
}

# The floor in packets per second each way, for frames of these sizes.
floor_once() { # TO_SERVER TO_CLIENT
	[ "$far" = - ] || server_start $floor "$far" "$1:$2" 600 "${far_settings[@]}"
	"${within[@]}" $floor "$conf" "$1:$2" "$(jq -n "[$duration, 2] | min")" "${settings[@]}" \
		2>"$work/floor.log" | jq .packets_per_s || die "floor: $(cat "$work/floor.log")"
	server_stop
}

row() {
	local i figures=() floors=() f

	row_define "$1"
	for ((i = 1; i <= runs; i++)); do
		echo "tools/bench: $1, run $i of $runs" >&2
		run_once
		f=$(figures_of "$unit")
		figures+=("$f")
		floors+=("$(floor_once "$(jq .to_server <<<"$f")" "$(jq .to_client <<<"$f")")")
	done
	jq -n --arg row "$1" --arg unit "$unit" --arg command "$command" \
		--argjson runs "$(printf '%s\n' "${figures[@]}" | jq -s .)" \
		--argjson floors "$(printf '%s\n' "${floors[@]}" | jq -s .)" '
		def median: sort | .[(length - 1) / 2 | floor];
		def spread: {median: median, min: min, max: max};
		[$runs, $floors] | transpose | map({run: .[0], floor: (.[1] / .[0].packets)})
		| {row: $row, unit: $unit} + (map(.run.value) | spread | map_values(round))
		+ {floor: (map(.floor) | spread | map_values(round)),
		   ratio_to_floor: (map(select(.floor > 0) | .run.value / .floor) # a floor that did not run: none
			| if . == [] then null else spread | map_values(. * 1000 | round / 1000) end),
		   failed: ($runs | map(.failed) | add), retransmitted: ($runs | map(.retransmitted) | add),
		   packets_each_way: ($runs | map(.packets) | median),
		   cycles_per_packet: ($runs | map(.cycles) | median | round),
		   cycles_per_operation: ($runs | map(.cycles_per_operation) | median | . * 100 | round / 100),
		   command: $command}'
}

floor_alone() {
	local cable

	for cable in loop memif; do
		row_define "$([ $cable = loop ] && echo cps || echo memif-cps)"
		for ((i = 1; i <= runs; i++)); do floor_once 64 64; done |
			jq -s --arg row "floor, $cable" '{row: $row, unit: "packets of 64 B/s each way",
				median: (sort | .[(length - 1) / 2 | floor]), min: min, max: max}'
	done
}

skipped() { # ROW WHY
	jq -n --arg row "$1" --arg why "$2" '{row: $row, skipped: $why}'
}
