/* When packets of a recording are due. */
#ifndef PCAP_PLAYER_CLOCK_H
#define PCAP_PLAYER_CLOCK_H

#include "player_pass.h"

/* A file begins. */
void clock_file(struct pass_clock *);

/* The next packet of the file, sent or left out, is due then. */
uint64_t clock_due(struct pass_clock *, const struct record *, struct player_counts *);

/* It is sent, with so many bytes without FCS. */
void clock_sent(struct pass_clock *, uint32_t length);

void clock_file_end(struct pass_clock *);

/* After the last file: how long the loop is, length + part / parts ns. */
void clock_length(const struct pass_clock *, uint64_t *length, uint64_t *part, uint64_t *parts);

#endif
