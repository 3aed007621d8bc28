#!/usr/bin/env bash
# Two devices as one, at both ends: every mode but one carries a load, and a member whose link goes down and
# comes back is counted and survived.
. "$(dirname "$0")/lib.sh"

netns c s
for i in 0 1; do
	ip link add c$i netns "onager-$$-c" type veth peer name s$i netns "onager-$$-s"
	cable_end c c$i -
	cable_end s s$i -
done
http_server server.json bond:b 10.9.0.2/24 10.9.0.2
http_client client.json bond:b 10.9.0.1/24 10.9.0.11-10.9.0.19 10.9.0.2
bonded() { # NAME NS MODE ARGUMENT...
	local name=$1 ns=$2 mode=$3

	shift 3
	onager_run "$name" "$ns" "$name.json" --set ports.0.resolve_timeout=10s \
		--set "ports.0.bond={\"mode\":\"$mode\",\"members\":[\"if:${ns}0\",\"if:${ns}1\"]}" "$@"
}

# "tlb" sends from every member to the one address of the far bond, of which only one member has it:
# that needs a switch between, which this kernel has not.
for mode in round-robin balance broadcast lacp alb; do
	case_is "$mode"
	bonded server s $mode
	[ $mode = lacp ] || await server # with LACP either end waits for the other
	bonded client c $mode --duration 500ms --set traffic.0.load.cps=100
	finish_or_late client 0 30
	stop server
	laws client server
	complete client 50
	expect client '.ports.c.driver == "net_bonding"' '.ports.c.link_changes == 0'
done

case_is "active-backup: the member that sends goes down and comes back"
bonded server s active-backup
await server
bonded client c active-backup --duration 3s --set traffic.0.load.cps=50
await client
in_ns s ip link set s0 down
wait_for 10 grep -q 'port c: member if:c0: link is down' client.err
in_ns s ip link set s0 up
wait_for 10 grep -q 'port c: member if:c0: link is up' client.err
finish_or_late client 0 30
stop server
laws client server
complete client 150
expect client '.ports.c.link_changes == 2'
says server.err 'port s: member if:s0: link is down'
