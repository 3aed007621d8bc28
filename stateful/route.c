/* Routes: patterns of paths, with * for any text.
 *
 * They are tried one after the other. A pattern without ? sees the path without its query. */
#include "route.h"

#include <stdbool.h>
#include <string.h>

struct span {
	const char *at, *end;
};

/* The request target, without scheme and authority (RFC 9112 section 3.2.2). */
static struct span target_of(const char *request, size_t length)
{
	struct span t = {request, request + length};
	const char *scheme;

	while (t.at < t.end && (*t.at == '\r' || *t.at == '\n'))
		t.at++;
	while (t.at < t.end && *t.at != ' ')
		t.at++;
	if (t.at < t.end)
		t.at++;
	scheme = t.at;
	for (const char *c = t.at; c < t.end; c++)
		if (*c == ' ' || *c == '\r' || *c == '\n')
			t.end = c;
	if (t.end - scheme > 7 && !memcmp(scheme, "http://", 7))
		for (t.at += 7; t.at < t.end && *t.at != '/';)
			t.at++;
	return t;
}

/* A * takes as little as it can, and more when what follows does not fit. */
static bool pattern_fits(const char *pattern, struct span text)
{
	const char *star = NULL, *retry = NULL;

	while (text.at < text.end) {
		if (*pattern == '*') {
			star = pattern++;
			retry = text.at;
		} else if (*pattern && *pattern == *text.at) {
			pattern++;
			text.at++;
		} else if (star) {
			pattern = star + 1;
			text.at = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

uint16_t route_find(const struct config_traffic *t, const char *request, size_t length)
{
	struct span target = target_of(request, length), path = target;
	const char *query = memchr(target.at, '?', (size_t)(target.end - target.at));
	uint16_t i;

	if (query)
		path.end = query;
	for (i = 0; i < t->routes; i++) {
		const char *pattern = t->route[i].path;

		if (pattern_fits(pattern, strchr(pattern, '?') ? target : path))
			break;
	}
	return i;
}
