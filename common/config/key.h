/* The table of keys: one row is all there is to know of a key.
 *
 * Reading, the hint for misspelt keys, the JSON Schema and the help text are made from the rows. To
 * add a key, add a row (and the field it fills). Several rows may bear one name when the key
 * differs by traffic kind. */
#ifndef CONFIG_KEY_H
#define CONFIG_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_object {
	OBJECT_ROOT,
	OBJECT_MEMORY,
	OBJECT_REPORT,
	OBJECT_CAPTURE,
	OBJECT_PACKETS,
	OBJECT_PORT,
	OBJECT_PORT_NETWORK,
	OBJECT_BOND,
	OBJECT_TUNNEL,
	OBJECT_TRAFFIC,
	OBJECT_LOAD,
	OBJECT_REQUEST,
	OBJECT_RESPONSE,
	OBJECT_ROUTE,
	OBJECT_ONE_REQUEST,
	OBJECT_WORDS,
	OBJECT_CLOSE,
	OBJECT_BODY,
	OBJECT_EXPECTED,
	OBJECT_EXPECTED_BODY,
	OBJECT_TCP,
	OBJECT_MODIFY,
	OBJECT_CONVERT,
	OBJECT_REWRITE,
	OBJECT_SPLIT,
	OBJECT_NETWORK,
	OBJECT_DIRECTION,
	OBJECT_LOSE,
	OBJECT_BLACKOUT,
	OBJECT_EXPECT,
	OBJECTS
};

enum key_type {
	TYPE_IGNORED,
	TYPE_OBJECT,
	TYPE_LIST, /* of objects */
	TYPE_BOOL,
	TYPE_COUNT,
	TYPE_LEVEL,    /* a count or "max" */
	TYPE_REQUESTS, /* a count from 1, or "max" or 0: unlimited */
	TYPE_TIME,
	TYPE_RATE,
	TYPE_BIT_RATE,
	TYPE_NUMBER,      /* any, as double */
	TYPE_PROBABILITY, /* from 0 to 1, as double */
	TYPE_CHOICE,      /* an enum in the order of `choices` */
	TYPE_WORD,        /* one of `choices`, as text */
	TYPE_TEXT,
	TYPE_NAME,
	TYPE_DEVICE,
	TYPE_PATH,
	TYPE_PATTERN, /* of paths */
	TYPE_HOST,
	TYPE_METRIC,
	TYPE_FILTER,
	TYPE_PORT, /* by its name */
	TYPE_CORES,
	TYPE_OWN_ADDRESSES,
	TYPE_GATEWAY,
	TYPE_MAC,
	TYPE_VLANS,
	TYPE_ADDRESSES,
	TYPE_PORTS,
	TYPE_TEXTS,
	TYPE_HEADERS,
	TYPE_SIZES,       /* of frames: 60, "64-1518", or a list of those */
	TYPE_IMIX,        /* true: the sizes of the simple Internet mix */
	TYPE_BYTES,       /* hexadecimal digits */
	TYPE_PAYLOAD,     /* "zeros", "random", "hex:...", "file:..." */
	TYPE_FIELD_VALUE, /* a count or an IP address, of IPv6 its last 64 bits; `count` is set to 1
			   */
	TYPE_FIELD_VALUES,
	TYPE_ADDRESS_MAP, /* {"10.0.0.0/8": "20.0.0.0/8"} */
	TYPE_ROUTES,      /* {"10.0.0.0/8": "10.1.0.2"} */
	TYPE_PORT_MAP,    /* {"80": 8080} */
	TYPE_MIX,         /* values, ranges or choices, with weights */
	TYPE_SET,         /* some of `choices`, as bits; the last one means all */
	TYPE_SPAN,        /* a time, or from one to another */
	TYPE_FILE,        /* what is in it */
	TYPE_NUMBERS,     /* 7, "1-9" or a list of those */
	TYPES
};

/* Bits of `kinds`: the traffic kinds a key is for; outside of traffic all. */
enum {
	KIND_HTTP_CLIENT = 1,
	KIND_HTTP_SERVER = 2,
	KIND_TCP_CLIENT = 4,
	KIND_TCP_SERVER = 8,
	KIND_UDP_CLIENT = 16,
	KIND_UDP_SERVER = 32,
	KIND_UDP_BLAST = 64,
	KIND_UDP_SINK = 128,
	KIND_REPLAY = 256,
	KIND_CONVERSATION = 512,
	KIND_CONVERSATION_CLIENT = 1024,
	KIND_CONVERSATION_SERVER = 2048,
	KIND_TALKER = KIND_CONVERSATION | KIND_CONVERSATION_CLIENT,
	KIND_TALK = KIND_TALKER | KIND_CONVERSATION_SERVER,
	KIND_HTTP = KIND_HTTP_CLIENT | KIND_HTTP_SERVER,
	KIND_TCP = KIND_TCP_CLIENT | KIND_TCP_SERVER,
	KIND_UDP = KIND_UDP_CLIENT | KIND_UDP_SERVER,
	KIND_CLIENT = KIND_HTTP_CLIENT | KIND_TCP_CLIENT | KIND_UDP_CLIENT,
	KIND_SERVER = KIND_HTTP_SERVER | KIND_TCP_SERVER | KIND_UDP_SERVER,
	KIND_STATEFUL = KIND_CLIENT | KIND_SERVER,
	KIND_ALL = 4095
};

struct key {
	enum key_object object; /* it stands in */
	const char *name;
	enum key_type type;
	unsigned kinds;
	bool required;
	enum key_object inner;    /* OBJECT, LIST */
	size_t offset, size;      /* of the field in the object's struct */
	size_t count, count_size; /* of the field that counts a list's elements; size 0: none */
	uint64_t min, max;        /* COUNT, LEVEL, TIME */
	const char *standard;     /* the default, as --set would have it; NULL: zero */
	const char *choices;      /* "GET|HEAD|POST" */
	const char *help;
};

extern const struct key key_table[];
extern const size_t key_count;

/* What an object of that sort fills, and what it is called in the schema and in help. */
struct key_object_info {
	const char *name;
	size_t size; /* of its struct */
	const char *help;
};
extern const struct key_object_info key_object[OBJECTS];

/* The row of a name for one of these kinds; NULL if there is none. */
const struct key *key_find(enum key_object, const char *name, unsigned kinds);
/* The name that was perhaps meant, or NULL. */
const char *key_hint(enum key_object, const char *name, unsigned kinds);
/* The distance of two words in edits, or `most` if it is that or more. */
unsigned word_distance(const char *, const char *, unsigned most);

/* The i-th of "a|b|c", false beyond the last. */
bool choice_at(const char *choices, unsigned i, const char **word, size_t *length);

#endif
