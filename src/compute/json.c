/* Reading values one after another. Marks only say where values begin: whether text is JSON is decided here, byte by byte for
 * numbers and words, mark by mark for the rest. */
#include "compute/json.h"

#include <math.h>
#include <string.h>

#include "columnar/format.h"
#include "columnar/parse.h"

void nk_json_index_release(nk_json_index *index)
{
	if (index->memory)
		nk_free(index->memory, index->marks, index->capacity * (int64_t)sizeof *index->marks);
	nk_text_release(&index->scratch);
	*index = (nk_json_index){0};
}

nk_status nk_json_open(nk_json_index *index, const uint8_t *text, int64_t n, bool is_lines,
                       nk_json_cursor *out, nk_error *err)
{
	enum { SPARE = 16 };
	nk_json_found found;
	if (n > UINT32_MAX - 2 * NK_JSON_PADDING)
		return nk_fail(err, NK_COMPUTE, "JSON text of more than 4 GiB");
	NK_TRY(NK_GROW(index->memory, &index->marks, &index->capacity, n + SPARE, err));
	NK_ISA_TABLE(nk__json_loops)->index(text, n, is_lines, index->marks, &found);
	*out = (nk_json_cursor){.text = text,
	                        .at = index->marks,
	                        .end = index->marks + found.n_marks,
	                        .n_bytes = (uint32_t)n,
	                        .has_escapes = found.has_escapes,
	                        .scratch = &index->scratch};
	if (found.has_control)
		return nk_fail(err, NK_COMPUTE,
		               "invalid JSON: a control character in a string, or a string without an end");
	if (found.is_open)
		return nk_fail(err, NK_COMPUTE, "invalid JSON: a string without an end");
	return NK_OK;
}

nk_status nk_json_fail(const nk_json_cursor *cursor, nk_error *err)
{
	enum { SHOWN = 40 };
	int64_t at = nk_json_position(cursor), n = NK_MIN((int64_t)cursor->n_bytes - at, (int64_t)SHOWN);
	const uint8_t *text = cursor->text + at, *eol = memchr(text, '\n', (size_t)n);
	n = eol ? eol - text : n;
	if (n == 0)
		return nk_fail(err, NK_COMPUTE, "invalid JSON: it ends too early");
	return nk_fail(err, NK_COMPUTE, "invalid JSON at `%.*s`", (int)n, text);
}

/* ---- Strings ---- */

static int hex_of(uint8_t c)
{
	return c >= '0' && c <= '9'                     ? c - '0'
	       : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
	                                                : -1;
}

static int32_t four_hex(const uint8_t *at, const uint8_t *end)
{
	int32_t value = 0;
	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_of(at[i]);
		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

static char *put_code_point(uint32_t c, char *to)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/* Half of a surrogate pair alone stands for no character: NUL takes its place, as in Polars. */
static const uint8_t *put_unicode(const uint8_t *at, const uint8_t *end, char **to)
{
	int32_t c = four_hex(at, end);
	if (c < 0)
		return NULL;
	at += 4;
	if (c >= 0xd800 && c < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
		int32_t low = four_hex(at + 2, end);
		if (low < 0)
			return NULL;
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			at += 6;
		}
	}
	*to = put_code_point(c >= 0xd800 && c < 0xe000 ? 0 : (uint32_t)c, *to);
	return at;
}

static bool unescape(const uint8_t *at, int64_t n, char *to, int64_t *n_out)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const uint8_t *end = at + n;
	char *start = to;
	while (at < end) {
		const uint8_t *escape = memchr(at, '\\', (size_t)(end - at));
		int64_t n_plain = (escape ? escape : end) - at;
		memcpy(to, at, (size_t)n_plain);
		to += n_plain;
		if (!escape)
			break;
		at = escape + 2; /* a string does not end with a backslash that escapes nothing */
		if (escape[1] == 'u') {
			if (!(at = put_unicode(at, end, &to)))
				return false;
			continue;
		}
		const char *found = escape[1] ? strchr(from, escape[1]) : NULL;
		if (!found)
			return false;
		*to++ = into[found - from];
	}
	*n_out = to - start;
	return true;
}

/* The string whose opening quote is at the cursor. */
static nk_status read_string(nk_json_cursor *cursor, const char **text, int64_t *n_bytes, nk_error *err)
{
	uint32_t begin = cursor->at[0] + 1, end = cursor->at[1]; /* quotes come in pairs */
	const uint8_t *bytes = cursor->text + begin;
	*text = (const char *)bytes;
	*n_bytes = end - begin;
	if (cursor->has_escapes && memchr(bytes, '\\', (size_t)*n_bytes)) {
		nk_text *scratch = cursor->scratch;
		scratch->n_bytes = 0;
		nk_text_append(scratch, *text, *n_bytes); /* room: no escape is shorter than what it stands for */
		NK_TRY(nk_text_finish(scratch, err));
		if (!unescape(bytes, *n_bytes, scratch->bytes, n_bytes))
			return nk_fail(err, NK_COMPUTE, "invalid JSON: a bad escape in \"%.*s\"",
			               (int)NK_MIN(end - begin, 100u), bytes);
		*text = scratch->bytes;
	}
	cursor->at += 2;
	return NK_OK;
}

nk_status nk_json_key(nk_json_cursor *cursor, const char **text, int64_t *n_bytes, nk_error *err)
{
	if (nk_json_peek(cursor) != '"')
		return nk_json_fail(cursor, err);
	NK_TRY(read_string(cursor, text, n_bytes, err));
	if (nk_json_peek(cursor) != ':')
		return nk_json_fail(cursor, err);
	cursor->at++;
	return NK_OK;
}

/* ---- Numbers and words ---- */

static bool is_digit(uint8_t c) { return (uint8_t)(c - '0') < 10; }

/* What may stand behind a number or word. */
static bool ends_value(const nk_json_cursor *cursor, const uint8_t *at)
{
	return at >= cursor->text + cursor->n_bytes || *at == ',' || *at == '}' || *at == ']' || *at == '\n' ||
	       *at == ' ' || *at == '\r' || *at == '\t';
}

static nk_status read_wide(const nk_json_cursor *cursor, const uint8_t *text, int64_t n, nk_json_value *out,
                           nk_error *err)
{
	unsigned __int128 value = 0, limit = ~(unsigned __int128)0;
	bool is_negative = *text == '-', fits = true;
	for (int64_t i = is_negative; i < n; i++) {
		uint8_t digit = text[i] - '0';
		fits &= value <= (limit - digit) / 10;
		value = value * 10 + digit;
	}
	unsigned __int128 top = (unsigned __int128)1 << 127;
	if (!fits || (is_negative && value > top))
		return nk_json_fail(cursor, err);
	out->kind = NK_JSON_WIDE;
	out->wide = (__int128)(is_negative ? -value : value);
	out->is_unsigned = !is_negative && value >= top;
	if (!out->is_unsigned && out->wide >= INT64_MIN && out->wide <= INT64_MAX) {
		out->kind = NK_JSON_INTEGER;
		out->integer = (int64_t)out->wide;
	}
	return NK_OK;
}

/* digits * 10^exponent, rounded once: both are exact doubles. */
static bool is_exact(uint64_t digits, int64_t exponent)
{
	return digits <= 1ull << 53 && exponent >= -22 && exponent <= 22;
}

static nk_status read_number(nk_json_cursor *cursor, nk_json_value *out, nk_error *err)
{
	static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
	                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	enum { DIGITS_MAX = 18 };
	const uint8_t *text = cursor->text + *cursor->at, *at = text;
	bool is_negative = *at == '-';
	at += is_negative;
	const uint8_t *first = at;
	uint64_t digits = 0;
	while (is_digit(*at))
		digits = digits * 10 + (uint64_t)(*at++ - '0');
	int64_t n_digits = at - first, exponent = 0;
	if (n_digits == 0 || (*first == '0' && n_digits > 1))
		return nk_json_fail(cursor, err);
	if (*at != '.' && *at != 'e' && *at != 'E') {
		if (!ends_value(cursor, at))
			return nk_json_fail(cursor, err);
		out->kind = NK_JSON_INTEGER;
		out->integer = (int64_t)(is_negative ? -digits : digits);
		if (n_digits > DIGITS_MAX)
			NK_TRY(read_wide(cursor, text, at - text, out, err));
		cursor->at++;
		return NK_OK;
	}
	if (*at == '.') {
		const uint8_t *point = at++;
		while (is_digit(*at))
			digits = digits * 10 + (uint64_t)(*at++ - '0');
		exponent = point + 1 - at;
		n_digits -= exponent;
		if (exponent == 0)
			return nk_json_fail(cursor, err);
	}
	if (*at == 'e' || *at == 'E') {
		bool falls = at[1] == '-';
		at += 1 + (at[1] == '-' || at[1] == '+');
		int64_t power = 0;
		if (!is_digit(*at))
			return nk_json_fail(cursor, err);
		for (; is_digit(*at); at++)
			power = NK_MIN(power * 10 + (*at - '0'), (int64_t)1000000);
		exponent += falls ? -power : power;
	}
	if (!ends_value(cursor, at))
		return nk_json_fail(cursor, err);
	out->kind = NK_JSON_FLOAT;
	if (n_digits <= DIGITS_MAX && is_exact(digits, exponent)) {
		double value = (double)digits;
		value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
		out->number = is_negative ? -value : value;
	} else if (!nk_parse_f64((const char *)text, at - text, &out->number) || isinf(out->number)) {
		return nk_json_fail(cursor, err);
	}
	cursor->at++;
	return NK_OK;
}

static nk_status read_word(nk_json_cursor *cursor, const char *word, int64_t n, nk_json_kind kind,
                           nk_json_value *out, nk_error *err)
{
	const uint8_t *text = cursor->text + *cursor->at;
	if (cursor->n_bytes - *cursor->at < n || memcmp(text, word, (size_t)n) != 0 ||
	    !ends_value(cursor, text + n))
		return nk_json_fail(cursor, err);
	cursor->at++;
	out->kind = kind;
	return NK_OK;
}

nk_status nk_json_read(nk_json_cursor *cursor, nk_json_value *out, nk_error *err)
{
	switch (nk_json_peek(cursor)) {
	case '"': out->kind = NK_JSON_STRING; return read_string(cursor, &out->text, &out->n_bytes, err);
	case '{':
		out->kind = NK_JSON_OBJECT;
		cursor->at++;
		return NK_OK;
	case '[':
		out->kind = NK_JSON_ARRAY;
		cursor->at++;
		return NK_OK;
	case 0: return nk_json_fail(cursor, err); /* the end, or a NUL */
	case 'n': return read_word(cursor, "null", 4, NK_JSON_NULL, out, err);
	case 't': return read_word(cursor, "true", 4, NK_JSON_TRUE, out, err);
	case 'f': return read_word(cursor, "false", 5, NK_JSON_FALSE, out, err);
	default: return read_number(cursor, out, err);
	}
}

/* ---- Arrays and objects ---- */

nk_status nk_json_next(nk_json_cursor *cursor, uint8_t close, bool first, bool *more, nk_error *err)
{
	uint8_t c = nk_json_peek(cursor);
	*more = c != close;
	if (c == close) {
		cursor->at++;
		return NK_OK;
	}
	if (first)
		return NK_OK;
	if (c != ',')
		return nk_json_fail(cursor, err);
	cursor->at++;
	return NK_OK; /* a bracket behind a comma is no value */
}

/* Which brackets are open is kept as bits: one for an object. */
nk_status nk_json_skip(nk_json_cursor *cursor, nk_error *err)
{
	uint64_t objects[NK_JSON_DEPTH_MAX / 64];
	int depth = 0;
	bool first = false;
	do {
		if (depth > 0) {
			bool is_object = objects[(depth - 1) / 64] >> ((depth - 1) % 64) & 1, more;
			NK_TRY(nk_json_next(cursor, is_object ? '}' : ']', first, &more, err));
			first = false;
			if (!more) {
				depth--;
				continue;
			}
			const char *key;
			int64_t n_key;
			if (is_object)
				NK_TRY(nk_json_key(cursor, &key, &n_key, err));
		}
		nk_json_value value;
		NK_TRY(nk_json_read(cursor, &value, err));
		if (value.kind < NK_JSON_ARRAY)
			continue;
		if (depth == NK_JSON_DEPTH_MAX)
			return nk_fail(err, NK_COMPUTE, "JSON that nests more than %d deep", NK_JSON_DEPTH_MAX);
		uint64_t bit = 1ull << depth % 64;
		objects[depth / 64] =
			(depth % 64 ? objects[depth / 64] & ~bit : 0) | (value.kind == NK_JSON_OBJECT ? bit : 0);
		depth++;
		first = true;
	} while (depth > 0);
	return NK_OK;
}

/* ---- Display ---- */

static void put_quoted(nk_text *out, const char *text, int64_t n)
{
	nk_text_append_char(out, '"');
	for (int64_t i = 0; i < n; i++) {
		char c = text[i];
		if (c == '"' || c == '\n' || c == '\r') {
			nk_text_append_char(out, '\\');
			c = c == '\n' ? 'n' : c == '\r' ? 'r' : c;
		}
		nk_text_append_char(out, c);
	}
	nk_text_append_char(out, '"');
}

static void put_plain(nk_text *out, const nk_json_value *value)
{
	char room[NK_FORMAT_POSITIONAL_BYTES];
	switch (value->kind) {
	case NK_JSON_NULL: nk_text_append_string(out, "null"); break;
	case NK_JSON_FALSE: nk_text_append_string(out, "false"); break;
	case NK_JSON_TRUE: nk_text_append_string(out, "true"); break;
	case NK_JSON_INTEGER: nk_text_append(out, room, nk_format_i64(value->integer, room)); break;
	case NK_JSON_FLOAT: nk_text_append(out, room, nk_format_f64_positional(value->number, room)); break;
	case NK_JSON_STRING: put_quoted(out, value->text, value->n_bytes); break;
	default:
		if (value->is_unsigned) {
			unsigned __int128 all = (unsigned __int128)value->wide;
			nk_text_append(out, room, nk_format_i128((__int128)(all / 10), room));
			nk_text_append_char(out, (char)('0' + (int)(all % 10)));
		} else {
			nk_text_append(out, room, nk_format_i128(value->wide, room));
		}
	}
}

nk_status nk_json_display(nk_json_cursor *cursor, nk_text *out, nk_error *err)
{
	uint64_t objects[NK_JSON_DEPTH_MAX / 64];
	int depth = 0;
	bool first = false;
	do {
		if (depth > 0) {
			bool is_object = objects[(depth - 1) / 64] >> ((depth - 1) % 64) & 1, more;
			NK_TRY(nk_json_next(cursor, is_object ? '}' : ']', first, &more, err));
			if (!more) {
				nk_text_append_char(out, is_object ? '}' : ']');
				first = false;
				depth--;
				continue;
			}
			if (!first)
				nk_text_append_string(out, ", ");
			first = false;
			if (is_object) {
				const char *key;
				int64_t n_key;
				NK_TRY(nk_json_key(cursor, &key, &n_key, err));
				nk_text_append_char(out, '"');
				nk_text_append(out, key, n_key);
				nk_text_append_string(out, "\": ");
			}
		}
		nk_json_value value = {0};
		NK_TRY(nk_json_read(cursor, &value, err));
		if (value.kind < NK_JSON_ARRAY) {
			put_plain(out, &value);
			continue;
		}
		if (depth == NK_JSON_DEPTH_MAX)
			return nk_fail(err, NK_COMPUTE, "JSON that nests more than %d deep", NK_JSON_DEPTH_MAX);
		nk_text_append_char(out, value.kind == NK_JSON_OBJECT ? '{' : '[');
		uint64_t bit = 1ull << depth % 64;
		objects[depth / 64] =
			(depth % 64 ? objects[depth / 64] & ~bit : 0) | (value.kind == NK_JSON_OBJECT ? bit : 0);
		depth++;
		first = true;
	} while (depth > 0);
	return nk_text_finish(out, err);
}
