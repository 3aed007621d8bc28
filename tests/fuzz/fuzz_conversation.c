/* libFuzzer target: any bytes as a recording whose connections are put together. Seeds:
 * tests/golden/pcap, conf/session.pcap.
 *
 *     clang -fsanitize=fuzzer,address,undefined ... && ./fuzz_conversation CORPUS
 *
 * Besides not crashing: every script comes to its end when both sides play it, and says no more
 * than its turns let it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../common/base/require.h"
#include "../../pcap/conversation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a side has said when it has heard so much; the turns it has come to go on in *at. */
static uint32_t say(const struct script_side *side, uint32_t heard, uint32_t *at, uint32_t said)
{
	for (; *at < side->turns && side->turn[*at].need <= heard; ++*at) {
		require(side->turn[*at].until >= said || side->turn[*at].what == SCRIPT_RST);
		require(side->turn[*at].until <= side->length);
		if (side->turn[*at].what != SCRIPT_RST)
			said = side->turn[*at].until + (side->turn[*at].what == SCRIPT_FIN);
	}
	return said;
}

static void script_check(const struct script *script)
{
	const struct script_side *client = &script->side[0], *server = &script->side[1];
	uint32_t at[2] = {0, 0}, said[2] = {0, 0}, before;

	do {
		before = at[0] + at[1];
		said[0] = say(client, said[1], &at[0], said[0]);
		said[1] = say(server, said[0], &at[1], said[1]);
	} while (at[0] + at[1] != before);
	if (client->resets || server->resets)
		require((client->resets && at[0] == client->turns) ||
			(server->resets && at[1] == server->turns));
	else
		require(at[0] == client->turns && at[1] == server->turns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[32];
	static const char *file = path;
	static int fd = -1;
	struct script_options options = {
		.file = &file, .files = 1, .think_factor = 1, .memory = 1 << 24};
	struct conversations *c;
	struct err err;

	if (fd < 0) {
		fd = memfd_create("fuzz", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	require(ftruncate(fd, 0) == 0);
	require(pwrite(fd, data, size, 0) == (ssize_t)size);
	c = conversations_open(&options, &err);
	if (!c)
		return 0;
	for (uint32_t i = 0; i < conversations_scripts(c)->scripts; i++)
		script_check(&conversations_scripts(c)->script[i]);
	conversations_close(c);
	return 0;
}
