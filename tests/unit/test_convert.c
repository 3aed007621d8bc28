/* dperf's configurations: each file of tests/golden/convert becomes what its .json says, with the
 * messages of its .err, and is a good configuration then; a bad-*.conf has messages only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/base/arena.h"
#include "../../common/config/config.h"
#include "../../common/config/convert.h"
#include "../../common/config/convert_private.h"
#include "../../stateful/message.h"
#include "../support/golden.h"

static const struct config_machine made_up = {.cores = 64};

struct converted {
	char *text, *messages;
	int result;
};

static struct converted convert(const char *file)
{
	struct converted c;
	size_t text_length, messages_length;
	FILE *text = open_memstream(&c.text, &text_length);
	FILE *messages = open_memstream(&c.messages, &messages_length);

	c.result = convert_dperf(file, text, messages);
	fclose(text);
	fclose(messages);
	return c;
}

static void converted_free(struct converted *c)
{
	free(c->text);
	free(c->messages);
}

static void load_text(struct config *config, const char *text)
{
	char name[] = "/tmp/onager-test-XXXXXX";
	int file = mkstemp(name);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	assert_int_equal(config_load(config, name, NULL, 0, &made_up, stderr), 0);
	unlink(name);
}

static void load_converted(struct config *config, const char *file)
{
	struct converted c = convert(file);

	assert_int_equal(c.result, 0);
	load_text(config, c.text);
	converted_free(&c);
}

/* What was said stands in the text too. */
static void messages_find(struct converted *c)
{
	char *rest;

	for (char *line = strtok_r(c->messages, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *what = strstr(line, ": ");

		assert_non_null(what);
		if (!strstr(c->text, what + 2))
			fail_msg("not in the text: %s", line);
	}
}

/* "convert/NAME.ending" for the file NAME.conf. */
static void golden_path(char *path, size_t size, const char *file, const char *ending)
{
	char name[200] = "";

	for (size_t i = 0; i < sizeof(name) - 1 && file[i] && file[i] != '.'; i++)
		name[i] = file[i];
	snprintf(path, size, "convert/%s.%s", name, ending);
}

static void file_check(const char *file)
{
	struct converted c = convert(file);
	char path[300];

	golden_path(path, sizeof(path), file, "err");
	golden_check(path, c.messages);
	if (strncmp(file, "bad-", 4) == 0) {
		assert_int_equal(c.result, -1);
		assert_string_equal(c.text, "");
		assert_string_not_equal(c.messages, "");
	} else {
		struct config config;

		if (c.result)
			fail_msg("%s", c.messages);
		golden_path(path, sizeof(path), file, "json");
		golden_check(path, c.text);
		load_text(&config, c.text);
		config_free(&config);
		messages_find(&c);
	}
	converted_free(&c);
}

static int set_up(void **state)
{
	const char *tests = getenv("TEST_SOURCE_DIR");
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/golden/convert", tests ? tests : "tests");
	return chdir(path);
}

static unsigned files_each(void (*check)(const char *file))
{
	DIR *directory = opendir(".");
	unsigned count = 0;

	assert_non_null(directory);
	for (struct dirent *entry; (entry = readdir(directory));) {
		if (!strstr(entry->d_name, ".conf"))
			continue;
		check(entry->d_name);
		count++;
	}
	closedir(directory);
	return count;
}

static void every_file_means_what_it_should(void **state)
{
	(void)state;
	assert_true(files_each(file_check) >= 80);
}

static bool has_keyword[128];

static void keywords_note(const char *file)
{
	FILE *in = fopen(file, "r");
	char line[256], word[64];

	while (strncmp(file, "bad-", 4) && fgets(line, sizeof(line), in)) {
		for (size_t i = 0; sscanf(line, "%63s", word) == 1 && i < keyword_count; i++)
			has_keyword[i] |= !strcmp(keyword_table[i].name, word);
	}
	fclose(in);
}

static void every_keyword_is_tried(void **state)
{
	(void)state;
	assert_in_range(keyword_count, 48, sizeof(((struct convert *)0)->seen) / sizeof(unsigned));
	files_each(keywords_note);
	for (size_t i = 0; i < keyword_count; i++)
		if (!has_keyword[i])
			fail_msg("no file has %s", keyword_table[i].name);
}

static void pools_equal(const struct ip_pool *a, const struct ip_pool *b)
{
	assert_int_equal(a->ranges, b->ranges);
	for (unsigned i = 0; i < a->ranges; i++) {
		assert_true(a->range[i].first == b->range[i].first);
		assert_true(a->range[i].count == b->range[i].count);
	}
}

static void traffic_equal(const struct config_traffic *a, const struct config_traffic *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->port, b->port);
	pools_equal(&a->clients, &b->clients);
	pools_equal(&a->servers, &b->servers);
	assert_int_equal(a->server_ports.range[0].first, b->server_ports.range[0].first);
	assert_int_equal(a->server_ports.count, b->server_ports.count);
	assert_true(a->load.cps.num == b->load.cps.num && a->load.cps.den == b->load.cps.den);
	assert_int_equal(a->load.concurrency, b->load.concurrency);
	assert_int_equal(a->think_time, b->think_time);
	if (traffic_is_client(a->kind)) {
		assert_int_equal(a->requests_per_connection, b->requests_per_connection);
		assert_string_equal(a->request.method, b->request.method);
	}
}

/* The configurations that were made of the same files by hand. */
static void the_handed_files_become_those_of_conf(void **state)
{
	static const char *const name[] = {
		"first-client",      "first-server",      "tput-1port-client", "tput-1port-server",
		"tput-2port-client", "tput-2port-server", "cps-2port-client",  "cps-2port-server",
		"cc-2port-client",   "cc-2port-server",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
		struct config made, by_hand;
		char file[100];

		snprintf(file, sizeof(file), "%s.conf", name[i]);
		load_converted(&made, file);
		snprintf(file, sizeof(file), "../../../conf/%s.json", name[i]);
		assert_int_equal(config_load(&by_hand, file, NULL, 0, &made_up, stderr), 0);
		assert_int_equal(made.ramp, by_hand.ramp);
		assert_int_equal(made.ports, by_hand.ports);
		assert_int_equal(made.traffics, by_hand.traffics);
		for (unsigned j = 0; j < made.ports; j++) {
			assert_string_equal(made.port[j].device, by_hand.port[j].device);
			assert_true(made.port[j].gateway == by_hand.port[j].gateway);
			assert_memory_equal(&made.port[j].address->address,
					    &by_hand.port[j].address->address, sizeof(u128));
			traffic_equal(&made.traffic[j], &by_hand.traffic[j]);
		}
		config_free(&made);
		config_free(&by_hand);
	}
}

struct test_arena {
	struct arena arena;
	size_t used;
	char bytes[1 << 16];
};

static void *memory_take(struct arena *arena, size_t size)
{
	struct test_arena *memory = (struct test_arena *)arena;
	void *bytes = memory->bytes + memory->used;

	memory->used += (size + 15) & ~(size_t)15;
	assert_true(memory->used <= sizeof(memory->bytes));
	return bytes;
}

/* Sizes are those of whole messages, as the engine makes them. */
static void message_length_check(const char *file, unsigned want)
{
	struct message_set set;
	struct config config;
	struct config_traffic *t;
	struct test_arena memory = {.arena.take = memory_take};
	bool keeps;

	load_converted(&config, file);
	t = &config.traffic[0];
	assert_int_equal(message_make(&set, t, 1, 1460, &memory.arena), 0);
	keeps = t->requests_per_connection != 1;
	assert_int_equal(set.message[keeps ? VARIANT_KEEP : VARIANT_CLOSE].length, want);
	config_free(&config);
}

static void messages_are_as_long_as_dperfs(void **state)
{
	(void)state;
	message_length_check("first-client.conf", 1400);
	message_length_check("first-server.conf", 1400);
	message_length_check("tput-2port-server.conf", 1400);
	message_length_check("payload-client.conf", 1400);
	message_length_check("payload-200.conf", 200);
	message_length_check("payload-72.conf", 72);
	message_length_check("payload-81.conf", 80); /* 81 would need a number of one digit, 10 */
	message_length_check("payload-82.conf", 82);
	message_length_check("payload-server.conf", 1000000);
	message_length_check("http-post.conf", 1000);
	message_length_check("packet-size.conf", 1460);
	message_length_check("packet-size-raw.conf", 10);
	message_length_check("packet-size-raw-server.conf", 10);
}

static void a_missing_file_is_said(void **state)
{
	struct converted c = convert("none.conf");

	(void)state;
	assert_int_equal(c.result, -1);
	assert_string_equal(c.text, "");
	assert_string_equal(c.messages, "none.conf: No such file or directory\n");
	converted_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_means_what_it_should),
		cmocka_unit_test(every_keyword_is_tried),
		cmocka_unit_test(the_handed_files_become_those_of_conf),
		cmocka_unit_test(messages_are_as_long_as_dperfs),
		cmocka_unit_test(a_missing_file_is_said),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
