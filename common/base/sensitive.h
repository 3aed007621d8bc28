/* Sensitive data that is nobody's: made up by a seed, but right in form - regions, prefixes, issuer
 * ranges and check digits are real - so that what looks for such data finds it.
 *
 * A row is: identifier, name in configuration and report, name in documents, what it is. */
#ifndef BASE_SENSITIVE_H
#define BASE_SENSITIVE_H

#include "rng.h"

#define SENSITIVE_TABLE(X)                                                      \
	X(ID_CARD, "id-card", "id_card", "Chinese resident identity numbers")   \
	X(PHONE, "phone", "phone", "Chinese mobile phone numbers")              \
	X(PLATE, "plate", "plate", "Chinese vehicle plates, of new energy too") \
	X(BANK_CARD, "bank-card", "bank_card", "bank card numbers")             \
	X(BUSINESS, "business-registration", "business_registration",           \
	  "unified social credit codes")                                        \
	X(EMAIL, "email", "email", "e-mail addresses of example domains")

enum sensitive {
#define X(id, name, field, help) SENSITIVE_##id,
	SENSITIVE_TABLE(X)
#undef X
		SENSITIVE_KINDS
};

#define SENSITIVE_MAX 48 /* bytes of an item, the zero that ends it included */

struct sensitive_info {
	const char *name, *field, *help;
};
extern const struct sensitive_info sensitive_info[SENSITIVE_KINDS];

/* Write an item into text (SENSITIVE_MAX bytes), UTF-8, ended by a zero; returns its length. */
unsigned sensitive_make(enum sensitive, struct rng *, char *text);

#endif
