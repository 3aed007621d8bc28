/* Templates of requests: texts with variables in braces. */
#ifndef STATEFUL_TEMPLATE_H
#define STATEFUL_TEMPLATE_H

#include <stdbool.h>

#include "body.h"

struct template_rule {
	const struct config_traffic *traffic; /* its lists */
	struct text_piece payload;
	unsigned number; /* of {counter} */
	bool placed;     /* the payload has its place in a template; else it is the path's query */
	bool in_path;    /* back-ticks are random characters, values are encoded for a URL */
	struct rng *rng;
	uint16_t *items; /* by kind of sensitive data: how many were put in; NULL: not counted */
};

/* Append the text with its variables replaced. Known are {random:N} letters, {digits:N}, {counter},
 * {uuid}, {list:NAME}, {payload} and the kinds of sensitive data, {phone} etc.; other braces stay.
 */
void template_add(struct store *, const char *text, const struct template_rule *);

/* Does the text have a variable (or in a path a back-tick)? */
bool template_varies(const char *text, bool in_path);

#endif
