#!/usr/bin/env bash
# Every file of conf/: the schema and `check` accept it, and those that need no NIC run as they are.
. "$(dirname "$0")/lib.sh"

conf=$source_dir/conf
ln -s "$conf" conf # a recording is named from where Onager is called

case_is "the schema: each file passes, each wrong file fails, and the copy in conf/ is the binary's"
"$onager" schema >schema.json
python3 "$source_dir/tests/golden/schema.py" <schema.json >python.out 2>&1 || fail "$(cat python.out)"
cmp schema.json "$conf/schema/onager.json" || fail "run: onager schema >conf/schema/onager.json"

case_is "check passes, in text and in JSON, also where this machine lacks cores or devices"
for file in "$conf"/*.json; do
	cores=(--set ports.0.cores=0)
	[[ $file = *2port* ]] && cores+=(--set ports.1.cores=0)
	onager_exits 0 check "$file" "${cores[@]}"
	says cmd.out '^ok$'
	onager_exits 0 check --json "$file" "${cores[@]}"
	jq -e .ports cmd.out >jq.out || fail "check --json $file is not JSON"
done

run_conf() { # NAME NS SECONDS
	start "$1" "$2" "$onager" run "$conf/$1.json" --duration "$3" --report "$1.report"
	finish_or_late "$1" 0
}
passed() { # NAME [KIND]: traffic whose kind ends so had no failure; all of it by default
	laws "$1"
	expect "$1" '.verdict == "pass" or ([.traffic[].not_offered.late] | add) > 0' '.total.badRx == 0' \
		'[.traffic[] | select(.kind | endswith("client")) | .requests.succeeded > 0 or .compared_bytes > 0] | all' \
		"[.traffic[] | select(.kind | endswith(\"${2-}\")) | [.failed[]] | add == 0] | all"
}
for file in "$conf"/loop-*.json; do
	name=$(basename "$file" .json)
	case_is "$name runs"
	run_conf "$name" - 2s
	only=
	! grep -q '"rst"' "$file" || only=client # its server sees resets
	passed "$name" "$only"
done

case_is "the demo shows its first counters within 3 s"
begin=$(date +%s%N)
start demo - "$onager" run "$conf/loop-http-cps.json" --duration 4s
wait_for 10 grep -q httpGet demo.out
took=$((($(date +%s%N) - begin) / 1000000))
[ $took -le $((3000 * slow)) ] || fail "they took $took ms"
stop demo

case_is "the memif pair runs"
start server - "$onager" run "$conf/memif-server.json" --report server.report
run_conf memif-client - 2s
stop server
passed memif-client
laws server

case_is "the server for curl, as its comment says"
netns h
in_ns h ip link add onager0 type veth peer name onager1
in_ns h ethtool -K onager0 tx off tso off gso off >ethtool.out
in_ns h ip address add 10.9.0.1/24 dev onager0
in_ns h ip link set onager0 up
in_ns h ip link set onager1 up
start server h "$onager" run "$conf/server-for-curl.json" --report server.report
answers() { in_ns h curl -sf -m 5 -o body "http://10.9.0.2$1"; }
wait_for 10 answers /
answers :81/ || fail "curl: exit $?"
[ "$(stat -c %s body)" = 10000000 ] || fail "$(stat -c %s body) bytes, expected 10000000"
stop server
laws server
expect server '.traffic.page.requests.succeeded == 1' '.traffic.large.requests.succeeded == 1'

case_is "the client against a web server, as its comment says"
cat >nginx.conf <<END
daemon off; master_process off; pid $work/nginx.pid;
events { worker_connections 8192; }
http { access_log off; server { listen 10.9.0.1:80; location / { return 200 page; } } }
END
start nginx h taskset -c 1 nginx -e "$work/nginx-error.log" -c "$work/nginx.conf"
nginx_answers() { in_ns h curl -sf -m 1 -o body http://10.9.0.1/; }
wait_for 10 nginx_answers
run_conf client-against-web-server h 2s
passed client-against-web-server
