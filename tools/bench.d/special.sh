# Of tools/bench: the rows that are no rate beside a floor.

# `spread` of the figures on standard input, as a row.
row_of() { # ROW UNIT
	jq -s --arg row "$1" --arg unit "$2" --arg command "$command" '{row: $row, unit: $unit,
		median: (sort | .[(length - 1) / 2 | floor]), min: min, max: max, command: $command}'
}

# How exact rates are.
row_accuracy() {
	local pps

	row_define blast
	for pps in 1 1000 1m 10m; do
		echo "tools/bench: accuracy, $pps packets a second" >&2
		run_once "traffic.0.load.pps=\"$pps\""
		jq --arg row "accuracy, $pps packets/s" '.traffic.blast | {row: $row, unit: "relative error",
			median: (if .wanted > 0 then (.offered - .wanted) / .wanted | fabs else null end),
			lateness_us: .lateness_us}' "$work/run.json"
	done
	row_define packets
	run_once 'traffic.0.load.pps="100k"'
	jq '.streams.blast.jitter_us | {row: "jitter at 100k packets/s", unit: "us", median: .p50, p99, max}' \
		"$work/run.json"
}

# Idle connections are opened at 500 000 a second, and kept; each sends a second request when all are open,
# and would send a third when the run is over. So the requests tell that each still lives.
idle_once() { # CONNECTIONS
	local open think

	row_define cps
	conf=conf/loop-http-cc.json
	open=$(($1 / 500000 + 1))
	think=$((open * 2 + 4))
	duration=$((think + 2)) run_once "ramp=\"${open}s\"" "traffic.0.think_time=\"${think}s\"" \
		"traffic.0.load={\"concurrency\": $1}" "$kept" 'traffic.0.clients="16.0.0.0/8"' 'traffic.0.timeout="20s"'
}

row_idle() {
	local empty

	echo "tools/bench: idle, $connections connections" >&2
	idle_once 1000
	empty=$(jq .memory.total_bytes "$work/run.json")
	idle_once "$connections"
	jq --arg row idle --argjson n "$connections" --argjson empty "$empty" --arg command "$command" \
		--argjson available "$(awk '/^MemAvailable/ {print $2 * 1024}' /proc/meminfo)" '
		.memory as $m | .traffic.get as $t
		| ($m.bytes_per_connection | . * 10 | round / 10) as $report
		| (($m.total_bytes - $empty) / (2 * $n) | . * 10 | round / 10) as $proc
		| {row: $row, unit: "bytes per connection", median: $report, from_proc: $proc,
		   connections: "2 x \($n)", open: $m.connections_peak,
		   proved: ($t.requests.succeeded == 2 * $n and $t.open_max == $n), failed: ([$t.failed[]] | add),
		   fits_this_machine: "2 x \(($available - $empty) / (2 * ([$report, $proc] | max)) / 1e6 | floor) M",
		   command: $command}' "$work/run.json"
}

# All connections are open, and each pauses so long that together they ask for 10 M a second.
many_once() { # CONNECTIONS
	row_define cps
	conf=conf/loop-http-cc.json
	run_once "ramp=\"$(($1 / 500000 + 1))s\"" "traffic.0.load={\"concurrency\": $1}" "$kept" \
		"traffic.0.think_time=\"$(($1 / 10))us\"" 'traffic.0.clients="16.0.0.0/8"' 'traffic.0.timeout="20s"'
	jq '.traffic.get | .achieved.rps | round' "$work/run.json"
}

row_many() {
	local i few=() many=()

	for ((i = 1; i <= runs; i++)); do
		echo "tools/bench: many, run $i of $runs" >&2
		few+=("$(many_once 10000)")
		many+=("$(many_once "$connections")")
	done
	jq -n --arg command "$command" --argjson n "$connections" --arg few "${few[*]}" --arg many "${many[*]}" '
		def numbers: split(" ") | map(tonumber);
		def median: sort | .[(length - 1) / 2 | floor];
		($few | numbers) as $f | ($many | numbers) as $m
		| {row: "many", unit: "rps", median: ($m | median), min: ($m | min), max: ($m | max), connections: $n,
		   at_10000: ($f | median), ratio_to_10000: ([$m, $f] | transpose
			| map(select(.[1] > 0) | .[0] / .[1]) | if . == [] then null else median * 1000 | round / 1000 end),
		   command: $command}'
}

row_mbufs() {
	local cable

	for cable in cps memif-cps; do
		row_define $cable
		duration=0.2 run_once
		jq '.memory.mbufs_bytes / (.workers | length) | round' "$work/run.json" |
			row_of "mbufs, $([ $cable = cps ] && echo loop || echo memif)" "bytes per worker"
	done
}

# The first line of the screen's JSON is of 0.1 s after the load began.
row_start() {
	local i

	conf=conf/loop-http-cc.json
	set_make ramp=0 'traffic.0.load={"concurrency": "100m", "cps": 1000}' 'traffic.0.clients="16.0.0.0/8"' \
		'report.interval="0.1s"'
	command="onager run $conf ${set[*]}"
	for ((i = 1; i <= runs; i++)); do
		echo "tools/bench: start, run $i of $runs" >&2
		python3 tools/bench.d/start.py $onager run "$conf" --duration 0.3s --format json "${set[@]}"
	done | row_of start s
}

row_latency() {
	local i

	row_define cps
	for ((i = 1; i <= runs; i++)); do
		echo "tools/bench: latency, run $i of $runs" >&2
		run_once traffic.0.load.cps=1000
		jq '.traffic.get.latency_us.connect.p50' "$work/run.json"
	done >"$work/latency"
	row_of latency us <"$work/latency"
}

# Shares of the client's workers beside the rate; each should have a quarter.
row_workers() {
	local shares

	row workers >"$work/row"
	shares=$(jq -c '[.workers[] | select(.port == "client") | .connections] | add as $all
		| map(. / ([$all, 1] | max) | . * 1000 | round / 1000)' "$work/run.json")
	jq --argjson shares "$shares" '. + {shares: $shares}' "$work/row"
}
