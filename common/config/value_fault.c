/* What is wrong with an address, or a range of addresses, that value.c did not take: the words that
 * follow "expected" in the message. Whoever writes one wrong has mostly one small thing in mind,
 * and a list of all notations does not tell which. */
#include "value.h"

#include <stdio.h>
#include <string.h>

/* The family of the address in the first `length` bytes of a text, 0: there is none. */
static uint8_t ip_at(const char *text, size_t length, u128 *address)
{
	char copy[46];

	if (length >= sizeof(copy))
		return 0;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return value_ip(copy, address) ? 4 : value_ip6(copy, address) ? 6 : 0;
}

/* one: the prefix says how large the subnet around the address is. */
static const char *prefix_fault(const char *digits, uint8_t family, u128 address, bool one,
				char *words, size_t size)
{
	unsigned bits = family == 4 ? 32 : 128;
	char network[46];
	uint64_t prefix, same;
	u128 host;

	if (strchr(digits, '-') || !value_span(digits, bits, &prefix, &same)) {
		snprintf(words, size, "a prefix from 0 to %u behind the /", bits);
		return words;
	}
	host = prefix ? ((u128)1 << (bits - prefix)) - 1 : ~(u128)0;
	if (one || !(address & host))
		return NULL;
	snprintf(words, size, "no bits of the address behind its prefix, as in \"%s/%u\"",
		 ip_format(network, family, address & ~host), (unsigned)prefix);
	return words;
}

static const char *hosts_words(uint8_t family)
{
	return family == 4 ? "addresses of hosts, from 1.0.0.0 to 223.255.255.255"
			   : "addresses of hosts, from ::1:0:0:0 to the last below ff00::";
}

const char *value_range_fault(const char *text, bool one, char *words, size_t size)
{
	size_t length = strcspn(text, one ? "/" : "/-");
	const char *rest = text + length, *fault = NULL;
	u128 first, last;
	uint8_t family = ip_at(text, length, &first), other;

	if (!family)
		return NULL;
	if (*rest == '-') {
		other = ip_at(rest + 1, strlen(rest + 1), &last);
		if (!other)
			return NULL;
		if (other != family)
			fault = "two addresses of one family";
		else if (last < first)
			fault = "a last address that is not below the first";
	} else if (*rest == '/') {
		fault = prefix_fault(rest + 1, family, first, one, words, size);
	}
	return fault ? fault : hosts_words(family);
}
