/* The player.
 *
 * The first pass reads all files and keeps what it makes of them, until that exceeds the memory
 * allowed: then it goes on only to learn what the recording is, and a thread makes the same passes
 * again while they are played, a few blocks ahead of the worker. What both make is the same, for
 * the same code makes it.
 *
 * The thread sleeps when no block is free rather than be woken: a worker makes no system call.
 *
 * Rejected: mapping the files (pipes and compressed files cannot be, and a page fault would hit the
 * worker), and deciding by the files' sizes (compressed ones do not tell). */
#define _GNU_SOURCE
#include "player.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../common/base/rewrite.h"
#include "linktype.h"
#include "player_pass.h"

#define PAUSE_NS      100000u
#define SCRATCH_SPARE 64u /* a converted frame has a longer header, rewriting adds tags */

struct player {
	const struct replay_options *options;
	struct player_setup setup;
	unsigned tapes;                   /* of both ports' workers */
	struct content_table contents[2]; /* of each side */
	uint64_t turn;                    /* see struct tape */
	struct filter *filter;
	struct pass pass;          /* the first; its counts are those of every loop */
	uint8_t *scratch;          /* of a pass; NULL: nothing is rewritten */
	struct tape *tape;         /* per worker */
	struct tape_block **block; /* of each, where packets are put now */
	uint64_t bytes;            /* of all blocks */
	bool streamed;
	bool no_memory;
	bool stop; /* asked of the thread */
	bool started;
	pthread_t thread;
};

static struct tape_block *block_make(struct player *p)
{
	struct tape_block *block = aligned_alloc(_Alignof(struct tape_block), sizeof(*block));

	if (!block)
		return NULL;
	block->next = NULL;
	block->used = 0;
	block->last = false;
	p->bytes += sizeof(*block);
	return block;
}

static void tapes_clear(struct player *p)
{
	for (unsigned i = 0; i < p->tapes; i++) {
		struct tape *tape = &p->tape[i];

		while (tape->first) {
			struct tape_block *next = tape->first->next;

			free(tape->first);
			tape->first = next;
		}
		tape->last = NULL;
		p->block[i] = NULL;
	}
	p->bytes = 0;
}

static uint8_t *block_put(struct tape_block *block, const struct tape_packet *packet)
{
	uint8_t *at = block->data + block->used;

	memcpy(at, packet, sizeof(*packet));
	block->used += packet->size;
	return at + sizeof(*packet);
}

/* The first pass. */

/* Every worker may have one block, however little memory is allowed. */
static bool is_full(const struct player *p)
{
	return p->bytes / sizeof(struct tape_block) >=
	       p->options->memory / sizeof(struct tape_block) + p->tapes;
}

static uint8_t *memory_put(struct pass *pass, unsigned worker, const struct tape_packet *packet)
{
	struct player *p = pass->owner;
	struct tape *tape = &p->tape[worker];
	struct tape_block *block = p->block[worker];

	if (p->streamed || p->no_memory)
		return NULL;
	if (!block || block->used + packet->size > TAPE_BLOCK_BYTES) {
		if (!p->setup.never_streamed && is_full(p)) {
			p->streamed = true;
			tapes_clear(p);
			return NULL;
		}
		block = block_make(p);
		if (!block) {
			p->no_memory = true;
			return NULL;
		}
		*(tape->last ? &tape->last->next : &tape->first) = block;
		tape->last = block;
		p->block[worker] = block;
	}
	return block_put(block, packet);
}

static bool first_wanted(const struct pass *pass)
{
	return !pass->fragments;
}

static bool can_be_read_again(const struct player *p)
{
	struct stat status;

	for (unsigned i = 0; i < p->options->files; i++)
		if (!strcmp(p->options->file[i], "-") || stat(p->options->file[i], &status) ||
		    !S_ISREG(status.st_mode))
			return false;
	return true;
}

static int first_pass(struct player *p, struct err *err)
{
	struct pass *pass = &p->pass;
	bool again = can_be_read_again(p);
	int failed;

	pass->by_address = (p->setup.workers > 1 || p->setup.server_workers > 1) && !again;
	failed = pass_run(pass, err);
	if (pass->fragments) {
		pass->by_address = true;
		p->streamed = false;
		tapes_clear(p);
		failed = pass_run(pass, err);
	}
	if (failed)
		return -1;
	if (p->no_memory)
		return err_set(err, EXIT_ENVIRONMENT, "%s: no memory for its packets",
			       p->options->file[0]);
	if (p->streamed && !again)
		return err_set(err, EXIT_USAGE,
			       "%s: more than `memory` of %llu bytes, and it cannot be read twice: "
			       "raise memory, or put the packets into a file",
			       p->options->file[0], (unsigned long long)p->options->memory);
	return 0;
}

/* Something must be there to be sent, or left out because the user said so. */
static int content_check(const struct player *p, struct err *err)
{
	const struct player_counts *c = &p->pass.counts;

	if (c->packets || c->skipped[SKIPPED_OVERSIZE] || c->skipped[SKIPPED_TRUNCATED])
		return 0;
	for (enum reader_problem i = 0; i < READER_PROBLEMS; i++)
		if (c->problem[i] &&
		    (reader_problem_info[i].class != READER_WARNING || i == READER_NO_PACKETS))
			return err_set(err, EXIT_USAGE, "%s: nothing to send", p->pass.first[i]);
	return err_set(err, EXIT_USAGE, "%s: nothing to send: %s", p->options->file[0],
		       c->filtered ? "no packet matches the filter" : "no packet has any bytes");
}

static void tapes_fix(struct player *p)
{
	uint64_t length, part, parts;

	pass_length(&p->pass, &length, &part, &parts);
	p->pass.counts.length = length;
	for (unsigned i = 0; i < p->tapes; i++) {
		struct tape *tape = &p->tape[i];

		tape->loops = p->options->loop;
		tape->packets = p->pass.counts.packets;
		tape->length = length;
		tape->part = part;
		tape->parts = parts;
		tape->streamed = p->streamed;
		tape->turn = p->options->strict_order ? &p->turn : NULL;
		if (tape->last)
			tape->last->last = true;
	}
}

static bool is_server(const struct player *p, unsigned tape)
{
	return tape >= p->setup.workers;
}

/* Counters for what is sent and received. A streamed recording is not compared: its contents might
 * take as much memory as it does. */
static int contents_fix(struct player *p, struct err *err)
{
	for (unsigned i = 0; p->pass.contents && !p->streamed && i < p->tapes; i++) {
		const struct content_table *own = &p->contents[is_server(p, i)];
		const struct content_table *other = &p->contents[!is_server(p, i)];
		struct tape *tape = &p->tape[i];

		tape->sent = calloc(own->places + 1u, sizeof(*tape->sent));
		tape->received = calloc(other->places + 1u, sizeof(*tape->received));
		if (!tape->sent || !tape->received)
			return err_set(err, EXIT_ENVIRONMENT, "out of memory");
		tape->expected = other;
	}
	return 0;
}

/* The blocks of a streamed recording, all free. */
static int blocks_make(struct player *p, struct err *err)
{
	for (unsigned i = 0; p->streamed && i < p->tapes; i++) {
		for (unsigned n = 0; n < TAPE_BLOCKS; n++) {
			struct tape_block *block = block_make(p);

			if (!block)
				return err_set(err, EXIT_ENVIRONMENT, "%s: no memory to read it",
					       p->options->file[0]);
			block->next = p->tape[i].first; /* to free them */
			p->tape[i].first = block;
			tape_put(&p->tape[i].empty, block);
		}
	}
	return 0;
}

static int player_load(struct player *p, struct err *err)
{
	size_t size = p->tapes * sizeof(*p->tape);

	p->tape = aligned_alloc(_Alignof(struct tape), size);
	p->block = calloc(p->tapes, sizeof(*p->block));
	if (!p->tape || !p->block)
		return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	memset(p->tape, 0, size);
	if (p->options->filter) {
		p->filter = filter_open(p->options->filter, LINKTYPE_ETHERNET, err);
		if (!p->filter)
			return -1;
	}
	if (rewrite_is_set(&p->options->rewrite)) {
		p->scratch = malloc(RECORD_CAPTURED_MAX + SCRATCH_SPARE);
		if (!p->scratch)
			return err_set(err, EXIT_ENVIRONMENT, "out of memory");
	}
	p->pass = (struct pass){.options = p->options,
				.scratch = p->scratch,
				.setup = &p->setup,
				.filter = p->filter,
				.put = memory_put,
				.wanted = first_wanted,
				.contents = p->setup.server_workers ? p->contents : NULL,
				.owner = p};
	if (first_pass(p, err) || content_check(p, err))
		return -1;
	tapes_fix(p);
	return contents_fix(p, err) || blocks_make(p, err) ? -1 : 0;
}

struct player *player_open(const struct replay_options *options, const struct player_setup *setup,
			   struct err *err)
{
	struct player *p = calloc(1, sizeof(*p));

	if (!p) {
		err_set(err, EXIT_ENVIRONMENT, "out of memory");
		return NULL;
	}
	p->options = options;
	p->setup = *setup;
	p->tapes = setup->workers + setup->server_workers;
	if (player_load(p, err)) {
		player_close(p);
		return NULL;
	}
	return p;
}

const struct player_counts *player_counts(const struct player *p)
{
	return &p->pass.counts;
}

const char *player_first(const struct player *p, enum reader_problem problem)
{
	return p->pass.counts.problem[problem] ? p->pass.first[problem] : NULL;
}

const char *player_first_truncated(const struct player *p)
{
	return *p->pass.truncated ? p->pass.truncated : NULL;
}

struct tape *player_tape(struct player *p, bool server, unsigned worker)
{
	return &p->tape[server ? p->setup.workers + worker : worker];
}

/* One content of one side: what was sent of it, and what the other port's workers received. */
static void place_compare(const struct player *p, bool server, uint32_t place,
			  struct player_compared *c)
{
	uint64_t sent = 0, received = 0;

	for (unsigned i = 0; i < p->tapes; i++) {
		if (is_server(p, i) == server)
			sent += p->tape[i].sent[place];
		else
			received += p->tape[i].received[place];
	}
	c->sent += sent;
	c->received += received;
	c->lost += sent > received ? sent - received : 0;
	c->duplicate += received > sent ? received - sent : 0;
}

bool player_compare(const struct player *p, struct player_compared *c)
{
	*c = (struct player_compared){.sent = 0};
	if (!p->tape[0].expected)
		return false;
	for (unsigned side = 0; side < 2; side++)
		for (uint32_t place = 0; place < p->contents[side].places; place++)
			place_compare(p, side, place, c);
	for (unsigned i = 0; i < p->tapes; i++)
		c->foreign += p->tape[i].foreign;
	return true;
}

uint64_t player_bytes(const struct player *p)
{
	return p->bytes;
}

/* The thread of a streamed recording. */

static bool stream_wanted(const struct pass *pass)
{
	const struct player *p = pass->owner;

	return !__atomic_load_n(&p->stop, __ATOMIC_RELAXED);
}

/* A free block for a worker's tape, waited for; NULL when the thread is to stop. */
static struct tape_block *block_wait(struct pass *pass, struct tape *tape)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct tape_block *block;

	while (!(block = tape_take(&tape->empty))) {
		if (!stream_wanted(pass))
			return NULL;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	block->used = 0;
	block->last = false;
	return block;
}

static uint8_t *stream_put(struct pass *pass, unsigned worker, const struct tape_packet *packet)
{
	struct player *p = pass->owner;
	struct tape_block *block = p->block[worker];

	if (block && block->used + packet->size > TAPE_BLOCK_BYTES) {
		tape_put(&p->tape[worker].full, block);
		block = p->block[worker] = NULL;
	}
	if (!block)
		block = p->block[worker] = block_wait(pass, &p->tape[worker]);
	return block ? block_put(block, packet) : NULL;
}

/* A loop is over: what every tape has of it goes out, be it nothing. */
static void loop_put(struct player *p, struct pass *pass)
{
	for (unsigned i = 0; i < p->tapes; i++) {
		struct tape_block *block = p->block[i];

		if (!block)
			block = block_wait(pass, &p->tape[i]);
		p->block[i] = NULL;
		if (!block)
			return;
		block->last = true;
		tape_put(&p->tape[i].full, block);
	}
}

static void *player_run(void *arg)
{
	struct player *p = arg;
	struct pass pass = {.options = p->options,
			    .scratch = p->scratch,
			    .setup = &p->setup,
			    .filter = p->filter,
			    .by_address = p->pass.by_address,
			    .put = stream_put,
			    .wanted = stream_wanted,
			    .owner = p};
	struct err err;

	for (uint64_t loop = 0; loop < p->options->loop && stream_wanted(&pass); loop++) {
		if (pass_run(&pass, &err))
			break;
		if (stream_wanted(&pass))
			loop_put(p, &pass);
	}
	side_clear(&pass.sides);
	for (unsigned i = 0; i < p->tapes; i++)
		__atomic_store_n(&p->tape[i].ended, true, __ATOMIC_RELEASE);
	return NULL;
}

int player_start(struct player *p, struct err *err)
{
	int number;

	if (!p->streamed)
		return 0;
	number = pthread_create(&p->thread, NULL, player_run, p);
	if (number)
		return err_set(err, EXIT_ENVIRONMENT, "no thread to read %s: %s",
			       p->options->file[0], strerror(number));
	p->started = true;
	return 0;
}

void player_stop(struct player *p)
{
	if (!p->started)
		return;
	__atomic_store_n(&p->stop, true, __ATOMIC_RELAXED);
	pthread_join(p->thread, NULL);
	p->started = false;
}

void player_close(struct player *p)
{
	if (!p)
		return;
	player_stop(p);
	if (p->tape && p->block)
		tapes_clear(p);
	for (unsigned i = 0; p->tape && i < p->tapes; i++) {
		free(p->tape[i].sent);
		free(p->tape[i].received);
	}
	content_free(&p->contents[0]);
	content_free(&p->contents[1]);
	side_clear(&p->pass.sides);
	filter_close(p->filter);
	free(p->scratch);
	free(p->tape);
	free(p->block);
	free(p);
}
