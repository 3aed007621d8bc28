#!/usr/bin/env bash
# tools/bench: rows of each kind, run once for a moment, print JSON of the documented form; the JSON becomes a
# table. How fast anything is does not matter here.
. "$(dirname "$0")/lib.sh"

export ONAGER=$onager RUNS=1 DURATION=0.3 HUGEPAGES=0
bench() { timeout -k 5 100 "$source_dir/tools/bench" "$@" >bench.report 2>bench.err || fail "tools/bench $*: exit $?"; }

case_is "a row has median, least, most, its floor and its cost"
bench cps memif-tcp-cps memif-blast mbufs latency
expect bench '.machine and .runs == 1' \
	'[.rows[].row] == ["cps", "memif-tcp-cps", "memif-blast", "mbufs, loop", "mbufs, memif", "latency"]' \
	'all(.rows[]; .unit and .median >= 0 and .min <= .median and .median <= .max and .command)' \
	'all(.rows[:3][]; .floor.median >= 0 and has("ratio_to_floor") and .cycles_per_operation >= 0)' \
	'all(.rows[] | select(.row | startswith("mbufs")); .median <= 40e6)'

case_is "the JSON as a table"
cp bench.report run.json
bench table "$work/run.json"
says bench.report '^\| HTTP connections per second, one request each, in-process cable \|'
[ "$(grep -c '^|' bench.report)" = 8 ] || fail "lines: $(cat bench.report)"

case_is "what there is, and what there is not"
bench --help
for row in cps idle many workers start saturate callgrind; do says bench.report "\\b$row\\b"; done
! timeout 20 "$source_dir/tools/bench" cqs >bench.report 2>bench.err || fail "a row that does not exist"
says bench.err "no row 'cqs'; there are: cps "

# 355 000 at each end: the index grows from 358 400 on. A few MB are packet buffers, which /proc has too.
case_is "idle connections: each answers a later request; what one takes, by the report and by /proc"
CONNECTIONS=355000 bench idle
expect bench '.rows[0] | .proved and .failed == 0 and .open == 710000' '.rows[0].median <= 42' \
	'.rows[0] | .from_proc >= 0.95 * .median and .from_proc <= 1.25 * .median'
