#!/usr/bin/env bash
# Our client against real servers on a kernel interface: nginx, and haproxy in front of it.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

netns c k
cable c c0 - k k0 10.9.0.1/24
mkdir www
printf x >www/index.html
head -c 21000 /dev/zero | tr '\0' p >www/page.html
head -c 3000000 /dev/zero >www/big.bin
cat >nginx.conf <<END
daemon off; master_process off; pid $work/nginx.pid; error_log $work/nginx-error.log;
events { worker_connections 8192; }
http {
  types { text/html html; }
  log_format counted '\$server_port \$connection \$request_method \$status \$body_bytes_sent \$request_length';
  access_log $work/access.log counted;
  client_body_temp_path $work/body; proxy_temp_path $work/p; fastcgi_temp_path $work/f;
  uwsgi_temp_path $work/u; scgi_temp_path $work/s;
  client_max_body_size 10m; keepalive_requests 1000000; root $work/www;
  server {
    listen 80;
    error_page 404 /404.html;
    location = /404.html { return 404 x; }
    location = /empty { return 204; }
    location = /post { return 200 posted; }
    location = /gzip { gzip on; gzip_min_length 1; rewrite ^ /page.html break; }
  }
  server { listen 81; keepalive_requests 5; }
}
END
cat >haproxy.cfg <<'END'
global
	maxconn 2000
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend front
	bind 10.9.0.1:8080
	default_backend back
backend back
	server nginx 127.0.0.1:80
END
start nginx k nginx -p "$work" -e "$work/nginx-error.log" -c "$work/nginx.conf"
start haproxy k haproxy -db -f haproxy.cfg
answers() { in_ns k curl -sf -m 1 -o fetched "http://10.9.0.1:$1/"; }
wait_for 10 answers 80
wait_for 10 answers 8080

http_client client.json if:c0 10.9.0.2/24 10.9.0.10-10.9.0.19 10.9.0.1
run=0
# measure EXIT ARGUMENT...: run the client; its report is $report, nginx's log of it access.log.
measure() {
	local want=$1

	shift
	run=$((run + 1))
	report=run$run
	: >access.log
	onager_run $report c client.json "$@"
	finish_or_late $report "$want" 40
	laws $report
	connections=$(jq .traffic.web.succeeded $report.report)
	requests=$(jq .traffic.web.requests.succeeded $report.report)
}
logged() { # AWK-EXPRESSION: lines of the log for which it is true
	awk "$1" access.log | wc -l
}
same() { # WHAT GOT WANT
	[ "$2" = "$3" ] || fail "$1: got $2, expected $3"
}

case_is "short connections, each seen by nginx"
measure 0
complete $report 400
expect $report '.total.http2XX == .traffic.web.succeeded' '.total.pushRt == 0' '.total.finRt == 0' \
	'.traffic.web | .latency_us.response.count == .succeeded'
same "requests in nginx's log" "$(logged '$4 == 200 && $5 == 1')" "$connections"
wait_for 5 no_sockets k 80

case_is "keep-alive: ten requests a connection"
# No request begins after the end: the last connections may have had no time for all ten.
measure 0 --set traffic.0.requests_per_connection=10 --set traffic.0.load.cps=50
complete $report 100
expect $report '.traffic.web.requests.succeeded | . > 850 and . <= 1000'
same "requests" "$(logged '$4 == 200')" "$requests"
same "connections" "$(awk '{ print $2 }' access.log | sort -u | wc -l)" "$connections"

case_is "concurrency with think time"
measure 0 --set 'traffic.0.load={"concurrency": 100}' --set traffic.0.think_time=50ms
complete $report 100
expect $report '.traffic.web.achieved.concurrency >= 90' '.traffic.web.requests.succeeded > 700'
same "requests" "$(logged '$4 == 200')" "$requests"
wait_for 5 no_sockets k 80

case_is "a server that closes after five requests is not at fault"
measure 0 --set traffic.0.server_ports=81 --set traffic.0.requests_per_connection=10 \
	--set traffic.0.load.cps=50
complete $report 100
expect $report '.traffic.web.requests.succeeded | . > 420 and . <= 500'
same "requests" "$(logged '$4 == 200')" "$requests"

case_is "HEAD, POST, 204, a chunked body, pages of 21 kB and 3 MB"
for request in '{"method": "HEAD", "path": "/page.html"}' \
	'{"method": "POST", "path": "/post", "body": {"size": 100000}}' \
	'{"path": "/empty"}' '{"path": "/page.html"}' \
	'{"path": "/gzip", "headers": {"Accept-Encoding": "gzip"}}'; do
	measure 0 --set "traffic.0.request=$request" --set traffic.0.load.cps=50 --duration 1s \
		--set traffic.0.requests_per_connection=2
	complete $report 50
	same "requests of $request" "$(logged '$4 ~ /^20/')" "$requests"
done
measure 0 --set 'traffic.0.request={"path": "/big.bin"}' --set traffic.0.load.cps=5 --duration 2s
complete $report 10
same "bytes served" "$(logged '$5 == 3000000')" "$connections"

case_is "a 404 of the right length is a failure, unless it is what was asked for"
measure 1 --set 'traffic.0.request={"path": "/none"}' --duration 1s
expect $report '.verdict == "fail"' '.traffic.web | .failed.status == .offered' \
	'.traffic.web.succeeded == 0' '.total.http4XX > 150' '.reasons | join(" ") | test("status")'
measure 0 --set 'traffic.0.request={"path": "/none"}' --set 'traffic.0.response={"status": 404, "body": {"size": 1}}' --duration 1s
complete $report 200
measure 1 --set 'traffic.0.response.body.size=2' --duration 1s
expect $report '.traffic.web | .failed.length == .offered' '.total.httpErr > 150'

case_is "through haproxy, keep-alive and not"
measure 0 --set traffic.0.server_ports=8080
complete $report 400
measure 0 --set traffic.0.server_ports=8080 --set traffic.0.requests_per_connection=10 \
	--set traffic.0.load.cps=50
complete $report 100
expect $report '.traffic.web.requests.succeeded > 850'
