/* Types of single values: what they are called, how they are read, what the schema says of them. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#include "value.h"

#define DECIMAL "[0-9]+(\\\\.[0-9]+)?([eE][-+]?[0-9]+)?"
#define SUFFIX  "([kKmMgG][iI]?)?"
#define OCTET   "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
#define IP4     OCTET "(\\\\." OCTET "){3}"
/* Not more than one "::". */
#define IP6     "(?![^-,/]*::[^-,/]*::)([0-9a-fA-F]{0,4}:){2,8}([0-9a-fA-F]{0,4}|" IP4 ")"
#define IP      "(" IP4 "|" IP6 ")"
#define RANGE   IP "(-" IP "|/[0-9]{1,3})?"
#define SPAN    "[0-9]+(-[0-9]+)?"
#define MIXED   DECIMAL SUFFIX "(-" DECIMAL SUFFIX ")?"
#define WEIGHTS "\"additionalProperties\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000}"
#define TIME    "(" DECIMAL "(ns|us|ms|s|m|h|d)|0(\\\\.0+)?)"
#define NAME    "[^.\\\\[\\\\]= ]+"
/* A list's pattern, for a string and for each element of an array. */
#define LIST(item)                                                                                \
	"\"pattern\":\"^" item "(," item ")*$\",\"minItems\":1,\"items\":{\"type\":[\"string\"]," \
	"\"pattern\":\"^" item "(," item ")*$\"}"
#define NUMBERS(types, least, most, item, all)                                                  \
	"\"type\":[" types "],\"minimum\":" least ",\"maximum\":" most                          \
	",\"pattern\":\"^(" all item "(," item                                                  \
	")*)$\",\"minItems\":1,\"items\":{\"type\":[\"integer\",\"string\"],\"minimum\":" least \
	",\"maximum\":" most ",\"pattern\":\"^" item "(," item ")*$\"}"

static char *choices_words(const char *choices)
{
	char *text = text_format("%s", "");
	const char *word;
	size_t length;

	for (unsigned i = 0; choice_at(choices, i, &word, &length); i++) {
		const char *join = !i ? "" : strchr(word, '|') ? ", " : " or ";
		bool bare = strncmp(word, "true", length) == 0 ||
			    strncmp(word, "false", length) == 0 || (*word >= '0' && *word <= '9');
		const char *quote = bare ? "" : "\"";
		char *longer =
			text_format("%s%s%s%.*s%s", text, join, quote, (int)length, word, quote);

		free(text);
		text = longer;
	}
	return text;
}

char *key_words(const struct key *key)
{
	const char *words = type_table[key->type].words;
	char least[32], most[32];

	if (key->choices)
		return choices_words(key->choices);
	if (key->type == TYPE_FILE)
		return text_format("%s", words);
	if (key->type == TYPE_TIME || key->type == TYPE_SPAN)
		return text_format("%s from %s to %s", words, value_time_print(least, key->min),
				   value_time_print(most, key->max));
	if (key->max == UINT64_MAX)
		return text_format("%s from %llu to 2^64-1", words, (unsigned long long)key->min);
	if (key->max)
		return text_format("%s from %llu to %llu", words, (unsigned long long)key->min,
				   (unsigned long long)key->max);
	return text_format("%s", words);
}

static void key_refuse(struct reader *r, const struct where *w, const struct key *key)
{
	char *words = key_words(key);

	refuse(r, w, words);
	free(words);
}

static void bool_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	if (cJSON_IsBool(w->node))
		*(bool *)(base + key->offset) = cJSON_IsTrue(w->node);
	else
		key_refuse(r, w, key);
}

static void count_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	const char *text = node_value(w->node);
	bool has_max = key->type == TYPE_LEVEL || key->type == TYPE_REQUESTS;
	uint64_t count;

	if (text && has_max && strcmp(text, "max") == 0) {
		uint_store(base + key->offset, key->size, UINT64_MAX);
		return;
	}
	if (!text || !value_count(text, &count)) {
		key_refuse(r, w, key);
	} else if (key->type == TYPE_REQUESTS && !count) {
		uint_store(base + key->offset, key->size, UINT64_MAX);
	} else if (count < key->min || count > key->max) {
		key_refuse(r, w, key);
	} else {
		uint_store(base + key->offset, key->size, count);
	}
}

static void time_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	const char *text = node_value(w->node);
	uint64_t ns;

	if (!text || !value_time(text, &ns) || ns < key->min || ns > key->max)
		key_refuse(r, w, key);
	else
		uint_store(base + key->offset, key->size, ns);
}

static void rate_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	const char *text = node_value(w->node);
	struct rate rate = {UINT64_MAX, 1};

	if (!text || (strcmp(text, "max") != 0 &&
		      (!value_rate(text, key->type == TYPE_BIT_RATE, &rate) || !rate.num)))
		key_refuse(r, w, key);
	else
		*(struct rate *)(base + key->offset) = rate;
}

static void number_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	const char *text = node_value(w->node);
	double number;

	if (!text || !value_number(text, &number))
		key_refuse(r, w, key);
	else
		*(double *)(base + key->offset) = number;
}

static void probability_read(struct reader *r, const struct where *w, const struct key *key,
			     char *base)
{
	const char *text = node_value(w->node);
	double number;

	if (!text || !value_number(text, &number) || !(number >= 0 && number <= 1))
		key_refuse(r, w, key);
	else
		*(double *)(base + key->offset) = number;
}

static void choice_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	const char *text = cJSON_IsBool(w->node) ? cJSON_IsTrue(w->node) ? "true" : "false"
						 : node_value(w->node);
	const char *word;
	size_t length;

	for (unsigned i = 0; text && choice_at(key->choices, i, &word, &length); i++) {
		if (strlen(text) != length || memcmp(text, word, length) != 0)
			continue;
		if (key->type == TYPE_CHOICE)
			uint_store(base + key->offset, key->size, i);
		else
			*(const char **)(base + key->offset) = storage_text(r->config, text);
		return;
	}
	key_refuse(r, w, key);
}

static bool text_is_name(const char *text)
{
	return *text && !strpbrk(text, ".[]= \t\r\n");
}

static bool text_is_visible(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text <= ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

/* "0000:07:00.0" or "07:00.0", perhaps with DPDK's arguments after a comma. */
static bool text_is_pci(const char *text)
{
	unsigned domain, bus, slot, function;
	int used = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &used) != 4 &&
	    sscanf(text, "%2x:%2x.%1x%n", &bus, &slot, &function, &used) != 3)
		return false;
	return function <= 7 && slot <= 31 && (!text[used] || text[used] == ',');
}

bool text_is_device(const char *text)
{
	const char *name = strchr(text, ':');

	if (strncmp(text, "net_", 4) == 0)
		return text[4] && text[4] != ',';
	if (!strncmp(text, "if:", 3) || !strncmp(text, "xdp:", 4)) /* IFNAMSIZ: 15 characters */
		return name[1] && strlen(name + 1) <= 15 && !strpbrk(name + 1, "/ \t");
	if (!strncmp(text, "loop:", 5) || !strncmp(text, "bond:", 5))
		return text_is_name(name + 1);
	return text_is_pci(text);
}

static bool text_is_metric(const char *text)
{
	return *text && *text != '.' && text[strlen(text) - 1] != '.' && !strstr(text, "..") &&
	       text_is_visible(text);
}

static void text_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	const char *text = cJSON_IsString(w->node) ? w->node->valuestring : NULL;
	bool good = text && *text;

	if (key->type == TYPE_NAME)
		good = good && text_is_name(text);
	else if (key->type == TYPE_DEVICE)
		good = good && text_is_device(text);
	else if (key->type == TYPE_METRIC)
		good = good && text_is_metric(text);
	else if (key->type == TYPE_HOST)
		good = good && text_is_visible(text);
	else if (key->type == TYPE_PATH)
		good = good && text_is_visible(text) && *text == '/';
	else if (key->type == TYPE_PATTERN)
		good = good && text_is_visible(text) && (*text == '/' || *text == '*');
	if (good)
		*(const char **)(base + key->offset) = storage_text(r->config, text);
	else
		key_refuse(r, w, key);
}

/* Names of ports have been read before: they stand in front of traffic in the table. */
static void port_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	const struct config *c = r->config;
	char *words = text_format("the name of a port (");
	bool complete = c->ports > 0; /* no name was refused: this may be it */

	for (unsigned i = 0; i < c->ports; i++) {
		const char *name = c->port[i].name ? c->port[i].name : "";
		char *longer =
			text_format("%s\"%s\"%s", words, name, i + 1 < c->ports ? ", " : ")");

		free(words);
		words = longer;
		complete &= *name != '\0';
		if (!cJSON_IsString(w->node) || strcmp(w->node->valuestring, name) != 0)
			continue;
		uint_store(base + key->offset, key->size, i);
		free(words);
		return;
	}
	if (complete)
		refuse(r, w, words);
	free(words);
}

static bool gateway_take(struct item *item, const char *piece)
{
	struct config_port *port = (struct config_port *)item->base;
	struct config_address address;

	if (strcmp(piece, "auto") == 0) {
		port->solicit_router = true;
	} else if (strchr(piece, '/') || !value_address(piece, &address)) {
		return false;
	} else if (address.family == 4) {
		if (port->has_gateway)
			return false;
		port->gateway = address.address;
		port->has_gateway = true;
	} else {
		if (port->has_gateway6)
			return false;
		port->gateway6 = address.address;
		port->has_gateway6 = true;
	}
	return !(port->solicit_router && port->has_gateway6);
}

static void gateway_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct item item = {.reader = r, .where = *w, .key = key, .base = base};

	items_read(&item, w->node, gateway_take);
}

static void mac_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	uint8_t *mac = (uint8_t *)(base + key->offset);

	if (!cJSON_IsString(w->node) || !value_mac(w->node->valuestring, mac))
		key_refuse(r, w, key);
	else
		uint_store(base + key->count, key->count_size, 1);
}

static void filter_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	size_t problems = r->document->problems;
	char why[256];

	text_read(r, w, key, base);
	if (r->document->problems == problems && r->machine->filter_is_wrong &&
	    r->machine->filter_is_wrong(w->node->valuestring, why, sizeof(why)))
		problem_add(r->document, w, PLACE_VALUE, "%s", why);
}

const struct type type_table[TYPES] = {
	[TYPE_IGNORED] = {"a text", "\"type\":\"string\"", NULL},
	[TYPE_OBJECT] = {"an object", "\"type\":\"object\"", NULL},
	[TYPE_LIST] = {"a list of objects", "\"type\":\"array\"", NULL},
	[TYPE_BOOL] = {"true or false", "\"type\":\"boolean\"", bool_read},
	[TYPE_COUNT] = {"a whole number",
			"\"type\":[\"integer\",\"string\"],\"pattern\":\"^" DECIMAL SUFFIX "$\"",
			count_read},
	[TYPE_LEVEL] = {"\"max\" or a whole number",
			"\"type\":[\"integer\",\"string\"],\"pattern\":\"^(max|" DECIMAL SUFFIX
			")$\"",
			count_read},
	[TYPE_REQUESTS] = {"\"max\" or a whole number",
			   "\"type\":[\"integer\",\"string\"],\"pattern\":\"^(max|" DECIMAL SUFFIX
			   ")$\"",
			   count_read},
	[TYPE_TIME] = {"a time with its unit (ns, us, ms, s, m, h or d)",
		       "\"type\":[\"string\",\"integer\"],\"pattern\":\"^" TIME
		       "$\",\"maximum\":0,\"minimum\":0",
		       time_read},
	[TYPE_RATE] = {"a rate from 1e-9 to 1e18 of at most 18 digits, such as 5100000, \"5.1m\" "
		       "or \"max\"",
		       "\"type\":[\"number\",\"string\"],\"minimum\":1e-9,\"maximum\":1e18,"
		       "\"pattern\":\"^(max|" DECIMAL SUFFIX ")$\"",
		       rate_read},
	[TYPE_BIT_RATE] =
		{"a bit rate from 1e-9 to 1e18 of at most 18 digits, such as \"10Gbps\" or \"max\"",
		 "\"type\":[\"number\",\"string\"],\"minimum\":1e-9,\"maximum\":1e18,"
		 "\"pattern\":\"^(max|" DECIMAL SUFFIX "([bB][pP][sS])?)$\"",
		 rate_read},
	[TYPE_NUMBER] = {"a number",
			 "\"type\":[\"number\",\"string\"],\"pattern\":\"^-?" DECIMAL SUFFIX "$\"",
			 number_read},
	[TYPE_PROBABILITY] = {"a probability from 0 to 1",
			      "\"type\":[\"number\",\"string\"],\"minimum\":0,\"maximum\":1,"
			      "\"pattern\":\"^" DECIMAL SUFFIX "$\"",
			      probability_read},
	[TYPE_CHOICE] = {"one of a few words", "", choice_read},
	[TYPE_WORD] = {"one of a few words", "", choice_read},
	[TYPE_TEXT] = {"a text that is not empty", "\"type\":\"string\",\"minLength\":1",
		       text_read},
	[TYPE_NAME] = {"a name without blanks and . [ ] =",
		       "\"type\":\"string\",\"pattern\":\"^" NAME "$\"", text_read},
	[TYPE_DEVICE] =
		{"a PCI address, \"net_...\", \"if:NAME\", \"xdp:NAME\", \"loop:NAME\" or "
		 "\"bond:NAME\"",
		 "\"type\":\"string\",\"pattern\":\"^(net_[^,]|if:[^/ ]{1,15}$|xdp:[^/ ]{1,15}$|"
		 "(loop|bond):" NAME "$|([0-9a-fA-F]{1,4}:)?[0-9a-fA-F]{1,2}:[0-9a-fA-F]{1,2}"
		 "\\\\.[0-7](,|$))\"",
		 text_read},
	[TYPE_PATH] = {"a path that begins with / and has no blanks",
		       "\"type\":\"string\",\"pattern\":\"^/[^\\\\x00-\\\\x20\\\\x7f]*$\"",
		       text_read},
	[TYPE_PATTERN] = {"a path that begins with / or * and has no blanks",
			  "\"type\":\"string\",\"pattern\":\"^[/*][^\\\\x00-\\\\x20\\\\x7f]*$\"",
			  text_read},
	[TYPE_HOST] = {"a host name without blanks",
		       "\"type\":\"string\",\"pattern\":\"^[^\\\\x00-\\\\x20\\\\x7f]+$\"",
		       text_read},
	[TYPE_METRIC] = {"a path into the report, such as \"traffic.web.achieved.cps\"",
			 "\"type\":\"string\",\"pattern\":\"^[^. ]+(\\\\.[^. ]+)+$\"", text_read},
	[TYPE_FILTER] = {"a filter expression as tcpdump's", "\"type\":\"string\",\"minLength\":1",
			 filter_read},
	[TYPE_PORT] = {"the name of a port", "\"type\":\"string\",\"pattern\":\"^" NAME "$\"",
		       port_read},
	[TYPE_CORES] = {"core numbers, such as [0, 1], \"0-3,8\" or \"max\"",
			NUMBERS("\"integer\",\"string\",\"array\"", "0", "65535", SPAN, "max|"),
			cores_read},
	[TYPE_OWN_ADDRESSES] = {"an IP address with its prefix, such as \"10.0.0.1/24\" or "
				"\"2001:db8::1/64\"",
				"\"type\":[\"string\",\"array\"]," LIST(IP "(/[0-9]{1,3})?"),
				own_addresses_read},
	[TYPE_GATEWAY] = {"an IP address, \"auto\", or one of each family",
			  "\"type\":[\"string\",\"array\"],\"maxItems\":2," LIST("(auto|" IP ")"),
			  gateway_read},
	[TYPE_MAC] = {"the MAC address of one station, such as \"02:00:00:00:00:01\"",
		      "\"type\":\"string\",\"pattern\":\"^[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2})"
		      "{5}$\"",
		      mac_read},
	[TYPE_VLANS] = {"a VLAN id or a list of at most two",
			"\"type\":[\"integer\",\"array\"],\"minimum\":1,\"maximum\":4094,"
			"\"maxItems\":2,\"items\":{\"type\":"
			"\"integer\",\"minimum\":1,\"maximum\":4094}",
			vlans_read},
	[TYPE_ADDRESSES] = {"IP addresses, such as \"10.0.0.1\", \"10.0.0.1-10.0.0.9\", "
			    "\"10.0.0.0/24\" or a list of those",
			    "\"type\":[\"string\",\"array\"]," LIST(RANGE), addresses_read},
	[TYPE_NUMBERS] = {"numbers, such as 7, \"7-9\" or a list of those,",
			  NUMBERS("\"integer\",\"string\",\"array\"", "0", "4294967295", SPAN, ""),
			  numbers_read},
	[TYPE_PORTS] = {"ports from 1 to 65535, such as 80, \"80-83\" or a list of those",
			NUMBERS("\"integer\",\"string\",\"array\"", "1", "65535", SPAN, ""),
			ports_read},
	[TYPE_TEXTS] = {"a list of texts",
			"\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1}",
			texts_read},
	[TYPE_HEADERS] = {"an object of headers and their values",
			  "\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"
			  "\"propertyNames\":{\"pattern\":\"^[-!#$%&'*+.^_`|~0-9A-Za-z]+$\"}",
			  headers_read},
	[TYPE_SIZES] = {"sizes of frames",
			NUMBERS("\"integer\",\"string\",\"array\"", "60", "9216", SPAN, ""),
			sizes_read},
	[TYPE_IMIX] = {"true or false", "\"type\":\"boolean\"", imix_read},
	[TYPE_BYTES] = {"bytes as hexadecimal digits, two each, or \"pcap:\" with the name of a "
			"capture file and perhaps \"#\" and a packet's number",
			"\"type\":\"string\",\"pattern\":\"^(([0-9a-fA-F]{2} ?)+|pcap:.+)$\"",
			bytes_read},
	[TYPE_PAYLOAD] =
		{"\"zeros\", \"random\", \"hex:\" with hexadecimal digits, or \"file:\" with "
		 "the name of a file",
		 "\"type\":\"string\",\"pattern\":\"^(zeros|random|hex:([0-9a-fA-F]{2} ?)+"
		 "|file:.+)$\"",
		 payload_read},
	[TYPE_FIELD_VALUE] = {"a whole number or an IP address",
			      "\"type\":[\"integer\",\"string\"],\"minimum\":0,\"pattern\":\"^(" IP
			      "|" DECIMAL SUFFIX ")$\"",
			      field_value_read},
	[TYPE_FIELD_VALUES] = {"whole numbers or IP addresses, in a list",
			       "\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":[\"integer\","
			       "\"string\"],\"minimum\":0,\"pattern\":\"^(" IP "|" DECIMAL SUFFIX
			       ")$\"}",
			       field_values_read},
	[TYPE_ADDRESS_MAP] = {"an object of IP addresses or prefixes and what they become",
			      "\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}",
			      address_map_read},
	[TYPE_ROUTES] = {"an object of prefixes and their next hops",
			 "\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}",
			 routes_read},
	[TYPE_PORT_MAP] = {"an object of ports and what they become",
			   "\"type\":\"object\",\"additionalProperties\":{\"type\":[\"integer\","
			   "\"string\"]}",
			   port_map_read},
	[TYPE_MIX] = {"a whole number, a range such as \"100-5000\", a list of those, or an object "
		      "of those with weights,",
		      "\"type\":[\"integer\",\"string\",\"array\",\"object\"],\"pattern\":\"^" MIXED
		      "$\",\"minItems\":1,\"minProperties\":1,\"items\":{\"type\":[\"integer\","
		      "\"string\"],\"pattern\":\"^" MIXED
		      "$\"},\"propertyNames\":{\"pattern\":\"^" MIXED "$\"}," WEIGHTS,
		      mix_read},
	[TYPE_SET] = {"some of a few words", "\"type\":[\"string\",\"array\"]", set_read},
	[TYPE_SPAN] = {"a time with its unit (ns, us, ms, s, m, h or d), or a range \"1ms-5ms\",",
		       "\"type\":[\"string\",\"integer\"],\"pattern\":\"^" TIME "(-" TIME
		       ")?$\",\"maximum\":0,\"minimum\":0",
		       span_read},
	[TYPE_FILE] = {"the name of a file", "\"type\":\"string\",\"minLength\":1", file_read},
};
