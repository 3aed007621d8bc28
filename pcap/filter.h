/* A filter expression of tcpdump, as in "tcp port 80". */
#ifndef PCAP_FILTER_H
#define PCAP_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/base/err.h"

struct filter;

/* Compile expression for packets of a link type. Returns NULL with err (libpcap's reason). */
struct filter *filter_open(const char *expression, uint16_t linktype, struct err *);

/* True if a packet of length bytes, of which captured are at data, matches. Any thread may ask. */
bool filter_match(const struct filter *, const uint8_t *data, uint32_t captured, uint32_t length);

void filter_close(struct filter *);

#endif
