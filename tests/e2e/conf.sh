#!/usr/bin/env bash
# Every file of conf/: the schema and `check` accept it, and those that need no NIC run as they are.
# Also under the sanitizers.
. "$(dirname "$0")/lib.sh"

conf=$source_dir/conf
"$onager" schema >schema.json
cat >validate.py <<'END'
import json, re, sys
import jsonschema
schema = json.load(open("schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
text = open(sys.argv[1], encoding="utf-8-sig").read()
string_or_comment = r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/'
text = re.sub(string_or_comment, lambda m: m.group(1) or " ", text, flags=re.S)
jsonschema.validate(json.loads(text), schema, jsonschema.Draft202012Validator)
END

for file in "$conf"/*.json; do
	case_is "$(basename "$file"): schema and check"
	python3 validate.py "$file" >python.out 2>&1 || fail "$(tail -n 20 python.out)"
	# The files are for machines with more cores than this one may have.
	"$onager" check "$file" >check.out 2>check.err || {
		! grep -v 'expected core numbers' check.err | grep -q . || fail "$(cat check.err)"
		cores=$(nproc)
		says check.err "this machine, got ([0-9]+)"
		[ "$cores" -lt 16 ] || fail "$(cat check.err)"
		continue
	}
	says check.out '^ok'
	"$onager" check --json "$file" | jq -e . >jq.out || fail "check --json is not JSON"
done

case_is "the schema refuses what check refuses"
for wrong in '{"ports": []}' '{"duration": "10s", "ports": [{"nane": "c"}], "traffic": []}' \
	'{"duration": "10s", "prots": [], "traffic": []}' \
	'{"duration": "10s", "ports": [{"device": "loop:0", "cores": "x", "address": ["10.0.0.1/24"]}], "traffic": []}'; do
	echo "$wrong" >wrong.json
	! python3 validate.py wrong.json >python.out 2>&1 || fail "the schema accepts $wrong"
	onager_exits 2 check wrong.json
done

for file in "$conf"/loop-*.json; do
	name=$(basename "$file" .json)
	case_is "$name runs"
	start "$name" - "$onager" run "$file" --duration 2s --report "$name.report"
	finish "$name" 0 30
	laws "$name"
	expect "$name" '.verdict == "pass"' \
		'[.traffic[] | select(.kind | endswith("client")) | .requests.succeeded > 0] | all' \
		'[.traffic[] | [.failed[]] | add == 0] | all' '.total.badRx == 0'
done

case_is "the memif pair runs"
start server - "$onager" run "$conf/memif-server.json" --duration 10s --report server.report
start client - "$onager" run "$conf/memif-client.json" --duration 2s --report client.report
finish client 0 30
stop server
laws client server
expect client '.verdict == "pass"' '.traffic[].succeeded > 0'
