/* The options of a SYN. Nearly all are of one form, which is recognised as it stands. */
#include "options.h"

#include <string.h>

#define MSS_DEFAULT4 536 /* RFC 9293 section 3.7.1 */
#define MSS_DEFAULT6 1220

/* Any order and any other options in between (RFC 9293 section 3.2). */
static __attribute__((noinline)) bool options_walk(const uint8_t *tcp, unsigned family,
						   struct options *options)
{
	struct option_walk walk = options_of(tcp);
	const uint8_t *option;

	*options = (struct options){.mss = family == 6 ? MSS_DEFAULT6 : MSS_DEFAULT4,
				    .scale = CONN_NO_SCALE};
	while ((option = option_next(&walk))) {
		if (option[0] == TCP_OPTION_MSS && option[1] == 4)
			options->mss = (uint16_t)(option[2] << 8 | option[3]);
		if (option[0] == TCP_OPTION_SCALE && option[1] == 3)
			options->scale = RTE_MIN(option[2], (uint8_t)SCALE_MAX);
		if (option[0] == TCP_OPTION_SACK_PERMITTED && option[1] == 2)
			options->sack = true;
		if (option[0] == TCP_OPTION_STAMP && option[1] == 10) {
			options->has_stamp = true;
			memcpy(&options->stamp, option + 2, sizeof(options->stamp));
			options->stamp = ntohl(options->stamp);
		}
	}
	return !walk.malformed;
}

/* Most, our own too, are MSS, then NOP and window scale, then two NOPs and SACK permitted, the last
 * or the last two left out: these are recognised as they stand. */
bool options_read(const uint8_t *tcp, unsigned family, struct options *options)
{
	unsigned length = (tcp[12] >> 4) * 4u - (unsigned)sizeof(struct rte_tcp_hdr);
	uint32_t word[3] = {0, htonl(0x0103030f), htonl(0x01010402)};

	if (length < 4 || length > sizeof(word))
		return options_walk(tcp, family, options);
	memcpy(word, tcp + sizeof(struct rte_tcp_hdr), length);
	if ((word[0] & htonl(0xffff0000)) != htonl(0x02040000) ||
	    (word[1] & htonl(0xffffff00)) != htonl(0x01030300) || word[2] != htonl(0x01010402))
		return options_walk(tcp, family, options);
	options->mss = (uint16_t)ntohl(word[0]);
	options->scale = CONN_NO_SCALE;
	if (length > 4)
		options->scale = RTE_MIN((uint8_t)ntohl(word[1]), (uint8_t)SCALE_MAX);
	options->sack = length > 8;
	options->has_stamp = false;
	return true;
}

void conn_take_options(struct stateful *s, struct entry *e, struct conn *c, uint32_t seq,
		       const struct options *options)
{
	uint16_t own = e->mss;
	uint16_t mss = options->mss < own ? options->mss : own;

	c->mss = conn_mss_index(s, mss < MSS_MIN ? MSS_MIN : mss);
	c->scale = e->scale_offered ? options->scale : CONN_NO_SCALE;
	c->sack = e->sack && options->sack;
	c->rcv_nxt = seq + 1;
}
