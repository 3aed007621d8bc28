/* The notation of single values: text -> number. No JSON, no messages; false means "not so written,
 * or out of range", and leaves the result undefined. */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"

/* "5100000", "5.1e6", "5.1m", "2Gi": a whole number. */
bool value_count(const char *text, uint64_t *);
/* The same, 0 or a fraction from 1e-9 to 1e18 whose two sides have at most 64 bits each; with bits
 * also "10Gbps". Not "max". */
bool value_rate(const char *text, bool bits, struct rate *);
/* "10us" to "1d", "0": whole nanoseconds. */
bool value_time(const char *text, uint64_t *ns);
/* As value_rate(), with a sign, rounded. */
bool value_number(const char *text, double *);

bool value_ip(const char *text, u128 *);
bool value_ip6(const char *text, u128 *);
/* "10.0.0.1/24", "2001:db8::1/64"; without a prefix it is 32 or 128. */
bool value_address(const char *text, struct config_address *);
/* "10.0.0.1", "10.0.0.1-10.0.0.9" or "10.0.0.0/24", or the same of IPv6; unicast only. */
bool value_ip_range(const char *text, struct ip_range *, uint8_t *family);
/* What such a range - or with `one` such an address - must be and is not, in words (perhaps in
 * `words`); NULL if nothing of it can be read as an address. */
const char *value_range_fault(const char *text, bool one, char *words, size_t size);
/* "3" or "3-9", both at most `most`. */
bool value_span(const char *text, uint64_t most, uint64_t *first, uint64_t *last);
/* "02:00:00:00:00:01", unicast. */
bool value_mac(const char *text, uint8_t mac[6]);

/* A time in the largest unit that shows it exactly, "1500ms"; at least 32 bytes; returns text. */
const char *value_time_print(char *text, uint64_t ns);

#endif
