/* libFuzzer target: any bytes as a frame to be rewritten, the first few as what is done to it.
 *
 *     clang -fsanitize=fuzzer,address,undefined -include rte_config.h ... fuzz_rewrite.c \
 *         common/base/{rewrite,dissect,checksum}.c -o fuzz_rewrite && ./fuzz_rewrite CORPUS
 *
 * Besides not crashing: a frame stays as long as its tags make it, nothing but tags moves, and the
 * IPv4 header's sum is as right or wrong as it was. */
#include <stdlib.h>
#include <string.h>

#include "../../common/base/checksum.h"
#include "../../common/base/dissect.h"
#include "../../common/base/require.h"
#include "../../common/base/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rewrite_map map[] = {
	{4, 8, (u128)10 << 24, (u128)172 << 24},
	{4, 0, 0, (u128)0xc0000201},
	{6, 16, (u128)0x2001 << 112, (u128)0xfd00 << 112},
};
static struct rewrite_port port[] = {{80, 8080}, {53, 5353}};

static uint16_t header_sum(const uint8_t *frame, uint32_t length)
{
	struct dissect d;
	uint32_t header;

	dissect_frame(frame, length, &d);
	header = d.family == 4 ? (frame[d.l3] & 15u) * 4 : 0;
	if (header < 20 || d.l3 + header > length)
		return 0;
	return checksum_fold(checksum_sum(frame + d.l3, header));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rewrite r = {.map = map, .port = port};
	uint32_t captured, length;
	uint16_t sum;
	uint8_t *frame;

	if (size < 2 || size > 4096)
		return 0;
	r.maps = data[0] & 3;
	r.ports = data[0] >> 2 & 1 ? 2 : 0;
	r.vlan_pushes = data[0] >> 3 & 1 ? 2 : 0;
	r.vlan_pop = data[0] >> 4 & 3;
	r.vlan_set = data[0] >> 6 & 1 ? 77 : 0;
	r.repair = data[0] >> 7;
	captured = length = (uint32_t)size - 2;
	frame = malloc(captured + 4u * r.vlan_pushes + !captured);
	require(frame);
	memcpy(frame, data + 2, captured);
	sum = header_sum(frame, captured);
	rewrite_frame(&r, data[1] & 1, frame, &captured, &length);
	require(captured == length && captured + 14 >= size && captured <= size + 6);
	if (!r.repair && !r.vlan_pop && !r.vlan_pushes && sum % 0xffff)
		require(header_sum(frame, captured) % 0xffff == sum % 0xffff);
	rewrite_step(frame, captured, data[1]);
	free(frame);
	return 0;
}
