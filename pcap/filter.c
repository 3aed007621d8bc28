/* Filter expressions: libpcap compiles and evaluates them.
 *
 * The program is kept, not the handle that compiled it: bpf_filter() needs no handle and no lock.
 */
#include "filter.h"

#include <stdlib.h>

#include <pcap/pcap.h>

#include "linktype.h"
#include "record.h"

struct filter {
	struct bpf_program program;
};

struct filter *filter_open(const char *expression, uint16_t linktype, struct err *err)
{
	struct filter *filter = malloc(sizeof(*filter));
	pcap_t *handle = pcap_open_dead(linktype_dlt(linktype), RECORD_CAPTURED_MAX);
	bool compiled = false;

	if (!filter || !handle)
		err_set(err, EXIT_ENVIRONMENT, "no memory for filter \"%s\"", expression);
	else if (pcap_compile(handle, &filter->program, expression, 1, PCAP_NETMASK_UNKNOWN))
		err_set(err, EXIT_USAGE, "filter \"%s\": %s", expression, pcap_geterr(handle));
	else
		compiled = true;
	if (handle)
		pcap_close(handle);
	if (!compiled) {
		free(filter);
		return NULL;
	}
	return filter;
}

bool filter_match(const struct filter *filter, const uint8_t *data, uint32_t captured,
		  uint32_t length)
{
	return bpf_filter(filter->program.bf_insns, data, length, captured) != 0;
}

void filter_close(struct filter *filter)
{
	if (filter)
		pcap_freecode(&filter->program);
	free(filter);
}
