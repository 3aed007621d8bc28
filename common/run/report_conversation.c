/* Conversations: what the recording holds and what of it was left out, and how many bytes came as
 * it has them. */
#include "report_conversation.h"

#include <inttypes.h>

static uint64_t refused(const struct script_counts *c)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < SCRIPT_REFUSALS; i++)
		sum += c->refused[i];
	return sum;
}

void report_walk_recording(struct sink *s, const struct conversation_result *conversation)
{
	const struct script_counts *c = conversation->counts;

	sink_begin(s, "recording", SINK_OBJECT);
	sink_count(s, "records", c->records);
	sink_count(s, "other_records", c->other);
	sink_count(s, "conversations", c->conversations);
	sink_count(s, "played", c->conversations - refused(c));
	sink_begin_flat(s, "refused", SINK_OBJECT);
	for (unsigned i = 0; i < SCRIPT_REFUSALS; i++)
		sink_count(s, script_refused_name[i], c->refused[i]);
	sink_end(s);
	sink_count(s, "client_bytes", c->bytes[SCRIPT_CLIENT]);
	sink_count(s, "server_bytes", c->bytes[SCRIPT_SERVER]);
	sink_count(s, "turns", c->turns);
	sink_count(s, "without_end", c->unended);
	sink_real(s, "longest_think_time_s", (double)conversation->longest_wait / 1e9);
	sink_end(s);
}

void report_walk_conversation(struct sink *s, const struct result *r, unsigned i)
{
	sink_count(s, "compared_bytes", r->traffic[i].level.compared);
	if (r->conversation && r->conversation[i].counts)
		report_walk_recording(s, &r->conversation[i]);
}

static void put(FILE *out, const char *before, uint64_t count, const char *behind)
{
	char text[REPORT_THOUSANDS_MAX];

	fprintf(out, "%s%s%s", before, report_thousands(text, count), behind);
}

void plan_conversation_put(FILE *out, const struct conversation_result *conversation)
{
	const struct script_counts *c = conversation->counts;
	char text[REPORT_NUMBER_MAX];

	put(out, "  plays ", c->conversations - refused(c), " of ");
	put(out, "", c->conversations,
	    c->conversations == 1 ? " conversation: " : " conversations: ");
	put(out, "", c->bytes[SCRIPT_CLIENT], " bytes of clients, ");
	put(out, "", c->bytes[SCRIPT_SERVER], " of servers, in ");
	put(out, "", c->turns, " turns\n");
	fprintf(out, "  the longest think time is %s s: the time-out is added to it\n",
		report_number(text, (double)conversation->longest_wait / 1e9));
}

void screen_conversation(FILE *out, const struct result *r, unsigned i)
{
	put(out, "  bytes       compared ", r->traffic[i].level.compared, ", as recorded");
	if (r->conversation && r->conversation[i].counts)
		put(out, "; of the recording ", refused(r->conversation[i].counts),
		    " conversations left out");
	putc('\n', out);
}
