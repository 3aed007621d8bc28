#!/usr/bin/env bash
# What is in requests and responses, read by others: parsers for every size of document, check digits by
# a script of their standards, curl for encodings, nginx that plays a firewall, wrk and ab.
. "$(dirname "$0")/lib.sh"

test_body=$(dirname "$onager")/tests/test_body
case_is "documents of 0 to 5000 bytes, by jq, xmllint and tidy; check digits"
mkdir dump
BODY_DUMP=$PWD/dump TEST_SOURCE_DIR=$source_dir/tests "$test_body" >body.out 2>&1 || fail "$(tail -3 body.out)"
[ "$(awk 1 dump/*.json | jq -c . | wc -l)" = 5000 ] || fail "jq does not read every JSON document"
rm dump/0000.xml
xmllint --noout dump/*.xml >xml.out 2>&1 || fail "$(head -3 xml.out)"
tidy -q -e dump/*.html >tidy.out 2>&1 || [ $? = 1 ] || fail "$(grep Error tidy.out | head -3)"
"$source_dir/tests/golden/sensitive.py" <dump/0000.items >items.out || fail "$(cat items.out)"
rm -r dump

netns s k
cable s s0 - k k0 10.9.0.1/24
cat >server.json <<'END'
{
  "duration": "120s", "drain": "1s",
  "ports": [{"name": "s", "device": "if:s0", "cores": [0], "address": ["10.9.0.2/24"]}],
  "traffic": [{"name": "web", "kind": "http-server", "servers": "10.9.0.2",
    "response": {"content": "json", "sensitive": "all", "body": {"size": 1024}},
    "routes": [
      {"path": "/chunked", "content": "json", "chunked": true, "body": {"size": 20000}},
      {"path": "/gzip", "content": "xml", "gzip": true, "body": {"size": 50000}},
      {"path": "/both", "content": "xml", "gzip": true, "chunked": true, "body": {"size": 50000}},
      {"path": "/file", "content": "file", "file": "server.json"},
      {"path": "/slow", "delay": "300ms"},
      {"path": "/gone/*", "status": {"404": 1, "410": 1}, "variants": 2}]}]
}
END
onager_run server s server.json
get() { in_ns k curl -sS -m 10 "$@"; }
case_is "curl: JSON, chunks, gzip, HEAD, a file, a delay, statuses"
wait_for 10 get -o body http://10.9.0.2/
get http://10.9.0.2/ -o one http://10.9.0.2/ -o two
! cmp -s one two || fail "two responses are the same"
jq -r '.records[] | to_entries[] | "\(.key) \(.value)"' one two | tr _ - |
	"$source_dir/tests/golden/sensitive.py" >items.out || fail "$(cat items.out)"
[ "$(get http://10.9.0.2/chunked | tee body | wc -c)" = 20000 ] || fail "chunked: $(wc -c <body)"
jq -e .text body >jq.out
for path in gzip both; do
	get --compressed http://10.9.0.2/$path >body
	[ "$(wc -c <body)" = 50000 ] || fail "$path: $(wc -c <body)"
	xmllint --noout body
done
get http://10.9.0.2/file | cmp - server.json
get -I http://10.9.0.2/chunked >head
says head '^Transfer-Encoding: chunked'
get -w '%{time_total}\n' -o body http://10.9.0.2/slow >time
awk '{exit !($1 >= 0.3)}' time || fail "a delay of 300 ms took $(cat time)"
get -o body -w '%{http_code}\n' "http://10.9.0.2/gone/[1-8]?x" | sort | uniq -c | awk '{print $2, $1}' >codes
[ "$(cat codes)" = $'404 4\n410 4' ] || fail "statuses: $(cat codes)"
case_is "wrk and ab read it"
in_ns k timeout 20 wrk -t1 -c4 -d1s http://10.9.0.2/ >wrk.out
says wrk.out 'requests in'
! grep -q 'Non-2xx\|Socket errors' wrk.out || fail "$(cat wrk.out)"
in_ns k timeout 20 ab -q -l -n 300 -c 4 -k http://10.9.0.2/chunked >ab.out 2>&1 || fail "$(tail -3 ab.out)"
says ab.out 'Failed requests: *0'
stop server
laws server
expect server '.traffic.web | .by_route["/slow"].sent == 1 and .by_route["/gone/*"].sent == 8' \
	'.traffic.web.by_status["410"].sent == 4' '.traffic.web.sensitive.phone == .traffic.web.by_route["*"].sent'

case_is "nginx as a firewall that answers 403 or closes; requests by weight, with bodies"
cat >nginx.conf <<END
daemon off; master_process off; pid $work/nginx.pid;
events { worker_connections 1024; }
http {
  client_body_temp_path $work; log_format seen '\$request_method \$status'; access_log $work/access.log seen;
  server {
    listen 10.9.0.1:80;
    location / {
      if (\$args ~ "script") { return 403; }
      if (\$args ~ "passwd") { return 444; }
      return 200 page;
    }
    location /post { client_max_body_size 10m; return 201 posted; }
  }
}
END
start nginx k nginx -e "$work/nginx-error.log" -c "$work/nginx.conf"
page() { in_ns k curl -sf -m 1 -o body http://10.9.0.1/; }
wait_for 10 page
printf '%s\n' '<script>alert(1)</script>' '../../etc/passwd' 'harmless' "' or 1=1 --" >attacks
http_client client.json if:s0 10.9.0.2/24 10.9.0.3 10.9.0.1
onager_run waf s client.json --set traffic.0.payloads=attacks --set traffic.0.load.cps=100 --duration 2s
finish_or_late waf 0
laws waf
expect waf '.traffic.web.payloads.lines | length == 4' \
	'.traffic.web.payloads.lines | .[0].answered + .[1].answered + .[2].blocked + .[3].blocked == 0' \
	'.traffic.web | .payloads.blocked + .payloads.answered == .requests.succeeded' \
	'.traffic.web.payloads | .unanswered == 0 and .blocked_percent > 45 and .blocked_percent < 55'
: >access.log
onager_run mixed s client.json --duration 1s --set 'traffic.0.requests=[
	{"name": "page", "path": "/```", "weight": 3},
	{"name": "post", "path": "/post", "method": "POST", "status": 201,
	 "body": {"content": "json", "size": 2000, "sensitive": "all"}}]'
finish_or_late mixed 0
laws mixed
expect mixed '.traffic.web.requests.failed | add == 0' \
	'.traffic.web.by_request | .page.succeeded - 3 * .post.succeeded | fabs <= 4' \
	'.traffic.web | .by_status["201"].received == .by_request.post.succeeded'
[ "$(grep -c 'POST 201' access.log)" = "$(jq .traffic.web.by_request.post.succeeded mixed.report)" ] ||
	fail "nginx saw $(grep -c 'POST 201' access.log) posts"

case_is "ways to close, on the wire"
onager_run close s client.json --duration 1s --set 'traffic.0.close={"keep": 2, "fin": 1, "rst": 1, "timeout": "100ms"}'
finish_or_late close 0
laws close
expect close '.traffic.web.closed | .keep - 2 * .rst | fabs <= 2' '.traffic.web.closed | .fin - .rst | fabs <= 1' \
	'.traffic.web.closed as $c | .total | .finTx >= $c.fin and .finTx + .rstTx == $c.keep + $c.fin + $c.rst'

case_is "nginx and haproxy answer pipelined requests, with bodies"
cat >haproxy.cfg <<'END'
defaults
  mode http
  timeout connect 2s
  timeout client 5s
  timeout server 5s
frontend f
  bind 10.9.0.1:81
  default_backend b
backend b
  server nginx 10.9.0.1:80
END
start haproxy k haproxy -db -f haproxy.cfg
proxied() { in_ns k curl -sf -m 1 -o body http://10.9.0.1:81/; }
wait_for 10 proxied
for port in 80 81; do
	: >access.log
	onager_run deep$port s client.json --duration 1s --set traffic.0.server_ports=$port \
		--set traffic.0.pipeline=8 --set traffic.0.requests_per_connection=40 \
		--set traffic.0.load='{"cps": 20}' --set 'traffic.0.requests=[
			{"name": "page", "path": "/{random:9}"},
			{"name": "post", "path": "/post", "method": "POST", "status": 201,
			 "body": {"content": "xml", "size": 5000}}]'
	finish_or_late deep$port 0
	laws deep$port
	expect deep$port '.traffic.web.requests | .succeeded == .offered and .offered % 40 == 0' \
		'.traffic.web.requests.offered >= 40' \
		'.traffic.web.by_request | .page.succeeded == .post.succeeded'
	[ "$(wc -l <access.log)" = "$(jq .traffic.web.requests.offered deep$port.report)" ] ||
		fail "nginx saw $(wc -l <access.log) requests"
done
