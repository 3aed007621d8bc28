/* Each kind is put together from real parts (a region, a prefix, an issuer) and random ones, and
 * ends in the check digit that its standard asks for: GB 11643 for identity numbers (ISO 7064 MOD
 * 11-2), GB 32100 and GB 11714 for social credit codes, ISO/IEC 7812 (Luhn) for cards. */
#include "sensitive.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const struct sensitive_info sensitive_info[SENSITIVE_KINDS] = {
#define X(id, name, field, help) {name, field, help},
	SENSITIVE_TABLE(X)
#undef X
};

#define PICK(rng, list) ((list)[rng_below((rng), sizeof(list) / sizeof(*(list)))])

/* Districts, by the code of GB/T 2260. */
static const char *const region[] = {
	"110101", "110105", "110108", "120101", "130102", "210102", "220102", "230102",
	"310104", "310115", "320102", "320505", "330106", "340103", "350203", "360102",
	"370202", "410105", "420106", "430104", "440106", "440305", "450103", "460106",
	"500103", "510104", "520102", "530102", "610113", "620102", "640104", "650102",
};

static char digit(struct rng *rng)
{
	return (char)('0' + rng_below(rng, 10));
}

static char *digits(char *to, struct rng *rng, unsigned count)
{
	while (count--)
		*to++ = digit(rng);
	return to;
}

static unsigned days_of(unsigned year, unsigned month)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

static void id_card_make(struct rng *rng, char *text)
{
	static const uint8_t weight[17] = {7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2};
	unsigned year = 1950 + (unsigned)rng_below(rng, 56);
	unsigned month = 1 + (unsigned)rng_below(rng, 12);
	unsigned day = 1 + (unsigned)rng_below(rng, days_of(year, month));
	unsigned order = 1 + (unsigned)rng_below(rng, 999), sum = 0;

	snprintf(text, SENSITIVE_MAX, "%s%04u%02u%02u%03u", PICK(rng, region), year, month, day,
		 order);
	for (unsigned i = 0; i < 17; i++)
		sum += (unsigned)(text[i] - '0') * weight[i];
	text[17] = "10X98765432"[sum % 11];
	text[18] = '\0';
}

static void phone_make(struct rng *rng, char *text)
{
	static const char prefix[][4] = {
		"130", "131", "132", "133", "134", "135", "136", "137", "138", "139", "145", "147",
		"149", "150", "151", "152", "153", "155", "156", "157", "158", "159", "166", "173",
		"175", "176", "177", "178", "180", "181", "182", "183", "184", "185", "186", "187",
		"188", "189", "190", "191", "193", "195", "196", "197", "198", "199",
	};

	strcpy(text, PICK(rng, prefix));
	*digits(text + 3, rng, 8) = '\0';
}

/* A province and an issuing office; then five characters, at most two of them letters, or of new
 * energy six: a letter for the engine and a number (small cars), or the letter last (large ones). I
 * and O, which look like digits, are not used. */
static void plate_make(struct rng *rng, char *text)
{
	static const char province[][4] = {"京", "津", "冀", "晋", "蒙", "辽", "吉", "黑",
					   "沪", "苏", "浙", "皖", "闽", "赣", "鲁", "豫",
					   "鄂", "湘", "粤", "桂", "琼", "渝", "川", "贵",
					   "云", "藏", "陕", "甘", "青", "宁", "新"};
	static const char letter[] = "ABCDEFGHJKLMNPQRSTUVWXYZ", engine[] = "DF";
	unsigned office = (unsigned)rng_below(rng, 8), shape = (unsigned)rng_below(rng, 4);
	char *at = stpcpy(text, PICK(rng, province));

	*at++ = letter[office];
	if (shape == 0) {
		*at++ = engine[rng_below(rng, 2)];
		at = digits(at, rng, 5);
	} else if (shape == 1) {
		at = digits(at, rng, 5);
		*at++ = engine[rng_below(rng, 2)];
	} else {
		unsigned letters = (unsigned)rng_below(rng, 3);

		at = digits(at, rng, 5);
		while (letters--)
			at[-5 + (int)rng_below(rng, 5)] = letter[rng_below(rng, 24)];
	}
	*at = '\0';
}

static void bank_card_make(struct rng *rng, char *text)
{
	static const struct {
		char issuer[7];
		uint8_t length;
	} range[] = {{"622202", 19}, {"621226", 19}, {"622848", 19}, {"621700", 19},
		     {"621661", 19}, {"622260", 19}, {"621098", 19}, {"622588", 16},
		     {"622690", 16}, {"622622", 16}, {"622518", 16}, {"621485", 16}};
	unsigned which = (unsigned)rng_below(rng, sizeof(range) / sizeof(*range));
	unsigned length = range[which].length, sum = 0;

	strcpy(text, range[which].issuer);
	digits(text + 6, rng, length - 7);
	for (unsigned i = 0; i < length - 1; i++) {
		unsigned value = (unsigned)(text[length - 2 - i] - '0');

		value <<= i % 2 == 0;
		sum += value > 9 ? value - 9 : value;
	}
	text[length - 1] = (char)('0' + (10 - sum % 10) % 10);
	text[length] = '\0';
}

/* An enterprise (91) of a region; the organization code of nine characters, whose last checks it;
 * the check character of all. */
static void business_make(struct rng *rng, char *text)
{
	static const char set[] = "0123456789ABCDEFGHJKLMNPQRTUWXY";
	static const uint8_t weight[17] = {1,  3,  9,  27, 19, 26, 16, 17, 20,
					   29, 25, 13, 8,  24, 10, 30, 28};
	static const uint8_t inner[8] = {3, 7, 9, 10, 5, 8, 4, 2};
	unsigned sum = 0;

	snprintf(text, SENSITIVE_MAX, "91%s", PICK(rng, region));
	for (unsigned i = 0; i < 8; i++) {
		char c = set[rng_below(rng, 31)];

		text[8 + i] = c;
		sum += (unsigned)(c <= '9' ? c - '0' : c - 'A' + 10) * inner[i];
	}
	text[16] = "0X987654321"[sum % 11];
	sum = 0;
	for (unsigned i = 0; i < 17; i++)
		sum += (unsigned)(strchr(set, text[i]) - set) * weight[i];
	text[17] = set[(31 - sum % 31) % 31];
	text[18] = '\0';
}

/* Domains that RFC 2606 keeps for examples. */
static void email_make(struct rng *rng, char *text)
{
	static const char name[][8] = {"wei",   "fang",  "min",  "jing", "lei", "qiang",
				       "yan",   "jun",   "anna", "ben",  "eva", "john",
				       "maria", "peter", "sue",  "tom"};
	static const char family[][8] = {"wang",  "li",   "zhang", "liu",  "chen",  "yang",
					 "zhao",  "wu",   "zhou",  "xu",   "smith", "brown",
					 "jones", "khan", "silva", "novak"};
	static const char domain[][12] = {"example.com", "example.org", "example.net"};

	snprintf(text, SENSITIVE_MAX, "%s.%s%u@%s", PICK(rng, name), PICK(rng, family),
		 (unsigned)rng_below(rng, 10000), PICK(rng, domain));
}

unsigned sensitive_make(enum sensitive kind, struct rng *rng, char *text)
{
	static void (*const make[SENSITIVE_KINDS])(struct rng *, char *) = {
		[SENSITIVE_ID_CARD] = id_card_make,   [SENSITIVE_PHONE] = phone_make,
		[SENSITIVE_PLATE] = plate_make,       [SENSITIVE_BANK_CARD] = bank_card_make,
		[SENSITIVE_BUSINESS] = business_make, [SENSITIVE_EMAIL] = email_make,
	};

	make[kind](rng, text);
	return (unsigned)strlen(text);
}
