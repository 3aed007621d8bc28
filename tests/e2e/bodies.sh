#!/usr/bin/env bash
# Bodies of every size, from nothing to 1 GiB, arrive whole: requests and responses over the cable.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

cat >loop.json <<'END'
{
  "duration": "1s", "drain": "60s",
  "ports": [
    {"name": "c", "device": "loop:0", "cores": [1], "address": ["10.0.0.1/24"], "gateway": "10.0.0.2"},
    {"name": "s", "device": "loop:0", "cores": [0], "address": ["10.0.0.2/24"], "gateway": "10.0.0.1"}],
  "traffic": [
    {"name": "web", "port": "c", "kind": "http-client", "clients": "16.0.0.1-16.0.0.9",
      "servers": "48.0.0.1", "load": {"cps": 4}, "catch_up": "1s", "timeout": "60s",
      "requests_per_connection": 2},
    {"name": "site", "port": "s", "kind": "http-server", "servers": "48.0.0.1", "timeout": "60s"}]
}
END
transfer() { # CONNECTIONS REQUESTS ARGUMENT...: exactly so many succeed
	local connections=$1 requests=$2

	shift 2
	onager_run loop - loop.json "$@"
	finish_or_late loop 0 90
	laws loop
	complete loop "$connections"
	expect loop ".traffic.web.requests.succeeded >= $requests" '.total.httpErr == 0' \
		'.total.synRt + .total.finRt + .total.pushRt == 0'
}

for size in 0 1 1400 1460 1461 65535 1000000; do
	case_is "responses of $size bytes"
	transfer 4 6 --set traffic.1.response.body.size=$size \
		--set traffic.0.response.body.size=$size
	expect loop ".traffic.web.requests.succeeded * $size * 8 <= .total.bitsRx"
done
for size in 1 1460 1461 1000000; do
	case_is "requests of $size bytes"
	transfer 4 6 --set traffic.0.request.method=POST --set traffic.0.request.body.size=$size
	expect loop ".traffic.site.requests.succeeded * $size * 8 <= .total.bitsRx" \
		'.total.httpPost == 2 * .traffic.web.requests.offered'
done

if [ $slow = 1 ]; then
	case_is "a response of 1 GiB"
	transfer 1 1 --set traffic.1.response.body.size=1Gi --set traffic.0.load.cps=1 \
		--set traffic.0.requests_per_connection=1
	expect loop '.total.bitsRx > 1073741824 * 8'
fi
