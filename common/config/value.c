/* Values: decimal text becomes exact fractions.
 *
 * Digits, decimal point, exponent and suffix are gathered into a fraction of two 128-bit integers,
 * reduced at the end. strtod() was rejected: 0.1 is no double, and a rate that is off by 2^-53 is
 * off by a packet in a day. */
#include "value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define U128_MAX   (~(u128)0)
#define RATE_SCALE 1000000000 /* rates reach from its inverse to its square */

struct fraction {
	u128 num, den;
};

static bool scale(u128 *value, u128 factor)
{
	if (*value > U128_MAX / factor)
		return false;
	*value *= factor;
	return true;
}

static void fraction_reduce(struct fraction *f)
{
	u128 a = f->num, b = f->den;

	while (b) {
		u128 rest = a % b;

		a = b;
		b = rest;
	}
	f->num /= a;
	f->den /= a;
}

static bool fraction_shift(struct fraction *f, long exponent)
{
	if (!f->num)
		return true;
	for (; exponent > 0; exponent--) {
		if (!scale(&f->num, 10))
			return false;
	}
	for (; exponent < 0; exponent++) {
		if (f->num % 10 == 0)
			f->num /= 10;
		else if (!scale(&f->den, 10))
			return false;
	}
	return true;
}

/* A decimal number without a sign; returns what follows it, or NULL. */
static const char *fraction_parse(const char *text, struct fraction *f)
{
	long exponent = 0;
	bool point = false;

	*f = (struct fraction){0, 1};
	if (!isdigit((unsigned char)*text))
		return NULL;
	for (;; text++) {
		if (*text == '.' && !point && isdigit((unsigned char)text[1])) {
			point = true;
		} else if (isdigit((unsigned char)*text)) {
			if (f->num >= U128_MAX / 10)
				return NULL;
			f->num = f->num * 10 + (unsigned)(*text - '0');
			exponent -= point;
		} else {
			break;
		}
	}
	if ((*text | 0x20) == 'e') {
		const char *digits = text + 1 + (text[1] == '-' || text[1] == '+');
		char *end;
		long given;

		if (!isdigit((unsigned char)*digits))
			return NULL;
		given = strtol(text + 1, &end, 10);
		if (given > 1000 || given < -1000)
			return NULL;
		exponent += given;
		text = end;
	}
	return fraction_shift(f, exponent) ? text : NULL;
}

static bool suffix_apply(const char *suffix, bool bits, struct fraction *f)
{
	static const struct {
		const char *name;
		u128 factor;
	} table[] = {{"", 1},         {"k", 1000},     {"m", 1000000}, {"g", 1000000000},
		     {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}};
	size_t length = strlen(suffix);

	if (bits && length >= 3 && strcasecmp(suffix + length - 3, "bps") == 0)
		length -= 3;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strlen(table[i].name) == length &&
		    strncasecmp(suffix, table[i].name, length) == 0)
			return scale(&f->num, table[i].factor);
	}
	return false;
}

static bool quantity_parse(const char *text, bool bits, struct fraction *f)
{
	const char *suffix = fraction_parse(text, f);

	if (!suffix || !suffix_apply(suffix, bits, f))
		return false;
	fraction_reduce(f);
	return true;
}

bool value_count(const char *text, uint64_t *count)
{
	struct fraction f;

	if (!quantity_parse(text, false, &f) || f.den != 1 || f.num > UINT64_MAX)
		return false;
	*count = (uint64_t)f.num;
	return true;
}

bool value_rate(const char *text, bool bits, struct rate *rate)
{
	struct fraction f;

	if (!quantity_parse(text, bits, &f) || f.num >= UINT64_MAX || f.den > UINT64_MAX ||
	    (f.num && f.num * RATE_SCALE < f.den) ||
	    f.num > f.den * ((u128)RATE_SCALE * RATE_SCALE))
		return false;
	*rate = (struct rate){(uint64_t)f.num, (uint64_t)f.den};
	return true;
}

bool value_number(const char *text, double *number)
{
	struct fraction f;
	bool minus = *text == '-';

	if (!quantity_parse(text + minus, false, &f))
		return false;
	*number = (double)f.num / (double)f.den * (minus ? -1 : 1);
	return true;
}

static const struct {
	const char *name;
	uint64_t ns;
} time_unit[] = {{"d", 86400000000000}, {"h", 3600000000000}, {"m", 60000000000}, {"s", 1000000000},
		 {"ms", 1000000},       {"us", 1000},         {"ns", 1}};

bool value_time(const char *text, uint64_t *ns)
{
	struct fraction f;
	const char *unit = fraction_parse(text, &f);

	if (!unit)
		return false;
	if (!*unit && !f.num) {
		*ns = 0;
		return true;
	}
	for (size_t i = 0; i < sizeof(time_unit) / sizeof(*time_unit); i++) {
		if (strcmp(unit, time_unit[i].name) != 0)
			continue;
		if (!scale(&f.num, time_unit[i].ns))
			return false;
		fraction_reduce(&f);
		*ns = (uint64_t)f.num;
		return f.den == 1 && f.num <= UINT64_MAX;
	}
	return false;
}

const char *value_time_print(char *text, uint64_t ns)
{
	size_t i = 0;

	if (!ns)
		return strcpy(text, "0");
	while (ns % time_unit[i].ns)
		i++;
	sprintf(text, "%llu%s", (unsigned long long)(ns / time_unit[i].ns), time_unit[i].name);
	return text;
}

bool value_span(const char *text, uint64_t most, uint64_t *first, uint64_t *last)
{
	uint64_t *end = first;

	*first = 0;
	for (;; text++) {
		if (!isdigit((unsigned char)*text))
			return false;
		*end = 0;
		for (; isdigit((unsigned char)*text); text++) {
			*end = *end * 10 + (uint64_t)(*text - '0');
			if (*end > most)
				return false;
		}
		if (end == last || !*text)
			break;
		if (*text != '-')
			return false;
		end = last;
	}
	if (end == first)
		*last = *first;
	return !*text && *first <= *last;
}

bool value_ip(const char *text, u128 *address)
{
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) != 1)
		return false;
	*address = ntohl(in.s_addr);
	return true;
}

bool value_ip6(const char *text, u128 *address)
{
	struct in6_addr in;

	if (inet_pton(AF_INET6, text, &in) != 1)
		return false;
	*address = 0;
	for (unsigned i = 0; i < sizeof(in.s6_addr); i++)
		*address = *address << 8 | in.s6_addr[i];
	return true;
}

/* Returns the family, 0: it is no address. */
static uint8_t ip_parse(const char *text, u128 *address)
{
	if (value_ip(text, address))
		return 4;
	return value_ip6(text, address) ? 6 : 0;
}

/* The address in front of `separator`, and what follows it. */
static uint8_t ip_before(const char *text, char separator, u128 *address, const char **rest)
{
	char buffer[INET6_ADDRSTRLEN];
	const char *end = strchr(text, separator);

	if (!end || (size_t)(end - text) >= sizeof(buffer))
		return 0;
	memcpy(buffer, text, (size_t)(end - text));
	buffer[end - text] = '\0';
	*rest = end + 1;
	return ip_parse(buffer, address);
}

static uint8_t prefix_parse(const char *text, u128 *address, uint64_t *prefix)
{
	uint64_t same;
	const char *digits;
	uint8_t family = ip_before(text, '/', address, &digits);

	return family && !strchr(digits, '-') &&
			       value_span(digits, family == 4 ? 32 : 128, prefix, &same)
		       ? family
		       : 0;
}

/* Neither 0.0.0.0/8 nor multicast and above (RFC 6890); of IPv6 neither multicast nor what lies
 * below 2^48: unspecified, loopback, IPv4 in IPv6's clothes (RFC 4291 section 2.5). */
static bool range_is_unicast(const struct ip_range *r, uint8_t family)
{
	u128 multicast = (u128)0xff << 120;

	if (family == 4)
		return r->first >= 0x01000000 && r->first + r->count <= 0xe0000000;
	return r->first >> 48 && r->first < multicast && r->count <= multicast - r->first;
}

bool value_address(const char *text, struct config_address *address)
{
	struct ip_range range = {0, 1};
	uint8_t family = ip_parse(text, &range.first);
	uint64_t prefix = family == 4 ? 32 : 128;

	if (!family)
		family = prefix_parse(text, &range.first, &prefix);
	*address = (struct config_address){family, (uint8_t)prefix, range.first};
	return family && range_is_unicast(&range, family);
}

bool value_ip_range(const char *text, struct ip_range *range, uint8_t *family)
{
	const char *rest;
	uint64_t prefix;
	u128 last = 0;

	*family = ip_parse(text, &range->first);
	if (*family) {
		range->count = 1;
		return range_is_unicast(range, *family);
	}
	*family = prefix_parse(text, &range->first, &prefix);
	if (*family && !prefix)
		return false;
	if (*family) {
		range->count = (u128)1 << ((*family == 4 ? 32 : 128) - prefix);
		return !(range->first & (range->count - 1)) && range_is_unicast(range, *family);
	}
	*family = ip_before(text, '-', &range->first, &rest);
	if (!*family || ip_parse(rest, &last) != *family || last < range->first)
		return false;
	range->count = last - range->first + 1;
	return range_is_unicast(range, *family);
}

bool value_mac(const char *text, uint8_t mac[6])
{
	unsigned sum = 0;

	for (int i = 0; i < 6; i++, text += 3) {
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]) ||
		    text[2] != (i < 5 ? ':' : '\0'))
			return false;
		mac[i] = (uint8_t)strtoul((char[]){text[0], text[1], 0}, NULL, 16);
		sum += mac[i];
	}
	return sum && !(mac[0] & 1);
}
