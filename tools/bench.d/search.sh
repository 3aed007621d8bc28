# Of tools/bench: the highest rate that is held, the instructions of a connection, and the table.

# One run at a rate: true if all of it was offered and answered, and nothing repeated or late.
holds() { # RATE
	local load

	case $unit in
	rps) load="{\"concurrency\": 1000, \"rps\": $1}" ;;
	*) load="{\"$unit\": $1}" ;;
	esac
	run_once "traffic.0.load=$load"
	jq -e --arg unit "$unit" --argjson rate "$1" '
		first(.traffic[] | select(.kind | endswith("client") or . == "udp-blast")) as $t
		| ([($t.failed // {})[], (.streams[].lost // 0)] | add // 0) == 0
		and ([($t.not_offered // {})[]] | add // 0) == 0
		and (.total | .synRt + .finRt + .pushRt) == 0
		and $t.achieved[$unit] >= 0.999 * $rate' "$work/run.json" >/dev/null
}

# From what the row reaches when nothing holds it back: down to a rate that is held, then between the two,
# until they are within two percent.
saturate() { # ROW
	local low=0 high rate tries=0

	[[ $1 != *tput && $1 != replay* && $1 != memif-udp-1 && $1 != workers && $1 != accuracy ]] ||
		die "row '$1' has no rate to be raised"
	row_define "$1"
	run_once
	high=$(jq --arg unit "$unit" '[.traffic[].achieved[$unit] // 0] | max * 1.2 | round' "$work/run.json")
	while [ $((high - low)) -gt $((high / 50)) ] && [ $tries -lt 12 ]; do
		tries=$((tries + 1))
		rate=$(((low + high) / 2))
		[ $low != 0 ] || rate=$((high * 4 / 5))
		[ "$rate" -gt 0 ] || break
		echo "tools/bench: $1 at $rate" >&2
		if holds $rate; then low=$rate; else high=$rate; fi
	done
	jq -n --arg row "$1, held" --arg unit "$unit" --argjson low "$low" --argjson high "$high" \
		--argjson tries "$tries" --arg command "$command" \
		'{row: $row, unit: $unit, median: $low, failed_at: $high, runs: $tries, command: $command}'
}

# Only what workers do is counted, from their first step: 64 connections at a time on one core.
callgrind() { # ROW
	local set

	command -v valgrind >/dev/null || die 'callgrind needs valgrind: tools/setup bench'
	row_define "$1"
	[ "$far" = - ] && [ ${#within[@]} = 0 ] || die "callgrind needs both ends in one process: not $1"
	set_make "${settings[@]}" 'ports.0.cores=[0]' 'ports.1.cores=[0]'
	command="onager run $conf ${set[*]}"
	echo "tools/bench: $1 under callgrind" >&2
	valgrind --tool=callgrind --callgrind-out-file="$work/callgrind" --dump-line=yes \
		--toggle-collect=worker_loop $onager run "$conf" --duration "${duration}s" --quiet \
		--report "$work/run.json" "${set[@]}" >"$work/run.log" 2>&1 </dev/null ||
		[ -s "$work/run.json" ] || die "$command: $(tail -n 20 "$work/run.log")"
	python3 tools/bench.d/hot_lines.py "$work/callgrind" \
		"$(jq --arg unit "$unit" 'first(.traffic[] | select(.kind | endswith("client")))
			| if $unit == "cps" then .succeeded else .requests.succeeded end' "$work/run.json")" |
		jq --arg row "$1, callgrind" --arg command "$command" '{row: $row} + . + {command: $command}'
}

# Figures with three digits, and k, M or G; the ratio to the floor beside them.
table() { # FILE|-
	local about

	about=$(rows | sed 's/ \+/\t/' | jq -R 'split("\t") | {(.[0]): .[1]}' | jq -s add)
	jq -r --argjson about "$about" '
		def digits: if . >= 100 or . == 0 then round elif . >= 10 then (. * 10 | round / 10) else (. * 100 | round / 100) end;
		def short: if type != "number" then "-" elif . >= 1e9 then "\(. / 1e9 | digits) G" elif . >= 1e6 then "\(. / 1e6 | digits) M"
			elif . >= 1e4 then "\(. / 1e3 | digits) k" elif . >= 0.01 then digits else . end;
		"| what | median | least | most | of the floor | cycles each |", "|---|---|---|---|---|---|",
		(.rows[] | select(.skipped | not) | (.row | split(",")[0]) as $name
		 | "| \(if $about[.row] then $about[.row] else (.row + " (" + ($about[$name] // .unit) + ")") end)"
		 + " | \(.median | short) | \(.min | short) | \(.max | short)"
		 + " | \(.ratio_to_floor.median // .ratio_to_10000 // "-") | \(.cycles_per_operation // "-") |"),
		"", "\(.machine); \(.runs) runs of \(.duration_s) s each, run and floor in turn."' "$1"
}
