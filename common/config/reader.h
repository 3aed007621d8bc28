/* From nodes to fields: what the readers of all types share. */
#ifndef CONFIG_READER_H
#define CONFIG_READER_H

#include "config.h"
#include "document.h"
#include "key.h"

struct reader {
	struct document *document;
	struct config *config;
	const struct config_machine *machine;
	unsigned kinds; /* of the traffic entry at hand; KIND_ALL: unknown, or outside of traffic */
	unsigned position; /* of the list element at hand */
};

/* A type: its name in messages, its part of the schema (JSON), and how it is read. `base` is the
 * object's struct. A reader notes what is wrong as problems and leaves the field as it is then. */
struct type {
	const char *words;
	const char *schema;
	void (*read)(struct reader *, const struct where *, const struct key *, char *base);
};
extern const struct type type_table[TYPES];

/* The readers of type_list.c and type_packet.c. */
void cores_read(struct reader *, const struct where *, const struct key *, char *base);
void own_addresses_read(struct reader *, const struct where *, const struct key *, char *base);
void vlans_read(struct reader *, const struct where *, const struct key *, char *base);
void addresses_read(struct reader *, const struct where *, const struct key *, char *base);
void numbers_read(struct reader *, const struct where *, const struct key *, char *base);
void ports_read(struct reader *, const struct where *, const struct key *, char *base);
void texts_read(struct reader *, const struct where *, const struct key *, char *base);
void headers_read(struct reader *, const struct where *, const struct key *, char *base);

void sizes_read(struct reader *, const struct where *, const struct key *, char *base);
void imix_read(struct reader *, const struct where *, const struct key *, char *base);
void bytes_read(struct reader *, const struct where *, const struct key *, char *base);
void payload_read(struct reader *, const struct where *, const struct key *, char *base);
void field_value_read(struct reader *, const struct where *, const struct key *, char *base);
void field_values_read(struct reader *, const struct where *, const struct key *, char *base);

/* Of type_replay.c. */
void address_map_read(struct reader *, const struct where *, const struct key *, char *base);
void routes_read(struct reader *, const struct where *, const struct key *, char *base);
void port_map_read(struct reader *, const struct where *, const struct key *, char *base);
void mix_read(struct reader *, const struct where *, const struct key *, char *base);
void set_read(struct reader *, const struct where *, const struct key *, char *base);
void span_read(struct reader *, const struct where *, const struct key *, char *base);
void file_read(struct reader *, const struct where *, const struct key *, char *base);

/* The first `most` bytes of a file. */
void file_take(struct reader *, const struct where *, const char *name, uint32_t most,
	       struct config_bytes *);

/* Read an object's keys, its node NULL if it is absent, into its struct. Sets defaults. */
void object_read(struct reader *, const struct where *, enum key_object, char *base);

/* Is a text a device's? */
bool text_is_device(const char *);

/* "expected <words>, got <the node>". */
void refuse(struct reader *, const struct where *, const char *words);

/* What a key's value must be, in words: "a whole number from 576 to 9710". Allocated. */
char *key_words(const struct key *);

/* The text of a string or number, else NULL. */
const char *node_value(const cJSON *);

/* Write an unsigned integer of `size` bytes. */
void uint_store(void *field, size_t size, uint64_t value);

/* Zeros that live as long as the configuration; a copy of a text there. */
void *storage_take(struct config *, size_t size);
const char *storage_text(struct config *, const char *);

/* Room for one more element at the end of a list in storage. */
void *list_grow(struct config *, void **list, size_t count, size_t size);

/* Take the items of a value that may be a list, texts with commas in it or out of it; take() says
 * whether a piece is well written. */
struct item {
	struct reader *reader;
	struct where where; /* the key's path, the element's node */
	const struct key *key;
	char *base;
	void **list; /* the field */
	size_t count;
};
void items_read(struct item *, const cJSON *, bool (*take)(struct item *, const char *piece));

/* The way down to ports[i].key or traffic[i].key.inner, for problems. */
struct spot {
	struct where root, list, element, key, inner, leaf, below;
};
const struct where *spot_find(struct reader *, struct spot *, const char *list, unsigned i,
			      const char *key, const char *inner);

/* The same to a key of config.port[i], which may be a network of a port. */
const struct where *port_spot(struct reader *, struct spot *, unsigned i, const char *key);

/* Give every network a place in config.port[], and point the traffic that is on one to it. */
void networks_place(struct reader *);

/* Next hops must be on the link. */
void routes_check(struct reader *, unsigned port);

/* Check what no key can check alone. */
void bond_check(struct reader *, unsigned port);
void capture_check(struct reader *);
void config_check(struct reader *);
/* Ask the machine, when all else is good. */
void machine_check(struct reader *);
#define BLAST_TAG_BYTES 18u
/* Bytes of a blast's frames before their payload. */
unsigned blast_headers(const struct config *, const struct config_traffic *);
/* Modifier n of the blast traffic[i]. */
void modify_check(struct reader *, unsigned i, unsigned n);
void blast_check(struct reader *, unsigned traffic);
void replay_check(struct reader *, unsigned traffic);
void tunnel_check(struct reader *, unsigned port);
void duration_check(struct reader *);
void http_check(struct reader *, unsigned traffic);
void http_contents_check(struct reader *, unsigned traffic);
void datagram_check(struct reader *, unsigned traffic);

#endif
