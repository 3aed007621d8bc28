/* Several requests of our client: their weights, their templates, and what became of payloads. */
#include "client_drill.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../support/world.h"

static struct world w;

#define MIXED                                                                                 \
	"client.requests=[{\"name\": \"a\", \"path\": \"/a/```\", \"weight\": 3, "            \
	"\"headers\": {\"From\": \"{email} {email}\"}}, "                                     \
	"{\"name\": \"b\", \"path\": \"/b/{digits:4}/{uuid}/{phone}\", \"method\": \"PUT\", " \
	"\"body\": {\"text\": \"{counter}\"}, \"status\": 404}]"

/* In paths, headers and bodies. */
static uint64_t items_sent(const struct split *from, enum sensitive kind)
{
	struct split *sum = NULL;
	uint64_t items;

	split_merge(&sum, from);
	items = sum->items[kind];
	split_free(sum);
	return items;
}

static void test_weights_and_statuses(void **state)
{
	const struct split *split;
	unsigned a = 0, b = 0;

	(void)state;
	world_open(&w, NULL,
		   SET("client.load.cps=100", "duration=1s", "client.requests_per_connection=4",
		       MIXED, "server.routes=[{\"path\": \"/b/*\", \"status\": 404}]"));
	world_record(&w, 4000);
	world_run(&w);
	assert_int_equal(world_client(&w)->request.succeeded, 400);
	assert_int_equal(w.lab[0].stats.level.connection.succeeded, 100);
	split = w.lab[0].stats.split;
	assert_int_equal(split->source[0].offered, 300);
	assert_int_equal(split->source[1].succeeded, 100);
	assert_int_equal(split->source[1].response.count, 100);
	assert_int_equal(split->code[split_status(w.lab[0].stats.split, 404)], 404);
	for (unsigned i = 0; i < w.packets; i++) {
		const char *text = w.packet[i].text;

		a += !strncmp(text, "GET /a/", 7) && strspn(text + 7, "`") == 0 && text[10] == ' ';
		b += !strncmp(text, "PUT /b/", 7) && strspn(text + 7, "0123456789") == 4 &&
		     text[11] == '/' && text[26] == '4' && text[48] == '/' && text[60] == ' ';
	}
	assert_int_equal(a, 300);
	assert_int_equal(b, 100);
	assert_int_equal(items_sent(split, SENSITIVE_PHONE), 100);
	assert_int_equal(items_sent(split, SENSITIVE_EMAIL), 2 * 300);
	world_close(&w);
}

/* The only connection of a drill sends the only payload. */
static void payload_open(char *name)
{
	static char set[64];
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "\n' or 1=1 #&\n", 13), 13);
	close(fd);
	snprintf(set, sizeof(set), "client.payloads=%s", name);
	connect_to(SET(set, "client.request.path=/find?x=1"));
	unlink(name);
	assert_ptr_equal(strstr(d.payload, "GET /find?x=1&q='%20or%201=1%20%23%26 HTTP/1.1\r\n"),
			 d.payload);
}

static void expect_fate(enum payload_fate fate)
{
	const struct split *split = d.lab.stats.split;

	assert_int_equal(split->lines, 1);
	for (unsigned i = 0; i < PAYLOAD_FATES; i++)
		assert_int_equal(split->fate[0][i], i == fate);
}

static void test_payload_refused_by_status(void **state)
{
	static const char refusal[] = "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n";
	char name[] = "/tmp/onager-payload-XXXXXX";
	uint32_t end = sizeof(refusal);

	(void)state;
	payload_open(name);
	SEND_TEXT(&d, refusal, "FP. 1 ack %u", request);
	EXPECT(&d, "F. %u ack %u", request, end + 1);
	SEND(&d, ". %u ack %u", end + 1, request + 1);
	expect_fate(PAYLOAD_BLOCKED);
	expect_success();
}

static void test_payload_reset(void **state)
{
	char name[] = "/tmp/onager-payload-XXXXXX";

	(void)state;
	payload_open(name);
	SEND(&d, "R. 1 ack %u", request);
	EXPECT_NOTHING(&d);
	expect_fate(PAYLOAD_BLOCKED);
	expect_success();
}

static void test_payload_closed_without_response(void **state)
{
	char name[] = "/tmp/onager-payload-XXXXXX";

	(void)state;
	payload_open(name);
	SEND(&d, "F. 1 ack %u", request);
	EXPECT(&d, "F. %u ack 2", request);
	SEND(&d, ". 2 ack %u", request + 1);
	expect_fate(PAYLOAD_BLOCKED);
	expect_success();
}

static void test_payload_answered_and_not(void **state)
{
	static const char answer[] = "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
	char name[] = "/tmp/onager-payload-XXXXXX", other[] = "/tmp/onager-payload-XXXXXX";
	uint32_t end = sizeof(answer);

	(void)state;
	payload_open(name);
	SEND_TEXT(&d, answer, "FP. 1 ack %u", request);
	EXPECT(&d, "F. %u ack %u", request, end + 1);
	SEND(&d, ". %u ack %u", end + 1, request + 1);
	expect_fate(PAYLOAD_ANSWERED);
	expect_success();
	payload_open(other);
	SEND(&d, ". 1 ack %u", request);
	drill_wait(&d, SEC(6));
	EXPECT(&d, "R. %u ack 1", request);
	expect_fate(PAYLOAD_UNANSWERED);
	expect_ended(FAILED_TIMEOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights_and_statuses),
		cmocka_unit_test(test_payload_refused_by_status),
		cmocka_unit_test(test_payload_reset),
		cmocka_unit_test(test_payload_closed_without_response),
		cmocka_unit_test(test_payload_answered_and_not),
	};

	return cmocka_run_group_tests_name("tcp client requests", tests, NULL, NULL);
}
