/* What is wrong with an address, or a range of addresses, that value.c did not take: the words that
 * follow "expected" in the message. Whoever writes one wrong has mostly one small thing in mind,
 * and a list of all notations does not tell which. */
#include "value.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS_BITS 32

/* The address in the first `length` bytes of a text. */
static bool ip_at(const char *text, size_t length, u128 *address)
{
	char copy[46];

	if (length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return value_ip(copy, address);
}

/* one: the prefix says how large the subnet around the address is. */
static const char *prefix_fault(const char *digits, u128 address, bool one, char *words,
				size_t size)
{
	char network[46];
	uint64_t prefix, same;
	u128 host;

	if (strchr(digits, '-') || !value_span(digits, ADDRESS_BITS, &prefix, &same)) {
		snprintf(words, size, "a prefix from 0 to %d behind the /", ADDRESS_BITS);
		return words;
	}
	host = ((u128)1 << (ADDRESS_BITS - prefix)) - 1;
	if (one || !(address & host))
		return NULL;
	snprintf(words, size, "no bits of the address behind its prefix, as in \"%s/%u\"",
		 ip_format(network, 4, address & ~host), (unsigned)prefix);
	return words;
}

const char *value_range_fault(const char *text, bool one, char *words, size_t size)
{
	size_t length = strcspn(text, one ? "/" : "/-");
	const char *rest = text + length, *fault = NULL;
	u128 first, last;

	if (!ip_at(text, length, &first) || (*rest == '-' && !value_ip(rest + 1, &last)))
		return NULL;
	if (*rest == '-' && last < first)
		fault = "a last address that is not below the first";
	else if (*rest == '/')
		fault = prefix_fault(rest + 1, first, one, words, size);
	return fault ? fault : "addresses of hosts, from 1.0.0.0 to 223.255.255.255";
}
