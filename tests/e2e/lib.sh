#!/usr/bin/env bash
# What the end-to-end tests share. A test begins with `. "$(dirname "$0")/lib.sh"` and is given the
# onager binary as its argument. It works in a directory of its own ($work), in network namespaces
# of its own, and whatever way it ends, the trap below ends the processes that it started by their
# ids and removes directory and namespaces. Nothing sleeps for a fixed time: waiting is polling.
#
# Kernel peers share two cores with Onager's busy workers, so rates are low and limits wide; what is
# compared are counts, not speeds.
set -euo pipefail
shopt -s inherit_errexit

# Namespaces are called onager-PID-NAME, directories /tmp/onager-e2e.PID.X. A test that was killed
# leaves some: remove those whose process is gone.
sweep() {
	local ns owner pid directory

	while read -r ns _; do
		[[ $ns =~ ^onager-([0-9]+)- ]] || continue
		owner=${BASH_REMATCH[1]}
		[ "$owner" = $$ ] || ! [ -d "/proc/$owner" ] || continue
		for pid in $(ip netns pids "$ns"); do
			kill -KILL "$pid" 2>/dev/null || true
		done
		ip netns del "$ns" || true
	done < <(ip netns list 2>/dev/null)
	for directory in /tmp/onager-e2e.*.*; do
		[[ $directory =~ e2e\.([0-9]+)\. ]] || continue
		[ -d "/proc/${BASH_REMATCH[1]}" ] || rm -rf "$directory"
	done
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	[ "${1:-}" = sweep ] || { echo "usage: lib.sh sweep" >&2; exit 2; }
	[ "$(id -u)" = 0 ] && sweep
	exit 0
fi

[ $# = 1 ] || { echo "usage: $0 ONAGER" >&2; exit 2; }
onager=$(realpath "$1")
source_dir=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
if [ "$(id -u)" != 0 ]; then
	echo "$0 makes network namespaces: run it as root" >&2
	[ -n "${CI:-}" ] && exit 1
	exit 77 # ctest: skipped
fi
sweep
work=$(mktemp -d "/tmp/onager-e2e.$$.XXXXXX")
chmod 755 "$work"
cd "$work"
export RUNTIME_DIRECTORY=$work/runtime # DPDK keeps its sockets there
mkdir -m 777 "$RUNTIME_DIRECTORY"
declare -A pid=()
case_name=start
# How much longer things may take under the sanitizers.
slow=1
grep -q __asan_init "$onager" && slow=3

finish_test() {
	local status=$? name

	trap - EXIT
	exec 2>&3 # it may have been redirected when the test ended
	for name in "${!pid[@]}"; do
		kill -KILL "${pid[$name]}" 2>/dev/null || true
	done
	wait 2>/dev/null || true
	if [ $status != 0 ]; then
		echo "FAILED ($status): $case_name" >&2
		for name in *.err *.out; do
			[ -s "$name" ] || continue
			grep -v '^{"t"' "$name" | tail -n 25 | cut -c 1-300 >tail.txt || true
			[ -s tail.txt ] && { echo "--- $name (its end)"; cat tail.txt; } >&2
		done
	fi
	sweep
	cd /
	[ -n "${KEEP:-}" ] && echo "kept: $work" >&2 || rm -rf "$work"
	exit $status
}
exec 3>&2
trap finish_test EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Begin a case: its name is printed, and again if it fails.
case_is() {
	case_name=$*
	echo "- $*"
}

fail() {
	echo "$case_name: $*" >&2
	exit 1
}

# wait_for SECONDS COMMAND...: until the command succeeds; a failure of the test after that time.
wait_for() {
	local end=$((SECONDS + $1 + 1))

	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || fail "waited in vain for: $*"
		sleep 0.05
	done
}

# Network namespaces and cables between them.

netns() { # NAME...
	local name

	for name in "$@"; do
		ip netns add "onager-$$-$name"
		in_ns "$name" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1 net.ipv4.ip_local_port_range="1024 65000"
		in_ns "$name" ip link set lo up
	done
}

in_ns() { # NAME COMMAND...
	local name=$1

	shift
	ip netns exec "onager-$$-$name" "$@"
}

# cable NS1 IF1 ADDRESS1 NS2 IF2 ADDRESS2: a veth pair. An end that Onager uses has the address "-":
# the kernel must not answer there. Checksums and segmentation are done in software, because what
# the kernel leaves to a NIC that does not exist would be seen as wrong. Receive packet steering keeps
# the packets of a flow in order, as a NIC does: without, those that two cores send overtake each other.
cable() {
	ip link add "$2" netns "onager-$$-$1" type veth peer name "$5" netns "onager-$$-$4"
	cable_end "$1" "$2" "$3"
	cable_end "$4" "$5" "$6"
}

cable_end() { # NS IF ADDRESS
	in_ns "$1" ethtool -K "$2" tx off rx off tso off gso off gro off >/dev/null
	in_ns "$1" sh -c "echo 3 >/sys/class/net/$2/queues/rx-0/rps_cpus"
	[ "$3" = - ] || in_ns "$1" ip address add "$3" dev "$2"
	in_ns "$1" ip link set "$2" up
}

# Onager is in NAME, a router in r, Linux's end in k; x lies beside the router and changes the order.
linux_bed() { # NAME
	netns "$1" r k x
	cable "$1" "${1}0" - r "r$1" 10.9.0.1/24
	cable r rk 10.8.0.1/24 k k0 10.8.0.2/24
	cable "$1" "${1}1" - x "x$1" -
	cable x xk - k k1 10.7.0.2/24
	in_ns r sysctl -qw net.ipv4.ip_forward=1
	in_ns k ip route add default via 10.8.0.1
}
pattern() { # BYTES: what a bare body of that size holds
	yes '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-' 2>/dev/null | head -c "$1"
}

# no_sockets NS PORT: the kernel there has no connection left of that port, but in TIME-WAIT.
no_sockets() {
	[ -z "$(in_ns "$1" ss -Htan "( sport = :$2 or dport = :$2 )" |
		grep -vE '^(LISTEN|TIME-WAIT)|127.0.0.1')" ]
}

# Processes in the background. Output goes to NAME.out and NAME.err.

start() { # NAME NS|- COMMAND...
	local name=$1 ns=$2

	shift 2
	: >"$name.out"
	if [ "$ns" = - ]; then
		"$@" >"$name.out" 2>"$name.err" </dev/null &
	else
		ip netns exec "onager-$$-$ns" "$@" >"$name.out" 2>"$name.err" </dev/null &
	fi
	pid[$name]=$!
}

alive() { # NAME
	kill -0 "${pid[$1]}" 2>/dev/null
}

gone() { # NAME
	[ ! -d "/proc/${pid[$1]}" ] || grep -q '^State:.Z' "/proc/${pid[$1]}/status"
}

# finish NAME STATUS [SECONDS]: wait for its end and compare its exit status.
finish() {
	ended "$1" "${3:-60}"
	[ "$status" = "$2" ] || fail "$1 exited with $status, expected $2"
}

ended() { # NAME SECONDS: wait for its end; sets $status
	status=0
	wait_for "$2" gone "$1"
	wait "${pid[$1]}" || status=$?
	unset "pid[$1]"
}

# The same for a run that may be late: then it may exit with 3, invalid.
finish_or_late() {
	ended "$1" "${3:-60}"
	[ "$status" = "$2" ] || late "$1" || fail "$1 exited with $status, expected $2"
}

stop() { # NAME [STATUS [SIGNAL]]
	kill "-${3:-TERM}" "${pid[$1]}" 2>/dev/null || true
	finish "$1" "${2:-0}" 10
}

# Onager

# onager_run NAME NS|- FILE [ARGUMENT...]: in the background; the report is NAME.report. Interval
# lines are JSON, ten a second, so that await() sees it run.
onager_run() {
	local name=$1 ns=$2 file=$3

	shift 3
	start "$name" "$ns" "$onager" run "$file" --report "$name.report" --format json \
		--set report.interval=0.1s "$@"
}

await() { # NAME: until its load has begun
	wait_for 10 begun "$1"
	alive "$1" || fail "$1 ended before its load began"
}
begun() { [ -s "$1.out" ] || gone "$1"; }

# onager_exits STATUS ARGUMENT...: in the foreground, output in cmd.out and cmd.err.
onager_exits() {
	local want=$1 status=0

	shift
	timeout -k 5 60 "$onager" "$@" >cmd.out 2>cmd.err </dev/null || status=$?
	[ $status = "$want" ] || fail "onager $* exited with $status, expected $want"
}

# expect NAME FILTER...: every jq filter is true of the report of that run.
expect() {
	local report=$1.report filter

	shift
	[ -s "$report" ] || fail "$report: no report"
	for filter in "$@"; do
		jq -e "$filter" "$report" >jq.out 2>&1 && continue
		jq -c '{verdict, reasons, traffic: (.traffic | map_values(del(.latency_us))),
			total: (.total | with_entries(select(.value != 0)))}' "$report" >&2 || true
		fail "$report: not true: $filter"
	done
}

# The laws of the project, which hold in every report: connections and requests wanted are offered
# or not, what is offered succeeds or fails, and a packet is accepted or dropped for a reason.
laws() { # NAME...
	local name

	for name in "$@"; do
		expect "$name" \
			'[.traffic[] | .wanted == .offered + ([.not_offered[]] | add)] | all' \
			'[.traffic[] | .offered == .succeeded + ([.failed[]] | add)] | all' \
			'[.traffic[].requests | select(.) | .offered == .succeeded + ([.failed[]] | add)] | all' \
			'.total.pktRx == .total.accepted + ([.total.drops[]] | add)' \
			'.total.skCon == 0' \
			'.verdict == "pass" or (.reasons | length) > 0'
	done
}

# Counts are exact on a machine that lets Onager have its cores. A worker that is kept from its core
# at the moment when the load ends misses what was due then and says so: not offered, late. So that a
# busy machine fails no test, a run may be late with a few; what counts is that all others succeed.
late() { # NAME...
	jq -se 'any(.[]; any(.traffic[]; .not_offered.late > 0))' "${@/%/.report}" >/dev/null
}

# complete NAME WANTED: so many were wanted and all succeeded, but for a few that were late.
complete() {
	expect "$1" ".traffic.web.wanted == $2" '[.traffic.web.failed[]] | add == 0' \
		'.traffic.web | .succeeded + .not_offered.late == .wanted' \
		'.traffic.web | .not_offered.late <= .wanted / 10' \
		'.verdict == "pass" or .traffic.web.not_offered.late > 0'
}

# Where the count itself is the case, a late run is repeated, twice at most.
until_punctual() { # "NAME..." COMMAND...
	local names=$1 attempt

	shift
	for attempt in 1 2 3; do
		"$@"
		# shellcheck disable=SC2086
		late $names || return 0
		echo "  (the machine was busy: attempt $attempt)"
	done
}

# silent FILE: nothing was said, but that other processes took the cores, which is not Onager's fault.
silent() {
	! grep -v 'was taken away from its worker' "$1" || fail "unexpected in $1"
}

# says FILE REGEX: the text is there.
says() {
	grep -Eq -- "$2" "$1" || fail "$1 does not say /$2/: $(head -c 600 "$1")"
}

# Two configurations that most tests use. Further keys come by --set.

# http_server FILE DEVICE ADDRESS/PREFIX SERVERS
http_server() {
	cat >"$1" <<-END
	{
	  "duration": "60s", "drain": "1s",
	  "ports": [{"name": "s", "device": "$2", "cores": [0], "address": ["$3"]}],
	  "traffic": [{"name": "web", "kind": "http-server", "servers": "$4", "server_ports": 80,
	    "response": {"body": {"size": 100}}}]
	}
	END
}

# http_client FILE DEVICE ADDRESS/PREFIX CLIENTS SERVERS
http_client() {
	cat >"$1" <<-END
	{
	  "duration": "2s", "drain": "1s",
	  "ports": [{"name": "c", "device": "$2", "cores": [1], "address": ["$3"]}],
	  "traffic": [{"name": "web", "kind": "http-client", "clients": "$4", "servers": "$5",
	    "server_ports": 80, "load": {"cps": 200}, "catch_up": "2s"}]
	}
	END
}
