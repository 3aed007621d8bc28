/* A modifier's value is a function of a number alone - the packet's or its flow's - so that any
 * number of workers make the same packets together as one would.
 *
 * Checksums are updated by RFC 1624: of every 16-bit word touched the complement of the old is
 * added and the new. Headers begin at even offsets of the frame, so a word is never of two parts.
 */
#include "modify.h"

#include <string.h>

#include "../common/base/rng.h"

struct place {
	uint16_t offset;
	uint8_t bytes;
	uint64_t mask;
};

static struct place place_at(unsigned offset, unsigned bytes)
{
	return (struct place){(uint16_t)offset, (uint8_t)bytes, UINT64_MAX};
}

/* Fields of the IP header. Of an IPv6 address the last 64 bits change. */
static struct place ip_place(enum modify_field field, const struct frame *f)
{
	uint16_t ip = f->l3;

	switch (field) {
	case MODIFY_IP_TOS:
		return f->family == 6 ? (struct place){ip, 2, 0x0ff0} : place_at(ip + 1u, 1);
	case MODIFY_IP_ID:
		return place_at(ip + 4u, 2);
	case MODIFY_IP_TTL:
		return place_at(ip + (f->family == 6 ? 7u : 8u), 1);
	case MODIFY_IP_SRC:
		return f->family == 6 ? place_at(ip + 16u, 8) : place_at(ip + 12u, 4);
	case MODIFY_IP_DST:
		return f->family == 6 ? place_at(ip + 32u, 8) : place_at(ip + 16u, 4);
	default:
		return (struct place){(uint16_t)(ip + 1), 3, 0x0fffff}; /* the flow label */
	}
}

/* Of a template nothing but addresses of Ethernet is known by name. */
static struct place place_of(const struct config_modify *c, const struct frame *f)
{
	uint16_t tag = (uint16_t)(f->l3 - 4); /* the innermost VLAN tag's value */

	switch (c->field) {
	case MODIFY_ETH_DST:
		return place_at(0, 6);
	case MODIFY_ETH_SRC:
		return place_at(6, 6);
	case MODIFY_VLAN_ID:
		return (struct place){tag, 2, 0x0fff};
	case MODIFY_VLAN_PCP:
		return (struct place){tag, 2, 0xe000};
	case MODIFY_SRC_PORT:
		return place_at(f->l4, 2);
	case MODIFY_DST_PORT:
		return place_at(f->l4 + 2u, 2);
	case MODIFY_TCP_SEQ:
		return place_at(f->l4 + 4u, 4);
	case MODIFY_TCP_ACK:
		return place_at(f->l4 + 8u, 4);
	case MODIFY_TCP_FLAGS:
		return place_at(f->l4 + 13u, 1);
	case MODIFY_TCP_WINDOW:
		return place_at(f->l4 + 14u, 2);
	case MODIFY_ICMP_ID:
		return place_at(f->l4 + 4u, 2);
	case MODIFY_ICMP_SEQ:
		return place_at(f->l4 + 6u, 2);
	case MODIFY_OFFSET:
	case MODIFY_FIELDS:
		return place_at(c->offset, c->bytes);
	default:
		return ip_place(c->field, f);
	}
}

/* Which checksums the word at an even offset goes into. */
static uint8_t cover_of(const struct frame *f, uint16_t at)
{
	uint16_t addresses = (uint16_t)(f->l3 + (f->family == 4 ? 12 : 8));
	uint8_t cover = 0;

	if (!f->family || at < f->l3)
		return 0;
	if (f->family == 4 && at < f->l4)
		cover |= COVER_IP;
	if (at >= f->l4 || (at >= addresses && at < f->l3 + (f->family == 4 ? 20 : 40)))
		cover |= COVER_L4;
	return cover;
}

void modify_make(struct modify *m, const struct config_modify *config, const struct frame *f,
		 uint64_t seed, const struct deal *deal, bool *ip_kept, bool *l4_kept)
{
	struct place place = place_of(config, f);
	uint16_t first = place.offset & 0xfffe, end = (uint16_t)(place.offset + place.bytes);
	bool icmp = f->family == 4 && f->l4_check == f->l4 + 2;

	*m = (struct modify){.config = config,
			     .offset = place.offset,
			     .bytes = place.bytes,
			     .words = (uint8_t)((end - first + 1) / 2),
			     .mask = (config->mask ? config->mask : UINT64_MAX)
					     << __builtin_ctzll(place.mask) &
				     place.mask,
			     .values = config->op == MODIFY_LIST ? config->values : config->count,
			     .number = deal->first,
			     .seed = seed,
			     .deal = *deal};
	if (place.bytes < 8)
		m->mask &= (UINT64_C(1) << 8 * place.bytes) - 1;
	m->digit = digit_make(m->values ? m->values : UINT64_MAX, deal);
	for (unsigned i = 0; i < m->words; i++) {
		m->cover[i] = cover_of(f, (uint16_t)(first + 2 * i));
		if (icmp && first + 2 * i < f->l4) /* ICMP has no pseudo header */
			m->cover[i] &= (uint8_t)~COVER_L4;
	}
	if (f->family == 4 && place.offset < f->l3 + 12 && end > f->l3 + 10)
		*ip_kept = false;
	if (f->l4_check && place.offset < f->l4_check + 2 && end > f->l4_check)
		*l4_kept = false;
}

/* How far the modifier's count is for this packet, or for its flow. */
static uint64_t position(struct modify *m, uint64_t flow)
{
	uint64_t at = m->digit.at;

	if (m->config->per_flow)
		return m->values ? flow % m->values : flow;
	digit_add(&m->digit, m->digit.step, false);
	return at;
}

static uint64_t value_at(struct modify *m, uint64_t flow, uint64_t old)
{
	const struct config_modify *c = m->config;
	uint64_t shift = (uint64_t)__builtin_ctzll(m->mask | UINT64_C(1) << 63);
	uint64_t start = c->has_start ? c->start : (old & m->mask) >> shift, value;
	struct rng rng;

	switch (c->op) {
	case MODIFY_INCREMENT:
		value = start + c->step * position(m, flow);
		break;
	case MODIFY_DECREMENT:
		value = start - c->step * position(m, flow);
		break;
	case MODIFY_LIST:
		value = c->value[position(m, flow)];
		break;
	default:
		rng.state = m->seed + (c->per_flow ? flow : m->number) * 0xd1342543de82ef95u;
		value = rng_next(&rng);
		if (m->values)
			value = start + value % m->values * c->step;
	}
	return value << shift;
}

static uint16_t word_at(const uint8_t *packet, uint16_t at)
{
	uint16_t word;

	memcpy(&word, packet + at, sizeof word);
	return word;
}

void modify_apply(struct modify *m, uint8_t *packet, uint64_t flow, struct modify_sums *sums)
{
	uint16_t first = m->offset & 0xfffe, before[5];
	uint64_t old = 0, value;

	for (unsigned i = 0; i < m->words; i++)
		before[i] = word_at(packet, (uint16_t)(first + 2 * i));
	for (unsigned i = 0; i < m->bytes; i++)
		old = old << 8 | packet[m->offset + i];
	value = (old & ~m->mask) | (value_at(m, flow, old) & m->mask);
	m->number += m->deal.step;
	for (unsigned i = m->bytes; i-- > 0; value >>= 8)
		packet[m->offset + i] = (uint8_t)value;
	for (unsigned i = 0; i < m->words; i++) {
		uint64_t change =
			(uint16_t)~before[i] + (uint64_t)word_at(packet, (uint16_t)(first + 2 * i));

		if (m->cover[i] & COVER_IP)
			sums->ip += change;
		if (m->cover[i] & COVER_L4)
			sums->l4 += change;
	}
}
