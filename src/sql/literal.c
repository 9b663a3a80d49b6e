/* Constants: numbers keep the dtype that their spelling says, dates and times are read here, intervals become
 * Durations. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "columnar/builder.h"
#include "columnar/parse.h"
#include "sql/plan_internal.h"

enum { NK_SQL_MAX_DIGITS = 38 };

static nk_status float_literal(nk_sql_planner *p, const nk_sql_expr *node, bool negative, nk_expr **out)
{
	nk_scalar value = {.dtype = nk_dtype_of(NK_TYPE_FLOAT64)};
	if (!nk_parse_f64(node->text, node->n_bytes, &value.floating))
		return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "a number that cannot be read");
	if (negative)
		value.floating = -value.floating;
	return nk__sql_scalar(p, &value, true, out);
}

/* Digits with or without a point: as many as are written, leading zeros aside. */
static nk_status decimal_literal(nk_sql_planner *p, const nk_sql_expr *node, bool negative, nk_expr **out)
{
	const char *point = memchr(node->text, '.', (size_t)node->n_bytes);
	int64_t n_whole = point ? point - node->text : node->n_bytes,
			scale = point ? node->n_bytes - n_whole - 1 : 0, start = 0;
	while (start < n_whole && node->text[start] == '0')
		start++;
	int64_t precision = NK_MAX(n_whole - start + scale, 1);
	if (precision > NK_SQL_MAX_DIGITS)
		return float_literal(p, node, negative, out);
	__int128 value = 0;
	for (int64_t i = start; i < node->n_bytes; i++)
		if (node->text[i] != '.')
			value = value * 10 + (node->text[i] - '0');
	nk_scalar scalar = {.dtype = nk_dtype_decimal((int)precision, (int)scale),
	                    .integer = negative ? -value : value};
	if (!scalar.dtype)
		return nk_fail(p->err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	return nk__sql_scalar(p, &scalar, false, out);
}

nk_status nk__sql_literal(nk_sql_planner *p, const nk_sql_expr *node, bool negative, nk_expr **out)
{
	int64_t value;
	switch (node->kind) {
	case NK_SQL_INTEGER:
		if (nk__sql_constant_integer(node, &value))
			return nk__sql_integer(p, negative ? -value : value, out);
		return decimal_literal(p, node, negative, out);
	case NK_SQL_DECIMAL: return decimal_literal(p, node, negative, out);
	case NK_SQL_FLOAT: return float_literal(p, node, negative, out);
	case NK_SQL_BOOLEAN: return nk__sql_boolean(p, !node->negated, out);
	case NK_SQL_STRING: return nk__sql_string(p, node->text, node->n_bytes, out);
	case NK_SQL_BLOB: {
		nk_scalar scalar = {
			.dtype = nk_dtype_of(NK_TYPE_BINARY), .bytes = node->text, .n_bytes = node->n_bytes};
		return nk__sql_scalar(p, &scalar, false, out);
	}
	default: return nk__sql_null(p, out);
	}
}

bool nk__sql_constant_integer(const nk_sql_expr *node, int64_t *out)
{
	bool negative = false;
	while (node->kind == NK_SQL_UNARY && (strcmp(node->text, "neg") == 0 || strcmp(node->text, "pos") == 0)) {
		negative ^= node->text[0] == 'n';
		node = node->args[0];
	}
	if (node->kind != NK_SQL_INTEGER)
		return false;
	int64_t value = 0;
	for (int64_t i = 0; i < node->n_bytes; i++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, node->text[i] - '0', &value))
			return false;
	*out = negative ? -value : value;
	return true;
}

nk_status nk__sql_typed(nk_sql_planner *p, const nk_sql_expr *node, const nk_dtype *dtype, nk_expr **out)
{
	return nk__sql_typed_as(p, node, dtype, NK_SQL_SYNTAX, "", out);
}

nk_status nk__sql_typed_as(nk_sql_planner *p, const nk_sql_expr *node, const nk_dtype *dtype,
                           nk_status status, const char *what, nk_expr **out)
{
	const char *text = node->text;
	int64_t n = node->n_bytes;
	nk_scalar value = {.dtype = dtype};
	int32_t days = 0;
	int64_t nanoseconds = 0;
	bool has_offset = false, good = false;
	switch (dtype->id) {
	case NK_TYPE_DATE:
		good = nk_parse_date(text, n, &days);
		value.integer = days;
		break;
	case NK_TYPE_TIME:
		good = nk_parse_time(text, n, &nanoseconds);
		value.integer = nanoseconds;
		break;
	case NK_TYPE_DATETIME: {
		good = nk_parse_datetime(text, n, &days, &nanoseconds, &has_offset);
		int64_t per_second = nk_unit_per_second(dtype->unit), per_unit = 1000000000 / per_second;
		__int128 units = (__int128)days * 86400 * per_second + nanoseconds / per_unit;
		good &= units >= INT64_MIN && units <= INT64_MAX;
		value.integer = units;
		break;
	}
	default: break;
	}
	if (!good)
		return nk__sql_error(p, status, node->at, "%s'%.60s' is no %s", what, text, dtype->text);
	return nk__sql_scalar(p, &value, false, out);
}

/* ---- Intervals ---- */

static const struct {
	const char *name;
	int64_t nanoseconds; /* 0: of no fixed length */
	const char *suffix;  /* as offset_by reads it */
	int times;
} units[] = {
	{"nanosecond", 1, "ns", 1},
	{"microsecond", 1000, "us", 1},
	{"millisecond", 1000000, "ms", 1},
	{"second", 1000000000, "s", 1},
	{"minute", 60000000000, "m", 1},
	{"hour", 3600000000000, "h", 1},
	{"day", 86400000000000, "d", 1},
	{"week", 604800000000000, "w", 1},
	{"month", 0, "mo", 1},
	{"quarter", 0, "mo", 3},
	{"year", 0, "mo", 12},
	{"ns", 1, "ns", 1},
	{"us", 1000, "us", 1},
	{"ms", 1000000, "ms", 1},
	{"s", 1000000000, "s", 1},
	{"m", 60000000000, "m", 1},
	{"h", 3600000000000, "h", 1},
	{"d", 86400000000000, "d", 1},
	{"w", 604800000000000, "w", 1},
	{"mo", 0, "mo", 1},
	{"q", 0, "mo", 3},
	{"y", 0, "mo", 12},
};

static int unit_of(const char *text, int64_t n)
{
	for (int i = 0; i < NK_COUNT(units); i++) {
		int64_t n_name = (int64_t)strlen(units[i].name);
		bool plural = n == n_name + 1 && n_name > 2 && (text[n - 1] | 32) == 's';
		if ((n == n_name || plural) && strncasecmp(text, units[i].name, (size_t)n_name) == 0)
			return i;
	}
	return -1;
}

nk_status nk__sql_interval(nk_sql_planner *p, const nk_sql_expr *node, nk_expr **out, bool *months)
{
	NK_TEXT(offset);
	__int128 nanoseconds = 0;
	*months = false;
	const char *at = node->text;
	int n_parts = 0;
	for (;; n_parts++) {
		while (*at == ' ' || *at == ',')
			at++;
		if (!*at)
			break;
		bool negative = *at == '-';
		at += *at == '-' || *at == '+';
		const char *digits = at;
		int64_t amount = 0;
		while (*at >= '0' && *at <= '9' && amount < INT64_MAX / 100)
			amount = amount * 10 + (*at++ - '0');
		const char *behind = at;
		while (*at == ' ')
			at++;
		const char *name = at;
		while ((*at | 32) >= 'a' && (*at | 32) <= 'z')
			at++;
		int unit = unit_of(name, at - name);
		if (digits == behind || unit < 0)
			return nk__sql_error(
				p, NK_SQL_SYNTAX, node->at,
				"'%.60s' is no interval: numbers and units are expected, as in '1 day 2 hours'", node->text);
		__int128 part = (__int128)amount * units[unit].nanoseconds;
		nanoseconds += negative ? -part : part;
		if (nanoseconds > INT64_MAX || nanoseconds < -INT64_MAX)
			return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "an interval that is too long");
		*months |= units[unit].nanoseconds == 0;
		nk_text_format(&offset, "%s%lld%s", negative ? "-" : "", (long long)amount * units[unit].times,
		               units[unit].suffix);
	}
	if (n_parts == 0)
		return nk__sql_error(p, NK_SQL_SYNTAX, node->at, "an empty interval");
	if (*months) {
		NK_TRY(nk_text_finish(&offset, p->err));
		return nk__sql_string(p, offset.bytes, offset.n_bytes, out);
	}
	nk_scalar value = {.dtype = nk_dtype_duration(NK_UNIT_NS), .integer = nanoseconds};
	return nk__sql_scalar(p, &value, false, out);
}

/* ---- Lists ---- */

/* Constants of one kind as one list. `like`: the dtype that text is read as, if any. */
nk_status nk__sql_list(nk_sql_planner *p, const nk_sql_scope *scope, nk_sql_expr *const *items, int n,
                       const nk_dtype *like, nk_expr **out, bool *done)
{
	(void)scope;
	*done = false;
	bool integers = true, strings = true;
	int64_t value;
	for (int i = 0; i < n; i++) {
		integers &= nk__sql_constant_integer(items[i], &value);
		strings &= items[i]->kind == NK_SQL_STRING;
	}
	if (n == 0 || (!integers && !strings) || (like && nk_type_is_temporal(like->id)))
		return NK_OK;
	nk_memory *memory = nk_arena_memory(p->arena);
	const nk_dtype *dtype = nk_dtype_list(nk_dtype_of(integers ? NK_TYPE_INT64 : NK_TYPE_STRING));
	NK_AUTO(nk_builder) builder = NULL;
	NK_AUTO(nk_array) array = NULL;
	NK_AUTO(nk_column) column = NULL;
	if (!dtype)
		return nk_fail(p->err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	NK_TRY(nk_builder_new(memory, dtype, &builder, p->err));
	nk_builder *child = nk_builder_child(builder, 0);
	for (int i = 0; i < n; i++) {
		if (integers && nk__sql_constant_integer(items[i], &value))
			NK_TRY(nk_builder_append_integer(child, value, p->err));
		else
			NK_TRY(nk_builder_append_bytes(child, items[i]->text, items[i]->n_bytes, p->err));
	}
	NK_TRY(nk_builder_append_nested(builder, p->err));
	NK_TRY(nk_builder_finish(builder, &array, p->err));
	NK_TRY(nk_column_from_array(memory, array, &column, p->err));
	NK_TRY(nk__expr_series("literal", column, out, p->err));
	*done = true;
	return nk__sql_own_expr(p, *out);
}

/* ---- LIKE ---- */

nk_status nk__sql_like_regex(nk_sql_planner *p, const char *pattern, int64_t n_bytes, char escape,
                             bool any_case, const char **out)
{
	NK_TEXT(regex);
	nk_text_append_string(&regex, any_case ? "(?is)^" : "(?s)^");
	for (int64_t i = 0; i < n_bytes; i++) {
		char c = pattern[i];
		bool escaped = escape && c == escape && i + 1 < n_bytes;
		if (escaped)
			c = pattern[++i];
		if (c == '%' && !escaped) {
			nk_text_append_string(&regex, ".*");
		} else if (c == '_' && !escaped) {
			nk_text_append_char(&regex, '.');
		} else {
			if (strchr("\\.+*?()|[]{}^$#&-~", c) && c)
				nk_text_append_char(&regex, '\\');
			nk_text_append_char(&regex, c);
		}
	}
	nk_text_append_char(&regex, '$');
	NK_TRY(nk_text_finish(&regex, p->err));
	return nk_arena_string(p->arena, regex.bytes, regex.n_bytes, out, p->err);
}

/* Of names, any case; % as often as it likes. The last % seen is where a mismatch resumes. */
bool nk__sql_like_matches(const char *text, const char *pattern)
{
	const char *resume = NULL, *from = NULL;
	while (*text) {
		if (*pattern == '%') {
			resume = ++pattern;
			from = text;
		} else if (*pattern == '_' || (*pattern && strncasecmp(pattern, text, 1) == 0)) {
			pattern++;
			text++;
		} else if (resume) {
			pattern = resume;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '%')
		pattern++;
	return !*pattern;
}
