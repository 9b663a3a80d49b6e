/* Mappings lie in runs of neighbours that move by the same distance (or every second one does, where the cases
 * alternate), found by bisection. The few characters that become several have their own list. A capital sigma
 * that ends a word is the one mapping that looks around. */
#include "compute/text_case.h"

#include "base/status.h"

typedef struct case_range {
	uint32_t first, last;
	int32_t step, delta;
} case_range;

typedef struct case_expansion {
	uint32_t from;
	uint32_t to[3]; /* 0: no more */
} case_expansion;

#include "compute/text_case_table.inc"

/* A character of valid UTF-8; a text that breaks off yields what is there. */
static uint32_t decode(const char *at, const char *end, int *n_bytes)
{
	const unsigned char *c = (const unsigned char *)at;
	int n = c[0] < 0x80 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
	*n_bytes = (int)NK_MIN((int64_t)n, (int64_t)(end - at));
	if (n == 1)
		return c[0];
	uint32_t point = c[0] & (0x7fu >> n);
	for (int i = 1; i < *n_bytes; i++)
		point = point << 6 | (c[i] & 0x3f);
	return point;
}

static char *encode(char *to, uint32_t point)
{
	if (point < 0x80) {
		*to++ = (char)point;
	} else if (point < 0x800) {
		*to++ = (char)(0xc0 | point >> 6);
		*to++ = (char)(0x80 | (point & 0x3f));
	} else if (point < 0x10000) {
		*to++ = (char)(0xe0 | point >> 12);
		*to++ = (char)(0x80 | (point >> 6 & 0x3f));
		*to++ = (char)(0x80 | (point & 0x3f));
	} else {
		*to++ = (char)(0xf0 | point >> 18);
		*to++ = (char)(0x80 | (point >> 12 & 0x3f));
		*to++ = (char)(0x80 | (point >> 6 & 0x3f));
		*to++ = (char)(0x80 | (point & 0x3f));
	}
	return to;
}

static uint32_t map_one(uint32_t point, bool upper)
{
	if (point < 0x80)
		return point ^ (point - (upper ? 'a' : 'A') < 26 ? 0x20 : 0);
	const case_range *ranges = upper ? upper_ranges : lower_ranges;
	int low = 0, high = upper ? NK_COUNT(upper_ranges) : NK_COUNT(lower_ranges);
	while (low < high) {
		int middle = (low + high) / 2;
		if (ranges[middle].last < point)
			low = middle + 1;
		else
			high = middle;
	}
	int n = upper ? NK_COUNT(upper_ranges) : NK_COUNT(lower_ranges);
	if (low == n || point < ranges[low].first ||
	    (point - ranges[low].first) % (uint32_t)ranges[low].step != 0)
		return point;
	return (uint32_t)((int32_t)point + ranges[low].delta);
}

static const uint32_t *expansion_of(uint32_t point, bool upper)
{
	const case_expansion *list = upper ? upper_expansions : lower_expansions;
	int n = upper ? NK_COUNT(upper_expansions) : NK_COUNT(lower_expansions);
	for (int i = 0; i < n && list[i].from <= point; i++)
		if (list[i].from == point)
			return list[i].to;
	return NULL;
}

static bool is_cased(uint32_t point)
{
	return map_one(point, true) != point || map_one(point, false) != point || expansion_of(point, true) ||
	       expansion_of(point, false);
}

/* Marks and signs that do not end a word. */
static bool is_ignored(uint32_t point)
{
	static const uint16_t signs[] = {'\'', '.',  ':',  '^',  '`',    0xa8,  0xad,
	                                 0xaf, 0xb4, 0xb7, 0xb8, 0x2018, 0x2019};
	for (int i = 0; i < NK_COUNT(signs); i++)
		if (signs[i] == point)
			return true;
	return point >= 0x300 && point <= 0x36f;
}

enum { CAPITAL_SIGMA = 0x3a3, SMALL_SIGMA = 0x3c3, FINAL_SIGMA = 0x3c2 };

/* Letters stand before the sigma at `at`, and none right after it. */
static bool ends_word(const char *bytes, const char *at, const char *end)
{
	int n;
	bool has_letter = false;
	for (const char *before = at; before > bytes;) {
		do
			before--;
		while (before > bytes && (signed char)*before < -64);
		uint32_t point = decode(before, end, &n);
		if (is_ignored(point))
			continue;
		has_letter = is_cased(point);
		break;
	}
	if (!has_letter)
		return false;
	for (const char *after = at + 2; after < end; after += n) {
		uint32_t point = decode(after, end, &n);
		if (!is_ignored(point))
			return !is_cased(point);
	}
	return true;
}

int64_t nk_text_change_case(char *to, const char *bytes, int64_t n, bool upper)
{
	char *start = to;
	int n_bytes;
	for (const char *at = bytes, *end = bytes + n; at < end; at += n_bytes) {
		uint32_t point = decode(at, end, &n_bytes);
		const uint32_t *several = point >= 0x80 ? expansion_of(point, upper) : NULL;
		if (several) {
			for (int i = 0; i < 3 && several[i]; i++)
				to = encode(to, several[i]);
		} else if (!upper && point == CAPITAL_SIGMA) {
			to = encode(to, ends_word(bytes, at, end) ? FINAL_SIGMA : SMALL_SIGMA);
		} else {
			to = encode(to, map_one(point, upper));
		}
	}
	return to - start;
}
