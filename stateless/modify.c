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

/* Of a template nothing but addresses of Ethernet is known by name. */
static struct place place_of(const struct config_modify *c, const struct frame *f)
{
	uint16_t tag = (uint16_t)(f->l3 - 4); /* the innermost VLAN tag's value */

	switch (c->field) {
	case MODIFY_ETH_DST:
		return (struct place){0, 6, UINT64_MAX};
	case MODIFY_ETH_SRC:
		return (struct place){6, 6, UINT64_MAX};
	case MODIFY_VLAN_ID:
		return (struct place){tag, 2, 0x0fff};
	case MODIFY_VLAN_PCP:
		return (struct place){tag, 2, 0xe000};
	case MODIFY_IP_TOS:
		return (struct place){(uint16_t)(f->l3 + 1), 1, UINT64_MAX};
	case MODIFY_IP_ID:
		return (struct place){(uint16_t)(f->l3 + 4), 2, UINT64_MAX};
	case MODIFY_IP_TTL:
		return (struct place){(uint16_t)(f->l3 + 8), 1, UINT64_MAX};
	case MODIFY_IP_SRC:
		return (struct place){(uint16_t)(f->l3 + 12), 4, UINT64_MAX};
	case MODIFY_IP_DST:
		return (struct place){(uint16_t)(f->l3 + 16), 4, UINT64_MAX};
	case MODIFY_SRC_PORT:
		return (struct place){f->l4, 2, UINT64_MAX};
	case MODIFY_DST_PORT:
		return (struct place){(uint16_t)(f->l4 + 2), 2, UINT64_MAX};
	default:
		return (struct place){c->offset, c->bytes, UINT64_MAX};
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
			     .mask = config->mask & place.mask,
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
