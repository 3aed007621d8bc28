#!/usr/bin/env bash
# peers.sh PCAP_COPY: Wireshark's tools judge the reader and the writer. What tshark sees in a case file
# it must see in our copy of it; what we write must stand its checks, in all the ways a disk or a pipe
# can fail. Root is needed only for the full disk (a small tmpfs in a mount namespace of its own).
set -euo pipefail

[ $# = 1 ] || { echo "usage: $0 PCAP_COPY" >&2; exit 2; }
copy=$(realpath "$1")
golden=$(realpath "$(dirname "$0")/../golden/pcap")
for tool in tshark capinfos mergecap; do
	command -v $tool >/dev/null && continue
	echo "$tool is missing" >&2
	[ -n "${CI:-}" ] && exit 1
	exit 77 # ctest: skipped
done
work=$(mktemp -d)
trap 'status=$?; rm -rf "$work"; [ $status = 0 ] || echo "FAILED ($status)" >&2' EXIT
trap 'echo "FAIL: line $LINENO: $BASH_COMMAND" >&2' ERR
cd "$work"

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# fields FILE FIELD...: one line a packet (of those that $filter lets through), by tshark.
filter=
fields() {
	local file=$1
	shift
	tshark -r "$file" ${filter:+-Y "$filter"} -o frame.generate_md5_hash:TRUE -T fields "${@/#/-e}" 2>/dev/null
}

same() { # FILE FIELD...
	local file=$1 out
	shift
	fields "$golden/$file" "$@" >wanted
	[ -s wanted ] || fail "$file: tshark sees nothing"
	for out in copy.pcapng copy.pcap; do
		"$copy" "$golden/$file" $out 2>/dev/null || fail "$file: pcap_copy"
		diff wanted <(fields $out "$@") || fail "$file differs in $out"
	done
	echo "ok: $file"
}

packets() { # FILE: how many it has, if it is without fault
	capinfos -Mc -T -r -m "$1" 2>capinfos.err | cut -d, -f2
	[ ! -s capinfos.err ] || grep -q "Running as user" capinfos.err || fail "$1: $(<capinfos.err)"
}

# Frames, lengths and times, ns included; where link types were converted, what the frames carry.
for file in us_le.pcap ns_be.pcap ns.pcapng default_us.pcapng bin10.pcapng two_snaplens.pcapng \
	snap60.pcap hdr_snap_40.pcap huge_gap.pcap 100ms.pcap one_udp.pcap sizes.pcap rewrite.pcap \
	pingpong8.pcap t20.pcap t20.pcap.gz t20.pcap.zst zero_len.pcap; do
	same $file frame.time_epoch frame.len frame.cap_len frame.md5_hash
done
same backwards.pcap frame.len frame.md5_hash # its times: tshark does not carry the fraction
same caplen_gt_len.pcap frame.time_epoch frame.cap_len frame.md5_hash
filter=eth same blocks.pcapng frame.len frame.cap_len frame.md5_hash # tshark lists a custom block, too
for file in sll.pcap raw.pcap null_le.pcap two_linktypes.pcapng; do
	same $file frame.time_epoch ip.src ip.dst ip.id ip.checksum udp.srcport udp.checksum \
		udp.payload
done

# What only pcapng keeps.
"$copy" "$golden/backwards.pcap" copy.pcapng 2>/dev/null
[ "$(fields copy.pcapng frame.number frame.interface_name frame.comment frame.packet_flags_direction \
	frame.drop_count frame.interface_queue | sed -n 3p)" = \
	"3	copy0	tcp.bad_seq: outside the receive window	0x00000001	2	5" ] ||
	fail "comment, direction, drops, queue"
capinfos copy.pcapng 2>/dev/null >info
grep -q "Capture hardware: *test bed" info || fail hardware
grep -q "Capture oper-sys: *Linux" info || fail "operating system"
grep -q "Capture application: *pcap_copy" info || fail application
grep -q "Number of stat entries = 1" info || fail "interface statistics"
grep -q "nanoseconds (9)" info || fail "time resolution"
echo "ok: comments, direction, drops, queue, origin, statistics"

# A file with enough packets for the rest: 20 480.
mergecap -a -F nsecpcap -w 10.pcap "$golden"/{100ms,100ms}.pcap 2>/dev/null
cp 10.pcap many.pcap
for _ in $(seq 11); do
	mergecap -a -F nsecpcap -w twice.pcap many.pcap many.pcap 2>/dev/null
	mv twice.pcap many.pcap
done
[ "$(packets many.pcap)" = 20480 ] || fail "many.pcap"

# Rotation: nothing lost, order kept; the ring keeps the last.
"$copy" many.pcap part.pcapng 1000 2>/dev/null
[ "$(ls part-*.pcapng | wc -l)" = 21 ] || fail "rotation: $(ls)"
mergecap -a -w whole.pcapng part-*.pcapng 2>/dev/null
diff <(fields many.pcap frame.time_epoch frame.md5_hash) \
	<(fields whole.pcapng frame.time_epoch frame.md5_hash) || fail "rotation lost packets"
rm part-*
"$copy" many.pcap part.pcapng 1000 3 2>/dev/null
[ "$(echo part-*)" = "part-00019.pcapng part-00020.pcapng part-00021.pcapng" ] || fail "ring"
rm part-* whole.pcapng
echo "ok: rotation, ring"

# Pipes both ways; a slow reader; a reader that leaves.
[ "$("$copy" - - <many.pcap 2>/dev/null | tshark -r - -T fields -e frame.number 2>/dev/null |
	tail -n 1)" = 20480 ] || fail "pipe"
mkfifo fifo
"$copy" many.pcap fifo 2>/dev/null &
writer=$!
while dd bs=64k count=1 status=none of=block && [ -s block ]; do cat block >>slow.pcapng; done <fifo
wait $writer || fail "slow reader"
[ "$(packets slow.pcapng)" = 20480 ] || fail "slow reader: packets"
if "$copy" many.pcap - 2>err | head -c 100000 >/dev/null; then fail "broken pipe unseen"; fi
grep -q "Broken pipe; [0-9]* of 20480 packets lost" err || fail "broken pipe: $(<err)"
echo "ok: pipes"

# Limits: of a file's size, of a disk, of a device. Each file ends behind a whole block.
limited() { # FILE ERR: written + lost = all, and tshark agrees
	local lost
	lost=$(sed -n 's/.*; \([0-9]*\) of 20480 packets lost/\1/p' "$2")
	[ -n "$lost" ] || fail "$1: $(<"$2")"
	[ "$(packets "$1")" = $((20480 - lost)) ] || fail "$1: $(packets "$1") and $lost lost"
}
if (ulimit -f 100; "$copy" many.pcap limit.pcapng 2>err); then fail "ulimit unseen"; fi
limited limit.pcapng err
grep -q "File too large" err || fail "ulimit: $(<err)"
if "$copy" many.pcap /dev/full 2>err; then fail "/dev/full unseen"; fi
grep -q "20480 of 20480 packets lost" err || fail "/dev/full: $(<err)"
if [ "$(id -u)" = 0 ]; then
	mkdir disk
	if unshare -m sh -c 'mount -t tmpfs -o size=300k tmpfs disk; "$1" many.pcap disk/full.pcapng
		code=$?; cp disk/full.pcapng .; exit $code' sh "$copy" 2>err; then
		fail "full disk unseen"
	fi
	limited full.pcapng err
	grep -q "No space left on device" err || fail "full disk: $(<err)"
fi
echo "ok: limits"

# Killed in mid-write: what is there is readable up to the last whole block.
{
	cat many.pcap
	while tail -c +25 many.pcap; do :; done
} 2>/dev/null | "$copy" - killed.pcapng 2>/dev/null &
writer=$!
until [ "$(stat -c %s killed.pcapng 2>/dev/null || echo 0)" -gt 5000000 ]; do :; done
kill -KILL $writer
wait $writer 2>/dev/null || true
# tshark fails where the file was cut inside a packet, after all those before
count=$({ fields killed.pcapng frame.number || true; } | tail -n 1)
[ "$count" -gt 30000 ] || fail "killed: $count packets"
"$copy" killed.pcapng again.pcapng 2>err || grep -q "^cut: 1 times" err || fail "killed: $(<err)"
[ "$(packets again.pcapng)" = "$count" ] || fail "killed: we read other than tshark"
echo "ok: killed"
