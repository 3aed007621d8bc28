/* Recordings to scripts: every TCP segment goes to its connection, found by a hash of its ends.
 *
 * A SYN with another sequence number than the connection's begins the next connection of the same
 * ends; so does Wireshark count its streams, and so are they numbered. What was taken of packets is
 * kept as the scripts' bytes: nothing is copied again. */
#define _GNU_SOURCE
#include "conversation.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/base/dissect.h"
#include "filter.h"
#include "flow.h"
#include "linktype.h"

#define SLOTS_LEAST 1024u
#define NAME_MAX    400
#define EVER_NS     1e18

struct conversations {
	const struct script_options *options;
	struct script_set set;
	struct script_counts counts;
	struct filter *filter;
	struct flow *flow; /* of the file at hand, in the order of their beginning */
	uint32_t flows, flows_room;
	uint32_t *slot; /* 1 + the latest flow of these ends; 0: free */
	uint32_t slots; /* a power of two, more than twice the flows */
	uint64_t last_ns, bytes;
	uint32_t scripts_room;
	char refused[SCRIPT_REFUSALS][NAME_MAX];
	uint64_t problem[READER_PROBLEMS];
	char first[READER_PROBLEMS][NAME_MAX];
};

struct ends { /* as a packet has them */
	const uint8_t *address[2];
	uint16_t port[2];
	uint8_t family;
};

static uint32_t address_bytes(uint8_t family)
{
	return family == 4 ? 4 : 16;
}

/* Are these the flow's ends, and which of them is the source? */
static bool flow_is(const struct flow *f, const struct ends *e, unsigned *from)
{
	uint32_t bytes = address_bytes(e->family);

	if (f->family != e->family)
		return false;
	for (*from = 0; *from < 2; ++*from)
		if (f->port[*from] == e->port[0] && f->port[!*from] == e->port[1] &&
		    !memcmp(f->address[*from], e->address[0], bytes) &&
		    !memcmp(f->address[!*from], e->address[1], bytes))
			return true;
	return false;
}

static int out_of_memory(struct err *err)
{
	return err_set(err, EXIT_ENVIRONMENT, "no memory for the conversations");
}

static uint32_t ends_hash(const struct ends *e)
{
	uint64_t hash[2];

	for (unsigned i = 0; i < 2; i++) {
		hash[i] = 0xcbf29ce484222325u ^ e->port[i];
		for (uint32_t b = 0; b < address_bytes(e->family); b++)
			hash[i] = (hash[i] ^ e->address[i][b]) * 0x100000001b3u;
		hash[i] ^= hash[i] >> 29;
	}
	return (uint32_t)((hash[0] + hash[1]) * 0x9e3779b97f4a7c15u >> 32);
}

static uint32_t *slot_find(struct conversations *c, const struct ends *e)
{
	uint32_t i = ends_hash(e) & (c->slots - 1);
	unsigned from;

	while (c->slot[i] && !flow_is(&c->flow[c->slot[i] - 1], e, &from))
		i = (i + 1) & (c->slots - 1);
	return &c->slot[i];
}

static int slots_grow(struct conversations *c)
{
	uint32_t *old = c->slot;

	c->slots = c->slots ? 2 * c->slots : SLOTS_LEAST;
	c->slot = calloc(c->slots, sizeof(*c->slot));
	free(old);
	if (!c->slot)
		return -1;
	for (uint32_t i = 0; i < c->flows; i++) { /* later ones of the same ends take the place */
		const struct flow *f = &c->flow[i];
		struct ends e = {.address = {f->address[0], f->address[1]},
				 .port = {f->port[0], f->port[1]},
				 .family = f->family};

		*slot_find(c, &e) = i + 1;
	}
	return 0;
}

/* Its first end is the source. */
static struct flow *flow_add(struct conversations *c, const struct ends *e, uint32_t *slot)
{
	struct flow *f;

	if (c->flows == c->flows_room) {
		uint32_t room = c->flows_room ? 2 * c->flows_room : 64;
		struct flow *grown = realloc(c->flow, room * sizeof(*grown));

		if (!grown)
			return NULL;
		c->flow = grown;
		c->flows_room = room;
	}
	f = &c->flow[c->flows];
	*f = (struct flow){
		.family = e->family, .number = c->flows, .port = {e->port[0], e->port[1]}};
	for (unsigned i = 0; i < 2; i++)
		memcpy(f->address[i], e->address[i], address_bytes(e->family));
	*slot = ++c->flows;
	c->bytes += sizeof(*f);
	return f;
}

/* A SYN whose source is not the flow's first end, or of another sequence number, begins a new
 * one. */
static bool flow_is_new(const struct flow *f, unsigned from, const struct flow_segment *s)
{
	if ((s->flags & (FLOW_SYN | FLOW_ACK)) != FLOW_SYN)
		return false;
	return !f->begun || from != SCRIPT_CLIENT || f->syn != s->seq;
}

static int segment_take(struct conversations *c, const struct ends *e, struct flow_segment *s,
			struct err *err)
{
	uint32_t *slot;
	unsigned from = 0;
	struct flow *f = NULL;
	uint64_t before = 0;

	if (c->slots <= 2 * c->flows && slots_grow(c))
		return out_of_memory(err);
	slot = slot_find(c, e);
	if (*slot) {
		f = &c->flow[*slot - 1];
		flow_is(f, e, &from);
		before = f->taken;
	}
	if (!f || flow_is_new(f, from, s)) {
		f = flow_add(c, e, slot);
		from = 0;
		before = 0;
	}
	if (!f || flow_take(f, from, s))
		return out_of_memory(err);
	c->bytes += f->taken - before;
	if (c->bytes > c->options->memory)
		return err_set(err, EXIT_USAGE,
			       "its conversations take more than `memory` of %" PRIu64 " bytes",
			       c->options->memory);
	return 0;
}

static uint32_t u32_at(const uint8_t *at)
{
	return (uint32_t)dissect_u16(at) << 16 | dissect_u16(at + 2);
}

/* A record's TCP segment; false: it has none, or not all of its header. */
static bool segment_read(const struct record *r, struct ends *e, struct flow_segment *s)
{
	uint32_t captured = r->captured < r->length ? r->captured : r->length, end, header;
	const uint8_t *ip, *tcp;
	struct dissect d;

	dissect_frame(r->data, captured, &d);
	if (!d.family || d.protocol != PROTOCOL_TCP || d.fragment || !d.l4 || d.l4 + 20u > captured)
		return false;
	ip = r->data + d.l3;
	tcp = r->data + d.l4;
	end = d.family == 4 ? dissect_u16(ip + 2) : dissect_u16(ip + 4);
	/* 0: longer than the field can say, as the offloading sender's own recording has it */
	end = !end ? r->length : d.l3 + end + (d.family == 4 ? 0 : 40);
	header = (uint32_t)(tcp[12] >> 4) * 4;
	if (header < 20 || d.l4 + header > end)
		return false;
	*e = (struct ends){.family = d.family, .port = {dissect_u16(tcp), dissect_u16(tcp + 2)}};
	e->address[0] = ip + (d.family == 4 ? 12 : 8);
	e->address[1] = e->address[0] + address_bytes(d.family);
	*s = (struct flow_segment){.payload = tcp + header,
				   .length = end - d.l4 - header,
				   .seq = u32_at(tcp + 4),
				   .ack = u32_at(tcp + 8),
				   .flags = tcp[13]};
	s->captured = captured > d.l4 + header ? captured - d.l4 - header : 0;
	if (s->captured > s->length)
		s->captured = s->length;
	return true;
}

static int record_take(struct conversations *c, const struct record *r, struct err *err)
{
	struct flow_segment segment;
	struct ends ends;

	c->counts.records++;
	if ((c->filter && !filter_match(c->filter, r->data, r->captured, r->length)) ||
	    !segment_read(r, &ends, &segment)) {
		c->counts.other++;
		return 0;
	}
	if (r->time_ns > c->last_ns)
		c->last_ns = r->time_ns;
	segment.time_ns = c->last_ns;
	return segment_take(c, &ends, &segment, err);
}

static void refused_name(struct conversations *c, const char *path, const struct flow *f,
			 enum script_refused reason, const char *why)
{
	char text[2][INET6_ADDRSTRLEN];
	int family = f->family == 4 ? AF_INET : AF_INET6;

	if (c->counts.refused[reason]++)
		return;
	for (unsigned i = 0; i < 2; i++)
		inet_ntop(family, f->address[i], text[i], sizeof(text[i]));
	snprintf(c->refused[reason], NAME_MAX,
		 "%s: conversation %" PRIu64 ", %s port %u to %s port %u: %s%s%s", path, f->number,
		 text[0], f->port[0], text[1], f->port[1], script_refused_help[reason],
		 *why ? ": " : "", why);
}

/* By the options' factor and limit. */
static void waits_scale(struct conversations *c, struct script *script)
{
	const struct script_options *o = c->options;

	for (unsigned i = 0; i < 2; i++) {
		struct script_side *side = &script->side[i];

		for (uint32_t t = 0; t < side->turns; t++) {
			double wait = (double)side->turn[t].wait * o->think_factor;

			if (o->max_think && wait > (double)o->max_think)
				wait = (double)o->max_think;
			side->turn[t].wait = wait < EVER_NS ? (uint64_t)wait : (uint64_t)EVER_NS;
			if (c->set.longest_wait < side->turn[t].wait)
				c->set.longest_wait = side->turn[t].wait;
		}
	}
}

static int script_add(struct conversations *c, const struct script *script)
{
	if (c->set.scripts == c->scripts_room) {
		uint32_t room = c->scripts_room ? 2 * c->scripts_room : 16;
		struct script *grown = realloc(c->set.script, room * sizeof(*grown));

		if (!grown)
			return -1;
		c->set.script = grown;
		c->scripts_room = room;
	}
	c->set.script[c->set.scripts++] = *script;
	for (unsigned i = 0; i < 2; i++) {
		c->counts.bytes[i] += script->side[i].length;
		c->counts.turns += script->side[i].turns;
		if (c->set.longest < script->side[i].length)
			c->set.longest = script->side[i].length;
	}
	return 0;
}

/* The flow's bytes and turns are the script's now. */
static void flow_give(struct flow *f)
{
	for (unsigned i = 0; i < 2; i++) {
		free(f->side[i].hole);
		f->side[i] = (struct flow_side){.bytes = NULL};
	}
}

static int flows_end(struct conversations *c, const char *path, struct err *err)
{
	for (uint32_t i = 0; i < c->flows; i++) {
		struct flow *f = &c->flow[i];
		struct script script = {0};
		enum script_refused refused;
		bool unended;
		char why[128];

		if (c->options->flow && f->number + 1 != c->options->flow)
			continue;
		c->counts.conversations++;
		refused = flow_end(f, &script, &unended, why, sizeof(why));
		if (refused < SCRIPT_REFUSALS) {
			refused_name(c, path, f, refused, why);
			continue;
		}
		c->counts.unended += unended;
		waits_scale(c, &script);
		if (script_add(c, &script))
			return out_of_memory(err);
		flow_give(f);
	}
	return 0;
}

static void flows_clear(struct conversations *c)
{
	for (uint32_t i = 0; i < c->flows; i++)
		flow_free(&c->flow[i]);
	free(c->flow);
	free(c->slot);
	c->flow = NULL;
	c->slot = NULL;
	c->flows = c->flows_room = c->slots = 0;
	c->last_ns = 0;
}

static void problems_add(struct conversations *c, const struct reader *reader)
{
	for (enum reader_problem i = 0; i < READER_PROBLEMS; i++) {
		const struct reader_count *count = reader_count(reader, i);

		if (count->count && !c->problem[i])
			snprintf(c->first[i], NAME_MAX, "%s", count->first);
		c->problem[i] += count->count;
	}
}

static int file_read(struct conversations *c, const char *path, struct err *err)
{
	static const struct reader_options links = {.links = READER_CONVERT};
	struct reader *reader = reader_open(path, &links, err);
	struct script_file *file = &c->set.file[c->set.files];
	struct record record;
	int failed = 0;

	if (!reader)
		return -1;
	file->first = c->set.scripts;
	while (!failed && reader_next(reader, &record) > 0)
		failed = record_take(c, &record, err);
	problems_add(c, reader);
	reader_close(reader);
	if (failed || flows_end(c, path, err))
		return err_prefix(err, "%s: ", path);
	flows_clear(c);
	file->count = c->set.scripts - file->first;
	c->set.files += file->count != 0;
	return 0;
}

static int nothing(const struct conversations *c, struct err *err)
{
	for (unsigned i = 0; i < SCRIPT_REFUSALS; i++)
		if (*c->refused[i])
			return err_set(err, EXIT_USAGE, "nothing to play: %s", c->refused[i]);
	for (unsigned i = 0; i < READER_PROBLEMS; i++)
		if (*c->first[i] &&
		    (reader_problem_info[i].class != READER_WARNING || i == READER_NO_PACKETS))
			return err_set(err, EXIT_USAGE, "nothing to play: %s", c->first[i]);
	return err_set(err, EXIT_USAGE, "nothing to play: %s: no TCP connection%s",
		       c->options->file[0],
		       c->options->flow     ? " of that number"
		       : c->options->filter ? " passes the filter"
					    : "");
}

static int order_compare(const void *a, const void *b, void *set)
{
	const struct script *script = ((const struct script_set *)set)->script;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct script_side *p = &script[x].side[SCRIPT_CLIENT];
	const struct script_side *q = &script[y].side[SCRIPT_CLIENT];
	uint32_t length = p->length < q->length ? p->length : q->length;
	int order = length ? memcmp(p->bytes, q->bytes, length) : 0;

	if (order)
		return order;
	if (p->length != q->length)
		return p->length < q->length ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int order_make(struct script_set *set, struct err *err)
{
	set->order = malloc((size_t)set->scripts * sizeof(*set->order));
	if (!set->order)
		return out_of_memory(err);
	for (uint32_t i = 0; i < set->scripts; i++)
		set->order[i] = i;
	qsort_r(set->order, set->scripts, sizeof(*set->order), order_compare, set);
	return 0;
}

/* Every conversation as often as another: all files are one. */
static void files_join(struct conversations *c)
{
	if (c->options->weigh == WEIGH_FILES || !c->set.files)
		return;
	c->set.file[0] = (struct script_file){.count = c->set.scripts};
	c->set.files = 1;
}

static int all_read(struct conversations *c, struct err *err)
{
	const struct script_options *o = c->options;

	c->set.file = calloc(o->files, sizeof(*c->set.file));
	if (!c->set.file)
		return out_of_memory(err);
	if (o->filter) {
		c->filter = filter_open(o->filter, LINKTYPE_ETHERNET, err);
		if (!c->filter)
			return -1;
	}
	for (unsigned i = 0; i < o->files; i++)
		if (file_read(c, o->file[i], err))
			return -1;
	files_join(c);
	return c->set.scripts ? order_make(&c->set, err) : nothing(c, err);
}

struct conversations *conversations_open(const struct script_options *options, struct err *err)
{
	struct conversations *c = calloc(1, sizeof(*c));

	if (!c) {
		out_of_memory(err);
		return NULL;
	}
	c->options = options;
	if (!all_read(c, err))
		return c;
	conversations_close(c);
	return NULL;
}

const struct script_set *conversations_scripts(const struct conversations *c)
{
	return &c->set;
}

const struct script_counts *conversations_counts(const struct conversations *c)
{
	return &c->counts;
}

const char *conversations_refused(const struct conversations *c, enum script_refused reason)
{
	return *c->refused[reason] ? c->refused[reason] : NULL;
}

const char *conversations_problem(const struct conversations *c, enum reader_problem problem)
{
	return *c->first[problem] ? c->first[problem] : NULL;
}

void conversations_close(struct conversations *c)
{
	if (!c)
		return;
	flows_clear(c);
	for (uint32_t i = 0; i < c->set.scripts; i++) {
		for (unsigned side = 0; side < 2; side++) {
			free((char *)c->set.script[i].side[side].bytes);
			free(c->set.script[i].side[side].turn);
		}
	}
	free(c->set.script);
	free(c->set.order);
	free(c->set.file);
	filter_close(c->filter);
	free(c);
}
