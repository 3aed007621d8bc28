/* See segment.h. Frames are written byte by byte and summed by a loop of its own: what the
 * product's code builds or verifies is not judged by that code. */
#include "segment.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char flag_letters[] = "FSRP.UEW";

static uint8_t parse_flags(const char **at)
{
	uint8_t flags = 0;

	for (; **at && **at != ' '; ++*at) {
		const char *letter = strchr(flag_letters, **at);

		if (letter)
			flags |= (uint8_t)(1u << (letter - flag_letters));
		else if (**at != '-')
			fail_msg("segment text: no flag '%c'", **at);
	}
	return flags;
}

static uint32_t parse_number(const char **at)
{
	char *end;
	long long value = strtoll(*at, &end, 10);

	if (end == *at)
		fail_msg("segment text: a number is missing at '%s'", *at);
	*at = end;
	return (uint32_t)value;
}

static bool take(const char **at, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*at, word, length))
		return false;
	*at += length;
	return true;
}

static void put16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static void put32(uint8_t *to, uint32_t value)
{
	put16(to, value >> 16);
	put16(to + 2, value);
}

static uint32_t get16(const uint8_t *from)
{
	return (uint32_t)from[0] << 8 | from[1];
}

static uint32_t get32(const uint8_t *from)
{
	return get16(from) << 16 | get16(from + 2);
}

/* One option with a value of two numbers A:B, as SACK and time stamps have them. */
static uint8_t parse_pair(const char **at, uint8_t *to, uint8_t kind)
{
	to[0] = kind;
	to[1] = 10;
	put32(to + 2, parse_number(at));
	if (!take(at, ":"))
		fail_msg("segment text: ':' is missing at '%s'", *at);
	put32(to + 6, parse_number(at));
	return 10;
}

static uint8_t parse_hex(const char **at, uint8_t *to)
{
	uint8_t length = 0;
	unsigned byte;

	for (; isxdigit((unsigned char)**at); *at += 2) {
		assert_int_equal(sscanf(*at, "%2x", &byte), 1);
		to[length++] = (uint8_t)byte;
	}
	return length;
}

static uint8_t parse_option(const char **at, uint8_t *to)
{
	if (take(at, "mss ")) {
		memcpy(to, "\2\4", 2);
		put16(to + 2, parse_number(at));
		return 4;
	}
	if (take(at, "wscale ")) {
		memcpy(to, "\3\3", 2);
		to[2] = (uint8_t)parse_number(at);
		return 3;
	}
	if (take(at, "sackOK")) {
		memcpy(to, "\4\2", 2);
		return 2;
	}
	if (take(at, "nop") || take(at, "eol")) {
		to[0] = (*at)[-1] == 'p';
		return 1;
	}
	if (take(at, "sack "))
		return parse_pair(at, to, 5);
	if (take(at, "TS "))
		return parse_pair(at, to, 8);
	if (take(at, "hex "))
		return parse_hex(at, to);
	fail_msg("segment text: no option '%s'", *at);
	return 0;
}

static void parse_options(struct segment *s, const char **at)
{
	s->has_options = true;
	while (!take(at, ">")) {
		s->options_len =
			(uint8_t)(s->options_len + parse_option(at, s->options + s->options_len));
		assert_true(s->options_len <= sizeof(s->options) - 10);
		take(at, ",");
	}
}

void segment_parse(struct segment *s, const char *text)
{
	const char *at = text;

	memset(s, 0, sizeof(*s));
	s->flags = parse_flags(&at);
	take(&at, " ");
	s->seq = parse_number(&at);
	if (take(&at, ":")) {
		s->has_end = true;
		s->payload_len = parse_number(&at) - s->seq;
	}
	if (take(&at, " ack ")) {
		s->has_ack = true;
		s->ack = parse_number(&at);
	}
	if (take(&at, " tos ")) {
		s->has_tos = true;
		s->tos = (uint8_t)parse_number(&at);
	}
	if (take(&at, " win ")) {
		s->has_window = true;
		s->window = (uint16_t)parse_number(&at);
	}
	if (take(&at, " <"))
		parse_options(s, &at);
	if (*at)
		fail_msg("segment text: '%s' is not understood in '%s'", at, text);
}

static size_t option_text(char *to, size_t room, const uint8_t *option, uint8_t length)
{
	if (option[0] == 2 && length == 4)
		return (size_t)snprintf(to, room, "mss %u", get16(option + 2));
	if (option[0] == 3 && length == 3)
		return (size_t)snprintf(to, room, "wscale %u", option[2]);
	if (option[0] == 8 && length == 10)
		return (size_t)snprintf(to, room, "TS %u:%u", get32(option + 2), get32(option + 6));
	if (option[0] == 5 && length == 10)
		return (size_t)snprintf(to, room, "sack %u:%u", get32(option + 2),
					get32(option + 6));
	if (option[0] == 4)
		return (size_t)snprintf(to, room, "sackOK");
	if (option[0] < 2)
		return (size_t)snprintf(to, room, option[0] ? "nop" : "eol");
	return (size_t)snprintf(to, room, "kind %u length %u", option[0], length);
}

/* Length of the option at `at`, 0 when it is malformed. */
static uint8_t option_length(const struct segment *s, unsigned at)
{
	uint8_t length;

	if (s->options[at] < 2)
		return 1;
	length = at + 1 < s->options_len ? s->options[at + 1] : 0;
	return length >= 2 && at + length <= s->options_len ? length : 0;
}

const char *segment_text(char text[256], const struct segment *s, uint32_t seq_base,
			 uint32_t ack_base)
{
	size_t n = 0, room = 256;

	for (unsigned i = 0; i < 8; i++)
		if (s->flags & 1u << i)
			text[n++] = flag_letters[i];
	if (!s->flags)
		text[n++] = '-';
	n += (size_t)snprintf(text + n, room - n, " %u:%u", s->seq - seq_base,
			      s->seq - seq_base + s->payload_len);
	if (s->flags & 0x10)
		n += (size_t)snprintf(text + n, room - n, " ack %u", s->ack - ack_base);
	if (s->tos)
		n += (size_t)snprintf(text + n, room - n, " tos %u", s->tos);
	n += (size_t)snprintf(text + n, room - n, " win %u <", s->window);
	for (unsigned i = 0, length; i < s->options_len; i += length) {
		length = option_length(s, i);
		n += i ? (size_t)snprintf(text + n, room - n, ",") : 0;
		n += length ? option_text(text + n, room - n, s->options + i, (uint8_t)length)
			    : (size_t)snprintf(text + n, room - n, "malformed");
		if (!length)
			break;
	}
	snprintf(text + n, room - n, ">");
	return text;
}

void segment_read(struct segment *s, const struct rte_mbuf *m, const struct view *view)
{
	const uint8_t *frame = (const uint8_t *)m->buf_addr + m->data_off;
	const uint8_t *ip = frame + view->l3, *tcp = frame + view->l4;

	memset(s, 0, sizeof(*s));
	s->ip6 = view->family == 6;
	s->src = get32(ip + (s->ip6 ? 20 : 12));
	s->dst = get32(ip + (s->ip6 ? 36 : 16));
	s->src_port = (uint16_t)get16(tcp);
	s->dst_port = (uint16_t)get16(tcp + 2);
	s->seq = get32(tcp + 4);
	s->ack = get32(tcp + 8);
	s->flags = tcp[13];
	s->tos = s->ip6 ? (uint8_t)(ip[0] << 4 | ip[1] >> 4) : ip[1];
	s->window = (uint16_t)get16(tcp + 14);
	s->options_len = (uint8_t)(view->payload - view->l4 - 20);
	memcpy(s->options, tcp + 20, s->options_len);
	s->payload_len = view->payload_len;
	s->payload = frame + view->payload;
}

static uint16_t internet_sum(uint32_t sum, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		sum += i & 1 ? data[i] : (uint32_t)data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static const uint8_t prefix6[12] = {0x20, 0x01, 0x0d, 0xb8};

static void write_ip6(const struct segment *s, uint8_t *ip, uint32_t tcp_len)
{
	memset(ip, 0, 40);
	ip[0] = (uint8_t)(0x60 | s->tos >> 4);
	ip[1] = (uint8_t)(s->tos << 4);
	put16(ip + 4, tcp_len);
	ip[6] = 6;
	ip[7] = 64;
	memcpy(ip + 8, prefix6, sizeof(prefix6));
	put32(ip + 20, s->src);
	memcpy(ip + 24, prefix6, sizeof(prefix6));
	put32(ip + 36, s->dst);
}

static void write_ip(const struct segment *s, uint8_t *ip, uint32_t tcp_len)
{
	memset(ip, 0, 20);
	ip[0] = 0x45;
	ip[1] = s->tos;
	put16(ip + 2, 20 + tcp_len);
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = 6;
	put32(ip + 12, s->src);
	put32(ip + 16, s->dst);
	put16(ip + 10, internet_sum(0, ip, 20));
}

/* What the pseudo header adds, not folded. */
static uint32_t pseudo_sum(const struct segment *s, uint8_t protocol, uint32_t length)
{
	uint32_t prefixes = s->ip6 ? 2 * (0x2001 + 0xdb8) : 0;

	return prefixes + (s->src >> 16) + (s->src & 0xffff) + (s->dst >> 16) + (s->dst & 0xffff) +
	       protocol + length;
}

static void write_tcp(const struct segment *s, uint8_t *tcp, uint32_t options_len)
{
	uint32_t length = 20 + options_len + s->payload_len;

	memset(tcp, 0, 20 + options_len);
	put16(tcp, s->src_port);
	put16(tcp + 2, s->dst_port);
	put32(tcp + 4, s->seq);
	put32(tcp + 8, s->ack);
	tcp[12] = (uint8_t)((20 + options_len) / 4 << 4);
	tcp[13] = s->flags;
	put16(tcp + 14, s->window);
	memcpy(tcp + 20, s->options, s->options_len);
	for (uint32_t i = 0; i < s->payload_len; i++)
		tcp[20 + options_len + i] = s->payload ? s->payload[i] : (uint8_t)('a' + i % 26);
	put16(tcp + 16, internet_sum(pseudo_sum(s, 6, length), tcp, length));
}

void segment_write(const struct segment *s, struct rte_mbuf *m, const uint8_t *src_mac,
		   const uint8_t *dst_mac)
{
	uint8_t *frame = (uint8_t *)m->buf_addr + m->data_off;
	uint32_t options_len = (s->options_len + 3u) & ~3u;
	uint32_t ip = s->ip6 ? 40 : 20, tcp_len = 20 + options_len + s->payload_len;
	uint32_t length = 14 + ip + tcp_len;

	assert_true(m->data_off + length <= m->buf_len);
	memcpy(frame, dst_mac, 6);
	memcpy(frame + 6, src_mac, 6);
	put16(frame + 12, s->ip6 ? 0x86dd : 0x0800);
	if (s->ip6)
		write_ip6(s, frame + 14, tcp_len);
	else
		write_ip(s, frame + 14, tcp_len);
	write_tcp(s, frame + 14 + ip, options_len);
	if (length < 60)
		memset(frame + length, 0, 60 - length);
	m->data_len = (uint16_t)(length < 60 ? 60 : length);
	m->pkt_len = m->data_len;
}

void segment_write_too_big(const struct segment *s, uint32_t mtu, struct rte_mbuf *m,
			   const uint8_t *src_mac, const uint8_t *dst_mac)
{
	struct segment outer = {.ip6 = s->ip6, .src = 0x0a4d4d4d, .dst = s->src};
	uint8_t *frame = (uint8_t *)m->buf_addr + m->data_off;
	uint32_t header = s->ip6 ? 40 : 20, length = 8 + header + 8;
	uint8_t *ip = frame + 14, *icmp = ip + header, *quoted = icmp + 8;

	memcpy(frame, dst_mac, 6);
	memcpy(frame + 6, src_mac, 6);
	put16(frame + 12, s->ip6 ? 0x86dd : 0x0800);
	memset(icmp, 0, 8);
	put16(icmp + 6, mtu);
	if (s->ip6) {
		write_ip6(&outer, ip, length);
		ip[6] = 58;
		icmp[0] = 2;
		write_ip6(s, quoted, 20 + s->payload_len);
	} else {
		write_ip(&outer, ip, length);
		ip[9] = 1;
		put16(ip + 10, 0);
		put16(ip + 10, internet_sum(0, ip, 20));
		put16(icmp, 0x0304);
		write_ip(s, quoted, 20 + s->payload_len);
	}
	put16(quoted + header, s->src_port);
	put16(quoted + header + 2, s->dst_port);
	put32(quoted + header + 4, s->seq);
	put16(icmp + 2, internet_sum(s->ip6 ? pseudo_sum(&outer, 58, length) : 0, icmp, length));
	m->data_len = (uint16_t)(14 + header + length);
	m->pkt_len = m->data_len;
}

/* The TCP checksum field holds the pseudo header's sum. */
bool segment_offload(struct rte_mbuf *m)
{
	uint8_t *frame = (uint8_t *)m->buf_addr + m->data_off;
	uint8_t *ip = frame + m->l2_len, *tcp = ip + m->l3_len;
	uint32_t sum = 0;

	if (!(m->ol_flags & RTE_MBUF_F_TX_TCP_CKSUM))
		return false;
	if (m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		put16(ip + 10, internet_sum(0, ip, m->l3_len));
	for (uint32_t i = m->l2_len + m->l3_len; i < m->pkt_len; i++) {
		const struct rte_mbuf *part = i < m->data_len ? m : m->next;
		uint32_t at = i < m->data_len ? i : i - m->data_len;
		uint8_t byte = ((uint8_t *)part->buf_addr)[part->data_off + at];

		sum += (i - m->l2_len - m->l3_len) % 2 ? byte : (uint32_t)byte << 8;
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	put16(tcp + 16, (uint16_t)~sum);
	return true;
}

int segment_option(const struct segment *s, uint8_t kind)
{
	for (unsigned i = 0, length; i < s->options_len; i += length) {
		length = option_length(s, i);
		if (!length || !s->options[i])
			return -1;
		if (s->options[i] == kind)
			return length == 4   ? (int)get16(s->options + i + 2)
			       : length == 3 ? s->options[i + 2]
					     : 0;
	}
	return -1;
}
