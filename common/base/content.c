/* Contents: hashes in a table of open addressing, which grows while a recording is read. */
#include "content.h"

#include <stdlib.h>
#include <string.h>

#include "dissect.h"

#define SLOTS_MIN 1024u

static uint64_t mix(uint64_t hash, const uint8_t *data, uint32_t length)
{
	uint64_t word;

	for (; length >= sizeof(word); data += sizeof(word), length -= (uint32_t)sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	word = length;
	for (uint32_t i = 0; i < length; i++)
		word = word << 8 | data[i];
	hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
	return hash ^ hash >> 29;
}

/* Bytes from the transport header on that a network may change: ports, and a checksum. */
static uint32_t check_offset(uint8_t protocol)
{
	return protocol == PROTOCOL_TCP ? 16 : protocol == PROTOCOL_UDP ? 6 : 2;
}

/* Where the IP packet ends in the frame, which may have padding behind it. */
static uint32_t ip_end(const uint8_t *frame, uint32_t length, const struct dissect *d)
{
	uint32_t end = d->l3 + (d->family == 4 ? dissect_u16(frame + d->l3 + 2)
					       : 40u + dissect_u16(frame + d->l3 + 4));

	return end > d->l3 && end < length ? end : length;
}

static uint64_t ip_hash(const uint8_t *frame, uint32_t length, const struct dissect *d)
{
	uint32_t end = ip_end(frame, length, d), from = d->l4 ? d->l4 : d->l3 + 20u;
	uint32_t ports = d->protocol == PROTOCOL_TCP || d->protocol == PROTOCOL_UDP ? 4 : 0;
	uint32_t check = from + check_offset(d->protocol);
	uint64_t hash = d->protocol;

	if (!d->l4 || check + 2 > end)
		return from < end ? mix(hash, frame + from, end - from) : hash;
	hash = mix(hash, frame + from + ports, check - from - ports);
	return mix(hash, frame + check + 2, end - check - 2);
}

uint64_t content_hash(const uint8_t *frame, uint32_t length)
{
	struct dissect d;
	uint64_t hash;

	dissect_frame(frame, length, &d);
	hash = d.family ? ip_hash(frame, length, &d)
			: mix(d.type, frame + d.l3, d.l3 < length ? length - d.l3 : 0);
	return hash ? hash : 1;
}

static uint32_t slot_of(const struct content_table *t, uint64_t hash)
{
	uint32_t slot = (uint32_t)(hash >> 32) & (t->slots - 1);

	while (t->hash[slot] && t->hash[slot] != hash)
		slot = (slot + 1) & (t->slots - 1);
	return slot;
}

uint32_t content_find(const struct content_table *t, uint64_t hash)
{
	uint32_t slot;

	if (!t->slots)
		return CONTENT_NONE;
	slot = slot_of(t, hash);
	return t->hash[slot] ? t->place[slot] : CONTENT_NONE;
}

static int grow(struct content_table *t)
{
	struct content_table larger = {.slots = t->slots ? 2 * t->slots : SLOTS_MIN,
				       .places = t->places};

	larger.hash = calloc(larger.slots, sizeof(*larger.hash));
	larger.place = calloc(larger.slots, sizeof(*larger.place));
	if (!larger.hash || !larger.place) {
		content_free(&larger);
		return -1;
	}
	for (uint32_t i = 0; i < t->slots; i++) {
		uint32_t slot = t->hash[i] ? slot_of(&larger, t->hash[i]) : 0;

		if (!t->hash[i])
			continue;
		larger.hash[slot] = t->hash[i];
		larger.place[slot] = t->place[i];
	}
	content_free(t);
	*t = larger;
	return 0;
}

uint32_t content_add(struct content_table *t, uint64_t hash)
{
	uint32_t slot;

	if (2 * (uint64_t)t->places >= t->slots && grow(t))
		return CONTENT_NONE;
	slot = slot_of(t, hash);
	if (!t->hash[slot]) {
		t->hash[slot] = hash;
		t->place[slot] = t->places++;
	}
	return t->place[slot];
}

void content_free(struct content_table *t)
{
	free(t->hash);
	free(t->place);
	*t = (struct content_table){.hash = NULL};
}
