#!/usr/bin/env bash
# Odd rates open exactly as many connections as they say: 11, 13, 23 and 101 a second for 20 s, four
# instances side by side.
. "$(dirname "$0")/lib.sh"

cat >loop.json <<'END'
{
  "duration": "20s", "drain": "1s",
  "ports": [
    {"name": "c", "device": "loop:0", "cores": [0], "address": ["10.0.0.1/24"], "gateway": "10.0.0.2"},
    {"name": "s", "device": "loop:0", "cores": [0], "address": ["10.0.0.2/24"], "gateway": "10.0.0.1"}],
  "traffic": [
    {"name": "web", "port": "c", "kind": "http-client", "clients": "16.0.0.1-16.0.0.9",
      "servers": "48.0.0.1", "load": {"cps": 1}, "catch_up": "2s"},
    {"name": "site", "port": "s", "kind": "http-server", "servers": "48.0.0.1"}]
}
END
four_rates() {
	local core=0 cps

	for cps in 11 13 23 101; do
		onager_run "at$cps" - loop.json --set traffic.0.load.cps=$cps \
			--set "ports.0.cores=[$core]" --set "ports.1.cores=[$core]"
		core=$((1 - core))
	done
	for cps in 11 13 23 101; do finish_or_late "at$cps" 0 60; done
}
case_is "11, 13, 23 and 101 connections a second for 20 s"
until_punctual "at11 at13 at23 at101" four_rates
for cps in 11 13 23 101; do
	laws "at$cps"
	expect "at$cps" '.verdict == "pass"' ".traffic.web.wanted == $cps * 20" \
		".traffic.web.offered == $cps * 20" ".traffic.web.succeeded == $cps * 20" \
		".traffic.site.offered == $cps * 20" \
		'.phases.steady_s | . > 19.99 and . < 20.01' \
		"[.intervals[].skOpen] | add / 2 == $cps * 20"
done

case_is "fractions and a ramp are exact too"
half_and_ramp() {
	onager_run half - loop.json --set traffic.0.load.cps=0.5 --duration 5s
	onager_run ramp - loop.json --set traffic.0.load.cps=100 --duration 2s --set ramp=2s \
		--set 'ports.0.cores=[1]' --set 'ports.1.cores=[1]'
	finish_or_late half 0 30
	finish_or_late ramp 0 30
}
until_punctual "half ramp" half_and_ramp
laws half ramp
expect half '.traffic.web.succeeded == 3'
expect ramp '.traffic.web.succeeded == 300' '.phases.ramp_s | . > 1.99 and . < 2.01'
