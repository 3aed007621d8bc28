/* Checks of a blast's modifiers: whether the field is there, whether values fit into it, whether
 * bytes lie inside of the frame and beside the tag. */
#include "reader.h"

#include <string.h>

/* What a field needs of the blast, and its bits; of offset and IP addresses these depend. */
struct field {
	uint8_t bits, family; /* family 0: either */
	int protocol;         /* enum blast_protocol; -1: any, PORTS: one that has ports */
};
#define PORTS (-2)

static struct field field_of(const struct config_traffic *t, const struct config_modify *m)
{
	uint8_t address = blast_family(t) == 6 ? 64 : 32;

	switch (m->field) {
	case MODIFY_ETH_DST:
	case MODIFY_ETH_SRC:
		return (struct field){48, 0, -1};
	case MODIFY_VLAN_ID:
		return (struct field){12, 0, -1};
	case MODIFY_VLAN_PCP:
		return (struct field){3, 0, -1};
	case MODIFY_IP_TOS:
	case MODIFY_IP_TTL:
		return (struct field){8, 0, -1};
	case MODIFY_IP_ID:
		return (struct field){16, 4, -1};
	case MODIFY_IP_FLOW:
		return (struct field){20, 6, -1};
	case MODIFY_IP_SRC:
	case MODIFY_IP_DST:
		return (struct field){address, 0, -1};
	case MODIFY_SRC_PORT:
	case MODIFY_DST_PORT:
		return (struct field){16, 0, PORTS};
	case MODIFY_TCP_SEQ:
	case MODIFY_TCP_ACK:
		return (struct field){32, 0, BLAST_TCP};
	case MODIFY_TCP_FLAGS:
		return (struct field){8, 0, BLAST_TCP};
	case MODIFY_TCP_WINDOW:
		return (struct field){16, 0, BLAST_TCP};
	case MODIFY_ICMP_ID:
	case MODIFY_ICMP_SEQ:
		return (struct field){16, 0, BLAST_ICMP};
	default:
		return (struct field){(uint8_t)(8 * m->bytes), 0, -1};
	}
}

/* Why the packets do not have the field, or NULL. */
static const char *field_missing(const struct config *c, const struct config_traffic *t,
				 const struct config_modify *m)
{
	static const char *const no[] = {[BLAST_UDP] = "",
					 [BLAST_TCP] = "only TCP has it",
					 [BLAST_ICMP] = "only ICMP has it"};
	struct field field = field_of(t, m);
	enum blast_protocol protocol = t->blast.protocol;

	if (m->field >= MODIFY_VLAN_ID && t->blast.template.count)
		return "of a template only eth.dst, eth.src and offset are known";
	if ((m->field == MODIFY_VLAN_ID || m->field == MODIFY_VLAN_PCP) && !c->port[t->port].vlans)
		return "the packets have no VLAN tag";
	if (field.family && field.family != blast_family(t))
		return field.family == 4 ? "only IPv4 has it" : "only IPv6 has it";
	if (field.protocol == PORTS && protocol != BLAST_UDP && protocol != BLAST_TCP)
		return "the packets have no ports";
	if (field.protocol >= 0 && (int)protocol != field.protocol)
		return no[field.protocol];
	return NULL;
}

static unsigned frame_least(const struct config_blast *blast)
{
	unsigned least = blast->template.count;

	for (unsigned i = 0; i < blast->sizes; i++)
		if (!least || blast->size[i] < least)
			least = blast->size[i];
	return least;
}

/* The element `key` of modifier n; both are filled in, for messages. */
struct element {
	struct spot spot;
	struct where where, key;
};

static const struct where *element_find(struct reader *r, struct element *p, unsigned i, unsigned n,
					const char *key)
{
	spot_find(r, &p->spot, "traffic", i, "modify", NULL);
	p->where = (struct where){.up = &p->spot.key, .index = n};
	p->where.node = cJSON_GetArrayItem(p->spot.key.node, (int)n);
	p->key = (struct where){.up = &p->where, .key = key};
	p->key.node = cJSON_GetObjectItemCaseSensitive(p->where.node, key);
	return &p->key;
}

/* Bytes at an offset: inside of the frame, and not in the tag, which a sink would find corrupt. */
static void bytes_check(struct reader *r, unsigned i, unsigned n)
{
	const struct config_traffic *t = &r->config->traffic[i];
	const struct config_modify *m = &t->blast.modify[n];
	unsigned least = frame_least(&t->blast), tag = blast_headers(r->config, t);
	const struct where *w;
	struct element p;

	w = element_find(r, &p, i, n, "field");
	if (w->node && cJSON_IsString(w->node) && strcmp(w->node->valuestring, "offset") != 0)
		return; /* misspelt: that has been said */
	w = element_find(r, &p, i, n, "offset");
	if (!w->node || m->offset + m->bytes > least)
		problem_add(r->document, w, PLACE_VALUE,
			    "expected bytes inside of the smallest frame, which has %u", least);
	else if (t->blast.tag && m->offset < tag + BLAST_TAG_BYTES && m->offset + m->bytes > tag)
		problem_add(r->document, w, PLACE_VALUE,
			    "bytes %u to %u are the tag: change others, or set tag to false", tag,
			    tag + BLAST_TAG_BYTES - 1);
}

/* Values must fit: 256 is not 0. */
static void range_check(struct reader *r, unsigned i, unsigned n)
{
	const struct config_traffic *t = &r->config->traffic[i];
	const struct config_modify *m = &t->blast.modify[n];
	unsigned bits = field_of(t, m).bits;
	uint64_t most = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
	const char *key = NULL;
	struct element p;

	if (element_find(r, &p, i, n, "mask")->node && !(m->mask & most))
		problem_add(r->document, &p.key, PLACE_VALUE, "expected bits of the field's %u",
			    bits);
	if (m->has_start && m->start > most)
		key = "start";
	for (unsigned v = 0; v < m->values; v++)
		if (m->value[v] > most)
			key = "values";
	if (key)
		problem_add(r->document, element_find(r, &p, i, n, key), PLACE_VALUE,
			    "expected at most %llu, which is what fits into the field",
			    (unsigned long long)most);
}

void modify_check(struct reader *r, unsigned i, unsigned n)
{
	const struct config_traffic *t = &r->config->traffic[i];
	const struct config_modify *m = &t->blast.modify[n];
	const char *missing = field_missing(r->config, t, m);
	struct element p;

	if (missing)
		problem_add(r->document, element_find(r, &p, i, n, "field"), PLACE_VALUE, "%s",
			    missing);
	else if (m->field == MODIFY_OFFSET)
		bytes_check(r, i, n);
	range_check(r, i, n);
	element_find(r, &p, i, n, "values");
	if (m->op == MODIFY_LIST ? !m->values : p.key.node != NULL)
		problem_add(r->document, &p.key, PLACE_VALUE,
			    m->op == MODIFY_LIST ? "missing, expected a list of values"
						 : "expected only when op is \"list\"");
}
