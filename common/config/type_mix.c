/* Types with several values at once: mixes with weights, sets of words, spans of time, files.
 *
 * A mix is a value ("100"), a range ("100-5000"), a list of those, or an object of those and their
 * weights; where the key has choices, values are words and stand for their places. */
#include "reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

#define WEIGHT_MOST 1000000u

static void words_refuse(struct reader *r, const struct where *w, const struct key *key)
{
	char *words = key_words(key);

	refuse(r, w, words);
	free(words);
}

/* The place of a word among choices. */
static bool choice_find(const char *choices, const char *text, uint64_t *place)
{
	const char *word;
	size_t length;

	for (unsigned i = 0; choice_at(choices, i, &word, &length); i++) {
		if (strlen(text) != length || memcmp(text, word, length) != 0)
			continue;
		*place = i;
		return true;
	}
	return false;
}

/* "100" or "100-5000". */
static bool count_span(const char *text, uint64_t *first, uint64_t *last)
{
	const char *dash = strchr(text, '-');
	char *copy;
	bool good;

	if (!dash) {
		good = value_count(text, first);
		*last = *first;
		return good;
	}
	copy = text_format("%.*s", (int)(dash - text), text);
	good = value_count(copy, first) && value_count(dash + 1, last) && *first <= *last;
	free(copy);
	return good;
}

static bool share_read(const struct key *key, const char *text, struct config_share *share)
{
	if (key->choices) {
		bool good = choice_find(key->choices, text, &share->first);

		share->last = share->first;
		return good;
	}
	return count_span(text, &share->first, &share->last) && share->first >= key->min &&
	       share->last <= key->max;
}

static void share_add(struct reader *r, const struct where *w, const struct key *key,
		      struct config_mix *mix, const char *text, uint64_t weight)
{
	struct config_share share = {.weight = (uint32_t)weight};

	if (!text || !share_read(key, text, &share)) {
		words_refuse(r, w, key);
		return;
	}
	*(struct config_share *)list_grow(r->config, (void **)&mix->share, mix->shares++,
					  sizeof(share)) = share;
}

/* {"100": 3, "1k-2k": 1} */
static void weights_read(struct reader *r, const struct where *w, const struct key *key,
			 struct config_mix *mix)
{
	for (const cJSON *child = w->node->child; child; child = child->next) {
		struct where at = {.up = w, .key = child->string, .node = child};
		const char *text = node_value(child);
		struct config_share share;
		uint64_t weight;

		if (!share_read(key, child->string, &share)) {
			char *words = key_words(key);

			problem_add(r->document, &at, PLACE_KEY, "expected %s", words);
			free(words);
		} else if (!text || !value_count(text, &weight) || !weight ||
			   weight > WEIGHT_MOST) {
			refuse(r, &at, "a weight from 1 to 1000000");
		} else {
			share_add(r, &at, key, mix, child->string, weight);
		}
	}
}

void mix_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	struct config_mix *mix = (struct config_mix *)(base + key->offset);
	const cJSON *node = w->node;

	*mix = (struct config_mix){.shares = 0};
	if ((cJSON_IsArray(node) || cJSON_IsObject(node)) && !node->child) {
		words_refuse(r, w, key);
	} else if (cJSON_IsObject(node)) {
		weights_read(r, w, key, mix);
	} else if (cJSON_IsArray(node)) {
		unsigned i = 0;

		for (const cJSON *child = node->child; child; child = child->next) {
			struct where at = {.up = w, .index = i++, .node = child};

			share_add(r, &at, key, mix, node_value(child), 1);
		}
	} else {
		share_add(r, w, key, mix, node_value(node), 1);
	}
}

static void bit_add(struct reader *r, const struct where *w, const struct key *key, unsigned *bits)
{
	const char *word, *text = cJSON_IsString(w->node) ? w->node->valuestring : "";
	size_t length;
	uint64_t place;

	if (!choice_find(key->choices, text, &place))
		words_refuse(r, w, key);
	else if (choice_at(key->choices, (unsigned)place + 1, &word, &length))
		*bits |= 1u << place;
	else
		*bits |= (1u << place) - 1;
}

void set_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	unsigned bits = 0, i = 0;

	if (!cJSON_IsArray(w->node))
		bit_add(r, w, key, &bits);
	for (const cJSON *child = cJSON_IsArray(w->node) ? w->node->child : NULL; child;
	     child = child->next) {
		struct where at = {.up = w, .index = i++, .node = child};

		bit_add(r, &at, key, &bits);
	}
	uint_store(base + key->offset, key->size, bits);
}

void span_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	const char *text = node_value(w->node);
	const char *dash = text ? strchr(text, '-') : NULL;
	char *copy = text_format("%.*s", dash ? (int)(dash - text) : 64, text ? text : "");
	struct config_span span = {0, 0};
	bool good = value_time(copy, &span.first);

	span.last = span.first;
	if (dash)
		good = good && value_time(dash + 1, &span.last);
	free(copy);
	if (!good || span.first < key->min || span.last > key->max || span.first > span.last)
		words_refuse(r, w, key);
	else
		*(struct config_span *)(base + key->offset) = span;
}

void file_take(struct reader *r, const struct where *w, const char *name, uint32_t most,
	       struct config_bytes *bytes)
{
	char *path = document_path(r->document, w, name);
	FILE *file = fopen(path, "r");
	long size = file && !fseek(file, 0, SEEK_END) ? ftell(file) : 0;

	size = size < 0 || size > (long)most ? (long)most : size;
	bytes->data = storage_take(r->config, (size_t)size + 1);
	if (file) {
		rewind(file);
		bytes->count = (uint32_t)fread(bytes->data, 1, (size_t)size, file);
	}
	if (!file || ferror(file))
		problem_add(r->document, w, PLACE_VALUE, "%s: %s", path, strerror(errno));
	else if (!bytes->count)
		problem_add(r->document, w, PLACE_VALUE, "%s: the file is empty", path);
	if (file)
		fclose(file);
	free(path);
}

void file_read(struct reader *r, const struct where *w, const struct key *key, char *base)
{
	if (!cJSON_IsString(w->node) || !*w->node->valuestring)
		refuse(r, w, "the name of a file");
	else
		file_take(r, w, w->node->valuestring, (uint32_t)key->max,
			  (struct config_bytes *)(base + key->offset));
}
